"""The pack's decider: who waits gets workers, and policies redistribute the others' (003)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from attrs import define, field

from actors.decider import Decider
from actors.deciders.pack.books import PackBooks, Standing
from actors.deciders.pack.checks import allocate, redistribute
from actors.deciders.pack.views import Newcomer, Occasion, Pack
from actors.events import (
    EndExpected,
    FaultIgnored,
    Outcome,
    RedistributionDecided,
    WhyIgnored,
)
from actors.messages import CopyOver, Stood
from policies.availability import WorkerState
from policies.interface.pack import AllocationPolicy, Cause, RedistributionPolicy, Resize
from policies.interface.queue import BatchJob
from policies.maths.cosched import Costs
from policies.pack import acts_at_faults

if TYPE_CHECKING:
    from actors.scheduler import Scheduler


NEVER = math.inf
WITHDRAWN = Outcome.WITHDRAWN


@define(eq=False)
class PackDecider(Decider):
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
        self.scheduler = scheduler
        self.books = PackBooks(scheduler, self.costs, self.pair)

    # --- what it hears of ---------------------------------------------------------------------

    def submitted(self, job: BatchJob, cause: int) -> None:
        self.names[job.index] = job.name
        self.books.waiting[job.index] = 0

    def over(self, message: CopyOver, cause: int) -> None:
        led = self.books.first(message.index) == message.copy
        self.books.end(message.index, message.copy, message.waits)
        self.struck.pop(message.copy, None)
        self.freed = cause
        if message.gone:
            self.ended[message.index] = cause
            self.heirs.pop(message.index, None)
        elif led and message.outcome is not WITHDRAWN:
            self.heirs[message.index] = cause

    def changed(self, worker: int, state: WorkerState, cause: int) -> bool:
        holder = self.scheduler.pool.holder(worker)
        if state is WorkerState.DOWN and holder >= 0:
            self.struck[holder] = cause
            return True
        if state is WorkerState.UP and holder < 0:
            self.freed = cause
            return True
        return False

    def stood(self, message: Stood, cause: int) -> None:
        standing = self.books.settle(message)
        if standing is not None:
            self.scheduler.record(cause, EndExpected, *self._told(standing))
            self.heirs.pop(standing.index, None)

    def _tell_heirs(self) -> None:
        """The next copy is the oldest now: what it has said before counts from now on."""
        books = self.books
        for index, cause in self.heirs.items():
            standing = books.standings.get(books.first(index)) if index in books.sizes else None
            if standing is not None:
                self.scheduler.record(cause, EndExpected, *self._told(standing))
        self.heirs.clear()

    def _told(self, standing: Standing) -> tuple[str, int, float, float | None, float | None]:
        known = (standing.since, standing.expected) if standing.known else (None, None)
        return self.names[standing.index], standing.size, standing.left, *known

    def ignores(self, worker: int, cause: int) -> bool:
        """In 003's own model no fault counts of a worker that is idle, or whose application is
        still busy with its last fault or redistribution (section 6.1)."""
        copy = self.scheduler.pool.holder(worker)
        standing = self.books.standings.get(copy)
        if standing is None:
            self.scheduler.record(cause, FaultIgnored, worker, None, WhyIgnored.IDLE)
            return True
        if self.scheduler.due_by < standing.since or copy in self.struck:
            name = self.names[standing.index]
            self.scheduler.record(cause, FaultIgnored, worker, name, WhyIgnored.BUSY)
            return True
        # Of two faults at one instant, the second finds it busy; the first one's change is told.
        self.struck[copy] = cause
        return False

    # --- what it decides ----------------------------------------------------------------------

    def decide(self, cause: int) -> None:
        self._tell_heirs()
        self._admit(cause)
        if self.ended:
            trigger = min(self.ended)
            if self.books.sizes:
                cause = self._redistribute(Cause.END, trigger, None, self.ended[trigger], cause)
            self.freed = None
            self.ended.clear()
            if self.struck:
                # Once those that were just resized have said where they stand.
                self.scheduler.decide_soon(cause)
        elif self.struck:
            cause = self._answer(cause)
        elif self.freed is not None:
            if self.books.idle:
                cause = self._redistribute(Cause.END, None, None, self.freed, cause)
            self.freed = None
        if self.most:
            self._copy(cause)

    def _admit(self, cause: int) -> None:
        waiting = self.books.waiting
        if not waiting:
            return
        for index, size in sorted(waiting.items()):
            if size and self.books.idle:
                self._start(index, min(size, self.books.idle), cause)
        indices = sorted(waiting)[: self.books.idle // self.pair]
        newcomers = [Newcomer(i, self.costs[i]) for i in indices if not waiting[i]]
        if newcomers:
            sizes = allocate(self.allocation, Pack(self.pair, self.books.idle, newcomers))
            for newcomer, size in zip(newcomers, sizes, strict=True):
                self._start(newcomer.index, size, cause)

    def _start(self, index: int, size: int, cause: int) -> None:
        copy, _ = self.scheduler.start_some(index, size, cause)
        self.books.place(index, copy, size)

    def _copy(self, cause: int) -> None:
        for index in sorted(self.most.keys() & self.books.sizes.keys()):
            size = self.books.size(index)
            while len(self.books.sizes[index]) < self.most[index] and size <= self.books.idle:
                self._start(index, size, cause)

    def _answer(self, cause: int) -> int:
        """Redistribute for the faulty application that ends last; the others carry on."""
        books, struck = self.books, self.struck
        self.freed, self.struck = None, {}
        standings = [books.standings[copy] for copy in struck if books.leads(copy)]
        late = [standing for standing in standings if standing.known]
        if not late:
            return cause
        last = max(late, key=lambda standing: (standing.expected, -standing.index))
        if self.early_release and acts_at_faults(self.policy):
            latest = max(late, key=lambda standing: standing.since)
            self._release(latest.since, late, struck[latest.copy])
        return self._redistribute(Cause.FAULT, last.index, last.index, struck[last.copy], cause)

    def _release(self, since: float, struck: Sequence[Standing], cause: int) -> None:
        for standing in self.books.running():
            if standing.end < since and standing not in struck:
                self.books.released.add(standing.copy)
                self.scheduler.promise(standing.copy, cause)

    def _redistribute(
        self, why: Cause, trigger: int | None, faulty: int | None, event: int, cause: int
    ) -> int:
        """Ask the policy, because of `event`, by seq, and do what it says; the cause of what this
        decision does from then on, before which it was `cause`."""
        books, now = self.books, self.scheduler.now
        running = books.running()
        longest = max([it.expected for it in running if it.since < NEVER], default=now)
        view = Occasion(
            *(now, why, faulty, self.pair, books.idle, longest),
            lambda: books.candidates(running, faulty),
        )
        resizes = redistribute(self.policy, view)
        return self._carry_out(why, trigger, resizes, event) if resizes else cause

    def _carry_out(
        self, why: Cause, trigger: int | None, resizes: Sequence[Resize], cause: int
    ) -> int:
        books = self.books
        before = {resize.application: books.size(resize.application) for resize in resizes}
        moves = tuple(
            (self.names[it.application], before[it.application], it.size) for it in resizes
        )
        about = self.names.get(trigger) if trigger is not None else None
        cause = self.scheduler.record(cause, RedistributionDecided, why, about, moves)
        # Who shrinks first: the others need what they give.
        for resize in sorted(resizes, key=lambda it: it.size >= before[it.application]):
            copy = books.first(resize.application)
            self.scheduler.resize(copy, resize.size, cause)
            books.sizes[resize.application][copy] = resize.size
        return cause
