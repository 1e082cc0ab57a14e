"""Limits by user, group or queue on what runs and is held at once (rules.md, G7).

A job that would exceed a limit is kept out of the queue until a run of the same name ends: it does
not start, gets no reservation and blocks no other job. The strategy knows nothing of limits: if its
answer would exceed one, it is asked again without the jobs that do so.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from functools import partial
from math import inf

from attrs import define, field, frozen

from actors.events import Outcome
from actors.parts.queue_part import Deciding, QueuePart, WaitingJobs
from policies.interface.queue import BatchJob, Decision, Queued, Run, Strategy
from policies.maths.speedup import Asking


class Counting(enum.Enum):
    """Says which jobs count besides those that run. A reservation that is kept is a promise, which
    another job of the same name must not break."""

    RUNS = "runs"
    """No other jobs: reservations are made anew at each decision."""
    RESERVATIONS = "reservations"
    """Jobs with a reservation, which is kept."""
    PLANNED = "planned"
    """All jobs in the queue, as each gets a reservation, which is kept."""


@frozen
class Limit:
    """The most that the jobs of one user, group or queue may run and hold at once."""

    per: str
    """Attribute by which jobs are counted together: `user`, `group` or `queue`."""
    jobs: float = inf
    """Largest number of jobs that run at once."""
    processors: float = inf
    """Largest number of processors that they hold at once."""
    only: frozenset[str] = frozenset()
    """Names that have the limit; empty: each name."""

    def name_of(self, job: BatchJob) -> str:
        """Return the name by which a job counts; empty where the limit does not concern it, as its
        name is not known or has no limit."""
        name: str = getattr(job, self.per)
        return name if not self.only or name in self.only else ""


Key = tuple[int, str]
"""A limit, by its place in the scenario, and a name that has it."""


@define(eq=False)
class Limits(QueuePart):
    """Keeps jobs that would exceed a limit out of the queue, and counts what the others run and
    hold."""

    limits: Sequence[Limit]
    counting: Counting
    held: list[Queued] = field(init=False, factory=list)
    """Entries of the jobs that are kept out of the queue."""
    jobs: dict[Key, int] = field(init=False, factory=dict)
    """Number of jobs that count, by limit and name."""
    processors: dict[Key, int] = field(init=False, factory=dict)
    """Number of their processors."""
    copies: dict[int, int] = field(init=False, factory=dict)
    """Number of the copies that run of each job."""
    promised: set[int] = field(init=False, factory=set)
    """Indices of the jobs that wait and count."""
    over: set[Key] = field(init=False, factory=set)
    """Limits and names of which runs have ended since the last decision."""
    _keys: dict[tuple[str, str, str], tuple[Key, ...]] = field(init=False, factory=dict)

    # --- what runs ------------------------------------------------------------------------------

    def started(self, run: Run) -> None:
        """Count a copy that starts now. A further copy of a job adds processors, and no job."""
        waiting, index = run.entry, run.index
        assert waiting is not None
        if index in self.promised:
            self.promised.remove(index)
            self._count(waiting, -1, -size_of(waiting))
        self._count(waiting, int(index not in self.copies), _held(run))
        self.copies[index] = self.copies.get(index, 0) + 1
        if _held(run) < size_of(waiting):  # others may go on beside it after all
            self.over.update(self._keys_of(waiting.job))

    def ended(self, run: Run, outcome: Outcome) -> None:
        """Remove a copy that has ended from the counts, and note that jobs of its names may come
        back into the queue."""
        waiting, index = run.entry, run.index
        assert waiting is not None
        left = self.copies.pop(index) - 1
        if left:
            self.copies[index] = left
        self._count(waiting, -int(not left), -_held(run))
        self.over.update(self._keys_of(waiting.job))

    def cancelled(self, index: int, waiting: Queued | None) -> None:
        self.held = [it for it in self.held if it.job.index != index]
        if waiting is not None and index in self.promised:
            self.promised.remove(index)
            self._count(waiting, -1, -size_of(waiting))
            # Others may take its place.
            self.over.update(self._keys_of(waiting.job))

    def _count(self, waiting: Queued, jobs: int, processors: int) -> None:
        """Add `jobs` and `processors` to the counts of the limits and names of this job; they are
        negative when it counts no longer."""
        for key in self._keys_of(waiting.job):
            self.jobs[key] = self.jobs.get(key, 0) + jobs
            self.processors[key] = self.processors.get(key, 0) + processors

    def _keys_of(self, job: BatchJob) -> tuple[Key, ...]:
        whose = job.user, job.group, job.queue
        if whose not in self._keys:
            names = ((place, limit.name_of(job)) for place, limit in enumerate(self.limits))
            self._keys[whose] = tuple(key for key in names if key[1])
        return self._keys[whose]

    def above(self, waiting: Queued) -> bool:
        return self._too_many(waiting, jobs=0)

    def _too_many(self, waiting: Queued, jobs: int = 1) -> bool:
        """Return whether one more run would exceed a limit: of a further job, or (`jobs` is 0) of
        one that runs already."""
        size = size_of(waiting)
        return any(
            self.jobs.get(key, 0) + jobs > (limit := self.limits[key[0]]).jobs
            or self.processors.get(key, 0) + size > limit.processors
            for key in self._keys_of(waiting.job)
        )

    # --- decisions ------------------------------------------------------------------------------

    def release(self, state: WaitingJobs) -> None:
        """Put those jobs back into the queue that are to be looked at again, as a run of one of
        their names has ended."""
        over, held = self.over, self.held
        if over and held:
            self.held = [it for it in held if over.isdisjoint(self._keys_of(it.job))]
            kept = set(map(id, self.held))
            state.enqueue_all([it for it in held if id(it) not in kept])
        over.clear()

    def looks_again(self, state: WaitingJobs) -> bool:
        return bool(self.held and state.cells is not None and state.cells.exclusive)

    def carried_out(self, scheduler: Deciding, state: WaitingJobs, cause: int) -> None:
        """Take those jobs out of the queue that would exceed a limit beside those that have started
        behind them, and have the decider decide once more at this instant if runs hold fewer
        processors than were counted for them, as their last node is smaller."""
        self._hold(state, [it for it in state.queue if self._exceeds(it)])
        if self.over and self.held:
            scheduler.decide_soon(cause)

    def asked(self, strategy: Strategy) -> Strategy:
        return partial(self._decide, strategy=strategy)

    def _decide(self, state: WaitingJobs, strategy: Strategy) -> Decision:
        """Return the strategy's decision on the jobs of the queue that exceed no limit. Jobs that
        would exceed one, now or once the decision's jobs have started, leave the queue."""
        if self.counting is Counting.PLANNED:
            self._hold(state, list(self._not_admitted(state.queue)))
            return strategy(state)
        self._hold(state, [it for it in state.queue if self._exceeds(it)])
        while True:
            again = _copied(state)
            decision = strategy(state)
            behind = [] if decision.cancels else self._behind(decision, state.queue)
            if not behind:
                break
            self._hold(state, behind)
            state.memory = again()
        if self.counting is Counting.RESERVATIONS:
            self._promise(it.waiting for it in decision.reservations)
        return decision

    def _exceeds(self, waiting: Queued) -> bool:
        return waiting.key[1] not in self.promised and self._too_many(waiting)

    def _not_admitted(self, queue: Sequence[Queued]) -> Iterator[Queued]:
        """Yield the jobs of the queue that would exceed a limit, and count all other jobs from now
        on. A job is looked at beside the jobs that run and those ahead of it that count."""
        for waiting in queue:
            if self._exceeds(waiting):
                yield waiting
            else:
                self._promise((waiting,))

    def _promise(self, some: Iterable[Queued]) -> None:
        for waiting in some:
            if waiting.key[1] not in self.promised:
                self.promised.add(waiting.key[1])
                self._count(waiting, 1, size_of(waiting))

    def _behind(self, decision: Decision, queue: Sequence[Queued]) -> list[Queued]:
        """Return the first job, in the queue's order, that would exceed a limit beside those ahead
        of it that a decision starts, and those behind it that then would too; an empty list where
        there is none."""
        chosen = {id(it) for it in decision.starts}
        if self.counting is Counting.RESERVATIONS:
            chosen.update(id(it.waiting) for it in decision.reservations)
        with self._as_if() as count:
            for place, waiting in enumerate(queue):
                if self._exceeds(waiting):
                    return [it for it in queue[place:] if self._exceeds(it)]
                if id(waiting) in chosen and waiting.key[1] not in self.promised:
                    count(waiting)
        return []

    @contextmanager
    def _as_if(self) -> Iterator[Callable[[Queued], None]]:
        """Yield a function that counts jobs, within the context, as if they ran."""
        jobs, processors = self.jobs, self.processors
        self.jobs, self.processors = dict(jobs), dict(processors)
        try:
            yield lambda waiting: self._count(waiting, 1, size_of(waiting))
        finally:
            self.jobs, self.processors = jobs, processors

    def _hold(self, state: WaitingJobs, some: Sequence[Queued]) -> None:
        if some:
            state.withdraw(some)
            self.held += some


def _held(run: Run) -> int:
    """Return the number of processors that a run counts with: with whole nodes those that it
    holds, which are fewer than it asked for where the last node is smaller."""
    assert run.entry is not None
    return run.processors if run.entry.job.node else size_of(run.entry)


def size_of(waiting: Queued) -> int:
    """Return the number of processors that a job's next run keeps from others, without those held
    ready for which it may wait: those of whole nodes in an exclusive partition."""
    job = waiting.job
    asked = job.profile.processors if isinstance(job.profile, Asking) else waiting.processors
    return job.occupied(asked)


def _copied(state: WaitingJobs) -> Callable[[], object]:
    """Return a function that returns the strategy's memory as it is now: a strategy may change it
    in place, and is asked again with the memory as it was."""
    if state.memory is None:
        return lambda: None
    # Entries of the queue stay the same objects.
    kept = deepcopy(state.memory, {id(waiting): waiting for waiting in state.queue})
    return lambda: kept
