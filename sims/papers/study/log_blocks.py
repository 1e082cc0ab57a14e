"""Blocks of jobs from a log, or drawn, each sent to an empty platform at one offered load."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from actors.runtime import stream
from sims.errors import InputError
from sims.readers.job_log import JobLog, LoggedJob
from sims.scenario.jobs.entries import RigidJob
from sims.telling import counted

PROCESSORS = 256
"""Of the synthetic jobs' platform."""

Rows = NDArray[np.float64]
"""Submission, processors, time and requested time of each job."""


@frozen
class Block:
    """Consecutive jobs of a log, released from time 0 on."""

    source: str
    number: int
    load: float
    processors: int
    jobs: tuple[RigidJob, ...] = field(repr=False)


def blocks_of(
    log: JobLog, source: Path, processors: int | None, count: int, size: int, load: float
) -> list[Block]:
    """`count` blocks of `size` jobs, spread evenly over those jobs of a log that fit so many
    processors (None: the log's own). Raises InputError where there are too few."""
    processors = processors or log.machine
    if not processors:
        raise InputError(str(source), "MaxProcs", "missing", "--processors P")
    fit = [job for job in log.jobs if job.processors <= processors]
    if len(fit) < size * count:
        problem = f"{counted(len(fit), 'job')} for {counted(count, 'block')} of {size:,}"
        raise InputError(str(source), "", problem, "fewer --trials or --jobs, or a longer log")
    step = (len(fit) - size) // max(1, count - 1)
    return [
        _block(source.name, k, load, processors, _rows(fit[k * step : k * step + size]))
        for k in range(count)
    ]


def _rows(jobs: Sequence[LoggedJob]) -> Rows:
    return np.array([(j.submitted, j.processors, j.run, j.estimate or j.run) for j in jobs])


def synthetic(number: int, size: int, load: float) -> Block:
    """Jobs of 1, 2, 4 ... 128 processors and 1 min to 20 h (log-uniform), arriving at random, which
    ask for 1 to 10 times what they take."""
    rng = stream(number, "reservations")
    times = np.exp(rng.uniform(np.log(60), np.log(72_000), size))
    columns = (
        rng.exponential(1, size).cumsum(),
        2.0 ** rng.integers(0, 8, size),
        times,
        times * rng.uniform(1, 10, size),
    )
    return _block("synthetic", number, load, PROCESSORS, np.stack(columns, axis=1))


def _block(source: str, number: int, load: float, processors: int, rows: Rows) -> Block:
    since = rows[:, 0] - rows[0, 0]
    scale = (rows[:, 1] @ rows[:, 2]) / (load * processors * (since[-1] or 1))
    jobs = tuple(
        RigidJob(
            name=f"J{k}", processors=int(p), time=time, release=at * scale, estimate=max(time, said)
        )
        for k, (at, (_, p, time, said)) in enumerate(
            zip(since.tolist(), rows.tolist(), strict=True)
        )
    )
    return Block(source, number, load, processors, jobs)
