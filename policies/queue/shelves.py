"""R-SHELF and R-SHELFFILL: jobs that start together (rigid21, algorithms 2 and 3)."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from policies.interface.queue import BatchView, Decision, Queued
from policies.queue.lists import greedy


def until_misfit(queue: Iterable[Queued], free: int) -> list[Queued]:
    """The first of `queue`, up to the first that does not fit (no backfilling)."""
    starts = []
    for waiting in queue:
        if waiting.processors > free:
            break
        starts.append(waiting)
        free -= waiting.processors
    return starts


@frozen
class InOrder:
    """No backfilling: no job starts before the one ahead of it has."""

    def __call__(self, view: BatchView) -> Decision:
        return Decision(until_misfit(view.queue, view.free))


@frozen
class Shelves:
    """A shelf opens once the one before has ended, that is, when nothing runs any more.

    With estimates, a shelf whose attempts all end early ends early too.
    """

    backfilling: bool = True
    """b: whether jobs behind one that does not fit may enter the shelf."""
    filling: bool = False
    """R-SHELFFILL: a failed job restarts at once on its own processors if it is expected to end
    within the shelf (equality fills); nothing else enters a running shelf."""

    def __call__(self, view: BatchView) -> Decision:
        if view.busy:
            return Decision(self._fill(view), shelf_end=view.shelf_end)
        fits = greedy if self.backfilling else until_misfit
        starts = fits(view.queue, view.free)
        if not starts:
            return Decision()
        return Decision(starts, shelf_end=view.now + max(waiting.held for waiting in starts))

    def _fill(self, view: BatchView) -> list[Queued]:
        end = view.shelf_end
        if not self.filling or end is None:
            return []
        ending = [waiting for waiting in view.failed if view.now + waiting.held <= end]
        # Its own processors, unless one of them failed and the shelf leaves no other.
        return greedy(ending, view.free)
