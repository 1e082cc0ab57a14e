"""The pack's decider: who waits gets workers, and policies redistribute the others' (003)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from attrs import define, field

from actors.deciders.pack.books import PackBooks, Standing
from actors.deciders.pack.checks import allocate, redistribute
from actors.deciders.pack.views import Newcomer, Occasion, Pack
from actors.events import EndExpected, Outcome, RedistributionDecided, WhyIgnored
from actors.messages import CopyOver, Stood
from policies.availability import WorkerState
from policies.interface.pack import AllocationPolicy, Cause, RedistributionPolicy, Resize
from policies.maths.cosched import Costs
from policies.pack import acts_at_faults

if TYPE_CHECKING:
    from actors.job import Job
    from actors.scheduler import Scheduler


NEVER = math.inf
WITHDRAWN = Outcome.WITHDRAWN


@define(eq=False)
class PackDecider:
    """Decides once an instant, after all ends and faults of it (003, section 5).

    Only free workers that are UP are given, in whole groups of `pair`. In this order:

    1. Who waits gets workers. By index, who ran before gets the size that it had, or as much of it
       as there is; then the allocation policy shares the rest out among those that never ran, as
       many of them as can have a group each.
    2. The redistribution policy is asked: where applications ended; else where one that keeps its
       workers was struck and it is known when they will be back, for the one of them that ends
       last; else, as at an end, where workers have come back or were left by a run that is lost,
       and nobody waits for them.
    3. What is left goes to further copies, of the size of each application's oldest.

    Who may be resized: who computes with all its members UP, and the struck one.
    """

    allocation: AllocationPolicy
    policy: RedistributionPolicy
    costs: Mapping[int, Costs] = field(repr=False)
    """By application index."""
    pair: int
    fatal: bool = True
    """Whether every fault counts; False: 003's own rule (see PaperFaults)."""
    early_release: bool = False
    """Whether applications that end before the faulty one computes again release their workers at
    the fault, under a policy that redistributes there: 003's own, where nothing but faults that
    never meet befalls anybody."""
    most: dict[int, int] = field(factory=dict)
    """By application index: the most copies at once, where that is more than one."""
    scheduler: Scheduler = field(init=False, repr=False)
    books: PackBooks = field(init=False)
    names: dict[int, str] = field(init=False, factory=dict)
    ended: dict[int, int] = field(init=False, factory=dict)
    """By application index: seq of that end."""
    struck: dict[int, int] = field(init=False, factory=dict)
    """Copies that kept their workers when one of them went DOWN -> seq of that."""
    heirs: dict[int, int] = field(init=False, factory=dict)
    """Applications whose oldest copy is over, and not they: only once all of the instant has been
    heard of, as another copy may have completed them -> seq of that end."""
    freed: int | None = field(init=False, default=None)
    """seq of that for which there may be more free workers than at the last decision."""

    def attach(self, scheduler: Scheduler) -> None:
        """See Decider."""
        self.scheduler = scheduler
        self.books = PackBooks(scheduler, self.costs, self.pair)

    # --- what it hears of ---------------------------------------------------------------------

    def submitted(self, job: Job) -> None:
        """See Decider."""
        self.names[job.index] = job.name
        self.books.waiting[job.index] = 0

    def over(self, message: CopyOver) -> None:
        """See Decider."""
        led = self.books.first(message.index) == message.copy
        self.books.end(message.index, message.copy, message.waits)
        self.struck.pop(message.copy, None)
        self.freed = cause = self.scheduler.system.loop.cause
        if message.gone:
            self.ended[message.index] = cause
            self.heirs.pop(message.index, None)
        elif led and message.outcome is not WITHDRAWN:
            self.heirs[message.index] = cause

    def changed(self, worker: int, state: WorkerState, until: float | None) -> bool:
        """See Decider."""
        holder = self.scheduler.pool.holder(worker)
        cause = self.scheduler.system.loop.cause
        if state is WorkerState.DOWN and holder >= 0:
            self.struck[holder] = cause
            return True
        if state is WorkerState.UP and holder < 0:
            self.freed = cause
            return True
        return False

    def programmed(self, worker: int, label: str) -> bool:
        """See Decider."""
        return False

    def sped(self, worker: int, speed: float) -> None:
        """See Decider: the job tells."""

    def stood(self, message: Stood) -> None:
        """See Decider."""
        standing = self.books.settle(message)
        if standing is not None:
            self.scheduler.record(EndExpected, *self._told(standing))
            self.heirs.pop(standing.index, None)

    def _tell_heirs(self) -> None:
        """The next copy is the oldest now: what it has said before counts from now on."""
        loop, books = self.scheduler.system.loop, self.books
        for index, cause in self.heirs.items():
            standing = books.standings.get(books.first(index)) if index in books.sizes else None
            if standing is not None:
                loop.cause = cause
                self.scheduler.system.journal.describe(EndExpected, *self._told(standing))
        self.heirs.clear()
        loop.cause = self.scheduler.trigger

    def _told(self, standing: Standing) -> tuple[str, int, float, float | None, float | None]:
        known = (standing.since, standing.expected) if standing.known else (None, None)
        return self.names[standing.index], standing.size, standing.left, *known

    def ignores(self, worker: int) -> tuple[str | None, WhyIgnored] | None:
        """Whether a fault on this worker changes nothing in 003's own model, whose worker it is,
        and why."""
        copy = self.scheduler.pool.holder(worker)
        standing = self.books.standings.get(copy)
        if standing is None:
            return None, WhyIgnored.IDLE
        if self.scheduler.now < standing.since or copy in self.struck:
            return self.names[standing.index], WhyIgnored.BUSY
        # Of two faults at one instant, the second finds it busy; the first one's change is told.
        self.struck[copy] = self.scheduler.system.loop.cause
        return None

    # --- what it decides ----------------------------------------------------------------------

    def woken(self) -> bool:
        """See Decider."""
        return False

    def decide(self) -> None:
        """See Decider."""
        self._tell_heirs()
        self._admit()
        if self.ended:
            trigger = min(self.ended)
            if self.books.sizes:
                self._redistribute(Cause.END, trigger, None, self.ended[trigger])
            self.freed = None
            self.ended.clear()
            if self.struck:
                # Once those that were just resized have said where they stand.
                self.scheduler.decide_soon()
        elif self.struck:
            self._answer()
        elif self.freed is not None:
            if self.books.idle:
                self._redistribute(Cause.END, None, None, self.freed)
            self.freed = None
        if self.most:
            self._copy()

    def _admit(self) -> None:
        waiting = self.books.waiting
        if not waiting:
            return
        for index, size in sorted(waiting.items()):
            if size and self.books.idle:
                self._start(index, min(size, self.books.idle))
        indices = sorted(waiting)[: self.books.idle // self.pair]
        newcomers = [Newcomer(i, self.costs[i]) for i in indices if not waiting[i]]
        if newcomers:
            sizes = allocate(self.allocation, Pack(self.pair, self.books.idle, newcomers))
            for newcomer, size in zip(newcomers, sizes, strict=True):
                self._start(newcomer.index, size)

    def _start(self, index: int, size: int) -> None:
        copy, _ = self.scheduler.start_some(index, size)
        self.books.place(index, copy, size)

    def _copy(self) -> None:
        for index in sorted(self.most.keys() & self.books.sizes.keys()):
            size = self.books.size(index)
            while len(self.books.sizes[index]) < self.most[index] and size <= self.books.idle:
                self._start(index, size)

    def _answer(self) -> None:
        """Redistribute for the faulty application that ends last; the others carry on."""
        books, struck = self.books, self.struck
        self.freed, self.struck = None, {}
        standings = [books.standings[copy] for copy in struck if books.leads(copy)]
        late = [standing for standing in standings if standing.known]
        if not late:
            return
        last = max(late, key=lambda standing: (standing.expected, -standing.index))
        if self.early_release and acts_at_faults(self.policy):
            latest = max(late, key=lambda standing: standing.since)
            self.scheduler.system.loop.cause = struck[latest.copy]
            self._release(latest.since, late)
        self._redistribute(Cause.FAULT, last.index, last.index, struck[last.copy])

    def _release(self, since: float, struck: Sequence[Standing]) -> None:
        for standing in self.books.running():
            if standing.end < since and standing not in struck:
                self.books.released.add(standing.copy)
                self.scheduler.promise(standing.copy)

    def _redistribute(
        self, cause: Cause, trigger: int | None, faulty: int | None, event: int
    ) -> None:
        """Ask the policy, because of `event`, by seq, and do what it says."""
        books, now = self.books, self.scheduler.now
        running = books.running()
        longest = max([it.expected for it in running if it.since < NEVER], default=now)
        view = Occasion(
            *(now, cause, faulty, self.pair, books.idle, longest),
            lambda: books.candidates(running, faulty),
        )
        resizes = redistribute(self.policy, view)
        if resizes:
            self.scheduler.system.loop.cause = event
            self._carry_out(cause, trigger, resizes)
            self.scheduler.trigger = self.scheduler.system.loop.cause

    def _carry_out(self, cause: Cause, trigger: int | None, resizes: Sequence[Resize]) -> None:
        books = self.books
        before = {resize.application: books.size(resize.application) for resize in resizes}
        moves = tuple(
            (self.names[it.application], before[it.application], it.size) for it in resizes
        )
        about = self.names.get(trigger) if trigger is not None else None
        self.scheduler.record(RedistributionDecided, cause, about, moves)
        # Who shrinks first: the others need what they give.
        for resize in sorted(resizes, key=lambda it: it.size >= before[it.application]):
            copy = books.first(resize.application)
            self.scheduler.resize(copy, resize.size)
            books.sizes[resize.application][copy] = resize.size
