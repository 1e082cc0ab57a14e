"""Defines what a retirement policy sees and answers: it decides whether a unit comes back from its
repair (rules.md, R8)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

Spans = Sequence[tuple[int, int]]
"""(first, last) of intervals of workers, ascending, ends included."""


class WorkerRecord(Protocol):
    """The record of one worker."""

    @property
    def faults(self) -> Sequence[float]:
        """Times at which faults were blamed on its unit, ascending, time units."""

    @property
    def repairs(self) -> int:
        """Number of repairs of its unit that have ended."""

    @property
    def computed(self) -> float:
        """Time for which runs that are over have computed on it, time units."""


class FleetView(Protocol):
    """The fleet as a retirement policy sees it; a live view."""

    @property
    def now(self) -> float:
        """Time of the question, at which a repair ends, time units."""

    @property
    def left(self) -> int:
        """Number of workers that are neither retired nor spares."""

    @property
    def needed(self) -> int:
        """Number of workers that the largest unfinished job needs."""

    def record(self, worker: int) -> WorkerRecord:
        """Return what is known of a worker."""


class RetirementPolicy(Protocol):
    """Decides, as the last stage of a unit's repair ends, whether the unit comes back."""

    def retires(self, workers: Sequence[int], view: FleetView) -> bool:
        """Return whether the unit with these workers is DOWN for ever."""


class ScoringPolicy(RetirementPolicy, Protocol):
    """A retirement policy that keeps a score of each worker; it is told of what scores depend
    on."""

    def blamed(self, workers: Sequence[int], now: float) -> None:
        """Note that a fault is blamed on the unit with these workers."""

    def ran(self, workers: Spans, computed: float) -> None:
        """Note that a run that has computed for this time is over; on these of its members no fault
        that ended it is blamed."""

    def score(self, worker: int) -> float:
        """Return the score of a worker; higher is better."""
