"""Lemmas 1, 2 and 5 of redundancy17, checked numerically."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from attrs import frozen
from numpy.random import Generator, default_rng

from policies.maths.gain_table import gain_at
from policies.maths.gains import GainEstimate
from policies.maths.single_machine import srpt_drain
from policies.maths.speeds import (
    ConstantSpeed,
    OnOff,
    SpeedProcess,
    TwoPoint,
    TwoPointSlots,
    UniformSlots,
)
from sims.campaign.intervals import Estimate
from sims.metrics.flowtimes import FlowtimeFold
from sims.papers.values import Value, exactly
from sims.scenario.jobs.section import RigidSection
from sims.scenario.jobs.stream import ListedArrivals, ListedSizes, StreamSection
from sims.scenario.platform import PlatformSection
from sims.scenario.policy import PolicySection
from sims.scenario.scenario import Scenario
from sims.world import run

ERRORS = 4.0
"""A difference counts as a violation beyond so many of its standard errors."""
PROCESSES: dict[str, SpeedProcess] = {
    "constant": ConstantSpeed(),
    "two-point, Delta 4": TwoPoint(4.0, 0.3),
    "two-point slots, Delta 4": TwoPointSlots(4.0, 0.3),
    "uniform 0..2": UniformSlots(2.0, 0.3),
    "on-off, Delta 4": OnOff(4.0, 1.0),
}
TIMES = (0.03, 0.3, 1.0, 3.0)


@frozen
class GainRow:
    """g(r, t) for r = 1, 2, ... at one t."""

    process: str
    time: float
    gains: tuple[GainEstimate, ...]
    concave: bool
    """Lemma 1: g(r) - g(r - 1) never rises with r."""
    bounded: bool
    """Lemma 2: g(r, t) <= min(Delta t, r t)."""


def gain_row(
    name: str, process: SpeedProcess, time: float, most: int, sample: int, rng: Generator
) -> GainRow:
    """g(1, t) .. g(most, t), integrated or simulated with `sample` servers, and both lemmas."""
    at = gain_at(process, sample, rng)
    gains = tuple(at(copies, time) for copies in range(1, most + 1))
    return GainRow(name, time, gains, _concave(gains), _bounded(gains, process.peak, time))


def _concave(gains: Sequence[GainEstimate]) -> bool:
    steps = [
        (b.value - a.value, a.error + b.error) for a, b in pairwise((GainEstimate(0, 0), *gains))
    ]
    return all(b - a <= ERRORS * (ea + eb) + 1e-12 for (a, ea), (b, eb) in pairwise(steps))


def _bounded(gains: Sequence[GainEstimate], peak: float, time: float) -> bool:
    limits = (min(peak * time, copies * time) for copies in range(1, len(gains) + 1))
    return all(
        gain.value <= limit * (1 + 1e-12) + ERRORS * gain.error
        for gain, limit in zip(gains, limits, strict=True)
    )


@frozen
class DrainRow:
    """Lemma 5 on one random instance."""

    jobs: int
    servers: int
    epsilon: float
    formula: float
    """Eq. 13, time units."""
    simulated: float


def drain_row(jobs: int, servers: int, epsilon: float, rng: Generator) -> DrainRow:
    """Overall flowtime of SRPT at speed 1 + epsilon, all jobs there at 0, against the formula."""
    sizes = tuple(sorted(rng.exponential(1, jobs).tolist()))
    stream = StreamSection(
        arrivals=ListedArrivals(times=(0.0,) * jobs), sizes=ListedSizes(sizes=sizes)
    )
    scenario = Scenario(
        name="lemma-5",
        platform=PlatformSection(workers=servers, augmentation=1 + epsilon),
        job=RigidSection(kind="rigid", stream=stream),
        policy=PolicySection(name="SRPT"),
    )
    fold = FlowtimeFold()
    run(scenario, [fold])
    simulated = fold.result().total
    return DrainRow(jobs, servers, epsilon, srpt_drain(sizes, servers, 1 + epsilon), simulated)


def values(copies: int = 10, sample: int = 400, instances: int = 20) -> list[Value]:
    """How far all three are kept; 1: the lemma holds there. `sample` servers are simulated for each
    time."""
    return [*_gains(copies, sample), _drains(instances)]


def _gains(copies: int, sample: int) -> Iterator[Value]:
    rng = default_rng(1)
    for name, process in PROCESSES.items():
        for time in TIMES:
            row = gain_row(name, process, time, copies, sample, rng)
            place = (("speeds", name), ("t", time))
            for count in (2, copies):
                yield Value(place, "", f"g({count}, t)", _estimate(row.gains[count - 1]))
            yield Value(place, "", "Lemma 1", exactly(row.concave), "1")
            yield Value(place, "", "Lemma 2", exactly(row.bounded), "1")


def _estimate(gain: GainEstimate) -> Estimate:
    half = ERRORS * gain.error
    return Estimate(gain.value, gain.value - half, gain.value + half, 2)


def _drains(instances: int) -> Value:
    """The largest relative difference between eq. 13 and simulation, on random instances."""
    rng, worst = default_rng(1), 0.0
    for _ in range(instances):
        jobs, servers = int(rng.integers(1, 60)), int(rng.integers(1, 12))
        row = drain_row(jobs, servers, float(rng.uniform(0.1, 2)), rng)
        worst = max(worst, abs(row.simulated / row.formula - 1))
    return Value((), "", "Lemma 5, rounded to 1e-9", exactly(round(worst, 9)), "0")
