"""The events of placements and checkpoints; copies are logged as runs, numbered job by job."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from attrs import define, field

from actors.deciders.copies.placed import Placed
from policies.interface.copies import Numbers

Ints = tuple[int, ...]
Floats = tuple[float, ...]
Sources = tuple[int | None, ...]
Placement = tuple[tuple[str, ...], Ints, Ints, Floats, Ints, int, float, Floats, Sources]
"""Values of a CopiesPlaced."""
Settlement = tuple[tuple[str, ...], Ints, Ints, Floats, Sources]
"""Values of a CopiesSettled."""


@define(eq=False)
class RunLog:
    """Each job's next run number and its furthest run; computed only if a sink wants them."""

    workers: int
    next_run: dict[str, int] = field(init=False, factory=dict)
    furthest: dict[str, int] = field(init=False, factory=dict)
    """Job -> the run whose state is the job's."""

    def placement(self, placed: Placed, now: float, own: Sequence[int] | None) -> Placement:
        """All copies begin; `own`: the runs whose states they go on from, where each has its own,
        -1: none."""
        allocation = placed.allocation
        begun = _floats((_sizes(placed) - placed.running.lefts(now)).tolist())
        runs = self._furthest_of(placed) if own is None else own
        pairs = zip(begun, runs, strict=True)
        return (
            tuple(placed.names),
            self.runs(placed),
            tuple(allocation.copies.tolist()),
            _floats(placed.sizes.tolist()),
            tuple(placed.workers.tolist()),
            self.workers if placed.rotating else 1,
            float(allocation.share),
            begun,
            tuple(run if done else None for done, run in pairs),
        )

    def note(self, placed: Placed, lefts: Numbers) -> None:
        """All copies end: the first of those that lack least of their job is its furthest."""
        rows = zip(self.runs(placed), placed.first.tolist(), _furthest(placed, lefts), strict=True)
        placed.best = tuple(run + best - first for run, first, best in rows)
        self.furthest.update(zip(placed.names, placed.best, strict=True))

    def settlement(self, placed: Placed, lefts: Numbers, left: Numbers) -> Settlement:
        """They have ended; the furthest copy of a job that is over completes it."""
        done = (_sizes(placed) - lefts).tolist()
        completed = list[int | None]()
        for job, (lacks, first) in enumerate(
            zip(left.tolist(), placed.first.tolist(), strict=True)
        ):
            completed.append(None if lacks else placed.best[job])
            if not lacks:
                done[first + placed.best[job] - self.runs(placed)[job]] = placed.sizes.item(job)
        copies = tuple(placed.allocation.copies.tolist())
        return tuple(placed.names), self.runs(placed), copies, _floats(done), tuple(completed)

    def forget(self, name: str) -> None:
        """The job is over."""
        self.next_run.pop(name, None)
        self.furthest.pop(name, None)

    def runs(self, placed: Placed) -> Ints:
        """Run of each job's first copy."""
        if placed.runs is None:
            pairs = zip(placed.names, placed.allocation.copies.tolist(), strict=True)
            placed.runs = tuple(self._number(name, count) for name, count in pairs)
        return placed.runs

    def _number(self, name: str, count: int) -> int:
        run = self.next_run.get(name, 0)
        self.next_run[name] = run + count
        return run

    def _furthest_of(self, placed: Placed) -> list[int]:
        pairs = zip(placed.names, placed.allocation.copies.tolist(), strict=True)
        return [self.furthest.get(name, -1) for name, count in pairs for _ in range(count)]


def _sizes(placed: Placed) -> Numbers:
    """p_j of each copy's job."""
    return placed.sizes.repeat(placed.allocation.copies)


def _floats(values: list[float]) -> Floats:
    """Without the fractions of exact runs."""
    return tuple(map(float, values))


def _furthest(placed: Placed, lefts: Numbers) -> list[int]:
    """Number of each job's (first) furthest copy."""
    lacks, bounds = lefts.tolist(), [*placed.first.tolist(), len(lefts)]
    return [lacks.index(min(lacks[start:end]), start, end) for start, end in pairwise(bounds)]
