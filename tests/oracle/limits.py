"""Limits by user, group or queue (rules.md, G7): which jobs may start, and random ones."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.oracle.jobs import Job

PER = ("user", "group", "queue")


def allowed(jobs: list[Job], job: Job, limits: list[dict[str, Any]]) -> bool:
    """Whether one more copy of a job takes none of its names above a limit."""
    for limit in limits:
        name = job.whose.get(limit["per"], "")
        if not name or name not in limit.get("only", [name]):
            continue
        others = [it for it in jobs if it.whose.get(limit["per"]) == name and it.copies_held]
        running = len({it.index for it in others} | {job.index})
        groups = [group for it in others for group in it.copies_held]
        holding = sum(len(it.members) + len(it.rest) for it in groups) + job.occupied
        if running > limit.get("jobs", running) or holding > limit.get("processors", holding):
            return False
    return True


def draw_limits(rng: Random, scenario: dict[str, Any]) -> None:
    """Some, and whose jobs are whose; no job alone exceeds one."""
    jobs, per = scenario["jobs"], PER[: 2 if "partitions" in scenario else 3]
    for job in jobs:
        job |= {"user": rng.choice("uuv"), "group": rng.choice(["g", ""])}
        if "queue" in per:
            job["queue"] = rng.choice("pq")
    limits = []
    for _ in range(rng.choice([1, 1, 2])):
        limit: dict[str, Any] = {"per": rng.choice(["user", *per])}
        if rng.random() < 0.3:
            limit["only"] = [rng.choice({"user": "uv", "group": "g", "queue": "pq"}[limit["per"]])]
        if rng.random() < 0.6:
            limit["jobs"] = rng.choice([1, 1, 2])
        if "jobs" not in limit or rng.random() < 0.3:
            node = scenario.get("node", 1) if "partitions" in scenario else 1
            widest = max(-(-job["p"] // node) * node for job in jobs)
            limit["processors"] = widest + rng.choice([0, 0, 1])
        limits.append(limit)
    scenario["limits"] = limits
