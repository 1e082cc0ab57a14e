"""Read the field's file formats: availability traces and logs of jobs, plain or compressed.

This module has the classes into which every reader of job logs puts the jobs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

COLUMNS = np.dtype(
    [
        *(("names", object), ("submitted", float), ("times", float), ("processors", np.int64)),
        *(("estimates", float), ("statuses", object), ("users", object), ("groups", object)),
        *(("queues", object), ("priorities", float), ("waits", float), ("partitions", object)),
    ]
)
"""Columns of what is known of each job, named as the fields of `LoggedJob`; nan where a number is
not known."""
WHOSE = {"users": "user", "groups": "group", "queues": "queue", "partitions": "partition"}
"""Maps the columns that name whose each job is to the fields of `LoggedJob` and of logs."""


class LoggedJob(NamedTuple):
    """A rigid job as a log of jobs records it; a value that the log does not know is None or
    empty."""

    name: str
    submitted: float
    """Seconds since the log's start."""
    run: float
    """Seconds from start to end; above 0."""
    processors: int
    estimate: float | None = None
    """Run time that the user asked for, in seconds."""
    status: str = "unknown"
    """Final status: completed, failed, cancelled or unknown."""
    user: str = ""
    group: str = ""
    queue: str = ""
    priority: float = 0.0
    wait: float | None = None
    """Seconds from submission to start."""
    partition: str = ""
    """Partition of the machine, where the log names it apart from the queue."""


class Preceding(NamedTuple):
    """The job that a job of a log follows, and how long after that job's end it is submitted."""

    name: str
    think: float = 0.0
    """Seconds from the end of the preceding job to the submission."""


@frozen
class JobLog:
    """The jobs of a log that can be replayed, and counts of those that cannot and of those
    changed."""

    rows: NDArray[np.void] = field(eq=lambda rows: list(map(_job, rows.tolist())))
    """Jobs by time of submission, with the columns of COLUMNS; jobs submitted together keep the
    order of the file."""
    machine: int | None = None
    """Number of processors of the machine, or None if the log does not state it."""
    begins: float | None = None
    """Time 0 of the log in seconds since 1970, UTC, or None if the log does not state it."""
    left_out: Mapping[str, int] = field(factory=dict)
    """Maps each reason for leaving a line out to the number of lines left out for it."""
    changed: Mapping[str, int] = field(factory=dict)
    """Maps each assumption that the reader makes to the number of jobs that it affects."""
    preceding: Mapping[str, Preceding] = field(factory=dict)
    """Maps the name of each job that follows another to that one, which the log need not have."""
    zone: str = "UTC"
    """Time zone of the log's machine, as an IANA name; UTC if the log does not state it."""

    @classmethod
    def of(cls, jobs: Iterable[LoggedJob]) -> Self:
        """Return a log of these jobs, which come in order of submission, of which nothing else is
        known.

        Raises OverflowError where a number of processors does not fit in 64 bits.
        """
        return cls(np.array(list(jobs), dtype=COLUMNS))

    @cached_property
    def jobs(self) -> tuple[LoggedJob, ...]:
        """The jobs as objects, in the order of `rows`."""
        return tuple(map(_job, self.rows.tolist()))


def _job(row: tuple[Any, ...]) -> LoggedJob:
    """Return the job of a row, with None for a number that is nan, which is not known."""
    return LoggedJob._make(None if it != it else it for it in row)


def repeated(names: Sequence[str] | NDArray[np.object_]) -> bool:
    """Return whether two of the names are equal.

    Sorted hashes take a tenth of the memory of a set, which would be the most that a check of a
    million jobs needs. Only where two are equal are the names themselves compared.
    """
    hashes = np.fromiter(map(hash, names), np.int64, len(names))
    hashes.sort()
    return bool((hashes[1:] == hashes[:-1]).any()) and len(set(names)) < len(names)
