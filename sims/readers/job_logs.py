"""Read logs of jobs in the Standard Workload Format and in Batsim's format.

The Standard Workload Format 2.2 of the Parallel Workloads Archive has a line of 18 fields for each
job, with -1 for unknown; it is read as a stream. Batsim's workloads are JSON; only jobs whose
profile is a delay are read.
"""

from __future__ import annotations

import enum
import re
import warnings
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

import numpy as np
from attrs import Factory, define, evolve
from numpy.typing import NDArray
from pydantic import BeforeValidator

from actors.runtime.errors import quoted
from sims.errors import InputError
from sims.readers import COLUMNS, WHOSE, JobLog, LoggedJob, Preceding, repeated
from sims.readers.documents import Document, Word, document
from sims.readers.files import blocks_of_lines, finite, taken, whole
from sims.readers.unread import Unread
from sims.tables.fields import NOT_EMPTY, Count, NotNegative, Number, Positive
from sims.tables.refusals import section_of
from sims.telling import counted

FIELDS = (
    "18 fields: job number, submit, wait, run, allocated processors, average CPU, used memory, "
    "requested processors, requested time, requested memory, status, user, group, executable, "
    "queue, partition, preceding job, think time"
)
NAMES = (
    *("number", "submit", "wait", "run", "allocated", "cpu", "memory", "requested", "limit"),
    *("asked_memory", "status", "user", "group", "executable", "queue", "partition", "preceding"),
    "think",
)
AMOUNTS = frozenset(
    ("submit", "wait", "run", "cpu", "memory", "limit", "asked_memory", "think"),
)
"""Fields that need not be whole numbers."""
ROW = np.dtype([(name, float if name in AMOUNTS else np.int64) for name in NAMES])
"""Data type of a parsed line of a log, with a field for each of `NAMES`."""
REAL = np.dtype([(name, float) for name in NAMES])
"""Data type of a line of which whole numbers may be written `1.0`."""
UNKNOWN = -1
BLOCK = 1 << 14
"""Least number of lines that are parsed at once, but for the last."""
Rows = NDArray[np.void]
Mask = NDArray[np.bool_]
STATUSES = {-1: "unknown", 0: "failed", 1: "completed", 5: "cancelled"}
"""Maps each status code that is read to the status of the job."""
PARTS = (2, 3, 4)
"""Statuses of lines for parts of a job; reading them would count the work of an interrupted job
twice."""

ENTRY = re.compile(r"^;\s*([A-Za-z]\w*)\s*:\s*(\d{1,3}(?:,\d{3}){1,5}|\d{1,18})(?!\S)")
"""Pattern of a header line whose value begins with a number, with or without commas between
thousands; the same keys may have the value `unknown`."""
ZONE = re.compile(r"^;\s*TimeZoneString\s*:\s*(\S+)\s*$")
"""Pattern of the header line that names the time zone of the log's machine."""
MACHINE, BEGINS = "MaxProcs", "UnixStartTime"
EPOCH = 1e8
"""Least time of a first submission, in seconds, that is taken for a time since 1970: three years,
for which no log has no job, and before which none was recorded."""


@define
class Header:
    """Entries of a log's comments that describe the log."""

    numbers: dict[str, int] = Factory(dict)
    """Maps keys to their values, where these are numbers."""
    zone: str = "UTC"
    """IANA name of the time zone; UTC if none is named that is known."""
    unknown_zone: str = ""
    """Name of the time zone in the log, where it is no IANA name."""

    def enter(self, comment: str) -> None:
        """Take the entry of a comment, `; KEY: VALUE`, unless an earlier line has set its key."""
        if entry := ENTRY.match(comment):
            self.numbers.setdefault(entry[1], int(entry[2].replace(",", "")))
        elif (named := ZONE.match(comment)) and self.zone == "UTC":
            try:
                self.zone = ZoneInfo(named[1]).key
            except (OSError, ValueError, LookupError):
                self.unknown_zone = named[1]


class SkipReason(enum.Enum):
    """Reasons why a line gives no job; if several apply, the first one here counts."""

    STATUS = "status not read, as of the parts of an interrupted job"
    NEGATIVE = "a negative value other than -1"
    NO_SUBMIT_TIME = "submit time unknown"
    NO_RUN_TIME = "run time unknown or 0 s"
    NO_PROCESSORS = "processors unknown or 0, allocated and requested"


