"""Derives which checkpoint of a job is kept under images, the furthest, and where: at the master or
on shared storage (rules.md, P3 and S1)."""

from __future__ import annotations

from actors.events import ProtectionKind
from sims.audit.facts import ExpectedJob, ExpectedState

IMAGES = ProtectionKind.IMAGES


def always(job: ExpectedJob) -> bool:
    """Return whether the job's state is saved all the time, at no cost and without a line."""
    return job.kind is IMAGES and job.rules.period == 0


def save(job: ExpectedJob, state: ExpectedState) -> None:
    """Keep the state of a checkpoint if it is further than the one that is kept: the copies of a
    job share one saved state, and only progress replaces it."""
    if state.beyond(job.saved):
        job.saved = state


def sent(job: ExpectedJob) -> bool:
    """Return whether every member sends its part of a checkpoint to the master."""
    return job.kind is IMAGES and job.messages is not None


def stores(job: ExpectedJob, first: bool) -> bool:
    """Return whether the job's checkpoints go to shared storage (S1): those of the first level
    (each checkpoint), or, unless `first`, those of the second (under buddies each k-th, which is
    stored too)."""
    return job.asked.stored is not None and (job.kind is IMAGES or not first)
