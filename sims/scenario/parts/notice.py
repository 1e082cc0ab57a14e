"""Notice that an owner gives before it takes a worker DOWN (rules.md, O1). Its keys are
`availability.notice` of workers and `protection.on_notice`."""

from __future__ import annotations

from collections.abc import Iterator

from sims.scenario import Scenario
from sims.scenario.availability import AlwaysUp
from sims.scenario.parts.part import Advice, ScenarioPart


class Notice(ScenarioPart):
    """The notice that workers' owners give."""

    def idle(self, scenario: Scenario) -> Iterator[Advice]:
        pool = (("platform", scenario.platform),) if scenario.platform else ()
        listed = ((f"workers.{k}", it) for k, it in enumerate(scenario.workers))
        for place, section in (*pool, *listed):
            if isinstance(section.availability, AlwaysUp) and section.availability.notice:
                yield f"{place}.availability.notice", "its owner never takes the worker DOWN"