def read_swf(path: Path) -> JobLog:
    """Read a log in the Standard Workload Format, plain or compressed; the jobs come in order of
    submission.

    Left out and counted are lines that are malformed, have an unknown status or an earlier job's
    number, parts of interrupted jobs, lines with a negative value other than -1, and jobs without a
    submit time, a run time or processors. Raises InputError where the file cannot be read, more
    than a tenth of its lines are of the first kinds (the first of them is named by its number), or
    it holds no job line at all.
    """
    jobs, count, places, header = (
        np.zeros(BLOCK, COLUMNS),
        0,
        list[NDArray[np.int64]](),
        Header(),
    )
    preceding, unread, changed = dict[str, Preceding](), Unread(), Counter[str]()
    skipped = dict.fromkeys(SkipReason, 0)
    for lines in _blocks(path, header):
        rows, numbers = _known(path, *_parsed(path, *lines, unread), unread)
        negative = _negative(rows)
        reasons, taking = _skipped(rows, negative)
        for k, reason in enumerate(SkipReason, 1):
            skipped[reason] += int(np.count_nonzero(reasons == k))
        count += _add(jobs, count, rows[taking])
        preceding.update(_preceding(rows[taking]))
        changed.update(_left_aside(rows[taking]))
        places.append(numbers[taking])
    jobs.resize(count, refcheck=False)
    if repeated(jobs["names"]):
        jobs = jobs[_first_ones(path, jobs["names"].tolist(), np.concatenate(places), unread)]
    left_out = {reason.value: count for reason, count in skipped.items() if count}
    left_out |= unread.settle(bool(len(jobs) or left_out))
    if not len(jobs) and not left_out:
        raise InputError(str(path), "", "no job", f"lines of {FIELDS}")
    # The format asks for lines in order of submission, but real logs break it.
    if (np.diff(jobs["submitted"]) < 0).any():
        jobs = jobs[np.argsort(jobs["submitted"], kind="stable")]
    begins = header.numbers.get(BEGINS)
    if begins is None and len(jobs) and jobs["submitted"][0] >= EPOCH:
        begins = 0
    if header.zone == "UTC" and header.unknown_zone:
        zone = quoted(header.unknown_zone)
        changed[f"the log's time zone {zone} is no IANA name: its dates count as UTC"] = len(jobs)
    counts = {how: number for how, number in changed.items() if number}
    about = header.numbers.get(MACHINE), begins, left_out, counts, preceding
    return JobLog(jobs, *about, zone=header.zone)


def machine_of(path: Path) -> int | None:
    """Return the number of processors, MaxProcs, from the header of a log in the Standard Workload
    Format, or None if the header lacks it.

    Comments may stand anywhere: the file is read up to that entry. Raises InputError where it
    cannot be read.
    """
    header = Header()
    for _, line in taken(path, str, FIELDS):
        if line.startswith(";"):
            header.enter(line)
            if MACHINE in header.numbers:
                break
    return header.numbers.get(MACHINE)


def _blocks(path: Path, header: Header) -> Iterator[tuple[NDArray[np.int64], list[str]]]:
    """Yield the job lines of a log in blocks, each with the numbers of its lines, and add the
    entries of comments to `header`."""
    places, lines = list[NDArray[np.int64]](), list[str]()
    for first, piece in blocks_of_lines(path):
        found = np.arange(first, first + len(piece))
        texts = [line.strip() for line in piece]
        others = [k for k, text in enumerate(texts) if not text or text[0] == ";"]
        for k in others:
            header.enter(texts[k])
        if others:
            found = np.delete(found, others)
            texts = [text for text in texts if text and text[0] != ";"]
        places.append(found)
        lines += texts
        if len(lines) >= BLOCK:
            yield np.concatenate(places), lines
            places, lines = [], []
    if lines:
        yield np.concatenate(places), lines


