"""Replacement of members that are DOWN, by spares or by workers that are free anyway (rules.md,
P10). Its keys are `protection.replace_after` and `platform.spares`."""

from __future__ import annotations

from collections.abc import Iterator

from sims.scenario import Scenario
from sims.scenario.parts.part import Advice, Limit, ScenarioPart
from sims.telling import counted


class Replacement(ScenarioPart):
    """Replacement of members by other workers, and spares, which have no other use."""

    def warnings(self, scenario: Scenario) -> Iterator[Advice]:
        pool, prices = scenario.full_platform.pool, scenario.measures and scenario.measures.prices
        if scenario.platform and pool.spares and not _replaces(scenario):
            text = "no job runs on them: they replace members only under protection.replace_after"
            yield "platform.spares", text
        if pool.spares and prices and not prices.idle:
            yield "measures.prices.idle", "spares that wait cost nothing"

    def saturation(self, scenario: Scenario, key: str, held: int | None) -> Limit | None:
        """Spares change nothing where nothing is replaced, or workers besides them are free, which
        replace members as well."""
        if key != "platform.spares":
            return None
        if not (scenario.faults.laws or scenario.full_platform.owned):
            return 0, "no worker ever goes DOWN"
        if held is None or not _replaces(scenario):
            return None
        beside = scenario.full_platform.able - held
        if beside <= 0:
            return None
        others = counted(beside, "other worker")
        return 0, (
            f"{others} {'is' if beside == 1 else 'are'} free beside the jobs and replace members "
            "as well as spares do; vary the workers with the spares: `platform.spares=0..8 with "
            "platform.workers = N + spares`"
        )


def _replaces(scenario: Scenario) -> bool:
    return any(it.replace_after is not None for it in scenario.protections.values())
