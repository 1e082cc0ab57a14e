"""Events of vectorised copies (redundancy17): one line for all copies that are placed at one
instant, or that end at one.

A run is a copy between two decision epochs ("checkpoints" in redundancy17): it ends CANCELLED at
the next one, and COMPLETED where it ends its job. The parts of each line are the RunStarted and
RunEnded of every copy.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from actors.events.quantities import (
    CopyCount,
    JobName,
    RunNumber,
    Share,
    Work,
    WorkerCount,
    WorkerNumber,
)
from actors.events.runs import Outcome, RunEnded, RunStarted
from actors.events.scenario import Compound
from actors.runtime import fact

T = TypeVar("T")
Ints = tuple[int, ...]


@fact
class CopiesPlaced(Compound):
    """All copies of the jobs that the policy has chosen to serve begin at this instant, at which a
    job has arrived or departed; one line stands for all of them."""

    jobs: tuple[JobName, ...]
    """Names of the jobs that are served."""
    runs: tuple[RunNumber, ...]
    """Per job, the run of its first copy; those of its other copies follow."""
    copies: tuple[CopyCount, ...]
    """Per job, its number of copies r."""
    sizes: tuple[Work, ...]
    """Per job, its whole work."""
    workers: tuple[WorkerNumber, ...]
    """Per copy, job after job, its (first) worker."""
    width: WorkerCount
    """Number of workers that each copy is on: 1, or all where copies rotate over them."""
    share: Share
    """Share x of its worker that every copy receives."""
    begun: tuple[Work, ...]
    """Per copy, the work done in the state that it begins from, as in RunStarted."""
    sources: tuple[RunNumber | None, ...]
    """Per copy, the run whose state it begins from, as in RunStarted."""

    def parts(self) -> Iterator[RunStarted]:
        """Yield a RunStarted for each copy, job after job."""
        runs = _runs(self.jobs, self.runs, self.copies, self.sizes)
        copies = zip(runs, self.workers, self.begun, self.sources, strict=True)
        for (job, run, size), first, begun, source in copies:
            # A rotating copy is on consecutive workers, from its first one on.
            where = str(first) if self.width == 1 else f"{first}-{first + self.width - 1}"
            # Work counts alike in all copies of a job, so the source's count is the copy's own.
            saved = 0 if source is None else begun
            state = (begun, source, saved, None)
            yield RunStarted(job, run, where, size, *state, self.share, self.width > 1)


@fact
class CopiesSettled(Compound):
    """All copies end at this instant, because a job arrives or departs; one line stands for all of
    them. The jobs that are left are then placed afresh."""

    jobs: tuple[JobName, ...]
    """Names of the jobs that were served until now."""
    runs: tuple[RunNumber, ...]
    """Per job, the run of its first copy, as in the CopiesPlaced before."""
    copies: tuple[CopyCount, ...]
    """Per job, its number of copies, as in the CopiesPlaced before."""
    done: tuple[Work, ...]
    """Per copy, the work done."""
    completed: tuple[RunNumber | None, ...]
    """Per job, the run that completes it; None if the job continues."""

    def parts(self) -> Iterator[RunEnded]:
        """Yield a RunEnded for each copy, job after job: COMPLETED for the run that completes its
        job, CANCELLED for all others. Raises ValueError where the run that completes a job is none
        of its copies."""
        for start, count, first in zip(self.runs, self.copies, self.completed, strict=True):
            if first is not None and not start <= first < start + count:
                raise ValueError(f"run {first} completes; {count} from {start} on were placed")
        runs = _runs(self.jobs, self.runs, self.copies, self.completed)
        for (job, run, first), done in zip(runs, self.done, strict=True):
            # Only the copy that ended first completes its job; the others are superfluous.
            outcome = Outcome.COMPLETED if run == first else Outcome.CANCELLED
            yield RunEnded(job, run, outcome, done)


def _runs(
    jobs: tuple[str, ...], first: Ints, copies: Ints, values: tuple[T, ...]
) -> Iterator[tuple[str, int, T]]:
    """Yield (job, run, value) for each copy, job after job. `first` and `copies` have the run of
    each job's first copy and the job's number of copies; `values` has a value for each job, which
    all its copies get."""
    for job, start, count, value in zip(jobs, first, copies, values, strict=True):
        for run in range(start, start + count):
            yield job, run, value
