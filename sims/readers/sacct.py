"""Read Slurm's accounting as `sacct -P` prints it, a line for each attempt of a job (sacct(1))."""

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
from sims.telling import apart, counted

NEEDED = ("JobID", "Submit", "Start", "ElapsedRaw", "AllocCPUS", "State")
"""Columns without which the file is refused."""
FORMAT = (
    "JobIDRaw,JobID,User,Account,Partition,Submit,Eligible,Start,End,ElapsedRaw,TimelimitRaw,"
    "ReqCPUS,AllocCPUS,AllocTRES,State,Priority"
)
"""Columns that the guide asks sacct for with the option `-o`."""
ASSUMED = {
    "Eligible": "no column Eligible: submitted, and its wait counted, from Submit on",
    "TimelimitRaw": "no column TimelimitRaw: it has no estimate",
}
"""Maps each column that may be missing to what is then assumed of every job."""
OTHERS = ("End", "ReqCPUS", "User", "Account", "Partition", "AllocTRES", "Priority")
"""Optional columns, which are read where the file has them."""
FREE_TEXT = (
    "jobname",
    "comment",
    "admincomment",
    "systemcomment",
    "extra",
    "submitline",
    "workdir",
)
"""Columns, in lower case, whose cells may hold a `|`."""
SIMILAR = ("elapsed", "timelimit")
"""Columns of sacct that are not read but have names like those of columns that are read."""
LIKE = 0.8
"""Smallest similarity, from 0 to 1, at which an unknown column counts as a misspelt column."""
NEVER = ("", "None", "Unknown")
"""Values of a time column that mean no time: the job has not started, or was cancelled before."""
RANGES = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?(?::([1-9]\d{0,8}))?")
"""Pattern of a range of tasks of a job array: `5`, `1-3`, `1-9:2`."""
UNLIMITED = 365 * 86_400
"""Seconds that reservations assume for a job without a time limit."""
WAITING = ("PENDING", "REQUEUE_HOLD", "SPECIAL_EXIT")
UNFINISHED = ("RUNNING", "SUSPENDED", "RESIZING", "COMPLETING")
STATUSES = {
    "COMPLETED": "completed",
    "CANCELLED": "cancelled",
    **dict.fromkeys(UNFINISHED, "unknown"),
}
"""Maps a job's state in Slurm to its status in a `LoggedJob`; jobs in any other state have
failed."""

Attempt = tuple[str, str, str]
"""Identifies an attempt of a job by JobID, Submit and Start: a requeued job has several attempts,
each with its own submission."""


def read_sacct(path: Path, timezone: str = "UTC", limit: float | None = None) -> JobLog:
    """Read the output of `sacct -P`, plain or compressed; the header names the columns.

    A job is submitted when it becomes eligible. Its run time is the time that it computed, without
    suspensions; its group is the account and its queue the partition. `timezone` is the IANA name
    of the zone of the printed local times; in an hour that occurs twice because clocks are set
    back, ElapsedRaw decides which one is meant. `limit` is the time limit, in seconds, of jobs
    whose TimelimitRaw is `Partition_Limit`; None: such a job is refused. Raises InputError, with
    the line and the column, where a value cannot be read, and where no job has started.
    """
    reading = _Reading(limit)
    for line in _lines(path, zone(timezone)):
        reading.take(line)
    if not reading.attempts:
        raise InputError(str(path), "", "no job that has started", "lines of `sacct -P`")
    return reading.log()


def zone(name: str) -> tzinfo:
    """Return a time zone by its IANA name. Raises ValueError for an unknown name."""
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, LookupError):
        raise ValueError(f"{name!r} is no time zone") from None


@frozen
class _Line:
    """A line of the file as a mapping from the lower-case names of the columns to the cells."""

    source: str
    number: int
    zone: tzinfo
    cells: Mapping[str, str]

    def text(self, column: str) -> str:
        """Return the cell of this line in a column, or an empty string where the file lacks the
        column."""
        return self.cells.get(column.lower(), "")

    def amount(self, column: str) -> float:
        """Return the whole number in a column, or 0 for an empty cell. Raises InputError for
        another text."""
        text = self.text(column)
        if text and not (text.isascii() and text.isdigit() and len(text) < 16):
            self.refuse(column, repr(text), "a whole number, 0 or more")
        return float(text or 0)

    def times(self, run: float) -> tuple[float, float]:
        """Return when the job became eligible and when it started, in seconds since 1970.

        `run` is its run time in seconds. Where a clock that is set back makes local times
        ambiguous, the readings whose end minus start is `run` are taken. Raises InputError where
        the job is eligible only after its start.
        """
        # A job held back by a dependency or a begin time does not wait in the queue yet.
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
        """Return the two readings of a local time, which differ where a clock was set back, in
        seconds since 1970."""
        text = self.text(column)
        try:
            local = datetime.fromisoformat(text).replace(tzinfo=self.zone)
            return tuple(local.replace(fold=fold).timestamp() for fold in (0, 1))
        except (ValueError, OverflowError):
            self.refuse(column, repr(text), "a time such as 2024-05-01T12:00:00")

    def refuse(self, column: str, problem: str, accepted: str) -> NoReturn:
        """Raise an InputError that names this line and one of its columns."""
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
            _refuse_shifted(source, number, columns, cells)
            yield _Line(source, number, zone, dict(zip(columns, cells, strict=False)))
            continue
        columns = [name.lower() for name in cells]
        _refuse_header(source, number, cells)


