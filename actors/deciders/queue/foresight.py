"""What a strategy would see if some runs were cancelled."""

from __future__ import annotations

from bisect import insort
from collections.abc import Collection, Mapping, Sequence
from copy import deepcopy
from operator import attrgetter, itemgetter

from attrs import frozen

from policies.interface.queue import BatchView, Queued, Reservation, Run


@frozen(eq=False)
class ViewWithout:
    """What a strategy would see (satisfies policies.interface.queue.BatchView)."""

    view: BatchView
    queue: Sequence[Queued]
    free: int
    least: int
    failed: Sequence[Queued]
    running: Sequence[Run]
    memory: object
    early: Sequence[Run]
    now: float
    processors: int
    shelf_end: float | None
    reservations: Mapping[int, Reservation]
    resumable: Collection[int]
    moved: bool

    @property
    def busy(self) -> bool:
        return any(run[3] is not None for run in self.running)

    def absent(self, run: Run) -> Sequence[Run]:
        return self.view.absent(run)

    def without(self, gone: Sequence[Run]) -> BatchView:
        return view_without(self, gone)


def view_without(view: BatchView, gone: Sequence[Run]) -> BatchView:
    """What `view` will be once these runs are cancelled."""
    over = {run[5] for run in gone}
    left = [run for run in view.running if run[5] not in over]
    absent = [one for run in gone for one in view.absent(run)]
    # A job with another copy that goes on does not wait.
    on = {run[1] for run in left}
    back = {run[1]: run[3] for run in gone if run[3] is not None and run[1] not in on}
    queue = list(view.queue)
    for waiting in back.values():
        insort(queue, waiting, key=_key)
    free = view.free + sum(run[2] for run in gone) - len(absent)
    return ViewWithout(
        *(view, queue, free, min(waiting.processors for waiting in queue)),
        [*view.failed, *back.values()],
        sorted([*left, *absent], key=itemgetter(0, 1)),
        # A strategy may change its own; who waits is the same in both.
        deepcopy(view.memory, {id(waiting): waiting for waiting in queue}),
        [*view.early, *(run for run in gone if run[0] > view.now)],
        *_same(view),
    )


_key = attrgetter("key")
_same = attrgetter("now", "processors", "shelf_end", "reservations", "resumable", "moved")
