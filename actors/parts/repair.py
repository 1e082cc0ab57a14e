"""Repair, as a job sees it: it reports the runs that faults end to the actor that repairs, which
may blame one of the members for the fault (rules.md, R6 and R7), and runs that are over to the
records of workers (R8)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, ClassVar

from attrs import define, field

from actors.copy import Copy
from actors.job import AT_WORK
from actors.messages import LookAgain, MemberStateChanged
from actors.parts.part import KEPT, MemberMessage, Part
from actors.parts.scheduler_part import SchedulerPart
from actors.repair_messages import (
    FaultKnown,
    LargestJobChanged,
    MemberFaultHidden,
    MemberRetired,
    MemberStruckAgain,
    RecordsChanged,
    RunOver,
    RunStruck,
    StruckWhileDown,
    UnitRetires,
)
from actors.run import Run
from actors.runtime import NOTHING, Actor, Phase, WorkersRetired, handles
from policies.availability import WorkerState
from policies.interface.queue import BatchJob


@define(eq=False)
class Repair(Part):
    """Reports to the actor that repairs what strikes and ends a job's runs."""

    late: ClassVar = (MemberStruckAgain,)
    repairs: Actor
    recorded: bool
    """Whether repairs keep a record of how long runs have computed on each worker (R8)."""
    mistaken: bool
    """Whether a fault may be blamed on another member than it has struck, or on none, so that
    repairs need to know of the members (R7)."""
    _fell: dict[int, dict[int, float]] = field(init=False, factory=dict)
    """Maps each copy to its members that are DOWN, each with the time since which it is."""
    _rose: dict[int, dict[int, float]] = field(init=False, factory=dict)
    """Maps each copy to its members that have ceased to be DOWN, each with the time at which it
    last did; without those that went DOWN at that very instant."""

    def takes(self, copy: Copy[Run], message: MemberMessage, cause: int) -> bool:
        """Note when a member goes DOWN and when it ceases to be, and leave the message to the
        job."""
        if self.mistaken and isinstance(message, MemberStateChanged):
            now, fell = self.job.now, self._fell.setdefault(copy.number, {})
            if message.state is WorkerState.DOWN:
                fell.setdefault(message.worker, now)
            elif fell.pop(message.worker, now) < now:
                self._rose.setdefault(copy.number, {})[message.worker] = now
        return False

    def known(self, copy: Copy[Run], worker: int) -> None:
        """Report the members of the copy's run, which a fault ends, and those that were DOWN just
        before this instant: those that still are, and those that have ceased to be at it."""
        if copy.run is None or not self.mistaken:
            return
        now, number = self.job.now, copy.number
        fell = [it for it, since in self._fell.get(number, {}).items() if since < now]
        fell += (it for it, time in self._rose.get(number, {}).items() if time == now)
        struck = RunStruck(copy.number, copy.members, fell)
        self.job.send(self.repairs, struck, NOTHING)

    @handles(MemberStruckAgain, during=AT_WORK)
    def strike_again(self, message: MemberStruckAgain, _: int) -> None:
        """Report the run's members, as a fault strikes a member that was DOWN already: another
        member may be blamed for it."""
        copy = self.job.copies.get(message.copy)
        if copy is not None:
            self.known(copy, -1)

    def replaced(self, copy: Copy[Run], worker: int, other: int) -> None:
        if self._fell:
            self._fell.get(copy.number, {}).pop(worker, None)

    def run_ended(self, run: Run, kept: bool, cause: int) -> None:
        if self.recorded:
            over = RunOver(run.copy.number, run.copy.members)
            self.job.send(self.repairs, over, NOTHING)

    def left(self, copy: Copy[Run], cause: int) -> None:
        self._fell.pop(copy.number, None)
        self._rose.pop(copy.number, None)


@define(eq=False)
class Retirement(Part):
    """Has members that are DOWN for ever replaced, or done without."""

    late: ClassVar = (MemberRetired,)

    @handles(MemberRetired, during=AT_WORK)
    def member_retired(self, message: MemberRetired, cause: int) -> None:
        """Let the other parts make up for the member. Raises WorkersRetired where none does, as the
        job would wait for ever."""
        job, worker = self.job, message.worker
        copy = job.copies.get(message.copy)
        if copy is not None and not job.parts.retired(copy, worker):
            raise WorkersRetired(job.now, job.name, worker, KEPT)


