"""Re-execution: a lost or failed run leaves nothing (WORLD.md, P1; rigid21, section 3.2)."""

from __future__ import annotations

import math

from attrs import define, evolve

from actors.copy import Copy
from actors.plan import Plan, State
from actors.protection.rules import Protection
from actors.run import Run


@define(eq=False)
class ReExecution(Protection):
    """The default protection: every run begins from scratch."""

    def plan(self, copy: Copy[Run]) -> Plan:
        """Nothing is saved, whatever the period says."""
        return evolve(super().plan(copy), period=math.inf)

    def save(self, copy: Copy[Run], state: State) -> None:
        raise AssertionError("nothing is saved under re-execution")

    def failed(self, copy: Copy[Run]) -> float | None:
        return None
