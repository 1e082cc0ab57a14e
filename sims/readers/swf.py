"""Standard Workload Format 2.2 of the Parallel Workloads Archive, read as a stream."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from itertools import takewhile
from pathlib import Path

from attrs import frozen

from sims.errors import InputError
from sims.readers.files import taken
from sims.readers.swf_record import FIELDS, SkipReason, SwfJob, SwfStatus, parse_record

ENTRY = re.compile(r"^;\s*([A-Za-z]\w*)\s*:\s*(.*)")
LEADING_NUMBER = re.compile(r"\d+(?!\S)")

WHOLE_JOBS = frozenset(
    {SwfStatus.UNKNOWN, SwfStatus.FAILED, SwfStatus.COMPLETED, SwfStatus.CANCELLED}
)
"""All statuses but those of parts, which would count an interrupted job's work twice."""


@frozen
class SwfHeader:
    """All header entries in the file's order; keys such as Queue and Note may repeat."""

    entries: tuple[tuple[str, str], ...]

    def values(self, key: str) -> tuple[str, ...]:
        """Every value of `key`, as written."""
        return tuple(value for name, value in self.entries if name == key)

    def whole(self, key: str) -> int | None:
        """The number that the first value of `key` begins with; None where there is none, or
        where it is -1 or text: logs write `unknown` there."""
        values = self.values(key)
        number = LEADING_NUMBER.match(values[0]) if values else None
        return int(number.group()) if number else None

    @property
    def max_procs(self) -> int | None:
        """Processors of the machine."""
        return self.whole("MaxProcs")


@frozen
class SwfLog:
    """The usable jobs of a log, and an account of every line that gave none."""

    jobs: tuple[SwfJob, ...]
    """By submit time, ties in the file's order."""
    header: SwfHeader
    skipped: Mapping[SkipReason, int]
    """Lines that gave no job, by reason; reasons that do not occur are absent."""


def read_swf(path: Path) -> SwfLog:
    """Read a log, plain or compressed, but for the parts of interrupted jobs.

    Jobs that cannot be run (no submit time, no run time, no processors) are left out and
    counted. Raises InputError where the file is unreadable, a line is malformed (by number), two
    whole jobs have one number or the file holds no job line.
    """
    jobs, entries, skipped = list[SwfJob](), list[tuple[str, str]](), Counter[SkipReason]()
    lines: dict[int, int] = {}
    for place, read in taken(path, _line, FIELDS):
        if isinstance(read, str):
            entries += [(it[1], it[2].strip()) for it in ENTRY.finditer(read)]
            continue
        status, job = read
        if status not in WHOLE_JOBS:
            job = SkipReason.STATUS
        if isinstance(job, SkipReason):
            skipped[job] += 1
        elif lines.setdefault(job.number, place) != place:
            problem = f"job {job.number} is also on line {lines[job.number]}"
            raise InputError(str(path), f"line {place}", problem, "one line for each job")
        else:
            jobs.append(job)
    if not jobs and not skipped:
        raise InputError(str(path), "", "no job", f"lines of {FIELDS}")
    return SwfLog(
        tuple(sorted(jobs, key=lambda job: job.submit)),
        SwfHeader(tuple(entries)),
        {reason: skipped[reason] for reason in SkipReason if reason in skipped},
    )


def machine_of(path: Path) -> int | None:
    """MaxProcs of a log, read no further than its head. Raises InputError where it cannot be."""
    heads = takewhile(lambda it: it[1].startswith(";"), taken(path, str, FIELDS))
    entries = (ENTRY.match(line) for _, line in heads)
    return SwfHeader(tuple((it[1], it[2].strip()) for it in entries if it)).max_procs


def _line(text: str) -> str | tuple[SwfStatus, SwfJob | SkipReason]:
    """A comment, or what a record says."""
    return text if text.startswith(";") else parse_record(text.split())
