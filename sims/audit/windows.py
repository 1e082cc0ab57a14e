"""Derives what windows of maintenance demand: that their workers are DOWN in them, and that no run
starts on a worker that is taken before the run's believed end (rules.md, M2)."""

from __future__ import annotations

from math import inf

from actors.events import MaintenancePlanned, RunStarted
from sims.audit.facts import Copy
from sims.audit.law import comes, possible, same
from sims.audit.workers import DOWN, Spans, joined, meet, numbers, parse_spans
from sims.audit.world import World


def describe(w: World, event: MaintenancePlanned) -> None:
    """Keep a window of maintenance: its start, end and workers. Raises Broken where it has no
    workers, or its end is not after its start."""
    workers, end = parse_spans(event.workers), inf if event.end is None else event.end
    possible(bool(workers) and workers[-1] <= w.head.processors, "there are no such workers")
    possible(0 <= event.start < end, "its end is not after its start")
    w.windows.append((event.start, end, workers))
    w.begin.append(w.windows[-1])
    w.decider.windows_described()


def to_come(w: World) -> bool:
    """Return whether any window of maintenance is still to come, or under way."""
    return any(end > w.now for _, end, _ in w.windows)


def covered(w: World, worker: int) -> bool:
    """Return whether a window of maintenance covers worker number `worker` now."""
    one = (worker, worker + 1)
    return any(
        start <= w.now < end and not same(w.now, end) and meet(workers, one)
        for start, end, workers in w.windows
    )


def shut(w: World, copy: Copy, event: RunStarted, known: bool) -> Spans | None:
    """Return the workers that windows of maintenance take before the believed end of this copy,
    which `event` starts now, so that it may not start on them.

    `known` says whether the log tells what is believed; if not, return None. A job for which
    windows without end leave too few workers is not kept from any: the set is empty.
    """
    job, now = copy.job, w.now
    if not known:
        return None
    believed = event.work if job.described.estimate is None else job.described.estimate
    end = now + believed + job.overhead
    endless = {n for _, over, them in w.windows if over == inf for n in numbers(them)}
    if copy.full > w.able - sum(n < w.able for n in endless):
        return ()  # the windows never leave it enough workers
    taken = [
        them
        for start, over, them in w.windows
        if start < end and not same(start, end) and over > now and not same(over, now)
    ]
    return joined(n for them in taken for n in numbers(them))


def close(w: World) -> None:
    """Check at the end of an instant that the workers of each window of maintenance that has begun
    are DOWN."""
    for window in [it for it in w.begin if it[0] <= w.now]:
        w.begin.remove(window)
        _, end, workers = window
        if w.now < end and not w.capped:
            up = [
                n for n in numbers(workers) if n not in w.workers or w.workers[n].state is not DOWN
            ]
            comes(not up, "workers {} go DOWN for maintenance", up)
