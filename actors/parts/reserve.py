"""Calls workers of the reserve for the first job of a queue (rules.md, P11).

Where workers are divided there are several first jobs: each one whose partition shares no worker
with that of a job ahead of it. A worker is called for jobs that may have it.
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import define, field

from actors.events import AgentCalledReserve, ReserveCalled
from actors.parts.queue_part import Deciding, QueuePart, WaitingJobs
from actors.parts.scheduler_part import SchedulerPart
from actors.runtime import handles
from actors.worker_messages import CalledButDown, ComeInTime
from policies.availability import WorkerState
from policies.interface.queue import Queued

UP, DOWN = WorkerState.UP, WorkerState.DOWN


@define(eq=False)
class Reserve(QueuePart):
    """Workers that their owner keeps RECLAIMED until they are called, one after the other, for the
    first job of the queue when it lacks free workers (rules.md, P11).

    Once a worker is called for a job, the job does not start with less than its members and all
    that it holds ready: in the queue it counts as needing both.
    """

    left: list[int]
    """Reserve workers that have not been called, ascending."""
    delay: float
    """Time from a call until the worker is UP, time units."""
    down: set[int] = field(init=False, factory=set)
    """Reserve workers that are DOWN."""
    called: dict[int, float] = field(init=False, factory=dict)
    """Maps each worker that has been called and is not UP yet to the time at which it should
    come."""
    widened: dict[int, tuple[Queued, int]] = field(init=False, factory=dict)
    """Maps the index of each job for which a worker was called to its entry in the queue and the
    number of its members."""

    def looks_again(self, state: WaitingJobs) -> bool:
        return bool(state.queue or self.called)

    def changed(self, worker: int, state: WorkerState) -> None:
        """Record that a worker has changed its state to `state`. A called one that is UP has
        come."""
        if state is DOWN:
            self.down.add(worker)
            return
        self.down.discard(worker)
        if state is UP:
            self.called.pop(worker, None)

    def carried_out(self, scheduler: Deciding, state: WaitingJobs, cause: int) -> None:
        """Call workers after a decision. One that was called and is DOWN when it should come is not
        waited for: it comes when it is UP. `cause` is the number of the event that called for the
        decision."""
        self._resize(scheduler, state, cause)
        passed = [it for it, due in self.called.items() if due <= scheduler.due_by]
        for worker in self.down.intersection(passed):
            del self.called[worker]  # in repair or retired: the next one is called in its place
        for first in self._first_jobs(state):
            self._call(first, scheduler, state, cause)

    def _first_jobs(self, state: WaitingJobs) -> Iterator[Queued]:
        """Yield the first job of the queue and, where workers are divided, each later job whose
        partition shares no worker with that of an earlier job."""
        blocked: set[int] = set()
        for waiting in list(state.queue):
            partition = waiting.job.partition
            if partition in blocked:
                continue
            yield waiting
            if state.cells is None:
                return
            blocked |= state.cells.sharing[partition]
            if len(blocked) == len(state.cells.names):
                return

    def _call(self, first: Queued, scheduler: Deciding, state: WaitingJobs, cause: int) -> None:
        """Call the next worker of a waiting job's partition that is not DOWN, if the job needs more
        workers than are free and no called worker is still to come."""
        cells, partition = state.cells, first.job.partition
        free = state.free if cells is None else cells.usable(partition, cells.free(state.vacant))
        if first.processors <= free or any(_has(state, partition, it) for it in self.called):
            return
        left = (it for it in self.left if it not in self.down and _has(state, partition, it))
        worker = next(left, None)
        if worker is None:
            return
        self.left.remove(worker)
        self.called[worker] = scheduler.now + self.delay
        cause = scheduler.record(cause, ReserveCalled, worker, first.job.name)
        assert scheduler.workers is not None
        scheduler.send(scheduler.workers(worker), ComeInTime(self.delay), cause)
        index = first.key[1]
        if index not in self.widened and first.job.held_ready:
            self.widened[index] = first, first.processors
            self._resize(scheduler, state, cause)

    def call_for(self, agent: str, scheduler: Deciding, cause: int) -> None:
        """Call the next worker for an agent, whatever the queue needs, if one is left. The queue
        calls others meanwhile. `cause` is the number of the event for which the agent asks."""
        worker = next((it for it in self.left if it not in self.down), None)
        if worker is not None:
            self.left.remove(worker)
            cause = scheduler.record(cause, AgentCalledReserve, agent, worker)
            assert scheduler.workers is not None
            scheduler.send(scheduler.workers(worker), ComeInTime(self.delay), cause)

    def cancelled(self, index: int, waiting: Queued | None) -> None:
        # A worker that was called for the job comes all the same.
        self.widened.pop(index, None)

    def _resize(self, scheduler: Deciding, state: WaitingJobs, cause: int) -> None:
        """Set the number of free workers that each job for which a worker was called needs to
        start: its members and all that it holds ready or, if these are fewer, all workers of its
        partition that have not retired, but never less than its members. If a number changes,
        request a decision."""
        for waiting, members in self.widened.values():
            most = scheduler.left_for(waiting.job)
            width = max(min(members + waiting.job.held_ready, most), members)
            if width != waiting.processors:
                state.resize(waiting, width)
                scheduler.decide_soon(cause)

    def members(self, waiting: Queued, processors: int) -> int:
        """Return the number of members of the job `waiting`, which starts now, those held ready not
        counted, and set the job's entry in the queue back to that number."""
        _, members = self.widened.pop(waiting.key[1], (waiting, processors))
        waiting.processors = members
        return members


def _has(state: WaitingJobs, partition: int, worker: int) -> bool:
    """Return whether the worker, no spare, is in this partition; where all workers form one
    pool, it is."""
    return state.cells is None or state.cells.has(partition, worker)


@define(eq=False)
class ReserveCalls(SchedulerPart):
    """Has the decider decide when a called worker is DOWN as it should come: the next one is called
    in its place."""

    @handles(CalledButDown)
    def pass_over(self, _: CalledButDown, cause: int) -> None:
        self.scheduler.call(cause)
