"""Batsim workloads (JSON): jobs whose profile is a delay."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

from sims.errors import InputError
from sims.readers.documents import Document, Word, document
from sims.readers.job_log import JobLog, LoggedJob
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


def read_batsim(path: Path, reserved: Collection[str] = ()) -> JobLog:
    """Read a workload, plain or compressed.

    Only profiles that a job names are looked at. Raises InputError where the file is
    unreadable, a field is missing or outside its range, two jobs share an id or one's is
    `reserved`, a job names a profile that is not there, or one of another type than a delay
    (named with the type).
    """
    file, source, places = document(_Workload, path), str(path), dict[str, int]()
    jobs = []
    for k, job in enumerate(file.jobs):
        if places.setdefault(job.id, k) != k:
            problem = f"{job.id!r} is also the id of jobs[{places[job.id]}]"
            raise InputError(source, f"jobs[{k}].id", problem, "an id for each job")
        if job.profile not in file.profiles:
            problem = f"there is no profile {job.profile!r}"
            raise InputError(source, f"jobs[{k}].profile", problem, "a name in `profiles`")
        profile = section_of(_Delay, file.profiles[job.profile], source, f"profiles.{job.profile}")
        jobs.append(
            LoggedJob(
                *(job.id, job.subtime, profile.delay, job.res, job.walltime, "unknown"),
                *(job.user or "", job.group or "", job.queue or "", job.priority or 0.0),
            )
        )
    if taken := sorted(places.keys() & set(reserved)):
        problem = f"a job has the id {taken[0]!r}, which is the {taken[0]}'s in the log"
        raise InputError(source, "jobs", problem, "another id")
    return JobLog(tuple(sorted(jobs, key=lambda job: job.submitted)), file.nb_res)
