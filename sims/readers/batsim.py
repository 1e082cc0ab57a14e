"""Batsim workloads (JSON): jobs whose profile is a delay."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from attrs import frozen

from sims.readers.json_value import JsonValue

DELAY_TYPES = ("delay", "DelayProfile")
NO_WALLTIME = -1


@frozen
class BatsimJob:
    """A rigid job that computes for a fixed time."""

    id: str
    submission_time: float
    """Seconds."""
    walltime: float | None
    """Seconds after which the job is killed; None: never."""
    processors: int
    delay: float
    """Seconds that it computes, above 0; longer than `walltime` means that it is killed."""
    profile: str
    """Name of the profile that the delay comes from."""
    user: str = ""
    """Whose it is; Batsim lets jobs have fields of one's own, and so for all that follow."""
    group: str = ""
    queue: str = ""
    priority: float = 0.0


@frozen
class BatsimWorkload:
    """What a workload file holds."""

    resources: int
    """nb_res: processors that the workload was made for."""
    jobs: tuple[BatsimJob, ...]
    """By submission time, ties in the file's order."""


def read_batsim_workload(path: Path) -> BatsimWorkload:
    """Read a workload, plain or compressed.

    Only profiles that a job names are looked at. Raises InputError where the file is
    unreadable, a field is missing or outside its range, two jobs share an id, a job names a
    profile that is not there, or one of another type than a delay (named with the type).
    """
    root = JsonValue.read(path)
    resources = root.field("nb_res").whole(1)
    profiles = root.field("profiles")
    places = list(root.field("jobs").items())
    jobs = [_job(place, profiles) for place in places]
    _refuse_twins(jobs, places)
    return BatsimWorkload(resources, tuple(sorted(jobs, key=lambda job: job.submission_time)))


def _job(job: JsonValue, profiles: JsonValue) -> BatsimJob:
    profile = job.field("profile")
    return BatsimJob(
        id=_name(job.field("id")),
        submission_time=job.field("subtime").not_negative(),
        walltime=_walltime(job.optional("walltime")),
        processors=job.field("res").whole(1),
        delay=_delay(profile, profiles),
        profile=profile.text(),
        user=_name(job.optional("user")),
        group=_name(job.optional("group")),
        queue=_name(job.optional("queue")),
        priority=0.0 if (priority := job.optional("priority")) is None else priority.finite(),
    )


def _name(value: JsonValue | None) -> str:
    # Old workloads number their jobs; the field became a string later.
    if value is None:
        return ""
    return str(value.whole(0)) if isinstance(value.value, int) else value.text()


def _walltime(value: JsonValue | None) -> float | None:
    if value is None or value.value == NO_WALLTIME:
        return None
    return value.positive()


def _delay(name: JsonValue, profiles: JsonValue) -> float:
    profile = profiles.optional(name.text())
    if profile is None:
        raise name.refused(f"there is no profile {name.text()!r}", "a name in `profiles`")
    kind = profile.field("type")
    if kind.text() not in DELAY_TYPES:
        problem = f"profiles of type {kind.text()!r} are not simulated"
        raise kind.refused(problem, " or ".join(DELAY_TYPES))
    return profile.field("delay").positive()


def _refuse_twins(jobs: Sequence[BatsimJob], places: Sequence[JsonValue]) -> None:
    seen: dict[str, str] = {}
    for job, place in zip(jobs, places, strict=True):
        if job.id in seen:
            problem = f"{job.id!r} is also the id of {seen[job.id]}"
            raise place.field("id").refused(problem, "an id for each job")
        seen[job.id] = place.key
