"""The queue's decider: who starts now, and who gets one more copy."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, cast

from attrs import define, field
from numpy.random import Generator

from actors.decider import Decider
from actors.deciders.queue.books import Books
from actors.deciders.queue.checks import checked
from actors.deciders.queue.intake import Entries, Intake, intake
from actors.deciders.queue.memory import QueueMemory
from actors.deciders.queue.promises import Promises
from actors.decisions import ours
from actors.events import BatchOpened, Outcome, ShelfOpened
from actors.messages import CopyOver, Decide
from actors.runtime import Phase, System
from actors.runtime.instants import after_instant
from policies.availability import WorkerState
from policies.interface.queue import (
    BatchJob,
    BatchPolicy,
    Decision,
    Moment,
    Order,
    Queued,
    TimedOrder,
)
from policies.queue.estimates import Estimates

if TYPE_CHECKING:
    from actors.scheduler import Scheduler

DECIDE = Decide()
DECISION, FAILED = Phase.DECISION, Outcome.FAILED


@define
class Draws:
    """One uniform number per job, drawn when first asked for."""

    system: System
    _drawn: dict[int, float] = field(factory=dict)

    @cached_property
    def rng(self) -> Generator:
        """Made when needed: deriving a stream takes as long as three attempts."""
        return self.system.stream("order")

    def __call__(self, job: BatchJob) -> float:
        """See policies.interface.queue.Draw."""
        return self._drawn.setdefault(job.index, float(self.rng.random()))


@define(eq=False)
class QueueDecider(Decider):
    """Carries out what a queue's policy decides, after checking it."""

    policy: BatchPolicy
    most: dict[int, int] = field(factory=dict)
    """By job index: the most copies at once, where that is more than one."""
    scheduler: Scheduler = field(init=False, repr=False)
    books: Books = field(init=False)
    intake: Intake = field(init=False)
    arrived: list[BatchJob] = field(init=False, factory=list)
    wake: float | None = field(init=False, default=None)
    """When the strategy wants to be asked even if nothing happens."""
    estimates: Estimates | None = None
    """What is believed of times; None: what users say."""
    resumable: Collection[int] = ()
    """Indices of jobs whose protection keeps images."""
    memory: QueueMemory | None = field(init=False, default=None)
    """What orders that change with time and estimates by experience go by."""
    copied: dict[int, tuple[Queued, int]] = field(init=False, factory=dict)
    """Jobs under way that may have several copies -> what was started, how many there are."""
    promises: Promises = field(init=False)

    def attach(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler
        system, pool = scheduler.system, scheduler.pool
        self.books = Books(system.loop, pool, resumable=self.resumable)
        self.books.compared = bool(self.resumable or self.most) or not ours(self.policy.strategy)
        self.promises = Promises(scheduler)
        self.policy = checked(self.policy)
        order = self.policy.order
        timed = cast(TimedOrder, order) if hasattr(order, "at") else None
        now = timed.at(Moment(scheduler.now)) if timed is not None else cast(Order, order)
        entries = Entries(now, pool.size, Draws(system), self.estimates)
        self.intake = intake(self.policy.allocation, entries, self._batch_opened)
        if timed is not None or self.estimates is not None:
            self.memory = QueueMemory(self.books, entries, timed, self.estimates)

    # --- what it hears of ---------------------------------------------------------------------

    def submitted(self, job: BatchJob, cause: int) -> None:
        self.arrived.append(job)

    def over(self, message: CopyOver, cause: int) -> None:
        books = self.books
        run = books.runs.pop(message.copy)
        end, index, _, waiting, numbers, _ = run
        assert waiting is not None
        if self.memory is not None:
            self.memory.ended(run, message.outcome)
        if end > books.loop.now:
            books.early.append(run)
        if numbers:
            books.former[index] = numbers
        if self.most:
            self._count_copy_out(message)
        if not message.waits:
            return
        if message.outcome is FAILED:
            again = self.intake.again(waiting)
            if again is not None:
                books.requeue(again)
        else:
            # Nobody learnt anything: it is the same attempt once more, in a batch too.
            books.requeue(waiting)

    def _count_copy_out(self, message: CopyOver) -> None:
        entry = self.copied.get(message.index)
        if entry is None:
            return
        if message.waits or message.gone:
            del self.copied[message.index]
        else:
            self.copied[message.index] = entry[0], entry[1] - 1

    def changed(self, worker: int, state: WorkerState, cause: int) -> bool:
        self.books.moved = True
        return True

    # --- what it decides ----------------------------------------------------------------------

    def woken(self, cause: int) -> int | None:
        due_by = self.scheduler.due_by
        if self.wake is None or due_by < self.wake:
            return None
        self.wake = None
        # By a promise whose time has come, else by nothing but time.
        due = (seq for start, seq in self.promises.told.values() if start <= due_by)
        return next(due, self.scheduler.system.origin)

    def decide(self, cause: int) -> None:
        books = self.books
        self.promises.decide(cause)
        if self.memory is not None:
            self.memory.refresh()
        if self.arrived or not books.queue:
            self._admit()
        decision = self.policy.strategy(books)
        if decision.withdraws:
            # Their ends are heard of at this very instant, and call for a decision.
            for run in decision.withdraws:
                self.scheduler.withdraw(run[5], cause)
            return
        self._carry_out(decision, cause)

    def _carry_out(self, decision: Decision, cause: int) -> None:
        books = self.books
        if decision.shelf_end is not None:
            self._open_shelf(decision.shelf_end, decision.starts)
        # Promises first: what starts may do so because they have moved.
        if decision.reservations or books.reservations or decision.wake != self.wake:
            self._keep(decision, cause)
        for promise in decision.promised:
            self.promises.make(promise)
        if decision.starts:
            self._start(decision, cause)
        if self.copied:
            self._copy(cause)
        if books.failed or books.former or books.early or books.moved:
            books.forget_instant()
        books.memory = decision.memory

    def _admit(self) -> None:
        books = self.books
        if self.arrived or books.idle:
            books.enqueue_all(self.intake.admit(self.arrived, books.idle))
            self.arrived.clear()

    def _open_shelf(self, end: float, starts: Sequence[Queued]) -> None:
        # One after the other may have the same end, where jobs take less than was believed.
        if end != self.books.shelf_end or (starts and not self.books.busy):
            self.books.shelf_end = end
            self.promises.open(ShelfOpened, end, len(starts))

    def _start(self, decision: Decision, cause: int) -> None:
        books, scheduler, now = self.books, self.scheduler, self.books.loop.now
        start, first, told = scheduler.start_some, decision.starts[0], scheduler.news is not None
        for waiting in decision.starts:
            books.leave(waiting)
            index, processors = waiting.key[1], waiting.processors
            why = partial(self.promises.why, decision, waiting) if told else None
            copy, numbers = start(index, processors, cause, books.former.get(index, ()), why)
            run = now + waiting.held, index, processors, waiting, numbers, copy
            books.runs[copy] = run
            if self.memory is not None:
                self.memory.started(run)
            if told:
                self.promises.started(index, waiting is first)
            if index in self.most:
                self.copied[index] = waiting, 1

    def _copy(self, cause: int) -> None:
        """One more copy of each job under way, in the queue's order, as long as workers last."""
        start, pool, runs = self.scheduler.start_some, self.scheduler.pool, self.books.runs
        why = self.promises.left_over
        for waiting, count in sorted(self.copied.values(), key=_key):
            end = self.scheduler.now + waiting.held
            index, processors = waiting.key[1], waiting.processors
            while count < self.most[index] and processors <= pool.free:
                copy, numbers = start(index, processors, cause, otherwise=why)
                runs[copy] = run = end, index, processors, waiting, numbers, copy
                if self.memory is not None:
                    self.memory.started(run)
                count += 1
            self.copied[index] = waiting, count

    def _keep(self, decision: Decision, cause: int) -> None:
        scheduler = self.scheduler
        new, gone = self.books.keep(decision)
        for promise in gone:
            self.promises.drop(promise)
        for promise in new:
            self.promises.make(promise)
        if decision.wake is not None and decision.wake != self.wake:
            # Not in this instant, which has been decided on.
            time = after_instant(scheduler.now, decision.wake)
            scheduler.at(time, DECIDE, cause, DECISION)
        self.wake = decision.wake

    def _batch_opened(self, batch: int, jobs: int, attempts: int) -> None:
        self.promises.open(BatchOpened, batch, jobs, attempts)


def _key(entry: tuple[Queued, int]) -> tuple[float, int]:
    return entry[0].key
