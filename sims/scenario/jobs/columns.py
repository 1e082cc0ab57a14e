"""The jobs of a log in columns: what a scenario selects from, scales and draws anew."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal, Self

import attrs
import numpy as np
from attrs import define, field, frozen
from numpy.typing import NDArray

from sims.errors import InputError
from sims.scenario.jobs.entries import RESERVED

Status = Literal["completed", "failed", "cancelled", "unknown"]
"""How a job ended where the log was kept."""

Words = NDArray[np.object_]
Times = NDArray[np.float64]
Which = NDArray[np.bool_] | NDArray[np.intp]
"""A mask of jobs, or their places."""


Row = tuple[str, float, float, int, float | None, str, str, str, str, float, float | None]
"""A job's value in each of `JobColumns`; None: not known."""
TYPES = (object, float, float, np.int64, float, object, object, object, object, float, float)


def _word(number: int | None) -> str:
    return "" if number is None else str(number)


@frozen(eq=False)
class JobColumns:
    """Rigid jobs by time of submission; what is unknown is an empty word, or not a number."""

    names: Words
    submitted: Times
    """Seconds since the log's start."""
    times: Times
    """Seconds from start to end, above 0."""
    processors: NDArray[np.int64]
    estimates: Times
    """Seconds that the user asked for."""
    statuses: Words
    users: Words
    groups: Words
    queues: Words
    priorities: Times
    waits: Times
    """Seconds from submission to start where the log was kept."""

    @classmethod
    def of(cls, rows: Iterable[Row]) -> Self:
        """From the jobs one by one. Raises OverflowError where processors have no 64 bits."""
        columns = list(zip(*rows, strict=True)) or [()] * len(TYPES)
        return cls(*(np.array(it, dtype=kind) for it, kind in zip(columns, TYPES, strict=True)))

    @classmethod
    def drawn(cls, submitted: Times, times: Times, processors: NDArray[np.int64]) -> Self:
        """Jobs J1, J2, ... of nobody, without estimates."""
        rows = zip(submitted.tolist(), times.tolist(), processors.tolist(), strict=True)
        return cls.of(
            (f"J{k}", *row, None, "unknown", "", "", "", 0.0, None) for k, row in enumerate(rows, 1)
        )

    @classmethod
    def of_swf(cls, path: Path, told: str, changes: Changes) -> Self:
        """A log's usable jobs; those that are not are entered in `changes`. Raises InputError, of
        the file as `told`."""
        from sims.readers.swf import read_swf

        log = read_swf(path)
        changes.left_out += [(reason.value, jobs) for reason, jobs in log.skipped.items()]
        changes.begins = log.header.whole("UnixStartTime")
        try:
            return cls.of(
                (
                    *(f"J{it.number}", it.submit, it.run, it.processors),
                    *(it.requested_time or None, it.status.name.lower()),
                    *(_word(it.user), _word(it.group), _word(it.queue), 0.0, it.wait),
                )
                for it in log.jobs
            )
        except OverflowError:
            problem = "a whole number beyond 64 bits"
            raise InputError(told, "", problem, "numbers of a log") from None

    @classmethod
    def of_batsim(cls, path: Path) -> Self:
        """A workload's jobs. Raises InputError."""
        from sims.readers.batsim import read_batsim_workload

        jobs = read_batsim_workload(path).jobs
        taken = sorted(set(RESERVED).intersection(it.id for it in jobs))
        if taken:
            problem = f"a job has the id {taken[0]!r}, which is the {taken[0]}'s in the log"
            raise InputError(str(path), "jobs", problem, "another id")
        return cls.of(
            (
                *(it.id, it.submission_time, it.delay, it.processors, it.walltime or None),
                *("unknown", it.user, it.group, it.queue, it.priority, None),
            )
            for it in jobs
        )

    @classmethod
    def of_sacct(cls, path: Path, zone: str, limit: float | None, changes: Changes) -> Self:
        """The attempts that Slurm's accounting tells of; what is left out or assumed is entered in
        `changes`. Raises InputError."""
        from sims.readers.sacct import read_sacct

        log = read_sacct(path, zone, limit)
        changes.left_out += log.left_out.items()
        changes.changed += log.changed.items()
        changes.begins = log.begins
        return cls.of(
            (
                *(it.name, it.submitted, it.run, it.processors, it.estimate, it.status),
                *(it.user, it.group, it.queue, it.priority, it.wait),
            )
            for it in log.jobs
        )

    def __len__(self) -> int:
        return len(self.submitted)

    def take(self, which: Which) -> Self:
        """Those jobs alone, in the order of their places."""
        return type(self)(*(column[which] for column in attrs.astuple(self, recurse=False)))

    def load(self, workers: int, cut: bool = False) -> float:
        """Their area over what `workers` could do from the first submission to the last; those
        that need more are cut to `workers`, or have no part in it."""
        sizes = np.minimum(self.processors, workers) if cut else self.processors
        fit = sizes <= workers
        submitted = self.submitted[fit]
        span = float(np.ptp(submitted)) if len(submitted) else 0.0
        return float(np.dot(self.times[fit], sizes[fit])) / (workers * span) if span else np.inf


@define
class Changes:
    """What is done to a log's jobs before a run, and to how many: nothing is done silently."""

    left_out: list[tuple[str, int]] = field(factory=list)
    changed: list[tuple[str, int]] = field(factory=list)
    begins: float | None = None
    """When: seconds since 1970 at time 0; None: not known."""

    def keep(self, jobs: JobColumns, kept: NDArray[np.bool_], reason: str) -> JobColumns:
        """The jobs of a mask; the others are left out for `reason`."""
        out = len(kept) - int(np.count_nonzero(kept))
        if not out:
            return jobs
        self.left_out.append((reason, out))
        return jobs.take(kept)

    def change(self, how: str, jobs: int) -> None:
        """So many jobs were changed, if any."""
        if jobs:
            self.changed.append((how, jobs))

    def unlike(self, jobs: JobColumns) -> JobColumns:
        """The jobs, whose load or times are no longer those that the log's waits came of."""
        self.begins = None
        return attrs.evolve(jobs, waits=np.full(len(jobs), np.nan))
