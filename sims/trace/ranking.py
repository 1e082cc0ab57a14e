"""Who is ahead of whom in a queue, as far as a log tells: by its order's name."""

from __future__ import annotations

from math import inf

from attrs import define, field, frozen

from actors.events import DeciderKind, ScenarioStarted
from policies.interface.queue import BatchJob, Order
from policies.maths.speedup import Rigid
from policies.queue.names import default_order
from policies.queue.orders import PAPER_ORDERS, first_come, large_first, shortest_time
from sims.ledger.slices import count
from sims.trace.scene import Arrived, Fields

QUEUE = DeciderKind.QUEUE
PLAIN: dict[str, Order] = {
    **{name: order for name, order in PAPER_ORDERS.items() if name != "RANDOM"},
    "LJF": large_first,
    "FCFS": first_come,
    "SJF": shortest_time,
}
"""The orders that depend on nothing but what a log tells of a job. Read only."""
Rank = tuple[float, int]
"""The smaller, the earlier: a queue's key."""


@frozen
class Asked:
    """What a job gets once it starts: what it asked for while it waited."""

    processors: int
    work: float
    at: float


@define
class LaterStarts:
    """What jobs that waited at some instant got when they started next: told by later lines."""

    of: dict[str, Asked] = field(factory=dict)
    awaited: set[str] = field(factory=set)

    def hear(self, kind: bytes, line: Fields) -> None:
        """A RunStarted or CopiesPlaced."""
        if kind == b"RunStarted":
            if line["job"] in self.awaited:
                asked = Asked(count(line["processors"]), line["work"], line["t"])
                self._tell(line["job"], asked)
        elif not self.awaited.isdisjoint(line["jobs"]):
            for job, copies, size in zip(line["jobs"], line["copies"], line["sizes"], strict=True):
                if job in self.awaited:
                    self._tell(job, Asked(copies * line["width"], size, line["t"]))

    def _tell(self, job: str, asked: Asked) -> None:
        self.of[job] = asked
        self.awaited.discard(job)


@frozen
class Ranking:
    """The queue's order: of a paper's name. A user's own, or a drawn one, cannot be told."""

    name: str
    order: Order | None
    processors: int

    @classmethod
    def of(cls, started: ScenarioStarted) -> Ranking:
        """Of the log that begins so."""
        if started.decider is not QUEUE:
            return cls("", None, started.processors)
        said = (it.removeprefix("order=") for it in started.settings if it.startswith("order="))
        name = next(said, default_order(started.policy))
        return cls(name, PLAIN.get(name), started.processors)

    @property
    def by_arrival(self) -> bool:
        """Whether it is the order of submission: told so, or as no other is known."""
        return self.order is None or self.order is first_come

    def rank(self, name: str, job: Arrived, asked: Asked | None) -> Rank:
        """Where a job stands: last where what it asked for is not told and matters."""
        if self.by_arrival:
            return job.at, job.index
        if asked is None:
            return inf, job.index
        return -self._priority(name, job, asked), job.index

    def _priority(self, name: str, job: Arrived, asked: Asked) -> float:
        assert self.order is not None
        time = asked.work if job.estimate is None else job.estimate
        profile = Rigid(asked.processors, asked.work)
        described = BatchJob(job.index, name, profile, submitted=job.at)
        return self.order(described, asked.processors, time, self.processors, _undrawn)


def _undrawn(job: BatchJob) -> float:
    raise AssertionError("only RANDOM draws, and it is not ranked")
