"""Readers of the field's formats: availability traces and workloads, plain or compressed.

Here: the jobs of a log, whichever format it has.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from attrs import field, frozen


class LoggedJob(NamedTuple):
    """A rigid job as a log tells it; None, or an empty word: not known."""

    name: str
    submitted: float
    """Seconds since the log's start."""
    run: float
    """Seconds from start to end, above 0."""
    processors: int
    estimate: float | None = None
    """Seconds that the user asked for."""
    status: str = "unknown"
    """How it ended: completed, failed, cancelled or unknown."""
    user: str = ""
    group: str = ""
    queue: str = ""
    priority: float = 0.0
    wait: float | None = None
    """Seconds from submission to start."""


@frozen
class JobLog:
    """The jobs that can be replayed, and an account of all others."""

    jobs: tuple[LoggedJob, ...]
    """By time of submission, ties in the file's order."""
    machine: int | None = None
    """Processors of the machine; None: the log does not tell."""
    begins: float | None = None
    """When: seconds since 1970, UTC, at time 0; None: the log does not tell."""
    left_out: Mapping[str, int] = field(factory=dict)
    """Reason -> lines that gave no job."""
    changed: Mapping[str, int] = field(factory=dict)
    """What was assumed -> jobs that it concerns."""
