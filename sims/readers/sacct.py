"""Read Slurm's accounting as `sacct -P` prints it, a line for each attempt of a job (sacct(1))."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, tzinfo
from difflib import get_close_matches
from itertools import pairwise, product
from pathlib import Path
from typing import NoReturn
from zoneinfo import ZoneInfo

from attrs import define, evolve, field, frozen

from sims.errors import InputError
from sims.readers import JobLog, LoggedJob
from sims.readers.files import numbered_lines
from sims.readers.unread import Unread, Unreadable
from sims.telling import apart, counted

NEEDED: Mapping[str, tuple[str, ...]] = {
    "JobID": ("JobID", "JobIDRaw"),
    "Submit": ("Submit",),
    "Start": ("Start",),
    "ElapsedRaw": ("ElapsedRaw", "Elapsed", "CPUTimeRAW"),
    "AllocCPUS": ("AllocCPUS", "NCPUS"),
    "State": ("State",),
}
"""Maps each column without which the file is refused to the columns that tell the same, the best
first."""
FORMAT = (
    "JobIDRaw,JobID,User,Account,Partition,Submit,Eligible,Start,End,ElapsedRaw,TimelimitRaw,"
    "ReqCPUS,AllocCPUS,AllocTRES,State,Priority"
)
"""Columns that the guide asks sacct for with the option `-o`."""
ASSUMED = {
    "Eligible": "no column Eligible: submitted, and its wait counted, from Submit on",
    "TimelimitRaw": "no column TimelimitRaw or Timelimit: it has no estimate",
}
"""Maps each column that may be missing to what is then assumed of every job."""
OTHERS = ("End", "ReqCPUS", "ReqMem", "User", "Account", "Partition", "AllocTRES", "Priority")
"""Optional columns, which are read where the file has them."""
SAME = ("JobIDRaw", "Elapsed", "CPUTimeRAW", "NCPUS", "Timelimit", "Group")
"""Columns that are read where others, which tell the same or more, are missing."""
READ = frozenset(name.lower() for name in (*NEEDED, *ASSUMED, *OTHERS, *SAME))
XDMOD = (
    *("JobID", "JobIDRaw", "Cluster", "Partition", "QOS", "Account", "Group", "GID", "User", "UID"),
    *("Submit", "Eligible", "Start", "End", "Elapsed", "ExitCode", "State", "NNodes", "NCPUS"),
    *("ReqCPUS", "ReqMem", "ReqTRES", "AllocTRES", "Timelimit", "NodeList", "JobName"),
)
"""Columns of the dumps without a header that Open XDMoD has sacct write (its documentation,
resource-manager-slurm)."""
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
LIKE = 0.8
"""Smallest similarity, from 0 to 1, at which an unknown column counts as a misspelt column."""
NEVER = ("", "None", "Unknown")
"""Values of a time column that mean no time: the job has not started, or was cancelled before."""
RANGES = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?(?::([1-9]\d{0,8}))?")
"""Pattern of a range of tasks of a job array: `5`, `1-3`, `1-9:2`."""
LIMITS = ("TimelimitRaw", "Timelimit")
HALF_HOUR = 1800
"""Least difference of two time zones, in seconds."""
UNLIMITED = 365 * 86_400
"""Seconds that reservations assume for a job without a time limit."""
WAITING = ("PENDING", "REQUEUE_HOLD", "SPECIAL_EXIT")
UNFINISHED = ("RUNNING", "SUSPENDED", "RESIZING", "COMPLETING")
REQUEUED = ("REQUEUED", "NODE_FAIL", "PREEMPTED", "BOOT_FAIL")
"""States of attempts after which Slurm may run the same job again."""
SPAN = re.compile(r"(?:(\d{1,6})-)?(\d{1,9})(?::(\d{1,2}))?(?::(\d{1,2}))?(?:\.\d+)?")
"""Pattern of a time span as sacct prints it: `2-01:24:56`, `01:09:48`, `09:48`."""
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs"}
STATUSES = {
    "COMPLETED": "completed",
    "CANCELLED": "cancelled",
    **dict.fromkeys(UNFINISHED, "unknown"),
}
"""Maps a job's state in Slurm to its status in a `LoggedJob`; jobs in any other state have
failed."""
FAILURES = (
    *("FAILED", "TIMEOUT", "OUT_OF_MEMORY", "DEADLINE", "REVOKED", *REQUEUED),
    *("LAUNCH_FAILED", "RECONFIG_FAIL", "STAGE_OUT", "SIGNALING", "STOPPED"),
)
"""States of jobs that have failed."""
KNOWN = (*STATUSES, *WAITING, *FAILURES)
"""States of jobs in Slurm."""

Attempt = tuple[str, str, str]
"""Identifies an attempt of a job by JobID, Submit and Start: a requeued job has several attempts,
each with its own submission."""


def read_sacct(
    path: Path,
    timezone: str = "UTC",
    limit: float | None = None,
    columns: Sequence[str] = (),
) -> JobLog:
    """Read the output of `sacct -P`, plain or compressed; the header names the columns, or, of a
    dump without one, `columns`.

    A job is submitted when it becomes eligible. Its run time is the time that it computed, without
    suspensions; its group is the account and its queue the partition. `timezone` is the IANA name
    of the zone of the printed local times; in an hour that occurs twice because clocks are set
    back, ElapsedRaw decides which one is meant. `limit` is the time limit, in seconds, of jobs
    whose TimelimitRaw is `Partition_Limit`; None: such a job is refused. A line that cannot be read
    is left out and counted. Raises InputError, with the line and the column, where several lines,
    more than a tenth of all, cannot be read, and where no job has started.
    """
    reading = _Reading(limit)
    for line in _lines(path, zone(timezone), columns, reading):
        reading.unread.lines += 1
        try:
            reading.take(line)
        except Unreadable as error:
            reading.unread.leave_out(error.reason, error.error, error.malformed)
    reading.left_out.update(reading.unread.settle(bool(reading.attempts)))
    if not reading.attempts:
        raise InputError(str(path), "", "no job that has started", "lines of `sacct -P`")
    return evolve(reading.log(), zone=timezone)


def zone(name: str) -> tzinfo:
    """Return a time zone by its IANA name. Raises ValueError for an unknown name."""
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, LookupError):
        raise ValueError(f"{name!r} is no time zone") from None


def _state(text: str) -> str:
    """Return the state in Slurm that a cell names. `CANCELLED by 1001` is CANCELLED, and where
    sacct has cut the name, as in `OUT_OF_ME+`, it is the one that begins so."""
    state = text.partition(" ")[0]
    begins = state.removesuffix("+")
    return next((it for it in KNOWN if begins != state and it.startswith(begins)), begins)


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
        """Return the whole number in a column, which may be written `4.0`, or 0 for an empty cell.
        Raises Unreadable for another text."""
        text = self.text(column)
        whole, _, part = text.partition(".")
        digits = whole.isascii() and whole.isdigit() and len(whole) < 16
        if text and not (digits and not part.strip("0")):
            self.refuse(column, repr(text), "a whole number, 0 or more")
        return float(whole or 0)

    def span(self, column: str) -> float:
        """Return the time span in a column in seconds, or 0 for an empty cell: `1-00:00:00`,
        `02:30:00`, `30:00` (minutes and seconds), or after days `1-12` (hours). Raises Unreadable
        for another text."""
        text = self.text(column)
        if not text:
            return 0
        found = SPAN.fullmatch(text)
        if found is None:
            self.refuse(column, repr(text), "a time span such as 1-00:00:00 or 02:30:00")
        days, *parts = found.groups()
        given = [int(it) for it in parts if it is not None]
        if days is None and len(given) < 3:  # minutes, or minutes and seconds
            given = [0, *given]
        hours, minutes, seconds = (*given, 0, 0)[:3]
        return float(((int(days or 0) * 24 + hours) * 60 + minutes) * 60 + seconds)

    def first(self, *columns: str) -> str:
        """Return the first of these columns whose cell is not empty; the last one if all are."""
        return next((it for it in columns if self.text(it)), columns[-1])

    @property
    def processors(self) -> int:
        """Number of processors that the job was allocated, or else requested; at least 1."""
        found = (self.amount(it) for it in ("AllocCPUS", "NCPUS", "ReqCPUS"))
        return int(next(filter(None, found), 1))

    @property
    def run(self) -> float:
        """Seconds for which the job computed, or 0 where the line does not say."""
        column = self.first(*NEEDED["ElapsedRaw"])
        if column == "Elapsed":
            return self.span(column)
        seconds = self.amount(column)
        return seconds / self.processors if column == "CPUTimeRAW" else seconds

    def times(self, run: float) -> tuple[float, float]:
        """Return when the job became eligible and when it started, in seconds since 1970.

        `run` is its run time in seconds. Where a clock that is set back makes local times
        ambiguous, the readings whose end minus start is `run` are taken. Raises Unreadable where
        the job is eligible only after its start.
        """
        # A job held back by a dependency or a begin time does not wait in the queue yet.
        before = "Submit" if self.text("Eligible") in NEVER else "Eligible"
        starts = self._instants("Start")
        ends = () if self.text("End") in NEVER else self._instants("End")
        start = next((s for s, e in product(starts, ends) if e - s == run), starts[0])
        waits = [start - eligible for eligible in self._instants(before)]
        if max(waits) < 0:
            # Zones differ by half an hour or more.
            zones = "; local times need `timezone`" if max(waits) <= -HALF_HOUR else ""
            problem = f"{self.text(before)} is after Start"
            place, accepted = f"line {self.number}: {before}", f"a time up to Start{zones}"
            error = InputError(self.source, place, problem, accepted)
            raise Unreadable(f"{before} is after Start", error, malformed=False)
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
        """Raise Unreadable with an error that names this line and one of its columns."""
        error = InputError(self.source, f"line {self.number}: {column}", problem, accepted)
        raise Unreadable(f"{column} cannot be read", error)


def _lines(path: Path, zone: tzinfo, columns: Sequence[str], reading: _Reading) -> Iterator[_Line]:
    """Yield the lines that are not empty, but for headers: the first line where no `columns` are
    given, and those of further files that were joined. Lines with too few cells, or too many, are
    left out and counted by `reading`."""
    source, header = str(path), [name.lower() for name in columns]
    if columns:
        _refuse_header(source, "columns", columns)
    for number, line in numbered_lines(path):
        if not line.strip():
            continue
        cells = [cell.strip() for cell in line.split("|")]
        if not header or _is_header(cells):
            if header:
                reading.left_out["headers of further files"] += 1
            else:
                _refuse_form(source, number, line, cells)
            header = [name.lower() for name in cells]
            _refuse_header(source, f"line {number}", cells)
            continue
        try:
            _refuse_shifted(source, number, header, cells)
        except Unreadable as error:
            reading.unread.lines += 1
            reading.unread.leave_out(error.reason, error.error)
        else:
            yield _Line(source, number, zone, dict(zip(header, cells, strict=False)))


def _is_header(cells: Sequence[str]) -> bool:
    """Return whether a line's cells are names of columns."""
    names = {name.lower() for name in cells}
    return "state" in names and not names.isdisjoint(("jobid", "jobidraw"))


