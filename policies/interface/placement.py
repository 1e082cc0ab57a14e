"""Defines what a placement policy sees and answers: it chooses the workers of a start (rules.md,
R9)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from policies.interface.queue import BatchJob
from policies.interface.retirement import WorkerRecord


class StartView(Protocol):
    """Shows a placement policy a job that starts, and the workers that are free."""

    @property
    def now(self) -> float:
        """Time of the start, time units."""

    @property
    def job(self) -> BatchJob:
        """The job that starts."""

    @property
    def count(self) -> int:
        """Number of workers to choose: the job's members and, after them, those that it holds
        ready to replace members, as far as enough workers are free."""

    @property
    def free(self) -> Sequence[int]:
        """Numbers, ascending, of the workers that are UP and free."""

    def record(self, worker: int) -> WorkerRecord:
        """Return the faults, repairs, computing time and last return recorded of this worker; a
        record without any where nothing is repaired."""


class PlacementPolicy(Protocol):
    """Chooses the free workers that a job of a queue starts on."""

    def places(self, view: StartView) -> Sequence[int]:
        """Return `view.count` different workers of `view.free`, in the order in which they are
        chosen: the last ones are held ready to replace the others."""
