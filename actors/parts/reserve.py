"""Calls workers of the reserve for the first job of a queue (rules.md, P11)."""

from __future__ import annotations

from attrs import define, field

from actors.events import AgentCalledReserve, ReserveCalled
from actors.parts.queue_part import Deciding, QueuePart, WaitingJobs
from actors.parts.scheduler_part import SchedulerPart
from actors.runtime import handles
from actors.worker_messages import CalledButDown, ComeInTime
from policies.availability import WorkerState
from policies.interface.queue import Queued


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
    called: int | None = field(init=False, default=None)
    """Worker that has been called and is not UP yet; None: there is none."""
    due: float = field(init=False, default=-1)
    """Time at which the worker called last should come."""
    widened: dict[int, tuple[Queued, int]] = field(init=False, factory=dict)
    """Maps the index of each job for which a worker was called to its entry in the queue and the
    number of its members."""

    def looks_again(self, state: WaitingJobs) -> bool:
        return bool(state.queue) or self.called is not None

    def changed(self, worker: int, state: WorkerState) -> None:
        """Record that a worker has changed its state to `state`. If it is the called one and is UP,
        it has come."""
        (self.down.add if state is WorkerState.DOWN else self.down.discard)(worker)
        if worker == self.called and state is WorkerState.UP:
            self.called = None

    def carried_out(self, scheduler: Deciding, state: WaitingJobs, cause: int) -> None:
        """Call the next reserve worker that is not DOWN, after a decision, if the first job of the
        queue needs more workers than are free and no called worker is still to come. A called one
        that is DOWN when it should come is not waited for: it comes when it is UP. `cause` is the
        number of the event that called for the decision."""
        self._resize(scheduler, state, cause)
        if self.called in self.down and self.due <= scheduler.due_by:
            self.called = None  # in repair or retired: the next one is called in its place
        first = state.queue[0] if state.queue else None
        if first is None or self.called is not None or first.processors <= state.free:
            return
        worker = self._next()
        if worker is None:
            return
        self.called, self.due = worker, scheduler.now + self.delay
        cause = scheduler.record(cause, ReserveCalled, worker, first.job.name)
        assert scheduler.workers is not None
        scheduler.send(scheduler.workers(worker), ComeInTime(self.delay), cause)
        index = first.key[1]
        if index not in self.widened and first.job.held_ready:
            self.widened[index] = first, first.processors
            self._resize(scheduler, state, cause)

    def _next(self) -> int | None:
        """Return the next worker to be called, which is left no longer; None if there is none."""
        worker = next((it for it in self.left if it not in self.down), None)
        if worker is not None:
            self.left.remove(worker)
        return worker

    def call_for(self, agent: str, scheduler: Deciding, cause: int) -> None:
        """Call the next worker for an agent, whatever the queue needs, if one is left. The queue
        calls others meanwhile. `cause` is the number of the event for which the agent asks."""
        worker = self._next()
        if worker is not None:
            cause = scheduler.record(cause, AgentCalledReserve, agent, worker)
            assert scheduler.workers is not None
            scheduler.send(scheduler.workers(worker), ComeInTime(self.delay), cause)

    def cancelled(self, index: int, waiting: Queued | None) -> None:
        # A worker that was called for the job comes all the same.
        self.widened.pop(index, None)

    def _resize(self, scheduler: Deciding, state: WaitingJobs, cause: int) -> None:
        """Set the number of free workers that each job for which a worker was called needs to
        start: its members and all that it holds ready or, if these are fewer, all workers that have
        not retired, but never less than its members. If a number changes, request a decision."""
        most = scheduler.pool.left
        for waiting, members in self.widened.values():
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


@define(eq=False)
class ReserveCalls(SchedulerPart):
    """Has the decider decide when a called worker is DOWN as it should come: the next one is called
    in its place."""

    @handles(CalledButDown)
    def pass_over(self, _: CalledButDown, cause: int) -> None:
        self.scheduler.call(cause)