@define(eq=False)
class RepairReports(SchedulerPart):
    """Reports to the actor that repairs which faults are known, and what the largest job needs;
    learns from it which workers retire, and how bad their records are (rules.md, R6 to R9)."""

    repairs: Actor
    badness: list[Any]
    """How bad the record of each worker is, or the record; empty where no placement chooses by
    records."""
    _widths: Counter[int] = field(init=False, factory=Counter)
    """Number of unfinished jobs by the number of workers that each needs."""

    def went_down(self, worker: int, copy: int, cause: int) -> None:
        self.scheduler.send(self.repairs, FaultKnown(worker, copy), cause)

    @handles(StruckWhileDown)
    def struck_while_down(self, message: StruckWhileDown, cause: int) -> None:
        scheduler, worker = self.scheduler, message.index
        # If an earlier fault of the worker is not known, this one becomes known together with it.
        if scheduler.hides(worker):
            return
        if message.hidden and scheduler.dispatcher.tell_job(cause, MemberFaultHidden, worker):
            scheduler.hide(worker, cause)
            return
        copy = scheduler.dispatcher.holder(worker)
        # Only a run of several groups goes on while it holds a worker that is DOWN.
        held = scheduler.pool.held
        replicated = copy >= 0 and scheduler.described[held[copy][0]].divided
        if replicated:
            scheduler.dispatcher.tell_job(cause, MemberStruckAgain, worker)
        scheduler.send(self.repairs, FaultKnown(worker, copy if replicated else -1), cause)

    # --- records and retirement ---------------------------------------------------------------

    @handles(RecordsChanged)
    def records_changed(self, message: RecordsChanged, _: int) -> None:
        for worker, badness in zip(message.workers, message.badness, strict=True):
            self.badness[worker] = badness

    @handles(UnitRetires)
    def unit_retires(self, message: UnitRetires, cause: int) -> None:
        """Record that workers are DOWN for ever, and tell the jobs that hold them. Raises
        WorkersRetired where too few workers are left for an unfinished job."""
        scheduler = self.scheduler
        scheduler.pool.retired.update(message.workers)
        alike: dict[tuple[int, int], BatchJob] = {}
        for job in scheduler.described.values():
            alike.setdefault((job.partition, _needed(job)), job)
        for job in alike.values():
            self._refuse_too_few(job, message.workers)
        for worker in message.workers:
            scheduler.dispatcher.tell_job(cause, MemberRetired, worker)
        # A job that waits for all workers that are left may have them now.
        scheduler.later(LookAgain(), cause, Phase.DECISION)

    def submitted(self, job: BatchJob) -> None:
        self._count(job, 1)
        if retired := self.scheduler.pool.retired:
            self._refuse_too_few(job, (max(retired),))

    def finished(self, job: BatchJob) -> None:
        self._count(job, -1)

    def _refuse_too_few(self, job: BatchJob, workers: Sequence[int]) -> None:
        left, needed = self.scheduler.left_for(job), _needed(job)
        if left < needed:
            whose = " of its partition" if left < self.scheduler.pool.left else ""
            whose = " of whole nodes" if job.node else whose
            are = "is left that is" if left == 1 else "are left that are"
            problem = f"needs {needed:,} workers: {left:,}{whose} {are} neither retired nor spares"
            raise WorkersRetired(self.scheduler.now, job.name, workers[0], problem)

    def _count(self, job: BatchJob, more: int) -> None:
        """Count a job that has come (`more` is 1) or is finished (-1) among those of its width. If
        the number of workers that the largest unfinished job needs has changed, report it."""
        widths, width, before = self._widths, _needed(job), max(self._widths, default=0)
        widths[width] += more
        if not widths[width]:
            del widths[width]
        largest = max(widths, default=0)
        if largest != before:
            self.scheduler.send(self.repairs, LargestJobChanged(largest), NOTHING)


def _needed(job: BatchJob) -> int:
    """Return the number of workers that a job needs at least."""
    return getattr(job.profile, "processors", 1)
