"""Slurm's accounting as `sacct -P` prints it: a line for each attempt of a job (sacct(1))."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, tzinfo
from difflib import get_close_matches
from itertools import product
from pathlib import Path
from typing import NoReturn
from zoneinfo import ZoneInfo

from attrs import define, field, frozen

from sims.errors import InputError
from sims.readers import JobLog, LoggedJob
from sims.readers.files import numbered_lines
from sims.telling import apart

NEEDED = ("JobID", "Submit", "Start", "ElapsedRaw", "AllocCPUS", "State")
FORMAT = (
    "JobIDRaw,JobID,User,Account,Partition,Submit,Eligible,Start,End,ElapsedRaw,TimelimitRaw,"
    "ReqCPUS,AllocCPUS,AllocTRES,State,Priority"
)
"""What the guide asks sacct for with `-o`."""
ASSUMED = {
    "Eligible": "no column Eligible: submitted, and its wait counted, from Submit on",
    "TimelimitRaw": "no column TimelimitRaw: it has no estimate",
}
"""Column that may be missing -> what is assumed of each job then."""
OTHERS = ("End", "ReqCPUS", "User", "Account", "Partition", "AllocTRES", "Priority")
"""More columns that are read where there are any."""
SIMILAR = ("elapsed", "timelimit")
"""Columns of sacct's whose names are like those of columns that are read."""
LIKE = 0.8
"""Least similarity, from 0 to 1, at which an unknown column is taken for a misspelt one of ours."""
NEVER = ("", "None", "Unknown")
"""Times that are none: not yet, or cancelled before."""
RANGES = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?(?::([1-9]\d{0,8}))?")
"""Tasks of an array: `5`, `1-3`, `1-9:2`."""
UNLIMITED = 365 * 86_400
"""Seconds that reservations count for a job without a limit."""
WAITING = ("PENDING", "REQUEUE_HOLD", "SPECIAL_EXIT")
UNFINISHED = ("RUNNING", "SUSPENDED", "RESIZING", "COMPLETING")
STATUSES = {
    "COMPLETED": "completed",
    "CANCELLED": "cancelled",
    **dict.fromkeys(UNFINISHED, "unknown"),
}
"""Slurm's state -> a job's status; all others have failed."""

Attempt = tuple[str, str, str]
"""JobID, Submit and Start: a requeued job has several, each with a submission of its own."""


def read_sacct(path: Path, timezone: str = "UTC", limit: float | None = None) -> JobLog:
    """Read the output of `sacct -P`, plain or compressed; its columns are found by the header.

    A job is submitted when it became eligible; its run is the time that it computed, suspensions
    left out; its group is the account, its queue the partition. `timezone` is the IANA name of the
    zone whose local time it prints; an hour that a clock set back repeats is told apart by
    ElapsedRaw. `limit` is what the limit `Partition_Limit` means, in seconds. Raises InputError,
    with the line and the column, where a value cannot be read.
    """
    reading = _Reading(limit)
    for line in _lines(path, zone(timezone)):
        reading.take(line)
    if not reading.attempts:
        raise InputError(str(path), "", "no job that has started", "lines of `sacct -P`")
    return reading.log()


def zone(name: str) -> tzinfo:
    """A time zone by its IANA name. Raises ValueError for an unknown one."""
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, LookupError):
        raise ValueError(f"{name!r} is no time zone") from None


@frozen
class _Line:
    """A line's cells by the names of their columns, in lower case."""

    source: str
    number: int
    zone: tzinfo
    cells: Mapping[str, str]

    def text(self, column: str) -> str:
        """What stands there; empty where sacct was not asked for it."""
        return self.cells.get(column.lower(), "")

    def amount(self, column: str) -> float:
        """A number from 0 on; 0 where there is none."""
        text = self.text(column)
        if text and not (text.isascii() and text.isdigit() and len(text) < 16):
            self.refuse(column, repr(text), "a whole number, 0 or more")
        return float(text or 0)

    def times(self, run: float) -> tuple[float, float]:
        """(eligible, start) in seconds since 1970."""
        before = "Submit" if self.text("Eligible") in NEVER else "Eligible"
        starts = self._instants("Start")
        ends = () if self.text("End") in NEVER else self._instants("End")
        start = next((s for s, e in product(starts, ends) if e - s == run), starts[0])
        waits = [start - eligible for eligible in self._instants(before)]
        if max(waits) < 0:
            accepted = "a time up to Start; local times need `timezone`"
            self.refuse(before, f"{self.text(before)} is after Start", accepted)
        return start - min(wait for wait in waits if wait >= 0), start

    def _instants(self, column: str) -> tuple[float, ...]:
        """What a local time may mean: two instants where a clock was set back."""
        text = self.text(column)
        try:
            local = datetime.fromisoformat(text).replace(tzinfo=self.zone)
            return tuple(local.replace(fold=fold).timestamp() for fold in (0, 1))
        except (ValueError, OverflowError):
            self.refuse(column, repr(text), "a time such as 2024-05-01T12:00:00")

    def refuse(self, column: str, problem: str, accepted: str) -> NoReturn:
        """Raise an InputError of this line."""
        raise InputError(self.source, f"line {self.number}: {column}", problem, accepted)


