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
from attrs import define, evolve, field

from actors.events import JobCompleted, JobSubmitted, RunEnded, RunStarted
from actors.runtime import Record
from policies.queue.lists import Reading
from sims.campaign.results import Results
from sims.log_blocks import Block, blocks_of, synthetic
from sims.papers.values import Value, means, ratios
from sims.readers.swf import SwfLog, read_swf
from sims.scenario.faults import AnyFaults, ErrorSection, ExponentialFaults, NoFaults
from sims.scenario.jobs.section import RigidSection
from sims.scenario.platform import PlatformSection
from sims.scenario.policy import PolicySection
from sims.scenario.scenario import Scenario

MILLION_HOURS = 3.6e9
"""Seconds."""
DOWNTIME = 3600.0


def given(path: Path) -> dict[str, Any]:
    """Another log, for the campaign. Raises InputError."""
    return {"set": {"log": str(path.absolute())}, "axes": {}}


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
) -> Scenario:
    """Block `seed` of so many, each of so many jobs; `rate` of `errors` or `faults` per million
    processor-hours. Raises InputError where there are too few jobs."""
    own = _blocks(log, processors, blocks, jobs, load)[seed] if log else synthetic(seed, jobs, load)
    return struck(own, spoilt, rate, strategy)


@cache
def _read(log: str) -> SwfLog:
    return read_swf(Path(log))


@cache
def _blocks(log: str, processors: int | None, count: int, jobs: int, load: float) -> list[Block]:
    return blocks_of(_read(log), Path(log), processors, count, jobs, load)


def struck(block: Block, spoilt: str, rate: float, strategy: str) -> Scenario:
    """The scenario of one run."""
    faults: AnyFaults = NoFaults()
    if rate and spoilt == "faults":
        faults = ExponentialFaults(kind="exponential", mtbf=MILLION_HOURS / rate, downtime=DOWNTIME)
    return Scenario(
        name="reservations",
        seed=block.number,
        platform=PlatformSection(workers=block.processors),
        faults=faults,
        errors=ErrorSection(rate=rate / MILLION_HOURS if spoilt == "errors" else 0.0),
        job=RigidSection(kind="rigid", jobs=block.jobs),
        policy=PolicySection(name=strategy, order="FCFS", reading=Reading.EASY),
    )


# --- measures ---------------------------------------------------------------------------------


@define
class Served:
    """Fold: when jobs came and went, and how long their runs lasted, s."""

    wants = frozenset((JobSubmitted, JobCompleted, RunStarted, RunEnded))
    submitted: dict[str, float] = field(factory=dict)
    completed: dict[str, float] = field(factory=dict)
    running: dict[str, float] = field(factory=dict)
    _begun: dict[str, float] = field(factory=dict)

    def __call__(self, record: Record) -> None:
        match record.event:
            case RunStarted(job=job):
                self._begun[job] = record.t
            case RunEnded(job=job):
                since = record.t - self._begun.pop(job)
                self.running[job] = self.running.get(job, 0.0) + since
            case JobSubmitted(job=job):
                self.submitted[job] = record.t
            case JobCompleted(job=job):
                self.completed[job] = record.t


def hours_waited(served: Served) -> float:
    """Mean over the jobs of the hours from submission to completion in which they did not run."""
    ends = served.completed.items()
    waits = [end - served.submitted[job] - served.running[job] for job, end in ends]
    return float(np.mean(waits)) / 3600


def view(results: Results) -> list[Value]:
    """The others' means over EASY's, and its own."""
    over = [
        evolve(it, what=f"{gauge.name.rpartition(':')[2]}, over EASY's")
        for gauge in results.campaign.gauges
        for it in ratios(results, gauge)
    ]
    return over + [it for it in means(results) if it.who == results.campaign.reference]
