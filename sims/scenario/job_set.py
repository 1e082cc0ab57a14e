"""The set of jobs of a simulation. Those of a log become objects once one asks for them: to check a
million jobs needs their columns alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import compress
from typing import Self, overload

import numpy as np
from attrs import define
from numpy.typing import NDArray

from policies.interface.queue import BatchJob
from policies.maths.speedup import Asking
from sims.readers import JobLog

PIECE = 1 << 16
"""Number of jobs of a log that are made at a time."""
NO_ROWS = JobLog.of(()).rows


@define(eq=False)
class JobSet(Sequence[BatchJob]):
    """Jobs in the order of their indices. They are rows of a log until the first of them is asked
    for by iteration, and objects from then on."""

    _made: tuple[BatchJob, ...] = ()
    _rows: NDArray[np.void] = NO_ROWS
    """Rows of a log for jobs that have not been made, with the columns of COLUMNS."""
    _places: NDArray[np.int_] | None = None
    """Position of each row among all that the log has; None: the jobs have been made."""
    _make: Callable[[NDArray[np.void], NDArray[np.int_]], Iterable[BatchJob]] | None = None
    """Makes the jobs of rows with these positions; None: the jobs have been made."""

    @classmethod
    def of(cls, jobs: Iterable[BatchJob]) -> Self:
        """Return a set of these jobs."""
        return cls(tuple(jobs))

    @classmethod
    def logged(
        cls,
        rows: NDArray[np.void],
        make: Callable[[NDArray[np.void], NDArray[np.int_]], Iterable[BatchJob]],
    ) -> Self:
        """Return the jobs of these rows of a log. `make` gets rows and their positions, and returns
        their jobs."""
        return cls((), rows, np.arange(len(rows)), make)

    def __len__(self) -> int:
        return len(self._made) if self._places is None else len(self._places)

    def __iter__(self) -> Iterator[BatchJob]:
        return iter(self.made)

    @overload
    def __getitem__(self, place: int) -> BatchJob: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[BatchJob, ...]: ...
    def __getitem__(self, place: int | slice) -> BatchJob | tuple[BatchJob, ...]:
        if isinstance(place, slice) or self._places is None:
            return self.made[place]
        chosen = np.arange(len(self))[[place]]
        assert self._make is not None
        return next(iter(self._make(self._rows[chosen], self._places[chosen])))

    def keep(self, kept: NDArray[np.bool_]) -> Self:
        """Return the jobs under a mask."""
        if kept.all():
            return self
        if self._places is None:
            return self.of(compress(self._made, kept.tolist()))
        return type(self)((), self._rows[kept], self._places[kept], self._make)

    @property
    def made(self) -> tuple[BatchJob, ...]:
        """The jobs as objects. Those of a log are made step by step, and half of the rows are given
        up once their jobs are there, as all rows and all jobs together need much memory."""
        if self._places is not None and self._make is not None:
            rows, places, found = self._rows, self._places, list[BatchJob]()
            self._rows, self._places = NO_ROWS, None
            part = max(PIECE, len(rows) // 2)
            while len(rows):
                for first in range(0, min(part, len(rows)), PIECE):
                    piece = rows[first : min(first + PIECE, part)]
                    at = len(found)
                    found += self._make(piece, places[at : at + len(piece)])
                rows = rows[part:].copy()
            self._made = tuple(found)
        return self._made

    # --- columns ----------------------------------------------------------------------------------

    @property
    def names(self) -> Sequence[str]:
        """Name of each job."""
        if self._places is None:
            return [job.name for job in self._made]
        names: list[str] = self._rows["names"].tolist()
        return names

    @property
    def places(self) -> NDArray[np.int_]:
        """Position of each job among all that its source has."""
        if self._places is not None:
            return self._places
        return np.fromiter((job.index for job in self._made), int, len(self._made))

    @property
    def widths(self) -> NDArray[np.float64]:
        """Least number of workers that a run of each job can have."""
        return self._rows["processors"] if self._places is not None else self._each(asked_of)

    @property
    def works(self) -> NDArray[np.float64]:
        """Work of each job, in workers x time units."""
        if self._places is None:
            return self._each(lambda it: it.profile.work)
        works: NDArray[np.float64] = self._rows["processors"] * self._rows["times"]
        return works

    @property
    def lengths(self) -> NDArray[np.float64]:
        """Execution time of each job, of which all are rigid, in time units."""
        if self._places is None:
            return self._each(lambda it: it.profile.time(asked_of(it)))
        return self._rows["times"]

    @property
    def overheads(self) -> NDArray[np.float64]:
        """Time of each job's attempts besides computing, in time units."""
        if self._places is None:
            return self._each(lambda it: it.overhead)
        return np.full(len(self), float(self[0].overhead) if len(self) else 0.0)

    @property
    def bare(self) -> NDArray[np.bool_]:
        """Whether each job asks for no mechanism. Rows of a log that have not been made are alike:
        a mechanism that tells them apart makes them."""
        if self._places is None:
            return np.fromiter((job.bare for job in self._made), np.bool_, len(self._made))
        return np.full(len(self), bool(len(self)) and self[0].bare)

    @property
    def submitted(self) -> NDArray[np.float64]:
        """Time of submission of each job, in time units."""
        if self._places is None:
            return self._each(lambda it: it.submitted)
        return self._rows["submitted"]

    def _each(self, number: Callable[[BatchJob], float]) -> NDArray[np.float64]:
        return np.fromiter(map(number, self._made), float, len(self._made))


def asked_of(job: BatchJob) -> int:
    """Return the least number of workers that a run of the job can have: the number that it
    requests, or 1."""
    return job.profile.processors if isinstance(job.profile, Asking) else 1
