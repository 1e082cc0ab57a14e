"""Defines what a retirement policy sees and answers: it decides whether a unit comes back from its
repair (rules.md, R8)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

Spans = Sequence[tuple[int, int]]
"""(first, last) of intervals of workers, ascending, ends included."""


class WorkerRecord(Protocol):
    """Record of one worker: the faults blamed on its unit (the worker, or the node or rack that
    fails as one with it), the unit's repairs, and the worker's computing time."""

    @property
    def faults(self) -> Sequence[float]:
        """Times at which faults were blamed on its unit, ascending, time units."""

    @property
    def repairs(self) -> int:
        """Number of repairs of its unit that have ended."""

    @property
    def computed(self) -> float:
        """Time for which runs that are over have computed on it, time units."""

    @property
    def back(self) -> float | None:
        """Time at which its unit last came back from a repair; None if it never has."""


class FleetView(Protocol):
    """Shows a retirement policy all workers at the end of a repair; a live view."""

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
        """Return the faults, repairs and computing time recorded of this worker."""


class RetirementPolicy(Protocol):
    """Decides whether a unit (a worker, or a node or rack that fails as one) comes back into
    service. It is asked as the last stage of each repair ends."""

    def retires(self, workers: Sequence[int], view: FleetView) -> bool:
        """Return whether the unit with these workers, by ascending number, retires: it does not
        come back from this repair, and its workers are DOWN for ever."""


class ScoringPolicy(RetirementPolicy, Protocol):
    """A retirement policy that keeps a score of each worker; it is called for each fault blamed and
    each run over, on which scores depend."""

    def blamed(self, workers: Sequence[int], now: float) -> None:
        """Record that a fault is blamed, at `now`, on the unit with these workers."""

    def ran(self, workers: Spans, computed: float) -> None:
        """Record that a run is over that computed for `computed` time units on these workers. If a
        fault ended the run, the workers of the unit on which it is blamed are not among them."""

    def score(self, worker: int) -> float:
        """Return the score of a worker, by its number; higher is better."""
