"""What are reservations worth when jobs and processors fail?

Blocks of a log (SWF, --input; without one, synthetic jobs) are replayed under greedy list
scheduling, EASY and conservative backfilling (R-LIST-0, -1, -Q), while silent errors spoil runs,
found when they end, or faults end runs at once and keep a processor DOWN for an hour. Both strike
at the same rates. Reservations are promises made on estimates: a run that has to be repeated breaks
them.

A block is a seed: consecutive jobs, their arrivals stretched so that each block offers the same
load; blocks are spread evenly over the log. All three strategies meet the same errors and faults.
A wait is all the time that a job does not run: before its first run, and between its runs.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from attrs import evolve

from sims.campaign.results import Results
from sims.papers.inputs import log_of
from sims.papers.study.log_blocks import Block, blocks_of, synthetic
from sims.papers.values import Value, means, ratios
from sims.report import Report

MILLION_HOURS = 3.6e9
"""Seconds."""
DOWNTIME = 3600.0


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
    """Block `seed` of so many, each of so many jobs; `rate` of `errors` or `faults` per million
    processor-hours. Raises InputError where there are too few jobs."""
    own = _blocks(log, processors, blocks, jobs, load)[seed] if log else synthetic(seed, jobs, load)
    return struck(own, spoilt, rate, strategy)


@cache
def _blocks(log: str, processors: int | None, count: int, jobs: int, load: float) -> list[Block]:
    return blocks_of(log_of(log), Path(log), processors, count, jobs, load)


def struck(block: Block, spoilt: str, rate: float, strategy: str) -> dict[str, Any]:
    """The scenario of one run."""
    table = {
        "name": "reservations",
        "seed": block.number,
        "platform": {"workers": block.processors},
        "job": {
            "kind": "rigid",
            "jobs": [it.model_dump(exclude_defaults=True) for it in block.jobs],
        },
        "policy": {"name": strategy, "order": "FCFS", "reading": "easy"},
    }
    if spoilt == "errors":
        return table | {"errors": {"rate": rate / MILLION_HOURS}}
    if not rate:
        return table
    mtbf = MILLION_HOURS / rate
    return table | {"faults": {"kind": "exponential", "mtbf": mtbf, "downtime": DOWNTIME}}


def hours_waited(report: Report) -> float:
    """Measure: mean over the jobs of the hours from submission to completion in which they did not
    run."""
    jobs, accounts = report.jobs, report.ledger.by_job
    held = np.array([float(sum(accounts[name].values())) for name in jobs.names])
    return float((jobs.flowtime - held / jobs.processors).mean()) / 3600


def view(results: Results) -> list[Value]:
    """The others' means over EASY's, and its own."""
    over = [
        evolve(it, what=f"{gauge.name.rpartition(':')[2]}, over EASY's")
        for gauge in results.campaign.gauges
        for it in ratios(results, gauge)
    ]
    return over + [it for it in means(results) if it.who == results.campaign.reference]
