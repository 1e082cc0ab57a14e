"""Lemmas 1, 2 and 5 of redundancy17, checked numerically."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, product
from pathlib import Path

from numpy.random import Generator, default_rng

from policies.maths.gain_table import gain_at
from policies.maths.gains import GainEstimate
from policies.maths.single_machine import srpt_drain
from sims.campaign.intervals import Estimate
from sims.metrics.flowtimes import FlowtimeFold
from sims.papers.redundancy17 import stream
from sims.papers.values import Value, exactly
from sims.scenario.loader import read
from sims.scenario.speeds import process_of
from sims.world import run

ERRORS = 4.0
"""A difference counts as a violation beyond so many of its standard errors."""
SPEEDS = (
    "constant",
    "two-point, Delta 4",
    "two-point slots, Delta 4",
    "uniform 0..2",
    "on-off, Delta 4",
)
TIMES = (0.03, 0.3, 1.0, 3.0)
COPIES, SAMPLE, INSTANCES = 10, 400, 20
"""Most copies; servers that are simulated for each time; instances of Lemma 5."""


def values() -> list[Value]:
    """How far all three are kept; 1: the lemma holds there."""
    rng = default_rng(1)
    gains = (it for at in product(SPEEDS, TIMES) for it in _gains(*at, rng))
    return [*gains, _drains(default_rng(1))]


def _gains(speeds: str, time: float, rng: Generator) -> Iterator[Value]:
    process = process_of(read(stream(speeds), "lemmas").full_platform[0].speed, Path())
    at = gain_at(process, SAMPLE, rng)
    gains = [at(count, time) for count in range(1, COPIES + 1)]
    place = (("speeds", speeds), ("t", time))
    for count in (2, COPIES):
        gain, half = gains[count - 1].value, ERRORS * gains[count - 1].error
        yield Value(place, "", f"g({count}, t)", Estimate(gain, gain - half, gain + half, 2))
    yield Value(place, "", "Lemma 1", exactly(concave(gains)))
    yield Value(place, "", "Lemma 2", exactly(bounded(gains, process.peak, time)))


def concave(gains: Sequence[GainEstimate]) -> bool:
    """Lemma 1: g(r, t) - g(r - 1, t) never rises with r."""
    steps = [
        (b.value - a.value, a.error + b.error) for a, b in pairwise((GainEstimate(0, 0), *gains))
    ]
    return all(b - a <= ERRORS * (ea + eb) + 1e-12 for (a, ea), (b, eb) in pairwise(steps))


def bounded(gains: Sequence[GainEstimate], peak: float, time: float) -> bool:
    """Lemma 2: g(r, t) <= min(Delta t, r t)."""
    return all(
        gain.value <= min(peak, copies) * time * (1 + 1e-12) + ERRORS * gain.error
        for copies, gain in enumerate(gains, 1)
    )


def _drains(rng: Generator) -> Value:
    """Lemma 5: the largest relative difference between eq. 13 and simulation."""
    worst = 0.0
    for _ in range(INSTANCES):
        jobs, servers = int(rng.integers(1, 60)), int(rng.integers(1, 12))
        simulated, formula = drain(jobs, servers, float(rng.uniform(0.1, 2)), rng)
        worst = max(worst, abs(simulated / formula - 1))
    return Value((), "", "Lemma 5, rounded to 1e-9", exactly(round(worst, 9)))


def drain(jobs: int, servers: int, epsilon: float, rng: Generator) -> tuple[float, float]:
    """Overall flowtime of SRPT at speed 1 + epsilon, all jobs there at 0: as simulated, and by
    eq. 13, time units."""
    sizes = sorted(rng.exponential(1, jobs).tolist())
    drawn = {
        "arrivals": {"kind": "list", "times": [0.0] * jobs},
        "sizes": {"kind": "list", "sizes": sizes},
    }
    scenario = {
        "name": "lemma-5",
        "platform": {"workers": servers, "augmentation": 1 + epsilon},
        "job": {"kind": "rigid", "stream": drawn},
        "policy": {"name": "SRPT"},
    }
    fold = FlowtimeFold()
    run(read(scenario, "lemma 5"), [fold])
    return fold.result().total, srpt_drain(sizes, servers, 1 + epsilon)
