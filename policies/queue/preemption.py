"""Preemption by checkpoint: a running job makes way for a more urgent one and continues later."""

from __future__ import annotations

from operator import itemgetter

from attrs import frozen

from policies.interface.queue import BatchView, Decision, Queued, Run, Strategy


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
            if victims and self._starts(view.queue[0], view.without(victims)):
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
