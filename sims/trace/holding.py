"""Workers that a job holds, for a run or between two, and who of them is away."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import define, field

from actors.intervals import within
from actors.runtime import Record
from policies.availability import WorkerState
from sims.ledger.slices import ranges
from sims.trace.span import Span

DOWN, RECLAIMED, UP = WorkerState.DOWN, WorkerState.RECLAIMED, WorkerState.UP


@define
class Cast:
    """Who the workers are, and how fast: what a log tells of them beside what they do."""

    unit: str = ""
    """Of all times."""
    names: tuple[str, ...] = ()
    speeds: dict[int, float] = field(factory=dict)
    """Of those that were told one; 1 where none was."""

    def name(self, worker: int) -> str:
        """`P1`, or `worker 0` where they have no names."""
        return self.names[worker] if self.names else f"worker {worker}"

    def listed(self, workers: Iterator[int] | tuple[int, ...]) -> str:
        """`P1, P2`."""
        return ", ".join(map(self.name, workers))


@define
class Holding:
    """Some workers, held."""

    numbers: str
    """Interval set."""
    span: Span
    cast: Cast
    away: dict[int, Span | None] = field(factory=dict)
    """Who is not UP; the span tells since when, where that has been told."""

    def holds(self, worker: int) -> bool:
        """Whether it is one of them."""
        return within(self.numbers, worker)

    def members(self) -> Iterator[int]:
        """All of them."""
        return (n for first, last in ranges(self.numbers) for n in range(first, last + 1))

    def move(self, worker: int, state: WorkerState, record: Record) -> None:
        """One of them changed state."""
        self._back(worker, record.t)
        if state is UP:
            return
        name = self.cast.name(worker)
        if state is DOWN:
            self.span.happened(f"{name} goes DOWN", record)
            self.away[worker] = None
        else:
            self.away[worker] = self.span.below(f"{name} is RECLAIMED", record)

    def close(self, now: float) -> None:
        """They are not held any more."""
        for worker in list(self.away):
            self._back(worker, now)
        self.span.close(now)

    def _back(self, worker: int, now: float) -> None:
        span = self.away.pop(worker, None)
        if span is not None:
            span.close(now)
