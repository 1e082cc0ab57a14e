"""Preemption by checkpoint: who runs makes way for somebody more urgent, and goes on later."""

from __future__ import annotations

from attrs import frozen

from policies.interface.queue import BatchView, Decision, Queued, Run, Strategy


@frozen
class Preemptive:
    """As `strategy`; but where the first of the queue cannot start, runs of jobs that the order
    puts behind it give their processors back, the last of the order first, if that is enough.

    Those are preempted alone whose protection keeps images, so that their next run goes on from the
    last one; a job that preempts one that could preempt it back would do so for ever, and nobody
    preempts whom the order puts first.
    """

    strategy: Strategy

    def __call__(self, view: BatchView) -> Decision:
        """See Strategy."""
        if view.queue and view.queue[0].processors > view.free:
            victims = self._victims(view, view.queue[0])
            if victims:
                return Decision(withdraws=victims)
        return self.strategy(view)

    def _victims(self, view: BatchView, first: Queued) -> list[Run]:
        """The fewest of the last, or nobody."""
        behind = [
            (run[3].key, run)
            for run in view.running
            if run[3] is not None and run[3].key > first.key and run[1] in view.resumable
        ]
        free, victims = view.free, list[Run]()
        for _, run in sorted(behind, key=lambda it: it[0], reverse=True):
            if free >= first.processors:
                break
            victims.append(run)
            free += run[2]
        return victims if free >= first.processors else []