def _parsed(
    path: Path, places: NDArray[np.int64], lines: Sequence[str], unread: Unread
) -> tuple[Rows, NDArray[np.int64]]:
    """Parse a block of lines of the file at `path`, which have the numbers `places`; return an
    array of rows, with a field for each of `NAMES`, and the numbers of their lines. Malformed lines
    are left out, and counted by `unread`.

    numpy parses a whole block twenty times as fast as Python converts its words. Only a block that
    numpy refuses is read word by word, to find the lines with errors, or because Python accepts
    more ways of writing a number.
    """
    unread.lines += len(lines)
    rows = _by_numpy(lines)
    if rows is not None:
        return rows, places
    found, read = [], []
    for place, line in zip(places.tolist(), lines, strict=True):
        try:
            found.append(_values(line))
            read.append(place)
        except ValueError as error:
            reason = f"not {len(NAMES)} fields" if "field" in str(error) else "a field is no number"
            problem = InputError(str(path), f"line {place}", str(error), FIELDS)
            unread.leave_out(reason, problem)
    return np.array(found, dtype=ROW), np.array(read, dtype=np.int64)


def _by_numpy(lines: Sequence[str]) -> Rows | None:
    """Return the rows of these lines as numpy parses them, or None where it refuses one. Whole
    numbers may be written `1.0`."""
    for dtype in (ROW, REAL):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # old versions read 1.5 as a whole number, and warn
                rows = np.loadtxt(lines, dtype, comments=None, ndmin=1)
        except (ValueError, OverflowError, Warning):
            continue
        whole = all(_are_whole(rows[name]) for name in NAMES if name not in AMOUNTS)
        if whole and all(np.isfinite(rows[name]).all() for name in AMOUNTS):
            return rows.astype(ROW, copy=False)
    return None


def _are_whole(column: NDArray[Any]) -> bool:
    """Return whether all numbers are whole, and exact if they are floats."""
    if column.dtype == np.int64:
        return True
    return bool(((column == np.rint(column)) & (abs(column) < 2**53)).all())


def _values(text: str) -> tuple[float, ...]:
    """Return the fields of a line. Raises ValueError for a malformed line."""
    words = text.split()
    if len(words) != len(NAMES):
        raise ValueError(counted(len(words), "field"))
    pairs = zip(NAMES, words, strict=True)
    return tuple(finite(word) if name in AMOUNTS else _whole(word) for name, word in pairs)


def _whole(word: str) -> int:
    """Return a word, which may be written `1.0`, as a whole number. Raises ValueError for another
    word, and for a number of more than 64 bits."""
    digits, _, part = word.partition(".")
    number = whole(digits if digits and not part.strip("0") else word)
    if not -(2**63) <= number < 2**63:
        raise ValueError(f"{word!r} is a whole number beyond 64 bits")
    return number


def _known(
    path: Path, rows: Rows, places: NDArray[np.int64], unread: Unread
) -> tuple[Rows, NDArray[np.int64]]:
    """Return the rows whose jobs have a known status and a number, and the numbers of their lines;
    the others are counted by `unread`. `places` are the numbers of the lines of `rows`."""
    statuses = rows["status"]
    strange = ~np.isin(statuses, (*STATUSES, *PARTS))
    unnumbered = (rows["number"] == UNKNOWN) & ~_negative(rows)
    bad = strange | unnumbered
    for k in np.flatnonzero(bad):
        status = f"status {statuses[k]} is not one of -1 to 5"
        problem = status if strange[k] else "job number unknown"
        error = InputError(str(path), f"line {places[k]}", problem, FIELDS)
        unread.leave_out("status not known" if strange[k] else problem, error)
    return (rows[~bad], places[~bad]) if bad.any() else (rows, places)


def _first_ones(
    path: Path, names: Sequence[str], places: NDArray[np.int64], unread: Unread
) -> Mask:
    """Return a mask of the jobs without those that have an earlier job's name, which are counted by
    `unread`; `places` are the numbers of the jobs' lines."""
    lines, first = dict[str, int](), np.ones(len(names), dtype=np.bool_)
    for k, (name, place) in enumerate(zip(names, places.tolist(), strict=True)):
        if lines.setdefault(name, place) != place:
            problem, accepted = f"job {name[1:]} is also on line {lines[name]}", "a number each"
            unread.leave_out(
                "number of an earlier job",
                InputError(str(path), f"line {place}", problem, accepted),
                malformed=False,
            )
            first[k] = False
    return first


