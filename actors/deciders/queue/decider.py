"""Decides which jobs of a queue start now, and which running jobs get one more copy."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cached_property, partial
from typing import cast

from attrs import define, evolve, field
from numpy.random import Generator

from actors.decider import Decider, DecidersHost
from actors.deciders.queue.checks import CheckedStrategy, checked
from actors.deciders.queue.intake import Book, Entries, Intake, QueueMemory, intake
from actors.deciders.queue.promises import Promises
from actors.deciders.queue.state import QueueState
from actors.decisions import name_of, ours
from actors.events import BatchOpened, Outcome, ShelfOpened
from actors.intervals import Intervals, size_of
from actors.messages import CopyOver, Decide, LookAgain
from actors.parts.cells import CellsOfPool
from actors.parts.queue_part import QueuePart
from actors.pool import ANY, Pool, Sources
from actors.runtime import Home, Phase
from actors.runtime.entries import after_instant
from policies.availability import WorkerState
from policies.interface.cells import Cells
from policies.interface.queue import (
    BatchJob,
    BatchPolicy,
    Decision,
    Moment,
    Order,
    Queued,
    Run,
    Strategy,
    TimedOrder,
)
from policies.queue.estimates import Estimates
from policies.queue.names import strategy_name
from policies.queue.preemption import Preemptive

DECIDE = Decide()
DECISION, FAILED = Phase.DECISION, Outcome.FAILED
NAMED = 3
"""Number of waiting jobs that the message about a deadlock names."""


@define
class Draws:
    """Draws a uniform number in [0, 1) for each job at the first call for it, and returns the same
    number for that job from then on."""

    system: Home
    _drawn: dict[int, float] = field(factory=dict)

    @cached_property
    def rng(self) -> Generator:
        """Generator of the draws, made when first needed because deriving a stream takes as long as
        three attempts."""
        return self.system.stream("order")

    def __call__(self, job: BatchJob) -> float:
        return self._drawn.setdefault(job.index, float(self.rng.random()))


@define(eq=False)
class QueueDecider(Decider):
    """Decider of a queue: it calls a policy (allocation, order, strategy), checks the answers of
    users' parts, and starts or cancels copies of jobs accordingly."""

    policy: BatchPolicy
    most: dict[int, int] = field(factory=dict)
    """Maps a job's index to the largest number of its copies at once, where that is more than
    one."""
    scheduler: DecidersHost = field(init=False, repr=False)
    state: QueueState = field(init=False)
    intake: Intake = field(init=False)
    arrived: list[BatchJob] = field(init=False, factory=list)
    wake: float | None = field(init=False, default=None)
    """Time at which the strategy wants to be called even if nothing happens; None for no such
    time."""
    some_ready: bool = False
    """Whether any job holds workers ready to replace members."""
    estimates: Estimates | None = None
    """Source of expected times; None for the users' estimates."""
    resumable: Collection[int] = ()
    """Indices of jobs protected by images (checkpoints on shared storage), from which a cancelled
    run continues."""
    memory: QueueMemory | None = field(init=False, default=None)
    """Users' usage and past run times, for orders that change with time and estimates that learn;
    None where neither is used."""
    copied: dict[int, tuple[Queued, int]] = field(init=False, factory=dict)
    """Maps the index of a running job that may have several copies to its queue entry and the
    number of its copies."""
    cells: Cells | None = None
    """Cells of workers; None: all are alike."""
    sizes: tuple[int, ...] = ()
    """Largest number of processors of a job of each partition; empty: there are none."""
    tiers: tuple[int, ...] = ()
    """Tier of each partition, the higher first in the queue; empty: there are none, or all have the
    same."""
    parts: tuple[QueuePart, ...] = ()
    """Mechanisms of the queue's decisions."""
    within: CellsOfPool | None = field(init=False, default=None)
    """Keeps starts to their cells; None: there are none."""
    plain: bool = field(init=False)
    """Whether each start is on any free workers, as many as its job asks for."""
    asked: Strategy = field(init=False)
    """The policy's strategy, as the parts have it asked."""
    watchful: bool = field(init=False, default=True)
    """Whether to decide after a worker's change even if no job waits: further copies of running
    jobs and users' strategies may want to."""
    _replaced: dict[int, tuple[int, Intervals]] = field(init=False, factory=dict)
    """Maps each copy whose workers have changed since the state was renewed to their number, and to
    their numbers."""
    times: Callable[[BatchJob], None] | None = field(init=False, default=None)
    """Tells the placement when a job is submitted; None where that does not matter to it."""
    promises: Promises = field(init=False)
    books: list[Book] = field(init=False, factory=list)
    """Accounts of the runs that hold workers: the memory, if there is one, and the parts."""

    def attach(self, scheduler: DecidersHost) -> None:
        self.scheduler = scheduler
        system, pool = scheduler.system, scheduler.pool
        self.state = QueueState(system.loop, pool, resumable=self.resumable)
        self.plain = self.cells is None and not self.some_ready
        if self.cells is not None:
            self.within, self.state.cells = CellsOfPool(self.cells, pool), self.cells
        # Only preemption, copies and users' strategies compare running jobs with waiting ones.
        watchful = bool(self.most) or not ours(self.policy.strategy)
        self.state.compared = watchful or bool(self.resumable)
        self.watchful = watchful
        self.times = getattr(pool.take, "submitted", None)
        self.promises = Promises(scheduler)
        self.policy = checked(self.policy)
        self.asked = self.policy.strategy
        for part in self.parts:
            self.asked = part.asked(self.asked)
        order = self.policy.order
        timed = cast(TimedOrder, order) if hasattr(order, "at") else None
        now = timed.at(Moment(scheduler.now)) if timed is not None else cast(Order, order)
        entries = Entries(now, pool.size, Draws(system), self.estimates, self.sizes, self.tiers)
        self.intake = intake(self.policy.allocation, entries, self._batch_opened)
        if timed is not None or self.estimates is not None:
            self.memory = QueueMemory(self.state, entries, timed, self.estimates)
        self.books = [*((self.memory,) if self.memory is not None else ()), *self.parts]

    # --- messages from the scheduler ----------------------------------------------------------

    def submitted(self, job: BatchJob, cause: int) -> None:
        self.arrived.append(job)
        if self.times is not None:
            self.times(job)

    def over(self, message: CopyOver, cause: int) -> None:
        if self._replaced:
            self._renew_runs()
        state = self.state
        run = state.runs.pop(message.copy)
        waiting, numbers = run.entry, run.numbers
        assert waiting is not None
        for book in self.books:
            book.ended(run, message.outcome)
        # An end earlier than expected leaves room in the plans of strategies that keep one.
        if run.end > state.loop.now:
            state.early.append(run)
        if numbers:
            state.former[run.index] = numbers
        if self.most:
            self._count_copy_out(message)
        if message.waits:
            self._requeue(waiting, message.outcome)

    def _requeue(self, waiting: Queued, outcome: Outcome) -> None:
        """Put the job of this entry back in the queue for another attempt, after one that ended
        with `outcome`."""
        if outcome is FAILED:
            again = self.intake.again(waiting)
            if again is not None:
                self.state.requeue(again)
        else:
            # A loss or a cancellation says nothing about the job: it repeats the same attempt, in a
            # batch too.
            self.state.requeue(waiting)

    def _count_copy_out(self, message: CopyOver) -> None:
        entry = self.copied.get(message.index)
        if entry is None:
            return
        if message.waits or message.gone:
            del self.copied[message.index]
        else:
            self.copied[message.index] = entry[0], entry[1] - 1

    def may_have(self, job: BatchJob, worker: int) -> bool:
        return self.cells is None or self.cells.has(job.partition, worker)

    def left_for(self, job: BatchJob, pool: Pool) -> int:
        return pool.left if self.within is None else self.within.left(job.partition)

    def cancelled(self, index: int) -> None:
        self.arrived = [job for job in self.arrived if job.index != index]
        self.intake.cancelled(index)
        self.promises.logged.pop(index, None)
        waiting = self.state.cancel(index)
        for part in self.parts:
            part.cancelled(index, waiting)

    def changed(self, worker: int, state: WorkerState, cause: int) -> bool:
        self.state.moved = True
        if self.state.cells is not None:
            self.state.changed.append(worker)
        for part in self.parts:
            part.changed(worker, state)
        # Most faults of a wide job meet an empty queue, and a decision takes a tenth of their time.
        return not self.idle

    @property
    def idle(self) -> bool:
        return not (self.watchful or self.state.queue or self.arrived)

    def call_reserve(self, agent: str, cause: int) -> None:
        for part in self.parts:
            part.call_for(agent, self.scheduler, cause)

    def replaced(self, copy: int, processors: int, numbers: Intervals) -> None:
        # Most of these changes come while nothing waits, and no decision sees them.
        self._replaced.pop(copy, None)
        self._replaced[copy] = processors, numbers

    def _renew_runs(self) -> None:
        """Have the state show the workers that copies hold by now."""
        state, within = self.state, self.within
        for copy, (processors, numbers) in self._replaced.items():
            run, parts = state.runs[copy], within.parts(numbers) if within else ()
            state.replace(Run(run.end, run.index, processors, run.entry, numbers, copy, parts))
        self._replaced.clear()

    # --- decisions ----------------------------------------------------------------------------

    def woken(self, cause: int) -> int | None:
        due_by = self.scheduler.due_by
        if self.wake is None or due_by < self.wake:
            return None
        self.wake = None
        # The cause is a reservation whose time has come, or else only the passing of time.
        due = (seq for start, seq in self.promises.logged.values() if start <= due_by)
        return next(due, self.scheduler.system.origin)

    def decide(self, cause: int) -> None:
        if self._replaced:
            self._renew_runs()
        state = self.state
        self.promises.decide(cause)
        for part in self.parts:  # before the queue is sorted anew
            part.release(state)
        if self.memory is not None:
            self.memory.refresh(self.arrived)
        # An empty queue may open the next batch, even without an arrival.
        if self.arrived or not state.queue:
            self._admit()
        decision = self.asked(state)
        if decision.cancels:
            # The ends of these runs arrive at this very instant and call for a new decision.
            for run in decision.cancels:
                self.scheduler.dispatcher.cancel_copy(run.copy, cause)
            return
        if self.parts and any(part.looks_again(state) for part in self.parts):
            self.scheduler.later(LookAgain(), cause, DECISION)
        self._carry_out(decision, cause)

    def _carry_out(self, decision: Decision, cause: int) -> None:
        state, whole = self.state, decision
        if decision.starts and not self.plain:
            decision = self._until_unforeseen(decision, cause)
        if decision.shelf_end is not None:
            self._open_shelf(decision.shelf_end, decision.starts)
        # Reservations first: jobs that start may do so because reservations have moved.
        promised = decision.reservations or decision.promised or state.reservations
        if promised or decision.wake != self.wake:
            self._keep(decision, cause)
        if self.within is not None:
            self._start_within(self.within, decision, cause)
        elif decision.starts:
            self._start(decision, decision.starts, cause)
        if self.copied and decision is whole:  # further copies come after all jobs that start
            self._copy(cause)
        if state.failed or state.former or state.early or state.moved:
            state.forget_instant()
        state.memory = decision.memory

    def carried_out(self, cause: int) -> None:
        for part in self.parts:
            part.carried_out(self.scheduler, self.state, cause)

    def _until_unforeseen(self, decision: Decision, cause: int) -> Decision:
        """Return the decision up to and including its first start whose workers the strategy could
        not foresee, and request another decision at this instant for the rest; the whole decision
        if there is no such start, or no worker is left after it.

        It does not foresee workers that are held ready to replace members (rules.md, P12), which
        are no longer free then, nor the workers of a start for which it leaves the choice between
        cells to the placement.
        """
        state, free, places = self.state, self.scheduler.pool.free, decision.places
        chosen = state.cells is not None and len(state.queue) > 1
        for k, waiting in enumerate(decision.starts, 1):
            free -= waiting.processors
            open_choice = chosen and waiting.key[1] not in places
            if free and (open_choice or waiting.job.held_ready):
                self.scheduler.decide_soon(cause)
                starts, known = decision.starts[:k], state.reservations.values()
                kept = tuple(it for it in known if it.waiting not in starts)
                return evolve(decision, starts=starts, reservations=kept)
        return decision

    def _admit(self) -> None:
        state = self.state
        if self.arrived or state.idle:
            state.enqueue_all(self.intake.admit(self.arrived, state.idle))
            self.arrived.clear()

    def _open_shelf(self, end: float, starts: Sequence[Queued]) -> None:
        # Two shelves in a row can have the same end, where jobs take less time than was expected.
        if end != self.state.shelf_end or (starts and not self.state.busy):
            self.state.shelf_end = end
            self.promises.open(ShelfOpened, end, len(starts))

    def _start_within(self, within: CellsOfPool, decision: Decision, cause: int) -> None:
        """Start the decision's jobs where workers differ, each only on workers of its partition
        that no window takes before the job's end (rules.md, G4 and M2). A job for which too few of
        these are free does not start. If others have started before it, request another decision at
        this instant."""
        begun, now = False, self.scheduler.now
        for waiting in decision.starts:
            sources = within.sources(waiting, decision.places.get(waiting.key[1], ()), now)
            if sources is not None:
                self._start(decision, (waiting,), cause, sources, first=not begun)
                begun = True
            elif begun:
                self.scheduler.decide_soon(cause)

    def _start(
        self,
        decision: Decision,
        starts: Sequence[Queued],
        cause: int,
        sources: Sources = ANY,
        first: bool = True,
    ) -> None:
        """Start these jobs of the decision on workers of `sources`; `first`: it has started none
        before."""
        state, dispatcher, now = self.state, self.scheduler.dispatcher, self.state.loop.now
        logged, plain = dispatcher.tracker is not None, self.plain
        for waiting in starts:
            index, processors = waiting.key[1], waiting.processors
            state.leave(waiting)
            for part in self.parts:
                processors = part.members(waiting, processors)
            why = partial(self.promises.why, decision, waiting) if logged else None
            former = state.former.get(index, ()) if state.former else ()
            if plain:
                copy, numbers = dispatcher.start_some(index, processors, cause, former, why)
                run = Run(now + waiting.held, index, processors, waiting, numbers, copy)
            else:
                run = self._start_among(waiting, processors, cause, former, why, sources)
            state.runs[run.copy] = run
            for book in self.books:
                book.started(run)
            if logged:
                self.promises.started(index, first and waiting is starts[0])
            if index in self.most:
                self.copied[index] = waiting, 1

    def _start_among(
        self,
        waiting: Queued,
        processors: int,
        cause: int,
        former: Intervals,
        why: Callable[[], int] | None,
        sources: Sources,
    ) -> Run:
        """Start a copy of this job with `processors` members on workers of `sources`, with those
        that it holds besides: ready, or of its nodes. Return its run. The other parameters are
        those of the dispatcher's `start_among`."""
        index, ready, now = waiting.key[1], waiting.job.held_ready, self.state.loop.now
        start = self.scheduler.dispatcher.start_among
        copy, held, own = start(index, processors, cause, former, why, ready, sources)
        if self.within is not None:
            return self.within.run(waiting, held, own, copy, now, sources.parts)
        size = processors if held is own else size_of(held)
        return Run(now + waiting.held, index, size, waiting, held, copy)

    def _copy(self, cause: int) -> None:
        """Start further copies of running jobs, in the queue's order, each job's until it has as
        many as it can have or too few workers are free. `cause` is the number of the event that
        calls for the decision."""
        for waiting, count in sorted(self.copied.values(), key=_key):
            index = waiting.key[1]
            while count < self.most[index] and self._start_copy(waiting, cause):
                count += 1
            self.copied[index] = waiting, count

    def _start_copy(self, waiting: Queued, cause: int) -> bool:
        """Start one more copy of this job if enough workers are free and no part forbids it;
        return whether it starts."""
        if any(part.above(waiting) for part in self.parts):
            return False
        processors, why = waiting.processors, self.promises.left_over
        if self.within is not None:
            sources = self.within.sources(waiting, (), self.scheduler.now)
        else:
            sources = ANY if processors <= self.scheduler.pool.free else None
        if sources is None:
            return False
        run = self._start_among(waiting, processors, cause, (), why, sources)
        self.state.runs[run.copy] = run
        for book in self.books:
            book.started(run)
        return True

    def _keep(self, decision: Decision, cause: int) -> None:
        scheduler = self.scheduler
        new, gone = self.state.keep(decision)
        for promise in gone:
            self.promises.drop(promise)
        for promise in (*new, *decision.promised):
            self.promises.make(promise)
        if decision.wake is not None and decision.wake != self.wake:
            # The wake-up comes after this instant, which has been decided on.
            time = after_instant(scheduler.now, decision.wake)
            scheduler.at(time, DECIDE, cause, DECISION)
        self.wake = decision.wake

    def _batch_opened(self, batch: int, jobs: int, attempts: int) -> None:
        self.promises.open(BatchOpened, batch, jobs, attempts)

    def stalled(self) -> str:
        state, strategy = self.state, self.policy.strategy
        while isinstance(strategy, CheckedStrategy | Preemptive):
            strategy = strategy.strategy
        if not state.queue or state.runs:  # else those that run say what they wait for
            return ""
        who, free = strategy_name(strategy) or name_of(strategy), f"{state.free} of "
        names = [entry.job.name for entry in state.queue[:NAMED]]
        names += ["..."] if len(state.queue) > NAMED else []
        waiting = f"the {len(state.queue)} that wait ({', '.join(names)})"
        free += f"{state.processors} workers are free"
        return f", as policy {who} starts none of {waiting}: {free}"


def _key(entry: tuple[Queued, int]) -> tuple[float, int]:
    return entry[0].key
