"""Clocks of faults that pass only while workers compute: the job tells their hazards when its runs
do (rules.md, R5)."""

from __future__ import annotations

from attrs import define

from actors.messages import ComputingChanged
from actors.parts.part import Part
from actors.run import Run
from actors.runtime import NOTHING, Actor


@define(eq=False)
class Clocks(Part):
    """Tells actors whose clocks pass while a job's members compute when that begins and ends."""

    clocks: tuple[Actor, ...]

    def computes(self, run: Run, computes: bool) -> None:
        for clock in self.clocks:
            changed = ComputingChanged(run.copy.number, run.copy.working, computes)
            self.job.send(clock, changed, NOTHING)
