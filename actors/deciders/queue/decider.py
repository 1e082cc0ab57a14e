"""The queue's decider: who starts now, and who gets one more copy."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from attrs import define, field
from numpy.random import Generator

from actors.deciders.queue.books import Books
from actors.deciders.queue.checks import checked
from actors.deciders.queue.intake import Entries, Intake, intake
from actors.events import BatchOpened, Outcome, ReservationMade, ShelfOpened
from actors.messages import CopyOver, Decide, Stood
from actors.runtime import Phase, System
from policies.availability import WorkerState
from policies.interface.queue import BatchJob, BatchPolicy, Decision, Queued

if TYPE_CHECKING:
    from actors.job import Job
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
class QueueDecider:
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
    copied: dict[int, tuple[Queued, int]] = field(init=False, factory=dict)
    """Jobs under way that may have several copies -> what was started, how many there are."""

    def attach(self, scheduler: Scheduler) -> None:
        """See Decider."""
        self.scheduler = scheduler
        system, pool = scheduler.system, scheduler.pool
        self.books = Books(system.loop, pool)
        self.policy = checked(self.policy)
        entries = Entries(self.policy.order, pool.size, Draws(system))
        self.intake = intake(self.policy.allocation, entries, self._batch_opened)

    # --- what it hears of ---------------------------------------------------------------------

    def submitted(self, job: Job) -> None:
        """See Decider."""
        self.arrived.append(job.described)

    def over(self, message: CopyOver) -> None:
        """See Decider."""
        books = self.books
        _, index, _, waiting, numbers, _ = books.runs.pop(message.copy)
        assert waiting is not None
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

    def changed(self, worker: int, state: WorkerState, until: float | None) -> bool:
        """See Decider."""
        return True

    def programmed(self, worker: int, label: str) -> bool:
        """See Decider."""
        return False

    def stood(self, message: Stood) -> None:
        """See Decider: a queue resizes nobody."""

    def sped(self, worker: int, speed: float) -> bool:
        """See Decider."""
        return False

    # --- what it decides ----------------------------------------------------------------------

    def woken(self) -> bool:
        """See Decider."""
        if self.wake is None or self.scheduler.now < self.wake:
            return False
        self.wake = None
        return True

    def decide(self) -> None:
        """See Decider."""
        books = self.books
        if self.arrived or not books.queue:
            self._admit()
        decision = self.policy.strategy(books)
        if decision.shelf_end is not None:
            self._open_shelf(decision.shelf_end, len(decision.starts))
        self._start(decision.starts)
        if self.copied:
            self._copy()
        if books.failed or books.former:
            books.forget_instant()
        if decision.reservations or books.reservations or decision.wake != self.wake:
            self._keep(decision)

    def _admit(self) -> None:
        books = self.books
        if self.arrived or books.idle:
            books.enqueue_all(self.intake.admit(self.arrived, books.idle))
            self.arrived.clear()

    def _open_shelf(self, end: float, jobs: int) -> None:
        if end != self.books.shelf_end:
            self.books.shelf_end = end
            self.scheduler.record(ShelfOpened, end, jobs)

    def _start(self, starts: Sequence[Queued]) -> None:
        books, start, now = self.books, self.scheduler.start_some, self.scheduler.now
        for waiting in starts:
            books.leave(waiting)
            index, processors = waiting.key[1], waiting.processors
            copy, numbers = start(index, processors, books.former.get(index, ()))
            books.runs[copy] = now + waiting.held, index, processors, waiting, numbers, copy
            if index in self.most:
                self.copied[index] = waiting, 1

    def _copy(self) -> None:
        """One more copy of each job under way, in the queue's order, as long as workers last."""
        start, pool, runs = self.scheduler.start_some, self.scheduler.pool, self.books.runs
        for waiting, count in sorted(self.copied.values(), key=_key):
            end = self.scheduler.now + waiting.held
            index, processors = waiting.key[1], waiting.processors
            while count < self.most[index] and processors <= pool.free:
                copy, numbers = start(index, processors)
                runs[copy] = end, index, processors, waiting, numbers, copy
                count += 1
            self.copied[index] = waiting, count

    def _keep(self, decision: Decision) -> None:
        scheduler = self.scheduler
        for promise in self.books.keep(decision.reservations):
            name = promise.waiting.job.name
            scheduler.record(ReservationMade, name, promise.start, promise.waiting.processors)
        if decision.wake is not None and decision.wake != self.wake:
            scheduler.at(decision.wake, DECIDE, DECISION)
        self.wake = decision.wake

    def _batch_opened(self, batch: int, jobs: int, attempts: int) -> None:
        self.scheduler.record(BatchOpened, batch, jobs, attempts)


def _key(entry: tuple[Queued, int]) -> tuple[float, int]:
    return entry[0].key
