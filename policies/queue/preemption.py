"""Preemption by checkpoint: a running job makes way for a more urgent one and continues later."""

from __future__ import annotations

from bisect import insort
from collections.abc import Collection, Mapping, Sequence
from copy import deepcopy
from operator import attrgetter, itemgetter

from attrs import frozen

from policies.interface.queue import BatchView, Decision, Queued, Reservation, Run, Strategy


@frozen
class Preemptive:
    """As `strategy`; but where the first of the queue cannot start, runs of jobs that the order
    puts behind it give their processors back, the last of the order first, if the strategy starts
    it then.

    Only jobs protected by images (checkpoints on shared storage) are preempted, so that their next
    run continues from the last image. A job never preempts one that the order puts ahead of it: the
    two would preempt each other for ever.
    """

    strategy: Strategy

    def __call__(self, view: BatchView) -> Decision:
        if view.queue and view.queue[0].processors > view.free:
            victims = self._victims(view, view.queue[0])
            if victims and self._starts(view.queue[0], _without(view, victims)):
                return Decision(cancels=victims)
        return self.strategy(view)

    def _starts(self, first: Queued, view: BatchView) -> bool:
        """Whether it would: it may keep free processors for others, or for a shelf."""
        return any(waiting is first for waiting in self.strategy(view).starts)

    def _victims(self, view: BatchView, first: Queued) -> list[Run]:
        """The fewest runs, the last of the order first, that free enough processors; empty if none
        do."""
        behind = [
            (run[3].key, run)
            for run in view.running
            if run[3] is not None and run[3].key > first.key and run[1] in view.resumable
        ]
        free, victims = view.free, list[Run]()
        for _, run in sorted(behind, key=itemgetter(0), reverse=True):
            if free >= first.processors:
                break
            gained = run[2] - len(view.absent(run))
            if gained:
                victims.append(run)
                free += gained
        return victims if free >= first.processors else []


@frozen(eq=False)
class Withdrawn:
    """What a strategy would see. Satisfies BatchView."""

    view: BatchView
    queue: Sequence[Queued]
    free: int
    least: int
    failed: Sequence[Queued]
    running: Sequence[Run]
    memory: object
    early: Sequence[Run]

    @property
    def now(self) -> float:
        return self.view.now

    @property
    def processors(self) -> int:
        return self.view.processors

    @property
    def busy(self) -> bool:
        return any(run[3] is not None for run in self.running)

    @property
    def shelf_end(self) -> float | None:
        return self.view.shelf_end

    @property
    def reservations(self) -> Mapping[int, Reservation]:
        return self.view.reservations

    @property
    def resumable(self) -> Collection[int]:
        return self.view.resumable

    @property
    def moved(self) -> bool:
        return self.view.moved

    def absent(self, run: Run) -> Sequence[Run]:
        return self.view.absent(run)


def _without(view: BatchView, gone: Sequence[Run]) -> BatchView:
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
    return Withdrawn(
        *(view, queue, free, min(waiting.processors for waiting in queue)),
        [*view.failed, *back.values()],
        sorted([*left, *absent], key=itemgetter(0, 1)),
        # A strategy may change its own; who waits is the same in both.
        deepcopy(view.memory, {id(waiting): waiting for waiting in queue}),
        [*view.early, *(run for run in gone if run[0] > view.now)],
    )


_key = attrgetter("key")
