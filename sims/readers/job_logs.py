"""Logs of jobs in two formats: the Standard Workload Format 2.2 of the Parallel Workloads Archive
(a line of 18 fields for each job, -1 for unknown; read as a stream), and Batsim's workloads (JSON)
of jobs whose profile is a delay."""

from __future__ import annotations

import enum
import re
from collections import Counter
from collections.abc import Collection
from itertools import takewhile
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

from sims.errors import InputError
from sims.readers import JobLog, LoggedJob
from sims.readers.documents import Document, Word, document
from sims.readers.files import finite, taken, whole
from sims.tables.fields import NOT_EMPTY, Count, NotNegative, Number, Positive
from sims.tables.refusals import section_of

FIELDS = (
    "18 fields: job number, submit, wait, run, allocated processors, average CPU, used memory, "
    "requested processors, requested time, requested memory, status, user, group, executable, "
    "queue, partition, preceding job, think time"
)
UNKNOWN = -1
AMOUNTS = (1, 2, 3, 5, 6, 8, 9, 17)
"""Fields that are no whole numbers."""
READERS = tuple(finite if field in AMOUNTS else whole for field in range(18))
STATUS_FIELD = 10
WHOSE = (11, 12, 14)
"""User, group, queue."""
STATUSES = {"-1": "unknown", "0": "failed", "1": "completed", "5": "cancelled"}
PARTS = ("2", "3", "4")
"""Statuses of parts, which would count an interrupted job's work twice."""

ENTRY = re.compile(r"^;\s*([A-Za-z]\w*)\s*:\s*(\d{1,18})(?!\S)")
"""A line of the header whose value begins with a number: logs write `unknown` there, too."""
MACHINE, BEGINS = "MaxProcs", "UnixStartTime"


class SkipReason(enum.Enum):
    """Why a line gave no job; of several reasons the first one here counts."""

    STATUS = "status not read, as of the parts of an interrupted job"
    NEGATIVE = "a negative value other than -1"
    NO_SUBMIT_TIME = "submit time unknown"
    NO_RUN_TIME = "run time unknown or 0 s"
    NO_PROCESSORS = "processors unknown or 0, allocated and requested"


def read_swf(path: Path) -> JobLog:
    """Read a log, plain or compressed, but for the parts of interrupted jobs.

    Jobs that cannot be run (no submit time, no run time, no processors) are left out and
    counted. Raises InputError where the file is unreadable, a line is malformed (by number), two
    whole jobs have one number or the file holds no job line.
    """
    jobs, header, skipped = list[LoggedJob](), dict[str, int](), Counter[SkipReason]()
    lines: dict[str, int] = {}
    for place, read in taken(path, _line, FIELDS):
        if isinstance(read, str):
            _enter(header, read)
        elif isinstance(read, SkipReason):
            skipped[read] += 1
        elif lines.setdefault(read.name, place) != place:
            problem = f"job {read.name[1:]} is also on line {lines[read.name]}"
            raise InputError(str(path), f"line {place}", problem, "one line for each job")
        else:
            jobs.append(read)
    if not jobs and not skipped:
        raise InputError(str(path), "", "no job", f"lines of {FIELDS}")
    return JobLog(
        tuple(sorted(jobs, key=lambda job: job.submitted)),
        header.get(MACHINE),
        header.get(BEGINS),
        {reason.value: skipped[reason] for reason in SkipReason if reason in skipped},
    )


def machine_of(path: Path) -> int | None:
    """MaxProcs of a log, read no further than its head. Raises InputError where it cannot be."""
    header: dict[str, int] = {}
    for _, line in takewhile(lambda it: it[1].startswith(";"), taken(path, str, FIELDS)):
        _enter(header, line)
    return header.get(MACHINE)


def _enter(header: dict[str, int], comment: str) -> None:
    if entry := ENTRY.match(comment):
        header.setdefault(entry[1], int(entry[2]))


def _line(text: str) -> str | LoggedJob | SkipReason:
    """A comment, or what a record says. Raises ValueError for a malformed one."""
    if text.startswith(";"):
        return text
    words = text.split()
    if len(words) != len(READERS):
        raise ValueError(f"{len(words)} fields")
    values = [read(word) for read, word in zip(READERS, words, strict=True)]
    code = str(values[STATUS_FIELD])
    if code not in (*STATUSES, *PARTS):
        raise ValueError(f"status {code} is not one of -1 to 5")
    negative = any(value < 0 and value != UNKNOWN for value in values)
    known: list[Any] = [None if value == UNKNOWN else value for value in values]
    number, submit, wait, run, allocated, _, _, requested, limit, *_ = known
    if number is None and not negative:
        raise ValueError("job number unknown")
    processors = allocated or requested
    reasons = (
        (code in PARTS, SkipReason.STATUS),
        (negative, SkipReason.NEGATIVE),
        (submit is None, SkipReason.NO_SUBMIT_TIME),
        (not run, SkipReason.NO_RUN_TIME),
        (not processors, SkipReason.NO_PROCESSORS),
    )
    for holds, reason in reasons:
        if holds:
            return reason
    user, group, queue = ("" if known[field] is None else str(known[field]) for field in WHOSE)
    return LoggedJob(
        *(f"J{number}", submit, run, processors, limit or None, STATUSES[code]),
        *(user, group, queue, 0.0, wait),
    )


# --- Batsim --------------------------------------------------------------------------------------

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
