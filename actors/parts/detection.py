"""Detection: a fault can stay unknown to the job whose member it strikes (rules.md, F1).

Until it is known, the run stands still as if the member were RECLAIMED; nothing is lost, and nobody
replaces the member. What the run would tell of its state is not to be trusted meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from attrs import define, field

from actors.copy import Copy
from actors.events import FaultDetected
from actors.intervals import Intervals, among
from actors.job import AT_WORK
from actors.parts.part import NONE_HIDDEN, Part
from actors.parts.scheduler_part import SchedulerPart
from actors.repair_messages import MemberFaultHidden
from actors.run import Run
from actors.runtime import handles, message
from actors.worker_messages import HiddenFaultDetected
from policies.availability import WorkerState


@message
class MemberFaultDetected:
    """Scheduler to job: the fault by which this member of the copy went DOWN, hidden from you so
    far, is detected now."""

    copy: int
    worker: int


@define(eq=False)
class Detection(Part):
    """Keeps the faults of members that the job does not know of yet."""

    late: ClassVar = (MemberFaultDetected, MemberFaultHidden)
    _of: dict[int, dict[int, float]] = field(init=False, factory=dict)
    """Maps each copy that has such members to these, each with the time at which it went DOWN."""

    def down(self, copy: Copy[Run], worker: int, hidden: bool, cause: int) -> int | None:
        if not hidden:
            return None
        self._of.setdefault(copy.number, {}).setdefault(worker, self.job.now)
        if copy.run is not None and copy.depends_on(worker):
            copy.run.missing.add(worker)  # the run waits for it, whatever others report
            return copy.run.review(cause)
        return cause

    @handles(MemberFaultHidden, during=AT_WORK)
    def hide(self, message: MemberFaultHidden, _: int) -> None:
        """Note a member that is struck again at the instant at which its DOWN would have ended."""
        if message.copy in self.job.copies:
            self._of.setdefault(message.copy, {}).setdefault(message.worker, self.job.now)

    @handles(MemberFaultDetected, during=AT_WORK)
    def detected(self, message: MemberFaultDetected, cause: int) -> None:
        """Have the job act on a fault that was hidden from it: the run is lost now."""
        job, worker = self.job, message.worker
        copy = job.copies.get(message.copy)
        if copy is None or worker not in self.hidden(copy):
            return
        del self._of[copy.number][worker]
        job.parts.known(copy, worker)
        cause = job.record(cause, FaultDetected, job.name, copy.last, worker)
        if copy.run is not None:
            cause = job.fail(copy, copy.run, worker, cause)
        job.report_progress(copy, cause)

    def hidden(self, copy: Copy[Run]) -> Mapping[int, float]:
        return self._of.get(copy.number, NONE_HIDDEN)

    def doubts(self, copy: Copy[Run]) -> bool:
        return any(copy.depends_on(worker) for worker in self.hidden(copy))

    def replaced(self, copy: Copy[Run], worker: int, other: int) -> None:
        if copy.number in self._of:
            self._of[copy.number].pop(worker, None)

    def left(self, copy: Copy[Run], cause: int) -> None:
        self._of.pop(copy.number, None)


@define(eq=False)
class HiddenFaults(SchedulerPart):
    """Keeps the faults that only their workers know of yet. The fault of a worker that no copy
    holds any more is known at once."""

    repaired: bool = False
    """Whether faults are repaired: those of workers that are released are then known before the
    decision, so that they can be blamed on the run that held them."""
    _hidden: dict[int, int] = field(init=False, factory=dict)
    """Maps each worker whose DOWN is not known yet to the number of the event with which it went
    DOWN."""

    def hide(self, worker: int, cause: int) -> None:
        self._hidden[worker] = cause

    def hides(self, worker: int) -> bool:
        return worker in self._hidden

    @handles(HiddenFaultDetected)
    def detected(self, message: HiddenFaultDetected, cause: int) -> None:
        worker, scheduler = message.index, self.scheduler
        if self._hidden.pop(worker, None) is not None:
            scheduler.dispatcher.tell_job(cause, MemberFaultDetected, worker)
            scheduler.known(worker, WorkerState.DOWN, cause, scheduler.pool.holder(worker))

    def released(self, copy: int, numbers: Intervals) -> None:
        if self.repaired and self._hidden:
            for worker in among(numbers, self._hidden):
                self._reveal(worker, copy)

    @property
    def unsettled(self) -> bool:
        return bool(self._hidden)

    def settle(self) -> bool:
        self.reveal()
        return False

    def reveal(self) -> None:
        for worker in [it for it in self._hidden if self.scheduler.pool.holder(it) < 0]:
            self._reveal(worker, -1)

    def _reveal(self, worker: int, copy: int) -> None:
        self.scheduler.known(worker, WorkerState.DOWN, self._hidden.pop(worker), copy)
