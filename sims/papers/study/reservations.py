"""Study what reservations are worth when jobs and processors fail.

Blocks of a log (SWF, --input; without one, synthetic jobs) are replayed under greedy list
scheduling, EASY and conservative backfilling (R-LIST-0, -1, -Q), while silent errors spoil runs,
found when they end, or faults end runs at once and keep a processor DOWN for an hour. Both occur at
the same rates. Reservations are promises made on estimates: a run that has to be repeated breaks
them.

A block is a seed: consecutive jobs, their arrivals stretched so that each block offers the same
load; blocks are spread evenly over the log. All three strategies meet the same errors and faults. A
wait is all the time that a job does not run: before its first run, and between its runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from attrs import evolve
from numpy.typing import NDArray

from actors.runtime import stream
from sims.campaign.results import Results
from sims.errors import InputError
from sims.metrics.report import Report
from sims.papers.inputs import base, log_of
from sims.papers.values import Value, means, ratios
from sims.readers import LoggedJob
from sims.telling import counted

MILLION_HOURS = 3.6e9
"""Seconds in a million hours."""
PROCESSORS = 256
"""Number of processors of the synthetic jobs' platform."""

Rows = NDArray[np.float64]
"""An array with submission, processors, time and requested time of each job."""


def block(
    seed: int,
    spoilt: str,
    rate: float,
    strategy: str,
    log: str = "",
    processors: int | None = None,
    blocks: int = 40,
    jobs: int = 500,
    load: float = 0.9,
) -> dict[str, Any]:
    """Return the scenario of block number `seed` (from 0) of `blocks` blocks of a log, each of
    `jobs` jobs, under a strategy such as R-LIST-1; without a log, the jobs are random.

    `spoilt` is `errors` or `faults`, and `rate` how many of these there are per million
    processor-hours. The platform has `processors` processors (default: the log's own number), and
    the arrivals are stretched so that the jobs offer the share `load` of it. Raises InputError
    where there are too few jobs.
    """
    if log:
        width, rows = cut(log, processors, seed, blocks, jobs)
    else:
        width, rows = PROCESSORS, synthetic(seed, jobs)
    settings = {"seed": seed, "platform.workers": width, "policy.name": strategy}
    settings["job.jobs"] = offered(rows, width, load)
    if spoilt == "errors":
        settings["errors.rate"] = rate / MILLION_HOURS
    elif rate:
        mtbf = MILLION_HOURS / rate
        settings["faults"] = {"kind": "exponential", "mtbf": mtbf, "downtime": 3600}
    return base("study/reservations-base", settings)


@cache
def _fitting(log: str, processors: int | None) -> tuple[int, Sequence[LoggedJob]]:
    """Return a number of processors, `processors` or by default the log's own, and the log's jobs
    that fit on so many.

    Raises InputError where neither is known.
    """
    found = log_of(log)
    width = processors or found.machine
    if not width:
        raise InputError(log, "MaxProcs", "missing", "--set processors=P")
    return width, [job for job in found.jobs if job.processors <= width]


def cut(log: str, processors: int | None, number: int, count: int, size: int) -> tuple[int, Rows]:
    """Return the number of processors, and the `size` jobs of block `number` (from 0) of `count`
    blocks, which are spread evenly over the log's jobs that fit on `processors`.

    The array has a row for each job: submission, processors, time and requested time. Raises
    InputError where there are too few jobs.
    """
    width, fit = _fitting(log, processors)
    if len(fit) < size * count:
        problem = f"{counted(len(fit), 'job')} for {counted(count, 'block')} of {size:,}"
        raise InputError(log, "", problem, "fewer blocks or jobs (--set), or a longer log")
    first = number * ((len(fit) - size) // max(1, count - 1))
    rows = [
        (it.submitted, it.processors, it.run, it.estimate or it.run)
        for it in fit[first : first + size]
    ]
    return width, np.array(rows)


def synthetic(number: int, size: int) -> Rows:
    """Return `size` random jobs of 1, 2, 4 ... 128 processors and 1 min to 20 h (log-uniform),
    which ask for 1 to 10 times the time that they take.

    The array has a row for each job: submission, processors, time and requested time. `number` is
    that of the draw.
    """
    rng = stream(number, "reservations")
    times = np.exp(rng.uniform(np.log(60), np.log(72_000), size))
    arrivals, widths = rng.exponential(1, size).cumsum(), 2.0 ** rng.integers(0, 8, size)
    return np.stack((arrivals, widths, times, times * rng.uniform(1, 10, size)), axis=1)


def offered(rows: Rows, processors: int, load: float) -> list[dict[str, Any]]:
    """Return the jobs of `rows` as entries of a scenario, from time 0 on.

    Their arrivals are stretched or compressed so that the jobs' processor-time is the share `load`
    of what `processors` processors give until the last arrival. A requested time below the job's
    own is raised to it.
    """
    since, widths, times, asked = rows[:, 0] - rows[0, 0], *rows[:, 1:].T
    scale = (widths @ times) / (load * processors * (since[-1] or 1))
    columns = since * scale, widths.astype(int), times, np.maximum(times, asked)
    jobs = zip(*(column.tolist() for column in columns), strict=True)
    return [
        {"name": f"J{k}", "processors": width, "time": time, "release": at, "estimate": estimate}
        for k, (at, width, time, estimate) in enumerate(jobs)
    ]


def hours_waited(report: Report) -> float:
    """Return the mean over the jobs of the hours from submission to completion in which they did
    not run, as a measure."""
    jobs, accounts = report.jobs, report.ledger.by_job
    held = np.array([float(sum(accounts[name].values())) for name in jobs.names])
    return float((jobs.flowtime - held / jobs.processors).mean()) / 3600


def view(results: Results) -> list[Value]:
    """Return, for each strategy but EASY, the mean of each measure over its mean under EASY, and
    the means under EASY themselves."""
    over = [
        evolve(it, what=f"{gauge.value.rpartition(':')[2]}, over EASY's")
        for gauge in results.question.measured.gauges
        for it in ratios(results, gauge)
    ]
    return over + [it for it in means(results) if it.who == results.question.varied.reference]
