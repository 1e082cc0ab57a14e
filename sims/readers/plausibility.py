"""Finds signs that a log of jobs, or what its user says of its machine, is not what it seems."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sims.telling import in_units

YEAR = 365 * 86_400
KILL_WAIT = 60
"""Seconds by which a run usually exceeds its request before it is killed."""
MANY = 0.05
"""Part of the jobs from which on runs beyond their requests are a sign of another unit."""


def doubts(rows: NDArray[np.void], workers: int) -> Iterator[str]:
    """Yield, in words, each sign that the jobs of a log (with the columns of `COLUMNS`, at the
    log's own times in seconds) are not what they seem on a machine of `workers` processors."""
    asked = rows["estimates"] == rows["estimates"]
    longer = int(np.count_nonzero(rows["times"] > rows["estimates"] + KILL_WAIT))
    if longer:
        total = int(np.count_nonzero(asked))
        unit = ": a sign of requests in minutes" if longer > MANY * total else ""
        yield f"{longer:,} of {total:,} jobs ran longer than the time that they requested{unit}"
    if len(rows) and (first := float(rows["submitted"].min())) > YEAR:
        yield f"the first submission is {in_units(first, 's')} after the log's 0"
    most = _most_at_once(rows)
    if most > workers:
        yield f"{most:,} processors were in use at once, and the platform has {workers:,} workers"


def _most_at_once(rows: NDArray[np.void]) -> int:
    """Return the largest number of processors that the jobs whose start is known held at one
    time."""
    known = rows[rows["waits"] == rows["waits"]]
    starts, sizes = known["submitted"] + known["waits"], known["processors"]
    ends = starts + known["times"]
    order = np.argsort(ends, kind="stable")
    begun = np.argsort(starts, kind="stable")
    # Processors of jobs that have ended by each start: those are free again at that instant.
    over = np.concatenate(([0], np.cumsum(sizes[order])))
    freed = over[np.searchsorted(ends[order], starts[begun], side="right")]
    return int((np.cumsum(sizes[begun]) - freed).max(initial=0))
