"""Derives what windows of maintenance demand: that their workers are DOWN in them, and that no run
starts on a worker that is taken before the run's believed end (rules.md, M2)."""

from __future__ import annotations

from math import inf
from typing import Any, ClassVar

from attrs import Factory, define

from actors.events import MaintenancePlanned, PartitionAssigned
from policies.availability import WorkerState
from sims.audit import cells
from sims.audit.facts import ExpectedCopy, HeadLine
from sims.audit.law import comes, possible, same
from sims.audit.workers import DOWN, Spans, joined, meet, numbers, parse_spans
from sims.audit.world import PartRules, World

Window = tuple[float, float, Spans]
"""Start and end of a window, and its workers."""


@define(eq=False)
class MaintenanceRules(PartRules):
    """The rules of windows of maintenance."""

    head: ClassVar = HeadLine(MaintenancePlanned, after=PartitionAssigned, once=False)
    begin: list[Window] = Factory(list)
    """Windows that have not begun. At the end of the instant at which one begins, its workers must
    be DOWN."""

    def describe(self, event: Any) -> None:
        """Keep a window of maintenance: its start, end and workers. Raises Broken where it has no
        workers, or its end is not after its start."""
        w = self.w
        workers, end = parse_spans(event.workers), inf if event.end is None else event.end
        possible(bool(workers) and workers[-1] <= w.head.processors, "there are no such workers")
        possible(0 <= event.start < end, "its end is not after its start")
        self.w.windows.append((event.start, end, workers))
        self.begin.append(self.w.windows[-1])
        w.decider.windows_described()

    def shuts_later(self) -> bool:
        return any(end > self.w.now for _, end, _ in self.w.windows)

    def keeps(self, worker: int, state: WorkerState) -> bool:
        one, now = (worker, worker + 1), self.w.now
        under_way = [
            workers
            for start, end, workers in self.w.windows
            if (start < now or same(start, now)) and now < end and not same(now, end)
        ]
        return state is DOWN and any(meet(workers, one) for workers in under_way)

    def shut(self, copy: ExpectedCopy, end: float) -> Spans:
        """Return the workers that windows take before the time `end`. A job for which windows
        without end leave too few workers is not kept from any: the set is empty."""
        w, now = self.w, self.w.now
        endless = {n for _, over, them in self.w.windows if over == inf for n in numbers(them)}
        if copy.full > cells.most_of(w, copy.job, endless):
            return ()  # the windows never leave it enough workers
        taken = [
            them
            for start, over, them in self.w.windows
            if start < end and not same(start, end) and over > now and not same(over, now)
        ]
        return joined(n for them in taken for n in numbers(them))

    def close(self) -> None:
        """Check at the end of an instant that the workers of each window of maintenance that has
        begun are DOWN."""
        w = self.w
        for window in [it for it in self.begin if it[0] <= w.now]:
            self.begin.remove(window)
            _, end, workers = window
            if w.now < end and not w.capped:
                up = [n for n in numbers(workers) if not _is_down(w, n)]
                comes(not up, "workers {} go DOWN for maintenance", up)


def _is_down(w: World, worker: int) -> bool:
    return worker in w.workers and w.workers[worker].state is DOWN