def _lines(path: Path, zone: tzinfo) -> Iterator[_Line]:
    """Yield the lines that are not empty, without the first one, which is the header."""
    source, columns = str(path), list[str]()
    for number, line in numbered_lines(path):
        if not line.strip():
            continue
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) < len(columns):
            problem = f"{len(columns) - len(cells)} cells are missing"
            raise InputError(source, f"line {number}", problem, "as many as the header has")
        if columns:
            yield _Line(source, number, zone, dict(zip(columns, cells, strict=False)))
            continue
        columns = [name.lower() for name in cells]
        _refuse_header(source, number, cells)


def _refuse_header(source: str, number: int, cells: Sequence[str]) -> None:
    """Raise InputError for a header that lacks a column which is needed, or misspells one which is
    read: it would count as missing."""
    columns = {name.lower(): name for name in cells}
    ours = {name.lower(): name for name in (*NEEDED, *ASSUMED, *OTHERS)}
    missing = {column: name for column, name in ours.items() if column not in columns}
    place, accepted = f"line {number}", f"a header as of `sacct -P -o {FORMAT}`"
    for column, told in columns.items():
        known = column in ours or column in SIMILAR
        if not known and (close := get_close_matches(column, missing, 1, LIKE)):
            problem = f"unknown column {told!r} (did you mean {missing[close[0]]}?)"
            raise InputError(source, place, problem, accepted)
    if needed := [name for name in missing.values() if name in NEEDED]:
        raise InputError(source, place, f"no column {', '.join(needed)}", accepted)


@define
class _Reading:
    """What has been read so far."""

    limit: float | None
    attempts: dict[Attempt, LoggedJob] = field(factory=dict)
    """By its last line: files of several queries overlap. Submitted in seconds since 1970."""
    left_out: Counter[str] = field(factory=Counter)
    changed: Counter[str] = field(factory=Counter)

    def take(self, line: _Line) -> None:
        """One line."""
        job_id, state = line.text("JobID"), line.text("State").partition(" ")[0]
        if "." in job_id:
            self.left_out["steps of jobs"] += 1
        elif state in WAITING:
            self.left_out["still waiting when the log ends"] += _tasks(job_id)
        elif line.text("Start") in NEVER:
            self.left_out["never started"] += _tasks(job_id)
        elif not (run := line.amount("ElapsedRaw")):
            self.left_out["ran for no time"] += 1
        else:
            key = (job_id, line.text("Submit"), line.text("Start"))
            self.attempts[key] = self._attempt(line, state, run)

    def _attempt(self, line: _Line, state: str, run: float) -> LoggedJob:
        for column, assumed in ASSUMED.items():
            if column.lower() not in line.cells:
                self.changed[assumed] += 1
        eligible, start = line.times(run)
        estimate = self._limit(line)
        if state in UNFINISHED:
            self.changed["still running when the log ends: runs to its limit"] += 1
            run = max(run, estimate or run)
        if "gres/gpu" in line.text("AllocTRES"):
            self.changed["its GPUs are left out: only processors are simulated"] += 1
        return LoggedJob(
            *(line.text("JobID"), eligible, run),
            int(line.amount("AllocCPUS") or line.amount("ReqCPUS") or 1),
            *(estimate, STATUSES.get(state, "failed")),
            *(line.text("User"), line.text("Account"), line.text("Partition")),
            *(line.amount("Priority"), start - eligible),
        )

    def _limit(self, line: _Line) -> float | None:
        limit = line.text("TimelimitRaw")
        if limit == "Partition_Limit":
            if self.limit is None:
                line.refuse("TimelimitRaw", "the limit of a partition", "`partition_limit`, a time")
            return self.limit
        if limit == "UNLIMITED":
            self.changed["no limit: reservations count a year"] += 1
            return UNLIMITED
        return 60 * line.amount("TimelimitRaw") or None

    def log(self) -> JobLog:
        """What came of it."""
        ordered = sorted(self._whole(), key=lambda job: job.submitted)
        begins, ids = ordered[0].submitted, [job.name for job in ordered]
        jobs = (
            job._replace(name=f"J{name}", submitted=job.submitted - begins)
            for job, name in zip(ordered, apart(ids), strict=True)
        )
        if repeated := sum(times > 1 for times in Counter(ids).values()):
            self.changed["requeued: each attempt is a job of its own"] = repeated
        return JobLog(tuple(jobs), None, begins, self.left_out, self.changed)

    def _whole(self) -> Iterable[LoggedJob]:
        """The attempts; components `7+0`, `7+1` of a heterogeneous job start together: as one."""
        whole: dict[Attempt, LoggedJob] = {}
        for (job_id, submit, start), job in self.attempts.items():
            name, component, _ = job_id.partition("+")
            key = (name, submit, start)
            if component and key in whole:
                self.changed["component of a heterogeneous job: counted with its first"] += 1
                job = whole[key]._replace(processors=whole[key].processors + job.processors)
            whole[key] = job._replace(name=name)
        return whole.values()


def _tasks(job_id: str) -> int:
    """How many jobs a line stands for: those of an array that wait share one, `7_[1-3,9%2]`."""
    parts = RANGES.findall(job_id.partition("[")[2].partition("%")[0])
    return sum(len(range(int(a), int(b or a) + 1, int(c or 1))) for a, b, c in parts) or 1
