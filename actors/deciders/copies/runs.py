"""The general form: every copy a run of its own, wherever the world has more than speeds (P5)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
from attrs import define, field
from numpy.random import Generator

from actors.deciders.copies.checks import CheckedCopies
from actors.deciders.copies.jobs import PreemptibleJob
from actors.deciders.copies.placement import PlacementRule, Placer
from actors.deciders.copies.table import ActiveTable
from actors.messages import CopyOver, Stood
from policies.availability import WorkerState
from policies.interface.copies import Counts, RedundancyPolicy

if TYPE_CHECKING:
    from actors.job import Job
    from actors.scheduler import Scheduler


class Pair(NamedTuple):
    """A copy: whose, and where."""

    job: PreemptibleJob
    worker: int


@define(eq=False)
class CopyRuns:
    """Asks the policy at each arrival and departure, each loss, and each change of who is UP.

    Jobs are `PreemptibleJob`. A worker holds one run: a policy that multitasks is refused.
    """

    policy: RedundancyPolicy
    rule: PlacementRule = PlacementRule.LOWEST
    afresh: bool = True
    """Whether all copies are placed afresh each time, as in 004. Where that costs something (a
    message, a delay, a part of a checkpoint), copies stay on their workers where their jobs go on,
    and only those are cloned that are not the furthest and are not fetching a state just now."""
    cloning: bool = True
    """Whether its jobs' copies are cloned; the policy says the same."""
    exact: bool = False
    """Where all times, sizes and speeds are Fractions."""
    scheduler: Scheduler = field(init=False, repr=False)
    table: ActiveTable = field(init=False)
    placer: Placer = field(init=False)
    ask: CheckedCopies = field(init=False)
    rng: Generator = field(init=False)
    held: dict[int, Pair] = field(init=False, factory=dict)
    """By copy."""
    up: frozenset[int] = field(init=False)
    leaving: set[int] = field(init=False, factory=set)
    """Copies that were told to leave."""
    starts: list[Pair] = field(init=False, factory=list)
    """Who is to start on which worker once those have left."""
    news: bool = field(init=False, default=False)
    """Whether something has happened for which the policy is asked."""

    def attach(self, scheduler: Scheduler) -> None:
        """See Decider."""
        self.scheduler = scheduler
        system = scheduler.system
        self.up = frozenset(range(scheduler.pool.size))
        self.table = ActiveTable(self.exact)
        self.placer = Placer(self._workers(), self.rule, system.stream("placement"))
        self.ask = CheckedCopies(self.policy, multitasking=False, cloning=self.cloning)
        self.rng = system.stream("policy")

    def _workers(self) -> Counts:
        return np.array(sorted(self.up), dtype=np.intp)

    # --- what it hears of ---------------------------------------------------------------------

    def submitted(self, job: Job) -> None:
        """See Decider."""
        self.table.add(job, self.scheduler.now)
        self.news = True

    def over(self, message: CopyOver) -> None:
        """See Decider."""
        held = self.held.pop(message.copy)
        if message.copy in self.leaving:
            self.leaving.discard(message.copy)
            return
        self.news = True
        if message.gone:
            self.table.remove(self.table.jobs.index(held.job))

    def changed(self, worker: int, state: WorkerState, until: float | None) -> bool:
        """See Decider."""
        up = self.up - {worker} if state is not WorkerState.UP else self.up | {worker}
        if up != self.up:
            self.up, self.news = up, True
            self.placer.workers = self._workers()
        return self.news

    def programmed(self, worker: int, label: str) -> bool:
        """See Decider."""
        return False

    def stood(self, message: Stood) -> None:
        """See Decider: nobody is resized."""

    def sped(self, worker: int, speed: float) -> None:
        """See Decider: its run knows."""

    def woken(self) -> bool:
        """See Decider."""
        return False

    # --- what it decides ----------------------------------------------------------------------

    def decide(self) -> None:
        """See Decider: first those leave that do not stay, then the others start."""
        if self.news:
            self.news = False
            self._choose()
        if not self.leaving:
            self._start()

    def _start(self) -> None:
        for job, worker in self.starts:
            copy = self.scheduler.start_on(job.index, (worker,), (), None)
            self.held[copy] = Pair(job, worker)
        self.starts.clear()

    def _choose(self) -> None:
        chosen = self._chosen() if self.table.jobs and self.up else []
        going_on = set[Pair]() if self.afresh else self._going_on(chosen)
        self.starts = [pair for pair in chosen if pair not in going_on]
        # The last placed first: of equal states, that of the copy placed first is kept.
        for copy, held in reversed(self.held.items()):
            if held not in going_on:
                self.leaving.add(copy)
                self.scheduler.withdraw(copy)

    def _chosen(self) -> list[Pair]:
        """Each copy that the policy wants, and its worker."""
        table, jobs = self.table, cast(list[PreemptibleJob], self.table.jobs)
        lefts = np.array([job.left() for job in jobs], dtype=table.buffer.dtype)
        table.update(np.arange(len(jobs)), lefts)
        allocation = self.ask(table.view(len(self.up)), self.rng)
        served = [jobs[column] for column in allocation.jobs.tolist()]
        counts = allocation.copies.tolist()
        if self.afresh:
            workers = self.placer.place(allocation, table.names_of(allocation.jobs)).tolist()
        else:
            workers = self._staying(served, counts)
        owners = [job for job, count in zip(served, counts, strict=True) for _ in range(count)]
        return list(map(Pair, owners, workers))

    def _staying(self, jobs: Sequence[PreemptibleJob], counts: Sequence[int]) -> list[int]:
        """Workers by job: those that it has, where its copies are furthest; then others."""
        own = [self._own(job)[:count] for job, count in zip(jobs, counts, strict=True)]
        taken = {worker for workers in own for worker in workers}
        rest = iter([worker for worker in self.placer.order() if worker not in taken])
        wanted = zip(own, counts, strict=True)
        return [
            worker
            for workers, count in wanted
            for worker in (*workers, *islice(rest, count - len(workers)))
        ]

    def _own(self, job: PreemptibleJob) -> list[int]:
        """Workers of the job's copies that are UP, the furthest copy's first."""
        own = [
            (-job.done(copy), held.worker)
            for copy, held in self.held.items()
            if held.job is job and held.worker in self.up
        ]
        return [worker for _, worker in sorted(own)]

    def _going_on(self, chosen: Sequence[Pair]) -> set[Pair]:
        """Copies that stay where they are, and go on."""
        wanted = set(chosen)
        own = {held: copy for copy, held in self.held.items()}
        return {pair for pair in wanted & own.keys() if pair.job.goes_on(own[pair])}
