"""Repair, as a job sees it: it reports the runs that faults end to the actor that repairs, which
may blame one of the members for the fault (rules.md, R6 and R7), and runs that are over to the
records of workers (R8)."""

from __future__ import annotations

from typing import ClassVar

from attrs import define, field

from actors.copy import Copy
from actors.job import AT_WORK
from actors.messages import MemberStateChanged
from actors.parts.part import MemberMessage, Part
from actors.repair_messages import MemberStruckAgain, RunOver, RunStruck
from actors.run import Run
from actors.runtime import NOTHING, Actor, handles
from policies.availability import WorkerState


@define(eq=False)
class Repair(Part):
    """Reports to the actor that repairs what strikes and ends a job's runs."""

    late: ClassVar = (MemberStruckAgain,)
    repairs: Actor
    recorded: bool
    """Whether repairs keep a record of how long runs have computed on each worker (R8)."""
    _came_up: dict[int, dict[int, float]] = field(init=False, factory=dict)
    """Maps each copy to its members that have come back UP after they went DOWN, each with the time
    at which it last did."""

    def takes(self, copy: Copy[Run], message: MemberMessage, cause: int) -> bool:
        """Note when a member comes back UP, and leave the message to the job."""
        came_up = isinstance(message, MemberStateChanged) and message.state is WorkerState.UP
        if came_up and message.worker in copy.went_down:
            self._came_up.setdefault(copy.number, {})[message.worker] = self.job.now
        return False

    def known(self, copy: Copy[Run], worker: int) -> None:
        """Report the members of the copy's run, which a fault ends, and those that were DOWN just
        before this instant: those that still are, and those that came back UP at it."""
        if copy.run is None:
            return
        now, came_up = self.job.now, self._came_up.get(copy.number, {})
        fell = [worker for worker, (since, _) in copy.went_down.items() if since < now]
        fell += (worker for worker, time in came_up.items() if time == now)
        struck = RunStruck(copy.number, copy.members, fell)
        self.job.send(self.repairs, struck, NOTHING)

    @handles(MemberStruckAgain, during=AT_WORK)
    def strike_again(self, message: MemberStruckAgain, _: int) -> None:
        """Report the run's members, as a fault strikes a member that was DOWN already: another
        member may be blamed for it."""
        copy = self.job.copies.get(message.copy)
        if copy is not None:
            self.known(copy, -1)

    def run_ended(self, run: Run, kept: bool, cause: int) -> None:
        if self.recorded:
            over = RunOver(run.copy.number, run.copy.members)
            self.job.send(self.repairs, over, NOTHING)

    def left(self, copy: Copy[Run], cause: int) -> None:
        self._came_up.pop(copy.number, None)
