"""Vectorised copies (redundancy17): all copies that are placed at one instant, or end at one, in
one line.

A run is a copy between two checkpoints: it ends CANCELLED at the next one, and COMPLETED where it
ends its job. The parts of each line are the RunStarted and RunEnded of every copy.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, TypeVar

from attrs import frozen

from actors.events.quantities import (
    CopyCount,
    JobName,
    Quantity,
    RunNumber,
    Share,
    Work,
    WorkerCount,
    WorkerNumber,
)
from actors.events.runs import Outcome, RunEnded, RunStarted
from actors.events.scenario import Compound
from actors.runtime import Event

T = TypeVar("T")
Ints = tuple[int, ...]


@frozen
class GainDescribed(Event):
    """Mean semantics: jobs progress by g(r, t) (redundancy17, Assumption 2), not by what their
    workers deliver."""

    augmentation: Annotated[float, Quantity("factor")]
    """Multiplies g."""


@frozen
class CopiesPlaced(Compound):
    """The policy has chosen: all copies of all jobs that are served begin."""

    jobs: tuple[JobName, ...]
    """Those that are served."""
    runs: tuple[RunNumber, ...]
    """Per job: the run of its first copy; its other copies' follow."""
    copies: tuple[CopyCount, ...]
    """Per job: r."""
    sizes: tuple[Work, ...]
    """Per job: all its work."""
    workers: tuple[WorkerNumber, ...]
    """Per copy, job after job: its (first) worker."""
    width: WorkerCount
    """Workers that each copy is on: 1, or all where copies go round them."""
    share: Share
    """x, of every copy."""
    begun: tuple[Work, ...]
    """Per copy, as in RunStarted."""
    sources: tuple[RunNumber | None, ...]
    """Per copy, as in RunStarted."""

    def parts(self) -> Iterator[RunStarted]:
        """A RunStarted each."""
        runs = _runs(self.jobs, self.runs, self.copies, self.sizes)
        copies = zip(runs, self.workers, self.begun, self.sources, strict=True)
        for (job, run, size), first, begun, source in copies:
            where = str(first) if self.width == 1 else f"{first}-{first + self.width - 1}"
            saved = 0 if source is None else begun
            state = (begun, source, saved, None)
            yield RunStarted(job, run, where, size, *state, self.share, self.width > 1)


@frozen
class CopiesSettled(Compound):
    """A checkpoint: an arrival or a departure ends all copies, and all jobs are placed afresh."""

    jobs: tuple[JobName, ...]
    """Those that were served until now."""
    runs: tuple[RunNumber, ...]
    """As in the CopiesPlaced before."""
    copies: tuple[CopyCount, ...]
    """Likewise."""
    done: tuple[Work, ...]
    """Per copy: work done."""
    completed: tuple[RunNumber | None, ...]
    """Per job: the run that completes it; None: it goes on."""

    def parts(self) -> Iterator[RunEnded]:
        """A RunEnded each."""
        for start, count, first in zip(self.runs, self.copies, self.completed, strict=True):
            if first is not None and not start <= first < start + count:
                raise ValueError(f"run {first} completes; {count} from {start} on were placed")
        runs = _runs(self.jobs, self.runs, self.copies, self.completed)
        for (job, run, first), done in zip(runs, self.done, strict=True):
            outcome = Outcome.COMPLETED if run == first else Outcome.CANCELLED
            yield RunEnded(job, run, outcome, done)


def _runs(
    jobs: tuple[str, ...], first: Ints, copies: Ints, values: tuple[T, ...]
) -> Iterator[tuple[str, int, T]]:
    """Job and run of each copy, job after job, with its job's value."""
    for job, start, count, value in zip(jobs, first, copies, values, strict=True):
        for run in range(start, start + count):
            yield job, run, value