def _refuse_form(source: str, number: int, line: str, cells: Sequence[str]) -> None:
    """Raise InputError for a first line that is not the header of `sacct -P`: it is divided by
    something else, or it is a line of a job."""
    place, words = f"line {number}", line.split()
    options = "the output of `sacct -P` (--parsable2), whose columns are divided by |"
    if len(cells) == 1:
        for sign, name in SEPARATORS.items():
            if sign in line:
                accepted = f"{options}, without --delimiter"
                raise InputError(source, place, f"columns divided by {name}", accepted)
        if len(words) > 1:
            problem = (
                "a table of fixed width, which cuts its cells, as sacct prints without options"
            )
            raise InputError(source, place, problem, f"{options}, in place of the table")
    if not _is_header(cells) and line[:1].isdigit():
        accepted = (
            f"a header as of `sacct -P -o {FORMAT}` (without --noheader), or the names of its "
            'columns: `columns = ["JobID", ...]`, or `columns = "XDMoD"`'
        )
        raise InputError(source, place, "a job, and no header before it", accepted)


def _refuse_shifted(source: str, number: int, columns: Sequence[str], cells: Sequence[str]) -> None:
    """Raise Unreadable for a line with fewer cells than `columns`, the header's names in lower
    case, or with more of them, where columns that are read may be shifted: a `|` in free text
    divides its cell.

    Free text behind all columns that are read does no harm.
    """
    if len(cells) < len(columns):
        problem = f"{len(columns) - len(cells)} cells are missing"
        error = InputError(source, f"line {number}", problem, "as many as the header has")
        raise Unreadable("cells are missing", error)
    if not any(cells[len(columns) :]):
        return
    text = next((k for k, name in enumerate(columns) if name in FREE_TEXT), None)
    if text is None or READ.intersection(columns[text:]):
        more = counted(len(cells) - len(columns), "cell")
        problem = f"{more} too many, as of a | in a name"
        accepted = "as many as the header has, or columns of free text, such as JobName, last"
        error = InputError(source, f"line {number}", problem, accepted)
        raise Unreadable("too many cells, as of a | in a name", error)


