"""Allocates workers to the waiting applications of a pack, and calls policies that redistribute
those of the others (malleable17)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from attrs import define, field

from actors.decider import Decider, DecidersHost
from actors.deciders.pack.checks import allocate, redistribute
from actors.deciders.pack.state import (
    ApplicationProgress,
    NewApplication,
    Occasion,
    Pack,
    PackState,
)
from actors.events import (
    EndExpected,
    FaultIgnored,
    Outcome,
    RedistributionDecided,
    WhyIgnored,
)
from actors.messages import CopyOver, ProgressReport
from actors.parts.early_release import EarlyRelease
from policies.availability import WorkerState
from policies.interface.pack import AllocationPolicy, Cause, RedistributionPolicy, Resize
from policies.interface.queue import BatchJob
from policies.maths.cosched import Costs
from policies.pack import acts_at_faults

NEVER = math.inf
CANCELLED = Outcome.CANCELLED


@define(eq=False)
class PackDecider(Decider):
    """Decider that shares the workers of a platform among a pack, that is, malleable applications
    whose numbers of workers can change as they run. It decides once an instant, after all ends and
    faults of that instant (malleable17, section 5).

    Only free workers that are UP are allocated, in whole groups of `pair` workers. The steps, in
    this order:

    1. Waiting applications get workers. By index, those that ran before get the size that they had,
    or as much of it as is free; then the allocation policy shares the rest out among those that
    never ran, as many of them as can have a group each.

    2. The redistribution policy is called in one of three cases: where applications ended; else
    where a worker of an application that keeps its workers failed and the time of its return is
    known, for the one of these applications that ends last; else, as at an end, where workers have
    come back or were left by a lost run and no application waits for them.

    3. Workers that are left go to further copies, of the size of each application's oldest copy.

    The applications that can be resized are those that compute with all their members UP, and the
    faulty one.
    """

    allocation: AllocationPolicy
    policy: RedistributionPolicy
    costs: Mapping[int, Costs] = field(repr=False)
    """Maps an application's index to its costs."""
    pair: int
    fatal: bool = True
    """Whether every fault counts; if not, malleable17's own rule applies (see PaperFaults)."""
    early_release: bool = False
    """Whether applications that end before the faulty one computes again release their workers at
    the fault, under a policy that redistributes there. This is malleable17's own rule, used where
    faults that never coincide are the only hazard."""
    most: dict[int, int] = field(factory=dict)
    """Maps an application's index to the largest number of its copies at once, where that is more
    than one."""
    scheduler: DecidersHost = field(init=False, repr=False)
    state: PackState = field(init=False)
    names: dict[int, str] = field(init=False, factory=dict)
    ended: dict[int, int] = field(init=False, factory=dict)
    """Maps the index of each application that has ended since the last decision to the number (seq)
    of the event that ended its run."""
    failed_copies: dict[int, int] = field(init=False, factory=dict)
    """Maps each copy that kept its workers when one of them went DOWN to the number (seq) of the
    event with which it did."""
    successions: dict[int, int] = field(init=False, factory=dict)
    """Maps each application whose oldest copy ended at this instant to the number (seq) of the
    event of that end. They are handled after all messages of the instant, because another copy may
    have completed them."""
    freed: int | None = field(init=False, default=None)
    """Number (seq) of the last event since the last decision that may have freed workers; None if
    there was none."""

    def attach(self, scheduler: DecidersHost) -> None:
        self.scheduler = scheduler
        self.state = PackState(scheduler, self.costs, self.pair)

    # --- messages from the scheduler ----------------------------------------------------------

    def submitted(self, job: BatchJob, cause: int) -> None:
        self.names[job.index] = job.name
        self.state.waiting[job.index] = 0

    def over(self, message: CopyOver, cause: int) -> None:
        led = self.state.first(message.index) == message.copy
        self.state.end(message.index, message.copy, message.waits)
        self.failed_copies.pop(message.copy, None)
        self.freed = cause
        if message.gone:
            self.ended[message.index] = cause
            self.successions.pop(message.index, None)
        elif led and message.outcome is not CANCELLED:
            self.successions[message.index] = cause

    def cancelled(self, index: int) -> None:
        del self.state.waiting[index]
        self.successions.pop(index, None)

    def changed(self, worker: int, state: WorkerState, cause: int) -> bool:
        holder = self.scheduler.pool.holder(worker)
        if state is WorkerState.DOWN and holder >= 0:
            self.failed_copies[holder] = cause
            return True
        if state is WorkerState.UP and holder < 0:
            self.freed = cause
            return True
        return False

    def progress_reported(self, message: ProgressReport, cause: int) -> None:
        progress = self.state.note(message)
        if progress is not None:
            self.scheduler.record(cause, EndExpected, *self._fields(progress))
            self.successions.pop(progress.index, None)

    def _log_successions(self) -> None:
        """Log the expected end of each application whose oldest copy ended at this instant and that
        still runs: from now on that of its next copy counts, by the copy's last progress report."""
        state = self.state
        for index, cause in self.successions.items():
            progress = state.all_progress.get(state.first(index)) if index in state.sizes else None
            if progress is not None:
                self.scheduler.record(cause, EndExpected, *self._fields(progress))
        self.successions.clear()

    def _fields(
        self, progress: ApplicationProgress
    ) -> tuple[str, int, float, float | None, float | None]:
        known = (progress.since, progress.expected) if progress.known else (None, None)
        return self.names[progress.index], progress.size, progress.left, *known

    def ignores(self, worker: int, cause: int) -> bool:
        """Return whether a fault that comes to this worker now changes nothing in malleable17's own
        model (section 6.1); if so, log that it is ignored. It is ignored if the worker is idle, if
        it computes for a copy that has promised it to others, or if its application is still busy
        with its last fault or redistribution. `cause` is the number of the event that leads to
        it."""
        copy = self.scheduler.pool.holder(worker)
        progress = self.state.all_progress.get(copy)
        if progress is None:
            self.scheduler.record(cause, FaultIgnored, worker, None, WhyIgnored.IDLE)
            return True
        # On a promised worker another application computes, whose faults count no more.
        promised = worker in self.scheduler.dispatcher.promised
        if self.scheduler.due_by < progress.since or copy in self.failed_copies or promised:
            name = self.names[progress.index]
            self.scheduler.record(cause, FaultIgnored, worker, name, WhyIgnored.BUSY)
            return True
        # Of two faults at one instant, the second finds the application busy, and only the first
        # changes its worker's state.
        self.failed_copies[copy] = cause
        return False

    # --- decisions ----------------------------------------------------------------------------

    def decide(self, cause: int) -> None:
        self._log_successions()
        self._admit(cause)
        if self.ended:
            # An end goes before a fault: the faulty applications are answered by a decision of
            # their own.
            trigger = min(self.ended)
            if self.state.sizes:
                cause = self._redistribute(Cause.END, trigger, None, self.ended[trigger], cause)
            self.freed = None
            self.ended.clear()
            if self.failed_copies:
                # Faults are answered once the applications that were just resized have reported
                # their progress.
                self.scheduler.decide_soon(cause)
        elif self.failed_copies:
            cause = self._answer(cause)
        elif self.freed is not None:
            if self.state.idle:
                cause = self._redistribute(Cause.END, None, None, self.freed, cause)
            self.freed = None
        if self.most:
            self._copy(cause)

    def _admit(self, cause: int) -> None:
        waiting = self.state.waiting
        if not waiting:
            return
        for index, size in sorted(waiting.items()):
            if size and self.state.idle:
                self._start(index, min(size, self.state.idle), cause)
        indices = sorted(waiting)[: self.state.idle // self.pair]
        newcomers = [NewApplication(i, 0, self.costs[i]) for i in indices if not waiting[i]]
        if newcomers:
            sizes = allocate(self.allocation, Pack(self.pair, self.state.idle, newcomers))
            for newcomer, size in zip(newcomers, sizes, strict=True):
                self._start(newcomer.index, size, cause)

    def _start(self, index: int, size: int, cause: int) -> None:
        copy, _ = self.scheduler.dispatcher.start_some(index, size, cause)
        self.state.place(index, copy, size)

    def _copy(self, cause: int) -> None:
        for index in sorted(self.most.keys() & self.state.sizes.keys()):
            size = self.state.size(index)
            while len(self.state.sizes[index]) < self.most[index] and size <= self.state.idle:
                self._start(index, size, cause)

    def _answer(self, cause: int) -> int:
        """Have the policy redistribute for that one of the faulty applications that is expected to
        end last; the other faulty ones continue as they are. Without one whose return is known, do
        nothing. Return the number (seq) of the event that logs the decision, or `cause` if nothing
        is resized."""
        state, failed_copies = self.state, self.failed_copies
        self.freed, self.failed_copies = None, {}
        all_progress = [state.all_progress[copy] for copy in failed_copies if state.leads(copy)]
        late = [progress for progress in all_progress if progress.known]
        if not late:
            return cause
        last = max(late, key=lambda progress: (progress.expected, -progress.index))
        if self.early_release and acts_at_faults(self.policy):
            latest = max(late, key=lambda progress: progress.since)
            self._release(latest.since, late, failed_copies[latest.copy])
        return self._redistribute(
            Cause.FAULT, last.index, last.index, failed_copies[last.copy], cause
        )

    def _release(
        self, since: float, failed_copies: Sequence[ApplicationProgress], cause: int
    ) -> None:
        for progress in self.state.running():
            if progress.end < since and progress not in failed_copies:
                self.state.released.add(progress.copy)
                self.scheduler.part(EarlyRelease).promise(progress.copy, cause)

    def _redistribute(
        self, why: Cause, trigger: int | None, faulty: int | None, event: int, cause: int
    ) -> int:
        """Call the redistribution policy, and resize applications as it decides. `event` is the
        number of the end or fault that the decision answers. Return the number (seq) of the event
        that logs the decision, which is the cause of what follows; `cause` if nothing is resized.

        `why` says whether an end or a fault is answered. `trigger` is the index of the application
        that ended or is faulty, `faulty` that of the faulty one; None: there is none.
        """
        state, now = self.state, self.scheduler.now
        running = state.running()
        # Only applications whose time to compute is known have an expected end.
        longest = max([it.expected for it in running if it.since < NEVER], default=now)
        view = Occasion(
            *(now, why, faulty, self.pair, state.idle, longest),
            lambda: state.candidates(running, faulty),
        )
        resizes = self._possible(redistribute(self.policy, view))
        return self._carry_out(why, trigger, resizes, event) if resizes else cause

    def _possible(self, resizes: Sequence[Resize]) -> Sequence[Resize]:
        """Return the resizes for which there are enough workers. Policies count all processors that
        one application gives up as available to others. Spares and members that are not UP become
        available to none; applications that were to grow get that many fewer, in whole groups, in
        the order of the resizes (rules.md, P10)."""
        pool, state = self.scheduler.pool, self.state
        if not (pool.away or pool.spares):
            return resizes
        changes = [(it, it.size - state.size(it.application)) for it in resizes]
        free = pool.free + sum(
            pool.returned(state.first(it.application), -more) for it, more in changes if more < 0
        )
        found = []
        for resize, more in changes:
            change = min(more, free - free % self.pair)
            free -= max(change, 0)
            if change or not more:
                found.append(Resize(resize.application, resize.size - more + change))
        return found

    def _carry_out(
        self, why: Cause, trigger: int | None, resizes: Sequence[Resize], cause: int
    ) -> int:
        state = self.state
        before = {resize.application: state.size(resize.application) for resize in resizes}
        moves = tuple(
            (self.names[it.application], before[it.application], it.size) for it in resizes
        )
        trigger_name = self.names.get(trigger) if trigger is not None else None
        cause = self.scheduler.record(cause, RedistributionDecided, why, trigger_name, moves)
        # Applications that shrink come first, because the others need the workers that they
        # release.
        for resize in sorted(resizes, key=lambda it: it.size >= before[it.application]):
            copy = state.first(resize.application)
            self.scheduler.dispatcher.resize(copy, resize.size, cause)
            state.sizes[resize.application][copy] = resize.size
        return cause
