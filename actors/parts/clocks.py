"""Clocks of faults that pass only while workers compute: the job tells their hazards when its runs
do (rules.md, R5)."""

from __future__ import annotations

from attrs import define, field

from actors.copy import Copy
from actors.messages import ComputingChanged
from actors.parts.part import Part
from actors.run import Run
from actors.runtime import NOTHING, Actor


@define(eq=False)
class Clocks(Part):
    """Tells actors whose clocks pass while a job's members compute when that begins and ends.

    A copy takes over the clock of an earlier one of its job: most of its members are the same, and
    only those that are not have to be put on it.
    """

    clocks: tuple[Actor, ...]
    _of: dict[int, int] = field(init=False, factory=dict)
    """Maps each copy that has computed to the number of its clock."""
    _left: list[int] = field(init=False, factory=list)
    """Numbers of the clocks of copies that have ended."""

    def computes(self, run: Run, computes: bool) -> None:
        copy = run.copy
        clock = self._of.get(copy.number, -1)
        if clock < 0:
            clock = self._of[copy.number] = self._left.pop() if self._left else copy.number
        changed = ComputingChanged(copy.number, clock, copy.working, computes)
        for actor in self.clocks:
            self.job.send(actor, changed, NOTHING)

    def left(self, copy: Copy[Run], cause: int) -> None:
        clock = self._of.pop(copy.number, None)
        if clock is not None:
            self._left.append(clock)
