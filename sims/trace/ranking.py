"""Who is ahead of whom in a queue, as far as a log tells: by its order's name."""

from __future__ import annotations

from math import inf

from attrs import frozen

from actors.events import DeciderKind, ScenarioStarted
from policies.interface.queue import BatchJob, Order
from policies.maths.speedup import Rigid
from policies.queue.names import default_order
from policies.queue.orders import PAPER_ORDERS, first_come, large_first, shortest_time
from sims.history import Job
from sims.trace.look import Asked, estimate_of

PLAIN: dict[str, Order] = {
    **{name: order for name, order in PAPER_ORDERS.items() if name != "RANDOM"},
    "LJF": large_first,
    "FCFS": first_come,
    "SJF": shortest_time,
}
"""The orders that depend on nothing but what a log tells of a job. Read only."""


@frozen
class Ranking:
    """The queue's order: of a paper's name. A user's own, or a drawn one, cannot be told."""

    name: str
    """Empty where no queue decides."""
    order: Order | None
    processors: int

    @classmethod
    def of(cls, started: ScenarioStarted) -> Ranking:
        """Of the log that begins so."""
        if started.decider is not DeciderKind.QUEUE:
            return cls("", None, started.processors)
        said = (it.removeprefix("order=") for it in started.settings if it.startswith("order="))
        name = next(said, default_order(started.policy))
        return cls(name, PLAIN.get(name), started.processors)

    def rank(self, job: Job, asked: Asked | None) -> tuple[float, int]:
        """Where a job stands, the smaller the earlier: by submission where no other order is
        known; last where what it asked for is not told and matters."""
        if self.order is None or self.order is first_come:
            return job.submitted, job.seq
        if asked is None:
            return inf, job.seq
        estimate = estimate_of(job)
        time = asked.work if estimate is None else estimate
        profile = Rigid(asked.processors, asked.work)
        described = BatchJob(job.seq, job.name, profile, submitted=job.submitted)
        return -self.order(described, asked.processors, time, self.processors, _undrawn), job.seq


def _undrawn(job: BatchJob) -> float:
    raise AssertionError("only RANDOM draws, and it is not ranked")
