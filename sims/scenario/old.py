"""Spellings of before: each is refused with the one that stands in its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sims.errors import InputError

RENAMED = {
    "platform.processors": "platform.workers",
    "platform.downtime": "faults.downtime",
    "failures": "errors; a rate per second of a moldable job's work is errors.per_work",
    "servers.count": "platform.workers",
    "servers.failures": "faults, with kind = exponential",
    "servers.semantics": "platform.gain, for mean semantics",
    "servers.placement": "policy.placement",
    "servers": "platform",
    "checkpoint.clone": "protection.delay",
    "checkpoint": "protection",
    "checkpoints.mtbf_years": "protection.mtbf, in the file's unit",
    "checkpoints.downtime": "faults.downtime",
    "checkpoints": "protection",
    "faults.mtbf_years": "faults.mtbf, in the file's unit",
    "faults.fatal": "protection.fatal",
    "policy.strategy": "policy.name",
}
"""Old key -> new one, whatever the kind of job; the longer first."""

OF_KIND = {
    "malleable": {
        "job.processors": "platform.workers",
        "job.profile": "job.speedup, whose keys are those of moldable jobs",
        "job.draw": "job.synthetic",
    },
    "redundant": {"job.kind": "kind = rigid with [job.stream]"},
}
"""Kind of job -> the same."""

ALLOCATIONS = ("LPA", "BATCH", "MINTIME", "MINAREA")
"""Names that `policy.name` of moldable files had."""


def refuse_old(kind: object, table: Mapping[str, Any]) -> None:
    """Raises InputError where `table` has a key as it was spelt before."""
    for key, new in _renamed(kind):
        if _holds(table, key.split(".")):
            raise InputError("scenario", key, "the old spelling", new)
    policy = table.get("policy")
    if isinstance(policy, Mapping) and policy.get("name") in ALLOCATIONS:
        problem = f"{policy['name']!r} is an allocation now, over the lists that policy.name names"
        raise InputError("scenario", "policy.name", problem, "policy.allocation")
    if kind == "iterative":
        _refuse_slots_per_task(table.get("workers"))
    if isinstance(table.get("job"), Mapping):
        _refuse_profiles(table["job"].get("jobs"))


def _renamed(kind: object) -> Iterator[tuple[str, str]]:
    yield from RENAMED.items()
    if isinstance(kind, str):
        yield from OF_KIND.get(kind, {}).items()


def _holds(table: object, steps: Sequence[str]) -> bool:
    if not steps:
        return True
    return isinstance(table, Mapping) and steps[0] in table and _holds(table[steps[0]], steps[1:])


def _refuse_slots_per_task(workers: object) -> None:
    for k, worker in enumerate(workers if isinstance(workers, list) else ()):
        if not isinstance(worker, Mapping) or "task_time" in worker:
            continue
        if type(worker.get("speed")) is int:
            problem = f"{worker['speed']!r}: the old spelling of its time per task"
            raise InputError("scenario", f"workers.{k}.speed", problem, "task_time")


def _refuse_profiles(jobs: object) -> None:
    for k, job in enumerate(jobs if isinstance(jobs, list) else ()):
        if isinstance(job, Mapping) and "profile" in job:
            raise InputError("scenario", f"job.jobs.{k}.profile", "the old spelling", "speedup")
