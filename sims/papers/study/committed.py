"""RLScheduler's backfilling (Zhang et al., SC 2020), as its published environment does it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import frozen

from policies.interface.queue import BatchView, Decision, Queued
from policies.queue.free_profile import FreeProfile


@frozen
class Committed:
    """RLScheduler's: the chosen job stays chosen until it starts."""

    backfilling: bool = True

    def __call__(self, view: BatchView) -> Decision:
        queue, free, starts = list(view.queue), view.free, list[Queued]()
        queue.sort(key=lambda it: it.job.index != view.memory)
        while queue and queue[0].processors <= free:
            free -= queue[0].processors
            starts.append(queue.pop(0))
        if not queue:
            return Decision(starts)
        if self.backfilling:
            starts += list(_backfilled(view, starts, queue, free))
        return Decision(starts, memory=queue[0].job.index)


def _backfilled(
    view: BatchView, started: Sequence[Queued], queue: Sequence[Queued], free: int
) -> Iterator[Queued]:
    """By arrival, what ends before the start of the queue's first."""
    profile = FreeProfile.of(view.now, view.free, view.running)
    for it in started:
        profile.take(0, it.processors, it.held)
    step, _ = profile.earliest(queue[0].processors, queue[0].held)
    for it in sorted(queue[1:], key=lambda it: it.job.index):
        if it.processors <= free and view.now + it.held < profile.times[step]:
            free -= it.processors
            yield it
