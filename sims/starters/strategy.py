"""Which waiting jobs start now: a strategy of a queue. In a scenario file:

[policy]
name = "strategy:SmallestFit"

`view` (policies.interface.BatchView) has `now`, `free` processors, the `queue` in the order of
`policy.order`, and `running`. Each start is a member of the queue, once, and all must fit `free`.
"""

from attrs import frozen

from policies.interface import BatchView, Decision


@frozen
class SmallestFit:
    """As many jobs as fit, the narrowest first; a wide job starts alone after `patience`."""

    patience: float = float("inf")
    """Time, in the scenario's unit, after which the longest waiting job is no longer passed by."""

    def __call__(self, view: BatchView) -> Decision:
        """Asked once at each instant at which something ended, arrived, failed or came back."""
        late = [it for it in view.queue if view.now - it.job.submitted > self.patience]
        free, starts = view.free, []
        for waiting in late or sorted(view.queue, key=lambda it: (it.processors, it.key)):
            if waiting.processors > free:
                break  # nobody behind it may start before it
            starts.append(waiting)
            free -= waiting.processors
        return Decision(starts)
