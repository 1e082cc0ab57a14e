"""Ranks the waiting jobs of a queue by its order, where the log determines that order."""

from __future__ import annotations

from math import inf

from attrs import frozen

from actors.events import DeciderKind, ScenarioStarted
from policies.interface.queue import BatchJob, Order
from policies.maths.speedup import Rigid
from policies.queue.names import default_order
from policies.queue.orders import PLAIN, first_come
from sims.history.reader import Job, Run

KNOWN = {name: order for name, order in PLAIN.items() if name != "RANDOM"}
"""Maps names to orders that depend on nothing but what a log says of a job. Read only."""


@frozen
class Ranking:
    """The order of a queue, where the log determines it: one of the papers' or a plain one.

    A user's own order, or a random one, cannot be known from the log.
    """

    name: str
    """Name of the order; empty where no queue decides."""
    order: Order | None
    processors: int

    @classmethod
    def of(cls, started: ScenarioStarted) -> Ranking:
        """Return the ranking for the log that begins with this event."""
        if started.decider is not DeciderKind.QUEUE:
            return cls("", None, started.processors)
        orders = (it.removeprefix("order=") for it in started.settings if it.startswith("order="))
        name = next(orders, default_order(started.policy))
        return cls(name, KNOWN.get(name), started.processors)

    def rank(self, job: Job, run: Run | None) -> tuple[int, float, int]:
        """Return a sort key of a job that waits in the queue: the smaller, the earlier in the
        queue.

        `run` is the run that starts the job later: it alone says how many processors the job asked
        for. A job that the log never starts comes last. Where the order is unknown, jobs rank by
        submission.
        """
        first = 0 if job.partition is None else -job.partition.tier
        if self.order is None or self.order is first_come:
            return first, job.submitted, job.seq
        if run is None:
            return first, inf, job.seq
        processors, work = run.asked, run.event.work
        event, shape = job.event, Rigid(processors, work)
        described = BatchJob(
            job.seq, job.name, shape, submitted=job.submitted, priority=event.priority
        )
        time = work if job.estimate is None else job.estimate
        rank = -self.order(described, processors, time, self.processors, _no_draw)
        return first, rank, job.seq


def _no_draw(job: BatchJob) -> float:
    raise AssertionError("only RANDOM draws, and it is not ranked")
