"""Faults that are detected late (rules.md, W5). The key `detection` is that of laws of faults."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from actors.parts.detection import Detection as DetectionOfJob
from actors.parts.detection import HiddenFaults
from actors.protection import Rules
from sims.scenario import Scenario
from sims.scenario.faults import (
    AnyFault,
    ExponentialFaults,
    ListedFaults,
    Lognormal,
    Weibull,
    placed_laws,
)
from sims.scenario.parts.part import (
    Advice,
    Made,
    Making,
    MakingOfJob,
    ScenarioPart,
    Site,
    Timed,
)


class Detection(ScenarioPart):
    """The times for which faults and hangs are not known."""

    def of_scheduler(self, site: Site, made: Made) -> Iterator[Making]:
        if _late(site.scenario):
            yield partial(HiddenFaults, repaired=site.scenario.repair is not None)

    def of_job(self, scenario: Scenario, rules: Rules, made: Made) -> Iterator[MakingOfJob]:
        if _late(scenario):
            yield DetectionOfJob

    def lengths(self, scenario: Scenario) -> Iterator[Timed]:
        for law in scenario.faults.laws:
            yield law.detection, "faults.detection"

    def idle(self, scenario: Scenario) -> Iterator[Advice]:
        for place, law in placed_laws(scenario.faults):
            if _ends_before(law) and law.downtime == 0 and not scenario.full_platform.owned:
                text = "downtime is 0, and a fault is known once its worker is UP again"
                yield f"{place}.detection", f"{text}; of a hang, downtime is how long it lasts"

    def warnings(self, scenario: Scenario) -> Iterator[Advice]:
        owned = scenario.full_platform.owned
        for place, law in placed_laws(scenario.faults):
            if _ends_before(law) and not (law.downtime == 0 and not owned):
                text = "a fault is known as soon as its worker is UP again, after downtime = "
                yield f"{place}.detection", f"{text}{law.downtime:g}; {law.detection:g} is longer"


def _late(scenario: Scenario) -> bool:
    return any(law.detection for law in scenario.faults.laws)


def _ends_before(law: AnyFault) -> bool:
    """Return whether the law's downtime is over before its faults are detected, so that the
    worker's return reveals them first. It is false for hangs, and for laws from logs, whose
    failures have lengths of their own."""
    lasting = ExponentialFaults | Weibull | Lognormal | ListedFaults
    return isinstance(law, lasting) and not law.hangs and law.detection > law.downtime
