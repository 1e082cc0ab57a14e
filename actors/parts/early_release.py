"""Early release: a copy promises its workers to others before its run ends (malleable17, section
5).

It computes on them to its end, and only then can another copy use them. The pool gives them out at
once, so that a decision can count on them.
"""

from __future__ import annotations

from attrs import define

from actors.intervals import intervals_of, members, text
from actors.messages import MembersArrived, MemberStateChanged, PromiseCopy
from actors.parts.scheduler_part import SchedulerPart
from policies.availability import WorkerState


@define(eq=False)
class EarlyRelease(SchedulerPart):
    """Promises the workers of copies to others, and hands them on as the copies end."""

    def promise(self, copy: int, cause: int) -> None:
        """Release a copy's workers in the pool before its run ends. `cause` is the number of the
        event that leads to it."""
        scheduler, dispatcher = self.scheduler, self.scheduler.dispatcher
        index, _, _ = scheduler.pool.held[copy]
        for worker in members(scheduler.pool.release_early(copy)):
            dispatcher.promised.setdefault(worker, copy)
        scheduler.send(dispatcher.jobs[index], PromiseCopy(copy), cause)

    def came_up(self, worker: int, repaired: bool, cause: int) -> None:
        """Tell the copy that has promised this worker to others that it is UP again. If the copy's
        run was lost before it promised its workers, its next run may wait for exactly that."""
        dispatcher = self.scheduler.dispatcher
        copy = dispatcher.promised.get(worker)
        if copy is not None:
            message = MemberStateChanged(copy, worker, WorkerState.UP, False)
            self.scheduler.send(dispatcher.jobs[self.scheduler.pool.held[copy][0]], message, cause)

    def ended(self, copy: int, cause: int) -> None:
        """Hand on the workers that the copy had promised: each copy that was given some of them
        gets the message that it can use them now."""
        scheduler, dispatcher = self.scheduler, self.scheduler.dispatcher
        promised, joined = dispatcher.promised, dict[int, list[int]]()
        for worker in sorted(worker for worker, by in promised.items() if by == copy):
            del promised[worker]
            joined.setdefault(scheduler.pool.holder(worker), []).append(worker)
        for other, workers in joined.items():
            if other < 0 and dispatcher.tracker is not None:
                dispatcher.tracker.free(intervals_of(workers), cause)
            elif other >= 0:
                index, _, numbers = scheduler.pool.held[other]
                came = text(intervals_of(workers)), dispatcher.present(numbers)
                scheduler.send(dispatcher.jobs[index], MembersArrived(other, *came), cause)
