"""The scheduler of rigid and moldable jobs: hears of ends and arrivals, decides once an instant."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from attrs import define, field
from numpy.random import Generator

from actors.batch.books import Books
from actors.batch.decisions import checked
from actors.batch.events import BatchOpened, ReservationMade, ShelfOpened, WorkloadEnded
from actors.batch.intake import Entries, Intake, intake
from actors.batch.job import Job
from actors.batch.messages import (
    AttemptEnded,
    Decide,
    LoseAttempt,
    ProcessorCameBack,
    ProcessorWentDown,
    StartAttempt,
    Submit,
)
from actors.batch.pool import Numbers, text
from actors.events import Outcome, RunStarted
from actors.runtime import Actor, Phase, System, handles
from policies.interface.batch import BatchJob, BatchPolicy, Decision, Queued

DECIDE = Decide()
# See actors.batch.job on enum members.
DECISION = Phase.DECISION
FAILED, LOST, COMPLETED = Outcome.FAILED, Outcome.LOST, Outcome.COMPLETED


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
        """See policies.interface.batch.Draw."""
        return self._drawn.setdefault(job.index, float(self.rng.random()))


@define(eq=False)
class BatchScheduler(Actor):
    """Carries out what the policy decides, after checking it.

    The run ends when `jobs` jobs have completed or been killed.
    """

    processors: int
    policy: BatchPolicy
    jobs: int
    failing: bool = False
    """Whether processors may fail: then it matters which ones a job has, log or no log."""
    books: Books = field(init=False)
    intake: Intake = field(init=False)
    actors: dict[int, Job] = field(init=False, factory=dict)
    """By index: the jobs that have been submitted and are not gone."""
    arrived: list[BatchJob] = field(init=False, factory=list)
    deciding: bool = field(init=False, default=False)
    wake: float | None = field(init=False, default=None)
    """When the strategy wants to be asked even if nothing happens."""
    completed: int = field(init=False, default=0)
    killed: int = field(init=False, default=0)
    attempts: int = field(init=False, default=0)

    def started(self) -> None:
        processors = self.processors
        numbered = self.failing or self.system.journal.wants(RunStarted)
        numbers = Numbers(processors) if numbered else None
        self.books = Books(self.system.loop, processors, numbers, processors)
        self.policy = checked(self.policy)
        entries = Entries(self.policy.order, self.processors, Draws(self.system))
        self.intake = intake(self.policy.allocation, entries, self._batch_opened)

    # --- what it hears -----------------------------------------------------------------------

    @handles(Submit)
    def hear_of(self, message: Submit) -> None:
        job = message.job
        self.actors[job.described.index] = job
        self.arrived.append(job.described)
        if not self.deciding:
            self._decide_soon()

    @handles(AttemptEnded)
    def take_back(self, message: AttemptEnded) -> None:
        index, books, outcome = message.index, self.books, message.outcome
        self.attempts += 1
        if outcome is FAILED:
            again = self.intake.again(books.end(index))
            if again is not None:
                books.requeue(again)
        elif outcome is LOST:
            # Nobody learnt anything: it is the same attempt once more, in a batch too.
            books.requeue(books.lose(index))
        else:
            books.end(index)
            self._count_out(index, outcome)
        if not self.deciding:
            self._decide_soon()

    @handles(ProcessorWentDown)
    def do_without(self, message: ProcessorWentDown) -> None:
        index = self.books.fail(message.processor, message.until)
        if index is not None:
            self.send(self.actors[index], LoseAttempt())
        if not self.deciding:
            self._decide_soon()

    @handles(ProcessorCameBack)
    def use_again(self, message: ProcessorCameBack) -> None:
        self.books.repair(message.processor)
        if not self.deciding:
            self._decide_soon()

    def _count_out(self, index: int, outcome: Outcome) -> None:
        del self.actors[index]
        if outcome is COMPLETED:
            self.completed += 1
        else:
            self.killed += 1
        if self.completed + self.killed == self.jobs:
            self.record(WorkloadEnded, self.completed, self.killed, self.attempts)
            self.system.finish()

    def _decide_soon(self) -> None:
        self.deciding = True
        self.later(DECIDE, DECISION)

    # --- what it decides ---------------------------------------------------------------------

    @handles(Decide)
    def decide(self, message: Decide) -> None:
        if not (self.deciding or self._woken()):
            return
        self.deciding = False
        books = self.books
        if self.arrived or not books.queue:
            self._admit()
        decision = self.policy.strategy(books)
        if decision.shelf_end is not None:
            self._open_shelf(decision.shelf_end, len(decision.starts))
        self._start(decision.starts)
        if books.failed or books.former:
            books.forget_instant()
        if decision.reservations or books.reservations or decision.wake != self.wake:
            self._keep(decision)

    def _woken(self) -> bool:
        """False for a wake-up call of a decision since replaced, or in an instant decided on."""
        if self.wake is None or self.now < self.wake:
            return False
        self.wake = None
        return True

    def _admit(self) -> None:
        books = self.books
        if self.arrived or books.idle:
            books.enqueue_all(self.intake.admit(self.arrived, books.idle))
            self.arrived.clear()

    def _open_shelf(self, end: float, jobs: int) -> None:
        if end != self.books.shelf_end:
            self.books.shelf_end = end
            self.record(ShelfOpened, end, jobs)

    def _start(self, starts: Sequence[Queued]) -> None:
        for waiting in starts:
            numbers = self.books.start(waiting)
            message = StartAttempt(waiting.processors, text(numbers) if numbers else "")
            self.send(self.actors[waiting.key[1]], message)

    def _keep(self, decision: Decision) -> None:
        for promise in self.books.keep(decision.reservations):
            name = promise.waiting.job.name
            self.record(ReservationMade, name, promise.start, promise.waiting.processors)
        if decision.wake is not None and decision.wake != self.wake:
            self.at(decision.wake, DECIDE, DECISION)
        self.wake = decision.wake

    def _batch_opened(self, batch: int, jobs: int, attempts: int) -> None:
        self.record(BatchOpened, batch, jobs, attempts)

    def waits_for(self) -> str | None:
        gone = self.completed + self.killed
        return f"{self.jobs - gone} of {self.jobs} jobs" if gone < self.jobs else None
