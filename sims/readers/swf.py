"""Standard Workload Format 2.2 of the Parallel Workloads Archive, read as a stream."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from pathlib import Path

from attrs import define, field, frozen

from sims.errors import InputError
from sims.readers.files import numbered_lines
from sims.readers.swf_header import SwfHeader, header_entry
from sims.readers.swf_record import FIELDS, SkipReason, SwfJob, SwfStatus, parse_record
from sims.telling import counted

WHOLE_JOBS = frozenset(
    {SwfStatus.UNKNOWN, SwfStatus.FAILED, SwfStatus.COMPLETED, SwfStatus.CANCELLED}
)
"""All statuses but those of parts, which would count an interrupted job's work twice."""


@frozen
class SwfLog:
    """The usable jobs of a log, and an account of every line that gave none."""

    jobs: tuple[SwfJob, ...]
    """By submit time, ties in the file's order."""
    header: SwfHeader
    skipped: Mapping[SkipReason, int]
    """Lines that gave no job, by reason; reasons that do not occur are absent."""
    statuses: Mapping[SwfStatus, int]
    """All job lines, those left out included, by status; absent where there is none."""

    def summary(self) -> str:
        """One line: how many jobs are used, how many lines are left out, and why."""
        used = f"{len(self.jobs)} of {counted(sum(self.statuses.values()), 'job')} used"
        if not self.skipped:
            return used
        reasons = ", ".join(f"{count} {reason.value}" for reason, count in self.skipped.items())
        return f"{used}; left out: {reasons}"


@define
class _Reading:
    """What has been read so far."""

    source: str
    wanted: frozenset[SwfStatus]
    jobs: list[SwfJob] = field(factory=list)
    entries: list[tuple[str, str]] = field(factory=list)
    skipped: Counter[SkipReason] = field(factory=Counter)
    statuses: Counter[SwfStatus] = field(factory=Counter)
    lines: dict[int, int] = field(factory=dict)
    """Job number -> line, of the jobs kept."""

    def take(self, line: str, place: int) -> None:
        """One line; ValueError where it is malformed, InputError for a twin."""
        if line.startswith(";"):
            self._take_comment(line)
            return
        status, parsed = parse_record(line.split())
        self.statuses[status] += 1
        if status not in self.wanted:
            self.skipped[SkipReason.STATUS] += 1
        elif isinstance(parsed, SkipReason):
            self.skipped[parsed] += 1
        else:
            self._refuse_twin(parsed, place)
            self.jobs.append(parsed)

    def _refuse_twin(self, job: SwfJob, place: int) -> None:
        # The parts of an interrupted job share its number, as they should.
        if job.status in WHOLE_JOBS and self.lines.setdefault(job.number, place) != place:
            problem = f"job {job.number} is also on line {self.lines[job.number]}"
            raise InputError(self.source, f"line {place}", problem, "one line for each job")

    def _take_comment(self, line: str) -> None:
        entry = header_entry(line)
        if entry is not None:
            self.entries.append(entry)

    def log(self) -> SwfLog:
        return SwfLog(
            jobs=tuple(sorted(self.jobs, key=lambda job: job.submit)),
            header=SwfHeader(tuple(self.entries)),
            skipped={reason: self.skipped[reason] for reason in SkipReason if self.skipped[reason]},
            statuses={
                status: self.statuses[status] for status in SwfStatus if status in self.statuses
            },
        )


def read_swf(path: Path, statuses: Collection[SwfStatus] = WHOLE_JOBS) -> SwfLog:
    """Read a log, plain or compressed, keeping the jobs whose status is among `statuses`.

    Jobs that cannot be run (no submit time, no run time, no processors) are left out and
    counted. Raises InputError where the file is unreadable, a line is malformed (by number), two
    whole jobs have one number or the file holds no job line.
    """
    reading = _Reading(str(path), frozenset(statuses))
    for number, line in numbered_lines(path):
        text = line.strip()
        if text:
            try:
                reading.take(text, number)
            except ValueError as error:
                raise InputError(str(path), f"line {number}", str(error), FIELDS) from error
    if not reading.statuses:
        raise InputError(str(path), "", "no job", f"lines of {FIELDS}")
    return reading.log()