def _refuse_shifted(source: str, number: int, columns: Sequence[str], cells: Sequence[str]) -> None:
    """Raise InputError for a line with more cells than `columns`, the header's names in lower case,
    where columns that are read may be shifted: a `|` in free text divides its cell.

    Free text behind all columns that are read does no harm.
    """
    if not any(cells[len(columns) :]):
        return
    read = {name.lower() for name in (*NEEDED, *ASSUMED, *OTHERS)}
    text = next((k for k, name in enumerate(columns) if name in FREE_TEXT), None)
    if text is None or read.intersection(columns[text:]):
        more = counted(len(cells) - len(columns), "cell")
        problem = f"{more} too many, as of a | in a name"
        accepted = "as many as the header has, or columns of free text, such as JobName, last"
        raise InputError(source, f"line {number}", problem, accepted)


def _refuse_header(source: str, number: int, cells: Sequence[str]) -> None:
    """Raise InputError for a header that lacks a needed column or misspells an optional one.

    A misspelt optional column would otherwise silently count as missing.
    """
    columns = {name.lower(): name for name in cells}
    read = {name.lower(): name for name in (*NEEDED, *ASSUMED, *OTHERS)}
    missing = {column: name for column, name in read.items() if column not in columns}
    place, accepted = f"line {number}", f"a header as of `sacct -P -o {FORMAT}`"
    for column, written in columns.items():
        known = column in read or column in SIMILAR
        if not known and (close := get_close_matches(column, missing, 1, LIKE)):
            problem = f"unknown column {written!r} (did you mean {missing[close[0]]}?)"
            raise InputError(source, place, problem, accepted)
    if needed := [name for name in missing.values() if name in NEEDED]:
        raise InputError(source, place, f"no column {', '.join(needed)}", accepted)


@define
class _Reading:
    """Collects the attempts of jobs, and counts the lines left out, while a file is read.

    `limit` is that of `read_sacct`.
    """

    limit: float | None
    attempts: dict[Attempt, LoggedJob] = field(factory=dict)
    """Maps each attempt to the job of its last line, since the files of several queries may
    overlap. Submission is in seconds since 1970."""
    left_out: Counter[str] = field(factory=Counter)
    """Number of jobs left out, by reason."""
    changed: Counter[str] = field(factory=Counter)
    """Number of jobs that an assumption concerns, by assumption."""

    def take(self, line: _Line) -> None:
        """Read one line: keep its attempt of a job, or count the line as left out."""
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
        """Return the job of a line in Slurm's `state`, with `run` seconds of run time, and count
        the assumptions made."""
        for column, assumed in ASSUMED.items():
            if column.lower() not in line.cells:
                self.changed[assumed] += 1
        eligible, start = line.times(run)
        estimate = self._limit(line)
        if state in UNFINISHED:
            limit = None if line.text("TimelimitRaw") == "UNLIMITED" else estimate
            how = "to its limit" if limit else "as long as it has run, without a limit"
            self.changed[f"still running when the log ends: runs {how}"] += 1
            run = max(run, limit or run)
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
        """Return the time limit of a line in seconds, or None where the cell is empty or 0.

        `UNLIMITED` stands for a year, and `Partition_Limit` for the limit given to `read_sacct`;
        where none was given, InputError is raised.
        """
        limit = line.text("TimelimitRaw")
        if limit == "Partition_Limit":
            if self.limit is None:
                line.refuse("TimelimitRaw", "the limit of a partition", "`partition_limit`, a time")
            return self.limit
        if limit == "UNLIMITED":
            self.changed["no limit: reservations count a year"] += 1
            return UNLIMITED
        # TimelimitRaw is in minutes.
        return 60 * line.amount("TimelimitRaw") or None

    def log(self) -> JobLog:
        """Return the jobs read so far in order of submission, with times in seconds from the first
        submission.

        A job is called J and its id; jobs of one id, such as the attempts of a requeued job, get
        `.2`, `.3` and so on behind it.
        """
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
        """Return the attempts with all components of a heterogeneous job (`7+0`, `7+1`) merged into
        one, as they start together."""
        merged: dict[Attempt, LoggedJob] = {}
        for (job_id, submit, start), job in self.attempts.items():
            name, component, _ = job_id.partition("+")
            key = (name, submit, start)
            if component and key in merged:
                self.changed["component of a heterogeneous job: counted with its first"] += 1
                job = merged[key]._replace(processors=merged[key].processors + job.processors)
            merged[key] = job._replace(name=name)
        return merged.values()


def _tasks(job_id: str) -> int:
    """Return the number of jobs that a line stands for: waiting tasks of an array share one,
    `7_[1-3,9%2]`."""
    parts = RANGES.findall(job_id.partition("[")[2].partition("%")[0])
    return sum(len(range(int(a), int(b or a) + 1, int(c or 1))) for a, b, c in parts) or 1
