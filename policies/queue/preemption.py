"""Implements preemption by checkpoint: a running job gives way to a more urgent one and continues
later."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from operator import itemgetter

from attrs import define, field, frozen

from policies.interface.queue import BatchView, Decision, Queued, Run, Strategy


@frozen
class Preemptive:
    """Acts as `strategy`, but cancels runs of less urgent jobs where the first job of the queue
    cannot start for lack of processors.

    Runs of jobs that the order puts behind the first job are cancelled, the last in the order
    first, as many as it takes, and only if the strategy then starts the first job.

    Only jobs protected by images (checkpoints on shared storage) are preempted, so that their next
    run continues from the last image. A job never preempts one that the order puts ahead of it: the
    two would preempt each other for ever.
    """

    strategy: Strategy

    def __call__(self, view: BatchView) -> Decision:
        if view.queue and view.queue[0].processors > _Free(view, view.queue[0]).count:
            victims = self._victims(view, view.queue[0])
            if victims and self._starts(view.queue[0], view.without(victims)):
                return Decision(cancels=victims)
        return self.strategy(view)

    def _starts(self, first: Queued, view: BatchView) -> bool:
        """Return whether the strategy would start `first` on this view; it may keep free processors
        for other jobs, or for a shelf."""
        return any(waiting is first for waiting in self.strategy(view).starts)

    def _victims(self, view: BatchView, first: Queued) -> list[Run]:
        """Return the runs to cancel so that enough processors are free for `first`: runs of jobs
        behind it in the order that are protected by images, the last in the order first, until
        there are enough. Return an empty list if even all of them are too few. A run none of whose
        processors is UP is passed over."""
        behind = [
            (run.entry.key, run)
            for run in view.running
            if run.entry is not None and run.entry.key > first.key and run.index in view.resumable
        ]
        free, victims = _Free(view, first), list[Run]()
        for _, run in sorted(behind, key=itemgetter(0), reverse=True):
            if free.count >= first.processors:
                break
            # Processors of the run that are not UP do not become free with it.
            if free.gain(run):
                victims.append(run)
        return victims if free.count >= first.processors else []


@define(eq=False)
class _Free:
    """Counts the workers that the first job of the queue may use: those that are free, and those
    that would be, were some runs cancelled."""

    view: BatchView
    first: Queued
    count: int = field(init=False)
    """Number of these workers."""
    counts: list[int] = field(init=False, factory=list)
    """Number of the free workers of each cell; empty where there are no cells."""

    def __attrs_post_init__(self) -> None:
        self.count = self.view.free
        if self.view.cells is not None:
            self.counts = self.view.cells.free(self.view.vacant)
            self.count = self.view.cells.usable(self.first.job.partition, self.counts)

    def gain(self, run: Run) -> int:
        """Count the workers that cancelling `run` would free; return how many of them are in the
        job's partition."""
        cells, partition = self.view.cells, self.first.job.partition
        absent = self.view.absent(run)
        if cells is None:
            self.count += (gained := run.processors - len(absent))
            return gained
        more = cells.free(_without(run.numbers, [one.numbers[0][0] for one in absent]))
        self.counts = [sum(both) for both in zip(self.counts, more, strict=True)]
        self.count = cells.usable(partition, self.counts)
        return sum(more[cell] for cell in cells.of_partition[partition])


def _without(numbers: Iterable[tuple[int, int]], gone: Collection[int]) -> list[tuple[int, int]]:
    """Return the workers in these intervals but those in `gone`, as intervals."""
    found = []
    for first, last in numbers:
        for worker in sorted(it for it in gone if first <= it <= last):
            if first < worker:
                found.append((first, worker - 1))
            first = worker + 1
        if first <= last:
            found.append((first, last))
    return found
