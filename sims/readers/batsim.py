"""Batsim workloads (JSON): jobs whose profile is a delay."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from attrs import frozen
from pydantic import BeforeValidator

from sims.errors import InputError
from sims.readers.documents import Document, Word, document
from sims.tables.fields import NOT_EMPTY, Count, NotNegative, Number, Positive
from sims.tables.refusals import section_of

NO_WALLTIME = -1


def _name(value: object) -> object:
    # Old workloads number their jobs; the field became a string later.
    return str(value) if type(value) is int and value >= 0 else value


Name = Annotated[Word, BeforeValidator(_name)]
Walltime = Annotated[Positive | None, BeforeValidator(lambda it: None if it == NO_WALLTIME else it)]


class _Job(Document):
    id: Name
    subtime: NotNegative
    res: Count
    profile: Word
    walltime: Walltime = None
    user: Name | None = None
    group: Name | None = None
    queue: Name | None = None
    priority: Number | None = None


class _Delay(Document):
    type: Literal["delay", "DelayProfile"]
    delay: Positive


class _Workload(Document):
    nb_res: Count
    profiles: dict[str, Any]
    jobs: Annotated[list[_Job], NOT_EMPTY]


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
    file = document(_Workload, path)
    _refuse_twins(file.jobs, str(path))
    jobs = [_job(k, file, str(path)) for k in range(len(file.jobs))]
    return BatsimWorkload(file.nb_res, tuple(sorted(jobs, key=lambda job: job.submission_time)))


def _job(k: int, file: _Workload, source: str) -> BatsimJob:
    job = file.jobs[k]
    if job.profile not in file.profiles:
        problem = f"there is no profile {job.profile!r}"
        raise InputError(source, f"jobs[{k}].profile", problem, "a name in `profiles`")
    profile = section_of(_Delay, file.profiles[job.profile], source, f"profiles.{job.profile}")
    return BatsimJob(
        *(job.id, job.subtime, job.walltime, job.res, profile.delay, job.profile),
        *(job.user or "", job.group or "", job.queue or "", job.priority or 0.0),
    )


def _refuse_twins(jobs: Sequence[_Job], source: str) -> None:
    seen: dict[str, int] = {}
    for k, job in enumerate(jobs):
        if seen.setdefault(job.id, k) != k:
            problem = f"{job.id!r} is also the id of jobs[{seen[job.id]}]"
            raise InputError(source, f"jobs[{k}].id", problem, "an id for each job")
