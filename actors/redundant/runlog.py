"""What the journal is told of placements and checkpoints: copies are runs, numbered job by job."""

from __future__ import annotations

from itertools import pairwise

from attrs import define, field

from actors.redundant.placed import Placed
from policies.interface.redundancy import Numbers

Ints = tuple[int, ...]
Floats = tuple[float, ...]
Placement = tuple[tuple[str, ...], Ints, Ints, Ints, int, float, Floats, Floats]
"""Values of a CopiesPlaced."""
Settlement = tuple[tuple[str, ...], Ints, Ints, Floats, Ints, tuple[str, ...]]
"""Values of a CopiesSettled."""


@define(eq=False)
class RunLog:
    """Each job's next run number; asked only where a sink wants to know."""

    servers: int
    next_run: dict[str, int] = field(init=False, factory=dict)

    def placement(self, placed: Placed, now: float) -> Placement:
        """All copies begin."""
        clone, running = placed.clone, placed.running
        allocation = clone.allocation
        return (
            tuple(clone.names),
            self._runs(placed),
            tuple(allocation.copies.tolist()),
            tuple(placed.servers.tolist()),
            self.servers if placed.rotating else 1,
            float(allocation.share),
            _floats((_sizes(placed) - running.lefts(now)).tolist()),
            _floats(running.begins()),
        )

    def settlement(self, placed: Placed, lefts: Numbers, left: Numbers) -> Settlement:
        """All copies end: the first of the furthest copies of a job that is over completes it."""
        clone, runs = placed.clone, self._runs(placed)
        best, progress = _furthest(placed, lefts), (_sizes(placed) - lefts).tolist()
        completed = list[str]()
        for job, lacks in enumerate(left.tolist()):
            if lacks == 0:
                name = clone.names[job]
                completed.append(name)
                progress[best[job]] = clone.sizes.item(job)
                del self.next_run[name]
        starts = placed.first.tolist()
        furthest = [run + k - start for run, k, start in zip(runs, best, starts, strict=True)]
        copies = tuple(clone.allocation.copies.tolist())
        return (
            tuple(clone.names),
            runs,
            copies,
            _floats(progress),
            tuple(furthest),
            tuple(completed),
        )

    def _runs(self, placed: Placed) -> Ints:
        """Run of each job's first copy."""
        if placed.runs is None:
            copies = placed.clone.allocation.copies.tolist()
            pairs = zip(placed.clone.names, copies, strict=True)
            placed.runs = tuple(self._number(name, count) for name, count in pairs)
        return placed.runs

    def _number(self, name: str, count: int) -> int:
        run = self.next_run.get(name, 0)
        self.next_run[name] = run + count
        return run


def _sizes(placed: Placed) -> Numbers:
    """p_j of each copy's job."""
    return placed.clone.sizes.repeat(placed.clone.allocation.copies)


def _floats(values: list[float]) -> Floats:
    """Without the fractions of exact runs."""
    return tuple(map(float, values))


def _furthest(placed: Placed, lefts: Numbers) -> list[int]:
    """Number of each job's (first) furthest copy."""
    lacks, bounds = lefts.tolist(), [*placed.first.tolist(), len(lefts)]
    return [lacks.index(min(lacks[start:end]), start, end) for start, end in pairwise(bounds)]