def _negative(rows: Rows) -> Mask:
    """Return a mask of the rows that hold a negative value other than -1, which stands for
    unknown; a negative wait matters to no replay."""
    found = np.zeros(len(rows), dtype=np.bool_)
    for field in NAMES:
        if field != "wait":
            found |= (rows[field] < 0) & (rows[field] != UNKNOWN)
    return found


def _skipped(rows: Rows, negative: Mask) -> tuple[NDArray[np.int_], Mask]:
    """Return, for each row, the number of the reason (SkipReason, from 1) why it gives no job, or
    0; and a mask of the rows that give a job."""
    statuses = rows["status"]
    conditions = (
        np.isin(statuses, PARTS),
        negative,
        rows["submit"] == UNKNOWN,
        rows["run"] <= 0,
        _processors(rows) <= 0,
    )
    reasons = np.select(conditions, range(1, 1 + len(conditions)), 0)
    return reasons, reasons == 0


def _processors(rows: Rows) -> NDArray[np.int64]:
    """Return the number of processors that each job was allocated or, where that is unknown,
    requested."""
    found: NDArray[np.int64] = np.where(rows["allocated"] > 0, rows["allocated"], rows["requested"])
    return found


def _add(jobs: Rows, count: int, rows: Rows) -> int:
    """Write the jobs of these lines behind the first `count` of `jobs`, and return their number.

    The array grows where it is, by half, which takes no room for a second one. The format has no
    priorities; they stay 0.
    """
    if count + len(rows) > len(jobs):
        jobs.resize(count + len(rows) + count // 2, refcheck=False)
    jobs = jobs[count : count + len(rows)]
    jobs["names"] = [f"J{number}" for number in rows["number"].tolist()]
    jobs["submitted"], jobs["times"] = rows["submit"], rows["run"]
    jobs["processors"] = _processors(rows)
    jobs["estimates"] = np.where(rows["limit"] > 0, rows["limit"], np.nan)
    jobs["waits"] = np.where(rows["wait"] < 0, np.nan, rows["wait"])
    jobs["statuses"] = _words(rows["status"], STATUSES)
    for column, key in WHOSE.items():
        jobs[column] = _words(rows[key], {UNKNOWN: ""})
    return len(rows)


def _left_aside(rows: Rows) -> dict[str, int]:
    """Return how many jobs have a field that could change an answer and is not used, by field."""
    asks = rows["requested"] > 0
    which = {
        "its wait is below 0: not known": (rows["wait"] < 0) & (rows["wait"] != UNKNOWN),
        "has more processors than it requested: those it has count": asks
        & (rows["allocated"] > rows["requested"]),
        "its memory is left out: only processors are simulated": rows["asked_memory"] > 0,
    }
    return {how: int(np.count_nonzero(mask)) for how, mask in which.items()}


def _preceding(rows: Rows) -> Iterator[tuple[str, Preceding]]:
    """Yield the name of each row's job that follows another, and that other one; an unknown time to
    think is 0."""
    following = rows[rows["preceding"] != UNKNOWN]
    columns = (following[name].tolist() for name in ("number", "preceding", "think"))
    for number, before, think in zip(*columns, strict=True):
        yield f"J{number}", Preceding(f"J{before}", max(think, 0.0))


def _words(numbers: NDArray[np.int64], known: Mapping[int, str]) -> NDArray[np.object_]:
    """Return the word of each number: that of `known`, or else the number itself.

    Equal numbers share one string object, which saves memory: a million jobs have few users.
    """
    found, places = np.unique(numbers, return_inverse=True)
    words = [known.get(number, str(number)) for number in found.tolist()]
    return np.array(words, dtype=object)[places]


# --- Batsim --------------------------------------------------------------------------------------

NO_WALLTIME = -1
"""Batsim's walltime of a job that has none."""


def _name(value: object) -> object:
    # Old workloads number their jobs; the field became a string later.
    """Convert the number that old workloads have as a job's id to a string."""
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
    """Read a workload in Batsim's format, plain or compressed; the jobs come in order of
    submission.

    Only profiles that a job names are checked. `reserved` are names that a job must not have,
    because the event log gives them to other actors. Raises InputError where the file cannot be
    read, a field is missing or outside its range, two jobs share an id, an id is in `reserved`, or
    a job names a profile that does not exist or is no delay.
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
    jobs.sort(key=lambda job: job.submitted)
    return evolve(JobLog.of(jobs), machine=file.nb_res)
