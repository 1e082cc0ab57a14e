"""Simulation against queueing theory and against the ratios that were reproduced before.

Each run's length is stated; intervals are at 99 % (99.9 % for ratios) over independent
replications, so that a correct simulation fails for one choice of seeds in a hundred; the seeds
are fixed.
"""

from __future__ import annotations

from math import hypot

import numpy as np
import pytest

from policies.copies import Fcfs, ProcessorSharing, Srpt, SrptR
from policies.interface.copies import RedundancyPolicy
from policies.maths.sizes import Exponential, Hyperexponential, SizeLaw
from policies.maths.speeds import SpeedProcess, TwoPoint, TwoPointSlots
from sims.campaign.intervals import mean_of
from tests.actors.deciders.copies.queueing import (
    erlang_c,
    mm1_sharing,
    pollaczek_khinchine,
    schrage_miller,
)
from tests.actors.deciders.copies.worlds import columns, run, varied

REPLICATIONS, JOBS, WARM_UP = 14, 900, 0.1
DRAWN = 1500
LOAD = 0.6
REPRODUCED = {0.3: 0.310, 0.5: 0.434, 0.7: 0.614, 0.9: 0.861}
"""Speeds redrawn at exponential times of mean .3, by load; of twelve sequences each."""
REPRODUCED_IN_SLOTS = {0.3: 0.325, 0.5: 0.429, 0.7: 0.592, 0.9: 0.855}
"""The same redrawn in slots of .3, whose phase is random."""
MIXED = Hyperexponential((0.75, 0.25), (0.5, 2.5))


def jobs_of(law: SizeLaw, servers: int, seed: int, load: float = LOAD) -> list[tuple[float, float]]:
    rng = np.random.default_rng(seed)
    times = rng.exponential(law.mean / (load * servers), DRAWN).cumsum()
    return list(zip(times.tolist(), law.draw(rng, DRAWN).tolist(), strict=True))[:JOBS]


def mean_flowtimes(policy: RedundancyPolicy, law: SizeLaw, servers: int = 1) -> list[float]:
    """Steady-state means of fourteen runs of 900 jobs, the first 90 left out."""
    runs = (
        run(columns(policy), jobs_of(law, servers, seed), workers=servers)
        for seed in range(REPLICATIONS)
    )
    return [float(result.after(WARM_UP).flowtimes.mean()) for result in runs]


@pytest.mark.parametrize(
    ("policy", "law", "servers", "expected"),
    [
        (Fcfs(), Exponential(1.0), 1, mm1_sharing(LOAD, 1.0)),
        (Fcfs(), MIXED, 1, pollaczek_khinchine(LOAD, MIXED)),
        (Fcfs(), Exponential(1.0), 4, erlang_c(4 * LOAD, 1.0, 4)),
        (ProcessorSharing(), Exponential(1.0), 1, mm1_sharing(LOAD, 1.0)),
        (ProcessorSharing(), MIXED, 1, mm1_sharing(LOAD, 1.0)),
        (Srpt(), Exponential(1.0), 1, schrage_miller(LOAD, Exponential(1.0))),
        (SrptR(), MIXED, 1, schrage_miller(LOAD, MIXED)),
    ],
)
def test_mean_flowtimes_agree_with_theory(
    policy: RedundancyPolicy, law: SizeLaw, servers: int, expected: float
) -> None:
    interval = mean_of(mean_flowtimes(policy, law, servers), 0.99)
    assert interval.low <= expected <= interval.high
    assert interval.half < 0.25 * expected


@pytest.mark.parametrize(
    ("speeds", "load", "expected"),
    [
        *((TwoPoint(4.0, 0.3), *pair) for pair in REPRODUCED.items()),
        *((TwoPointSlots(4.0, 0.3), *pair) for pair in REPRODUCED_IN_SLOTS.items()),
    ],
)
def test_srpt_r_over_srpt_comes_out_as_reproduced(
    speeds: SpeedProcess, load: float, expected: float
) -> None:
    """Six paired runs of 800 jobs: M = 10, exponential sizes, speeds 4 or 0."""
    ratios = []
    for seed in range(6):
        jobs = jobs_of(Exponential(1.0), 10, seed, load)[:800]
        with_copies, without = (varied(p, speeds, jobs, 10, seed) for p in (SrptR(), Srpt()))
        ratios.append(with_copies.total / without.total)
    interval = mean_of(ratios, 0.999)
    # Both sides are samples: the reproduction's standard errors are stated, and at 99.9 % count
    # 3.29 times.
    theirs = 3.29 * {0.3: 0.002, 0.5: 0.003, 0.7: 0.007, 0.9: 0.010}[load]
    assert abs(interval.mean - expected) < hypot(interval.half, theirs)
    assert interval.half < 0.2
