"""Implements preemption by checkpoint: a running job gives way to a more urgent one and continues
later."""

from __future__ import annotations

from operator import itemgetter

from attrs import frozen

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
        if view.queue and view.queue[0].processors > _free_for(view, view.queue[0]):
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
        free, victims = _free_for(view, first), list[Run]()
        for _, run in sorted(behind, key=itemgetter(0), reverse=True):
            if free >= first.processors:
                break
            # Processors of the run that are not UP do not become free with it.
            gained = _gained(view, first, run)
            if gained:
                victims.append(run)
                free += gained
        return victims if free >= first.processors else []


def _free_for(view: BatchView, first: Queued) -> int:
    """Return the number of free workers that the job `first` may use: those of its partition."""
    if view.cells is None:
        return view.free
    return view.cells.within(first.job.partition, view.vacant)


def _gained(view: BatchView, first: Queued, run: Run) -> int:
    """Return how many workers the job `first` could use if `run` were cancelled."""
    if view.cells is None:
        return run.processors - len(view.absent(run))
    within, partition = view.cells.within, first.job.partition
    gone = sum(within(partition, one.numbers) for one in view.absent(run))
    return within(partition, run.numbers) - gone