def _refuse_header(source: str, place: str, cells: Sequence[str]) -> None:
    """Raise InputError for a header at `place` that lacks a needed column or misspells an optional
    one.

    A misspelt optional column would otherwise silently count as missing.
    """
    columns = {name.lower(): name for name in cells}
    read = {name.lower(): name for name in (*NEEDED, *ASSUMED, *OTHERS)}
    missing = {column: name for column, name in read.items() if column not in columns}
    accepted = f"a header as of `sacct -P -o {FORMAT}`"
    for column, written in columns.items():
        if column not in READ and (close := get_close_matches(column, missing, 1, LIKE)):
            problem = f"unknown column {written!r} (did you mean {missing[close[0]]}?)"
            raise InputError(source, place, problem, accepted)
    needed = [
        name for name, same in NEEDED.items() if not any(it.lower() in columns for it in same)
    ]
    if needed:
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
    unread: Unread = field(factory=Unread)
    """Lines that cannot be read."""
    ends: dict[Attempt, tuple[str, str]] = field(factory=dict)
    """Maps each attempt to its state in Slurm and its End, as the file has them."""
    components: set[Attempt] = field(factory=set)
    """Heterogeneous jobs without a start that have been counted: (id, Submit, reason)."""

    def take(self, line: _Line) -> None:
        """Read one line: keep its attempt of a job, or count the line as left out."""
        job_id, state = line.text(line.first("JobID", "JobIDRaw")), _state(line.text("State"))
        if "." in job_id:
            self.left_out["steps of jobs"] += 1
        elif state in WAITING:
            self._count("still waiting when the log ends", job_id, line)
        elif line.text("Start") in NEVER:
            self._count("never started", job_id, line)
        elif not (run := line.run):
            self.left_out["ran for no time"] += 1
        else:
            key = (job_id, line.text("Submit"), line.text("Start"))
            self.attempts[key] = self._attempt(line, state, run)
            self.ends[key] = state, line.text("End")

    def _count(self, reason: str, job_id: str, line: _Line) -> None:
        """Count the jobs of a line as left out for `reason`: the tasks of an array one by one, the
        components of a heterogeneous job once."""
        name, component, _ = job_id.partition("+")
        key = name, line.text("Submit"), reason
        if not component or key not in self.components:
            self.left_out[reason] += _tasks(job_id)
        if component:
            self.components.add(key)

    def _attempt(self, line: _Line, state: str, run: float) -> LoggedJob:
        """Return the job of a line in Slurm's `state`, with `run` seconds of run time, and count
        the assumptions made."""
        for column, assumed in ASSUMED.items():
            if not {column.lower(), column.lower().removesuffix("raw")} & line.cells.keys():
                self.changed[assumed] += 1
        eligible, start = line.times(run)
        estimate = self._limit(line)
        if state in UNFINISHED:
            limit = None if line.text(line.first(*LIMITS)) == "UNLIMITED" else estimate
            how = "to its limit" if limit else "as long as it has run, without a limit"
            self.changed[f"still running when the log ends: runs {how}"] += 1
            run = max(run, limit or run)
        if state not in KNOWN:
            self.changed["its state is none of Slurm's: it counts as failed"] += 1
        if 0 < line.amount("ReqCPUS") < line.processors:
            self.changed["has more processors than it requested: those it has count"] += 1
        if line.text("ReqMem").strip("0.?BKMGTPcn"):  # such as 0, 0n, 4000M, 2.5Gc
            self.changed["its memory is left out: only processors are simulated"] += 1
        if "gres/gpu" in line.text("AllocTRES"):
            self.changed["its GPUs are left out: only processors are simulated"] += 1
        return LoggedJob(
            *(line.text(line.first("JobID", "JobIDRaw")), eligible, run, line.processors),
            *(estimate, STATUSES.get(state, "failed"), line.text("User")),
            *(line.text(line.first("Account", "Group")), line.text("Partition")),
            *(line.amount("Priority"), start - eligible),
        )

    def _limit(self, line: _Line) -> float | None:
        """Return the time limit of a line in seconds, or None where the cell is empty or 0.

        `UNLIMITED` stands for a year, and `Partition_Limit` for the limit given to `read_sacct`;
        where none was given, InputError is raised.
        """
        column = line.first(*LIMITS)
        limit = line.text(column)
        if limit == "Partition_Limit":
            if self.limit is None:
                place, accepted = f"line {line.number}: {column}", "`partition_limit`, a time"
                raise InputError(line.source, place, "the limit of a partition", accepted)
            return self.limit
        if limit == "UNLIMITED":
            self.changed["no limit: reservations count a year"] += 1
            return UNLIMITED
        # TimelimitRaw is in minutes, and Timelimit a span of time.
        return (line.span(column) if column == "Timelimit" else 60 * line.amount(column)) or None

    def log(self) -> JobLog:
        """Return the jobs read so far in order of submission, with times in seconds from the first
        submission.

        A job is called J and its id; jobs of one id, such as the attempts of a requeued job, get
        `.2`, `.3` and so on behind it.
        """
        ordered = sorted(self._whole(), key=lambda job: job.submitted)
        self._count_requeued()
        begins, ids = ordered[0].submitted, [job.name for job in ordered]
        jobs = (
            job._replace(name=f"J{name}", submitted=job.submitted - begins)
            for job, name in zip(ordered, apart(ids), strict=True)
        )
        log = JobLog.of(jobs)
        return evolve(log, begins=begins, left_out=self.left_out, changed=self.changed)

    def _count_requeued(self) -> None:
        """Count the ids whose attempts are of one requeued job, and those that are used again by
        another job: ids wrap around.

        A requeued job is its user's again, and its earlier attempt ended at the new submission, or
        in a state after which Slurm runs a job again.
        """
        again = dict[str, list[Attempt]]()
        for attempt in sorted(self.attempts, key=lambda it: self.attempts[it].submitted):
            again.setdefault(attempt[0], []).append(attempt)
        for attempts in again.values():
            requeued = [self._requeued(*pair) for pair in pairwise(attempts)]
            if any(requeued):
                self.changed["requeued: each attempt is a job of its own"] += 1
            if not all(requeued):
                self.changed["id used again by another job: a job of its own"] += 1

    def _requeued(self, before: Attempt, after: Attempt) -> bool:
        state, end = self.ends[before]
        same = self.attempts[before].user == self.attempts[after].user
        return same and (state in REQUEUED or end == after[1])

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
