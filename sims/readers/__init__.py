"""Read the field's file formats: availability traces and logs of jobs, plain or compressed.

This module has the classes into which every reader of job logs puts the jobs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from attrs import field, frozen


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


class Preceding(NamedTuple):
    """The job that a job of a log follows, and how long after that job's end it is submitted."""

    name: str
    think: float = 0.0
    """Seconds from the end of the preceding job to the submission."""


@frozen
class JobLog:
    """The jobs of a log that can be replayed, and counts of those that cannot and of those
    changed."""

    jobs: tuple[LoggedJob, ...]
    """Jobs by time of submission; jobs submitted together keep the order of the file."""
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
