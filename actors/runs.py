"""Jobs of runs: what befalls members, and what it means to their run (WORLD.md, R)."""

from __future__ import annotations

from attrs import define, field

from actors.copies import AT_WORK, GONE, JobOfCopies
from actors.copy import Copy
from actors.events import (
    CheckpointLost,
    Outcome,
    RestartedFromScratch,
)
from actors.job import Life
from actors.messages import MemberFed, MemberMoved, MemberSaved, MemberSped, PartDue, Resume
from actors.run import Run
from actors.runtime import Phase, handles
from policies.availability import WorkerState

FAILED, LOST, DOWN = Outcome.FAILED, Outcome.LOST, WorkerState.DOWN
RESUME = Resume()


@define(eq=False)
class JobOfRuns(JobOfCopies):
    """Hears of its members, and keeps the account of each run by what it hears."""

    _resuming: bool = field(init=False, default=False)

    # --- its members --------------------------------------------------------------------------

    @handles(MemberMoved, during=AT_WORK)
    def member_moved(self, message: MemberMoved) -> None:
        copy = self.copies.get(message.copy)
        if copy is None:
            return
        copy.move(message.worker, message.state)
        if message.state is DOWN:
            self._lose(copy, message.worker)
        elif copy.run is not None:
            copy.run.review()
        else:
            copy.awaited(self.system.loop.cause)
            self._resume_soon()
        self.settled(copy)

    @handles(MemberSped, during=AT_WORK)
    def member_sped(self, message: MemberSped) -> None:
        copy = self.copies.get(message.copy)
        if copy is not None and copy.speeds is not None:
            copy.speeds[message.worker] = message.speed
            if copy.run is not None:
                copy.run.review()
            self.settled(copy)

    @handles(MemberFed, during=AT_WORK)
    def member_fed(self, message: MemberFed) -> None:
        self._fed(message.copy, message.run, message.worker)

    @handles(MemberSaved, during=AT_WORK)
    def member_saved(self, message: MemberSaved) -> None:
        self._fed(message.copy, message.run, message.worker)

    def _fed(self, number: int, run: int, worker: int) -> None:
        copy = self.copies.get(number)
        if copy is not None and copy.run is not None and copy.run.number == run:
            copy.run.fed(worker)
            self.settled(copy)

    @handles(MemberMoved, during=(Life.WAITING, *GONE))
    @handles(MemberSped, during=(Life.WAITING, *GONE))
    @handles(MemberFed, during=(Life.WAITING, *GONE))
    @handles(MemberSaved, during=(Life.WAITING, *GONE))
    def hear_too_late(self, message: object) -> None:
        """The copy ended at this very instant."""

    def _lose(self, copy: Copy, worker: int) -> None:
        loop = self.system.loop
        lost, cause = self.protection.struck(copy, worker), loop.cause
        if copy.run is not None:
            self._end_run(copy, LOST)
        if lost is not None:
            loop.cause = cause
            struck = tuple(sorted(copy.struck))
            self.record(CheckpointLost, self.name, copy.last, struck)
            self._give_up(copy, lost)
            copy.cause, copy.anew = loop.cause, True

    def _give_up(self, copy: Copy, lost: float | None) -> None:
        if lost:
            self.record(RestartedFromScratch, self.name, copy.last, lost)

    def _end_run(self, copy: Copy, outcome: Outcome) -> None:
        """The run is lost or has failed: its copy waits for the next one, or is over."""
        if not self.protection.keeps:
            self._drop(copy, outcome, early=True)
            return
        assert copy.run is not None
        copy.run.end(outcome, kept=True)
        copy.run = None
        copy.awaited(self.system.loop.cause)
        copy.leave(self, keep=True)
        self._resume_soon()

    def _resume_soon(self) -> None:
        if not self._resuming:
            self._resuming = True
            self.later(RESUME, Phase.RUNS_RESUME)

    @handles(Resume)
    def resume(self, _: Resume) -> None:
        self._resuming = False
        for copy in list(self.copies.values()):
            if copy.run is None and not copy.absent:
                self.system.loop.cause, copy.anew = copy.cause, False
                self._start_run(copy, self.resumed(copy), keeps=copy.last)

    # --- parts and ends of runs ---------------------------------------------------------------

    @handles(PartDue)
    def pass_parts(self, message: PartDue) -> None:
        """All its runs' parts that end at this instant, by run number."""
        if len(self.copies) == 1:
            message.run.pass_part()
            return
        due_by, phase = self.due_by, message.run.phase
        runs = [copy.run for copy in self.copies.values() if copy.run is not None]
        due = [run for run in runs if run.due <= due_by and run.phase is phase]
        for run in sorted(due, key=lambda run: run.number):
            if not run.ended:
                assert run.timer is not None
                self.system.loop.cause = run.timer[4]
                run.pass_part()

    def over(self, run: Run, outcome: Outcome) -> None:
        """See JobOfCopies."""
        copy = run.copy
        if outcome is FAILED:
            lost = self.protection.failed(copy)
            self._end_run(copy, FAILED)
            if lost:
                self._give_up(copy, lost)
                copy.cause, copy.anew = self.system.loop.cause, True
            return
        self._complete_by(copy)
