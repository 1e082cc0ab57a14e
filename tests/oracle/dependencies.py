"""Jobs that follow others (rules.md, G9): when they are submitted, and random ones."""

from __future__ import annotations

from fractions import Fraction
from math import inf
from random import Random
from typing import Any

from tests.oracle.jobs import Job


def submit_followers(jobs: list[Job], now: Fraction) -> bool:
    """Those whose predecessors are all over know their time; whether one of them is due now."""
    due = False
    for job in jobs:
        if job.release == inf and all(jobs[k].completion is not None for k in job.after):
            job.release = max(job.earliest, now + job.think)
            due = due or job.release == now
    return due


def draw_dependencies(rng: Random, scenario: dict[str, Any]) -> bool:
    """Let some follow others that come before them in a random order; whether there are any."""
    jobs = scenario["jobs"]
    order = rng.sample(range(len(jobs)), len(jobs))
    for place, k in enumerate(order):
        if place and rng.random() < 0.6:
            jobs[k]["after"] = sorted(rng.sample(order[:place], min(place, rng.choice([1, 1, 2]))))
            jobs[k]["think"] = rng.choice([0, 0, 1, 3])
    return any("after" in job for job in jobs)
