"""Jobs with deadlines: on which kind of worker each goes on (Wu et al. 2024)."""

from __future__ import annotations

from typing import Protocol

from attrs import frozen


@frozen
class Offer:
    """A kind of worker of which the job can have as many as it needs now."""

    kind: str
    price: float
    """Of an hour of a worker; 0: not known."""


@frozen
class DueJob:
    """What a policy sees of one job at one instant; times in the scenario's unit. Work is the time
    that it takes at speed 1, with its checkpoints, where nothing happens."""

    elapsed: float
    """Since it was submitted."""
    deadline: float
    """Likewise: when it is to be completed."""
    work: float
    """All of it."""
    saved: float
    """The part of it from which a new run begins: what was done since its checkpoint is lost."""
    changeover: float
    """d: time that a new run takes before it computes: what `policy.changeover` says, and a
    recovery."""
    every: float
    """Time until the policy is asked again, at most."""
    kind: str
    """Of the workers that it has; empty: it has none."""
    offers: tuple[Offer, ...]
    """Kinds that it can have now, that of its own workers too, the cheapest first."""


class KindPolicy(Protocol):
    """Says on which kind of worker a job goes on from now on; empty: on none. Asked at regular
    times until the deadline, and when anything changes; same job, same answer. Where the kind is
    not among the offers, the job waits."""

    def __call__(self, job: DueJob) -> str: ...
