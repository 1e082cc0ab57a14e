"""Defines what a policy for jobs with deadlines sees and decides: the kind of worker on which each
job continues (Wu et al. 2024)."""

from __future__ import annotations

from typing import Protocol

from attrs import frozen


@frozen
class Offer:
    """A kind of worker that is available now in the number that the job needs."""

    kind: str
    price: float
    """Price of one worker for one hour; 0 if it is not known."""


@frozen
class DueJob:
    """Shows a policy one job at one instant. Times are in the scenario's unit; work is measured as
    the time that it takes at speed 1, checkpoints included, when nothing fails."""

    elapsed: float
    """Time since the job was submitted."""
    deadline: float
    """Time from the job's submission to its deadline."""
    work: float
    """Total work of the job."""
    saved: float
    """Work that the job's last checkpoint covers: a new run begins from it, and later work is
    lost."""
    changeover: float
    """d: time that a new run takes before it computes, which is `policy.changeover` plus a
    recovery."""
    every: float
    """Longest time until the policy is called again."""
    kind: str
    """Kind of the workers that the job holds; empty if it holds none."""
    offers: tuple[Offer, ...]
    """The kinds that the job can have now, that of its present workers included, the cheapest
    first."""


class KindPolicy(Protocol):
    """Chooses the kind of worker on which a job continues, by its name; an empty text means that
    the job holds no workers and waits.

    The policy is called at regular intervals until the deadline and whenever something changes; the
    same job must get the same answer. The job also waits if the chosen kind is not among its
    offers.
    """

    def __call__(self, job: DueJob) -> str: ...
