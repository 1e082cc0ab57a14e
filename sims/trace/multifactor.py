"""Computes the factors of waiting jobs under the order MULTIFACTOR at one instant of a log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from attrs import asdict, define, field, frozen

from actors.events import ScenarioStarted
from actors.intervals import count_in
from actors.runtime import Record
from policies.interface.queue import BatchJob, Moment
from policies.maths.speedup import Rigid
from policies.queue.orders import MULTIFACTOR, WEEK, Multifactor, Usage
from sims.history.reader import Job, Listener, Run
from sims.scenario.multifactor import multifactor
from sims.scenario.policy import value_of

HEADS = ("number", "age", "fair share", "size", "tier")
"""Columns of a table of factors."""


def order_of(started: ScenarioStarted | None, tiers: Sequence[int]) -> Multifactor | None:
    """Return the order of a log's queue, whose jobs have these tiers, if it is MULTIFACTOR; else
    None."""
    if started is None or f"order={MULTIFACTOR}" not in started.settings:
        return None
    return multifactor(dict(map(value_of, started.settings)), started.unit == "s", tiers)


@frozen
class Number:
    """A waiting job's number, the sum of weight x factor, and the factors."""

    number: float
    factors: dict[str, float]

    @property
    def cells(self) -> tuple[str, ...]:
        """The number and the factors as cells of a table."""
        return tuple(f"{it:.4g}" for it in (self.number, *self.factors.values()))

    def as_json(self) -> dict[str, Any]:
        """Return the number and the factors as plain data for JSON."""
        return {"number": self.number, "factors": self.factors}


@define
class Shares(Listener):
    """Users' decayed processor-time, and who has submitted a job, as the log tells it from its
    beginning on."""

    usage: Usage
    users: set[str] = field(init=False, factory=set)
    held: dict[int, tuple[str, int]] = field(init=False, factory=dict)
    """Maps each run that holds processors, by its line, to its user and their number."""

    @classmethod
    def of(cls, order: Multifactor) -> Self:
        """Return the account that the order needs."""
        return cls(Usage(order.half_life or WEEK))

    def job_submitted(self, job: Job, record: Record) -> None:
        self.users.add(job.event.user)

    def run_started(self, run: Run, record: Record) -> None:
        user, size = run.job.event.user, count_in(run.processors)
        self.held[id(run)] = user, size
        self.usage.change(user, size, record.t)

    def run_widened(self, run: Run, record: Record) -> None:
        user, size = self.held[id(run)]
        more = count_in(run.aside)
        self.held[id(run)] = user, size + more
        self.usage.change(user, more, record.t)

    def run_released(self, run: Run, record: Record) -> None:
        user, size = self.held.pop(id(run))
        self.usage.change(user, -size, record.t)

    def moment(self, now: float) -> Moment:
        """Return what the order sees at `now`, the time up to which the log has been read; it stays
        as it is as the log is read on."""
        used = {user: self.usage.of(user, now) for user in self.users}
        return Moment(now, lambda user: used.get(user, 0.0), used)


def number_of(order: Multifactor, moment: Moment, job: Job, run: Run, processors: int) -> Number:
    """Return the number by which MULTIFACTOR ranks a waiting job at a moment, on a platform of so
    many processors. The run that starts the job later, `run`, says for how many processors it
    waits."""
    place = 0 if job.partition is None else job.partition.number
    about = job.seq, job.name, Rigid(run.asked, 0)
    described = BatchJob(*about, submitted=job.submitted, user=job.event.user, partition=place)
    factors = order.factors_at(moment)(described, run.asked, processors)
    return Number(order.number(factors), asdict(factors))
