"""Flowtime and stretch against load, speed variability, M and sizes, on common random numbers."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence

from attrs import frozen

from sims.campaign import run_many
from sims.papers.redundancy_runs import SPEEDS, Numbers, Setting, simulate
from sims.scenario.jobs.stream import (
    DeterministicSizes,
    ExponentialSizes,
    HyperexponentialSizes,
    ParetoSizes,
    SizeSection,
)
from sims.scenario.speeds import (
    Constant,
    OnOffLaw,
    Speed,
    TwoPointLaw,
    TwoPointSlotsLaw,
    UniformLaw,
)
from sims.statistics import Interval, mean_interval

POLICIES = (
    "SRPT",
    "SRPT+R",
    "SRPT+R-even",
    "SRPT+R-noclone",
    "LAPS(1/2)",
    "LAPS+R(1/2)",
    "PS",
    "FCFS",
)
REPRODUCED = {0.3: 0.310, 0.5: 0.434, 0.7: 0.614, 0.9: 0.861}
"""SRPT+R's mean flowtime over SRPT's by load, exponential sizes, M = 10, speeds 4 or 0."""


class Axis(enum.Enum):
    """What the study varies; everything else stays at `Setting`'s defaults."""

    LOAD = "load"
    SPEED = "speed"
    SERVERS = "servers"
    SIZES = "sizes"


LOADS = (0.3, 0.5, 0.7, 0.9)
SERVERS = (1, 2, 5, 10, 30, 100)
SPEED_LAWS: dict[str, Speed] = {
    "constant": Constant(),
    "uniform 0..2": UniformLaw(peak=2, slot=0.3),
    "two-point slots, Delta 2": TwoPointSlotsLaw(peak=2, slot=0.3),
    "two-point slots, Delta 4": TwoPointSlotsLaw(peak=4, slot=0.3),
    "two-point, Delta 4": SPEEDS,
    "two-point, Delta 8": TwoPointLaw(peak=8, interval=0.3),
    "on-off, Delta 4": OnOffLaw(peak=4, on=1),
}
SIZE_LAWS: dict[str, SizeSection] = {
    "deterministic": DeterministicSizes(),
    "exponential": ExponentialSizes(),
    "hyperexponential": HyperexponentialSizes(),
    "bounded Pareto": ParetoSizes(),
}


def points(axis: Axis, jobs: int) -> dict[str, Setting]:
    """The settings along one axis, by the label of the table's row."""
    match axis:
        case Axis.LOAD:
            return {f"{load}": Setting(load=load, jobs=jobs) for load in LOADS}
        case Axis.SPEED:
            return {name: Setting(speed=law, jobs=jobs) for name, law in SPEED_LAWS.items()}
        case Axis.SERVERS:
            return {f"{count}": Setting(servers=count, jobs=jobs) for count in SERVERS}
        case Axis.SIZES:
            return {name: Setting(sizes=law, jobs=jobs) for name, law in SIZE_LAWS.items()}


@frozen
class Task:
    """One run: all policies meet the same jobs and speeds at the same seed."""

    label: str
    setting: Setting
    policy: str
    seed: int


def run_task(task: Task) -> Numbers:
    """Simulate one run."""
    return Numbers.of(simulate(task.setting.scenario(task.policy, task.seed)))


def tasks(settings: dict[str, Setting], policies: Sequence[str], seeds: int) -> list[Task]:
    """Every policy on every setting, `seeds` times."""
    return [
        Task(label, setting, policy, seed)
        for label, setting in settings.items()
        for seed in range(seeds)
        for policy in policies
    ]


def results(listed: Sequence[Task]) -> Iterator[tuple[Task, Numbers]]:
    """Each run's numbers, as they come."""
    return run_many(run_task, listed)


@frozen
class Cell:
    """One policy at one point: intervals over the seeds."""

    flowtime: tuple[Interval, ...]
    """Mean, 95th and 99th percentile, time units."""
    stretch: tuple[Interval, ...]
    """The same of flowtime over size."""
    ratio: Interval
    """Mean flowtime over SRPT's on the same random numbers."""


def cell(own: Sequence[Numbers], reference: Sequence[Numbers]) -> Cell:
    """Fold the runs of one policy; `reference` are those of SRPT, seed by seed."""
    pairs = zip(own, reference, strict=True)
    return Cell(
        tuple(mean_interval([run.flowtime[k] for run in own]) for k in range(3)),
        tuple(mean_interval([run.stretch[k] for run in own]) for k in range(3)),
        mean_interval([run.flowtime[0] / base.flowtime[0] for run, base in pairs]),
    )
