"""Faults by which a worker hangs (rules.md, F6). The key `effect` is that of laws of faults."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from sims.scenario import Scenario
from sims.scenario.parts.part import ScenarioPart


class Hangs(ScenarioPart):
    """The laws of faults by which workers hang."""

    unplayable: ClassVar[str] = "hangs"

    def simulated(self, scenario: Scenario) -> Iterator[str]:
        if any(law.hangs for law in scenario.faults.laws):
            yield "faults.effect"
