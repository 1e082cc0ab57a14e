"""Decides on copies that are runs: the general form, for platforms with more hazards than varying
speeds (P5)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
from attrs import define, field
from numpy.random import Generator

from actors.decider import Decider, DecidersHost
from actors.deciders.copies.checks import ActiveTable, CheckedCopies
from actors.deciders.copies.placement import PlacementRule, Placer
from actors.events import Stage
from actors.messages import CopyOver, RunProgress, StateSaved
from actors.progress import remaining
from policies.availability import WorkerState
from policies.interface.copies import Counts, RedundancyPolicy
from policies.interface.queue import BatchJob

FETCHING = (Stage.STARTING_UP, Stage.STAGING_IN, Stage.RECOVERING)


class Pair(NamedTuple):
    """One copy of a job: the job's index and the copy's worker."""

    job: int
    worker: int


@define(eq=False)
class CopyRuns(Decider):
    """Decider that calls a policy of copies at each arrival, departure and loss of a copy, and when
    workers come UP or leave that state. Each copy that it starts is a run with one worker.

    Jobs are `PreemptibleJob`. A worker holds one run, so a policy that multitasks is refused.
    """

    wants_progress = True

    policy: RedundancyPolicy
    rule: PlacementRule = PlacementRule.LOWEST
    afresh: bool = True
    """Whether all copies are placed afresh each time, as in redundancy17. Where that costs
    something (a message, a delay, a part of a checkpoint), copies stay on their workers where their
    jobs continue, and only those copies are cloned that are neither the furthest nor fetching a
    state at present."""
    cloning: bool = True
    """Whether the jobs' copies are cloned; the policy must agree."""
    exact: bool = False
    """Whether all times, sizes and speeds are Fractions."""
    scheduler: DecidersHost = field(init=False, repr=False)
    table: ActiveTable = field(init=False)
    placer: Placer = field(init=False)
    ask: CheckedCopies = field(init=False)
    rng: Generator = field(init=False)
    held: dict[int, Pair] = field(init=False, factory=dict)
    """Maps each copy to its job and worker."""
    progress: dict[int, RunProgress] = field(init=False, factory=dict)
    """Maps each copy to its last progress report."""
    states: dict[int, float | None] = field(init=False, factory=dict)
    """Maps a job's index to the work done in its furthest state that no running copy has; None:
    there is no such state."""
    up: frozenset[int] = field(init=False)
    leaving: set[int] = field(init=False, factory=set)
    """Copies whose cancellation has been requested."""
    starts: list[Pair] = field(init=False, factory=list)
    """Copies to start, as pairs of job and worker, once those in `leaving` have ended."""
    outdated: bool = field(init=False, default=False)
    """Whether anything has happened since the last placement that calls for the policy."""

    def attach(self, scheduler: DecidersHost) -> None:
        self.scheduler = scheduler
        system = scheduler.system
        self.up = frozenset(range(scheduler.pool.size))
        self.table = ActiveTable(self.exact)
        self.placer = Placer(self._workers(), self.rule, system.stream("placement"))
        self.ask = CheckedCopies(self.policy, multitasking=False, cloning=self.cloning)
        self.rng = system.stream("policy")

    def _workers(self) -> Counts:
        return np.array(sorted(self.up), dtype=np.intp)

    # --- messages from the scheduler ----------------------------------------------------------

    def submitted(self, job: BatchJob, cause: int) -> None:
        self.table.add(job, self.scheduler.now)
        self.outdated = True

    def progressed(self, message: RunProgress) -> None:
        self.progress[message.copy] = message

    def saved(self, message: StateSaved) -> None:
        self.states[message.index] = message.done

    def over(self, message: CopyOver, cause: int) -> None:
        held = self.held.pop(message.copy)
        self.progress.pop(message.copy, None)
        if message.copy in self.leaving:
            self.leaving.discard(message.copy)
            return
        self.outdated = True
        if message.gone:
            self.table.remove([job.index for job in self.table.jobs].index(held.job))

    def changed(self, worker: int, state: WorkerState, cause: int) -> bool:
        up = self.up - {worker} if state is not WorkerState.UP else self.up | {worker}
        if up != self.up:
            self.up, self.outdated = up, True
            self.placer.workers = self._workers()
        return self.outdated

    # --- decisions ----------------------------------------------------------------------------

    def decide(self, cause: int) -> None:
        """Call the policy if anything has happened, cancel the copies that do not stay, and start
        the new ones once the cancelled ones have ended."""
        if self.outdated:
            self.outdated = False
            self._choose(cause)
        # New copies start when the last cancelled one has ended, which frees its worker.
        if not self.leaving:
            self._start(cause)

    def _start(self, cause: int) -> None:
        for job, worker in self.starts:
            copy = self.scheduler.dispatcher.start_on(job, (worker,), cause)
            self.held[copy] = Pair(job, worker)
        self.starts.clear()

    def _choose(self, cause: int) -> None:
        chosen = self._chosen() if self.table.jobs and self.up else []
        going_on = set[Pair]() if self.afresh else self._going_on(chosen)
        self.starts = [pair for pair in chosen if pair not in going_on]
        # The copy placed last is cancelled first: of equal states, that of the copy placed first is
        # kept.
        for copy, held in reversed(self.held.items()):
            if held not in going_on:
                self.leaving.add(copy)
                self.scheduler.dispatcher.cancel_copy(copy, cause)

    def _chosen(self) -> list[Pair]:
        """Call the policy and return all copies that it wants, job after job, each with the worker
        that the placement chooses for it. There has to be an active job and a worker that is UP."""
        table, best = self.table, self._best()
        sizes = [(job.index, job.profile.time(1)) for job in table.jobs]
        lefts = [remaining(size, best.get(index, 0)) for index, size in sizes]
        table.update(np.arange(len(sizes)), np.array(lefts, dtype=table.buffer.dtype))
        allocation = self.ask(table.view(len(self.up)), self.rng)
        served = [table.jobs[column].index for column in allocation.jobs.tolist()]
        counts = allocation.copies.tolist()
        if self.afresh:
            workers = self.placer.place(allocation, table.names_of(allocation.jobs)).tolist()
        else:
            workers = self._staying(served, counts)
        owners = [job for job, count in zip(served, counts, strict=True) for _ in range(count)]
        return list(map(Pair, owners, workers))

    def _best(self) -> dict[int, float]:
        """Return, by the index of each job that has a state, the work done in its furthest state,
        be it that of a running copy or a kept one."""
        now = self.scheduler.now
        best = {index: done for index, done in self.states.items() if done is not None}
        for copy, progress in self.progress.items():
            if progress.stage is not None:
                index = self.held[copy].job
                best[index] = max(best.get(index, 0), progress.at(now))
        return best

    def _staying(self, jobs: Sequence[int], counts: Sequence[int]) -> list[int]:
        """Return a worker for each copy, job after job, `counts` of them for each of `jobs`
        (indices): first the workers of the job's furthest running copies, then others in the
        placement's order that no served job keeps."""
        own = [self._own(job)[:count] for job, count in zip(jobs, counts, strict=True)]
        taken = {worker for workers in own for worker in workers}
        rest = iter([worker for worker in self.placer.order() if worker not in taken])
        wanted = zip(own, counts, strict=True)
        return [
            worker
            for workers, count in wanted
            for worker in (*workers, *islice(rest, count - len(workers)))
        ]

    def _own(self, job: int) -> list[int]:
        """Return the workers that are UP on which copies of this job run, that of the furthest copy
        first. Last come the workers of copies that have no run because they wait for their
        workers."""
        now = self.scheduler.now
        own = [
            (1 if progress.stage is None else -progress.at(now), held.worker)
            for copy, held in self.held.items()
            if held.job == job and held.worker in self.up
            for progress in (self.progress[copy],)
        ]
        return [worker for _, worker in sorted(own)]

    def _going_on(self, chosen: Sequence[Pair]) -> set[Pair]:
        """Return those of the `chosen` copies that run already and continue as they are."""
        wanted = set(chosen)
        own = {held: copy for copy, held in self.held.items()}
        best = self._best()
        return {
            pair
            for pair in wanted & own.keys()
            if self._goes_on(self.progress[own[pair]], best.get(pair.job, 0))
        }

    def _goes_on(self, progress: RunProgress, best: float) -> bool:
        """Return whether a copy that stays on its worker continues its run, instead of starting
        again as a clone of its job's furthest copy. It continues if there is no cloning, if it has
        done `best`, the furthest copy's work, if it still starts up or fetches a state, or if it
        waits for its worker."""
        if not self.cloning or progress.stage is None or progress.stage in FETCHING:
            return True
        return not remaining(best, progress.at(self.scheduler.now))
