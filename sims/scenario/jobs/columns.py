"""The jobs of a log in columns: what a scenario selects from, scales and draws anew."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

import attrs
import numpy as np
from attrs import define, field, frozen
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sims.readers.batsim import BatsimJob
    from sims.readers.swf_record import SwfJob

Status = Literal["completed", "failed", "cancelled", "unknown"]
"""How a job ended where the log was kept."""

Words = NDArray[np.object_]
Times = NDArray[np.float64]
Which = NDArray[np.bool_] | NDArray[np.intp]
"""A mask of jobs, or their places."""


def _words(values: Iterable[str]) -> Words:
    return np.array(list(values), dtype=object)


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

    @classmethod
    def plain(
        cls, submitted: Times, times: Times, processors: NDArray[np.int64], **more: Any
    ) -> Self:
        """Jobs J1, J2, ...: of nobody and without estimates where `more` does not say so."""
        jobs = len(submitted)
        unknown, nobody = np.full(jobs, np.nan), _words([""] * jobs)
        told = {
            "names": _words(f"J{k + 1}" for k in range(jobs)),
            "estimates": unknown,
            "statuses": _words(["unknown"] * jobs),
            "users": nobody,
            "groups": nobody,
            "queues": nobody,
            "priorities": np.zeros(jobs),
        }
        return cls(submitted=submitted, times=times, processors=processors, **told | more)

    @classmethod
    def of_swf(cls, jobs: Sequence[SwfJob]) -> Self:
        """A log's usable jobs."""
        return cls.plain(
            np.array([job.submit for job in jobs], dtype=float),
            np.array([job.run for job in jobs], dtype=float),
            np.array([job.processors for job in jobs], dtype=np.int64),
            names=_words(f"J{job.number}" for job in jobs),
            estimates=np.array([job.requested_time or np.nan for job in jobs], dtype=float),
            statuses=_words(job.status.name.lower() for job in jobs),
            users=_words(_word(job.user) for job in jobs),
            groups=_words(_word(job.group) for job in jobs),
            queues=_words(_word(job.queue) for job in jobs),
        )

    @classmethod
    def of_batsim(cls, jobs: Sequence[BatsimJob]) -> Self:
        """A workload's jobs."""
        return cls.plain(
            np.array([job.submission_time for job in jobs], dtype=float),
            np.array([job.delay for job in jobs], dtype=float),
            np.array([job.processors for job in jobs], dtype=np.int64),
            names=_words(job.id for job in jobs),
            estimates=np.array([job.walltime or np.nan for job in jobs], dtype=float),
            users=_words(job.user for job in jobs),
            groups=_words(job.group for job in jobs),
            queues=_words(job.queue for job in jobs),
            priorities=np.array([job.priority for job in jobs], dtype=float),
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


Told = tuple[tuple[str, int], ...]
"""(reason, jobs)."""


@define
class Changes:
    """What is done to a log's jobs before a run, and to how many: nothing is done silently."""

    left_out: list[tuple[str, int]] = field(factory=list)
    changed: list[tuple[str, int]] = field(factory=list)

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
