"""Jobs drawn at random as the papers draw theirs.

Rigid jobs follow rigid21, section 5.1; moldable jobs moldable21, section 5.1; malleable
applications malleable17, section 6.1. The model of Lublin and Feitelson (JPDC 63, 2003, 1105-1122)
draws a workload with a daily cycle.
"""

from __future__ import annotations

import enum
from math import inf, log2
from typing import Annotated

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from actors.runtime import stream
from policies.maths.speedup import Rigid, Speedup, amdahl, communication, mix, power, roofline
from sims.errors import unfit
from sims.readers import JobLog, LoggedJob
from sims.tables import Section
from sims.tables.fields import (
    RANGE,
    Accepts,
    Count,
    Drawn,
    Natural,
    NotNegative,
    Number,
    Positive,
    Probability,
    TimeRange,
    Unacceptable,
)

LARGEST = 2.0**63
"""Bound below which footprints lie, because they are drawn as 64-bit integers."""


class UniformJobs(Section):
    """`[job.synthetic]`: rigid jobs drawn as in rigid21, section 5.1."""

    count: Drawn = 100
    """Number of jobs."""
    processors: Annotated[tuple[int, int], RANGE] = (50, 2000)
    """Least and largest number of processors; p_j is a uniform integer between the two, both
    included."""
    time: TimeRange = (100, 20000)
    """Shortest and longest error-free time, time units; t_j is uniform between the two."""
    seed: Natural = 0
    """Seed of the set of jobs; the scenario's own seed draws the jobs' failures."""

    def draw(self) -> list[Rigid]:
        """Draw the rigid jobs with the section's own seed; the same seed always gives the same
        jobs."""
        rng = stream(self.seed, "jobs")
        low, high = self.processors
        counts = rng.integers(low, high, size=self.count, endpoint=True)
        times = rng.uniform(*self.time, size=self.count)
        return [Rigid(p, t) for p, t in zip(counts.tolist(), times.tolist(), strict=True)]


class Model(enum.Enum):
    """The six synthetic speedup models of moldable21, section 5.1."""

    ROOFLINE = "roofline"
    COMMUNICATION = "communication"
    AMDAHL = "amdahl"
    MIX_LOW_COM = "mix-low-com"
    MIX = "mix"
    POWER = "power"


class SyntheticJobs(Section):
    """`[job.synthetic]`: moldable jobs drawn as in moldable21, section 5.1."""

    model: Model = Model.MIX
    """Speedup model of all jobs: roofline, communication, amdahl, mix-low-com, mix or power."""
    count: Drawn = 500
    """Number of jobs."""
    work: TimeRange = (5_000, 4_000_000)
    """Least and most work of a job, seconds on one processor; w_j is uniform between the two."""
    seed: Natural = 0
    """Seed of the set of jobs; the scenario's own seed draws the jobs' failures."""

    def draw(self) -> list[Speedup]:
        """Draw the jobs' speedup profiles with the section's own seed; the same seed and model
        always give the same."""
        rng = stream(self.seed, f"jobs/{self.model.value}")
        return [_drawn(self.model, rng, *self.work) for _ in range(self.count)]


def _degree(rng: Generator) -> int:
    return int(rng.integers(100, 4000, endpoint=True))


def _cost(rng: Generator) -> float:
    return float(rng.uniform(1, 2) * 2 ** rng.integers(0, 3, endpoint=True))


def _sequential(rng: Generator) -> float:
    return float(rng.uniform(0, 10) / 10.0 ** rng.integers(2, 7, endpoint=True))


def _drawn(model: Model, rng: Generator, low: float, high: float) -> Speedup:
    work = float(rng.uniform(low, high))
    if model is Model.ROOFLINE:
        return roofline(work, _degree(rng))
    if model is Model.COMMUNICATION:
        return communication(work, _cost(rng))
    if model is Model.AMDAHL:
        return amdahl(work, _sequential(rng))
    if model is Model.POWER:
        return power(work, float(rng.uniform(0, 1)))
    # moldable21, section 5.1: `mix` multiplies the communication cost by 3, `mix-low-com` does not.
    factor = 3 if model is Model.MIX else 1
    return mix(work, _degree(rng), _sequential(rng), factor * _cost(rng))


class DrawnApplications(Section):
    """`[job.synthetic]`: malleable applications drawn as in malleable17, section 6.1."""

    count: Drawn
    """n: number of applications."""
    smallest: Positive = 1_500_000.0
    """m_inf: footprint of the smallest application, data units."""
    largest: Positive = 2_500_000.0
    """m_sup: footprint of the largest application, data units."""
    seed: Natural = 0
    """Seed of the pack; the scenario's own seed draws its faults."""

    def check(self) -> None:
        if not self.largest < LARGEST:
            raise Unacceptable("largest", self.largest, "a number below 2^63, about 9.2e18")
        if not int(self.smallest) <= int(self.largest):
            raise Unacceptable(
                "smallest", self.smallest, f"a number up to largest, {self.largest!r}"
            )

    def footprints(self) -> tuple[float, ...]:
        """Draw the footprint of each application with the section's own seed: whole numbers of data
        units, uniform from `smallest` to `largest`."""
        rng = stream(self.seed, "pack")
        low, high = int(self.smallest), int(self.largest)
        return tuple(map(float, rng.integers(low, high, size=self.count, endpoint=True).tolist()))


# --- Lublin and Feitelson ------------------------------------------------------------------------
#
# Sizes, run times that depend on them, and arrivals with a daily cycle; the published parameters
# are those of all jobs together, batch and interactive.
#
# Held against lublin-256 of the Parallel Workloads Archive, 10,000 jobs that their own program
# drew: sizes agree (chi-square 11.0 on 15 degrees of freedom), and run times given sizes (twice
# the log likelihood ratio of six fitted parameters to these is 2.3; above 12.6 they would
# differ), and times between arrivals on the cycle's clock (Kolmogorov-Smirnov 0.008, p = 0.5;
# without `rush` 1e-7), but for the longest: of gaps whose logarithm is above 11 the log has 7
# where the law has 17.6 (a chance of 0.4 %), so that jobs come every 771 s there and every 947 s
# here (standard deviation 54 s over draws of 10,000 jobs): `[job.scale]` brings a load to what is
# meant.

DAY, SLOTS = 86_400, 48
SLOT = DAY / SLOTS
"""Length of half an hour in seconds, the step of the daily cycle."""
FIRST = 11
"""Number of the half hour at which the daily cycle begins, as the published law counts them."""
DAWN = 9
"""Half hour of the day, counted from midnight, at which the cycle begins: 4:30, when the fewest
jobs arrive.

Counted from midnight the law's cycle would begin at 5:30; in lublin-256 arrivals are 1.1 h earlier
(0.75 h to 1.6 h, 95 % of bootstraps over its 89 days).
"""
LONGEST_RUN, LONGEST_GAP = 12.0, 13.0
"""Natural logarithms of seconds above which a value is drawn again: two days for runs, five for
gaps."""
BOUNDS = {"short": LONGEST_RUN, "long": LONGEST_RUN, "gaps": LONGEST_GAP}

Times = NDArray[np.float64]
Pair = tuple[Number, Number]
Gamma = Annotated[
    tuple[float, float],
    Accepts(
        "shape and scale, both finite and above 0",
        check=lambda law: all(0 < it < inf for it in law),
    ),
]


class Lublin(Section):
    """`[job.lublin]`: jobs drawn from the model of Lublin and Feitelson (JPDC 2003) with the run's
    seed; unset parameters have the published values for all jobs."""

    jobs: Drawn
    """Number of jobs."""
    machine: Count | None = None
    """Processors of the machine that the largest jobs fill; default: the platform's."""
    serial: Probability = 0.244
    """Share of jobs with one processor."""
    powers: Probability = 0.576
    """Share of jobs whose size is drawn as a power of two."""
    smallest: NotNegative = 0.8
    """Base-2 logarithm of the least size of a parallel job."""
    bend: Positive = 2.5
    """Distance below the base-2 logarithm of the machine's size at which the logarithm of sizes
    passes from its first uniform stage to its second."""
    below: Probability = 0.86
    """Probability of the first stage, that of the smaller sizes."""
    short: Gamma = (4.2, 0.94)
    """Shape and scale of the gamma law of the natural logarithm of short run times, in s."""
    long: Gamma = (312, 0.03)
    """Shape and scale of the gamma law of the natural logarithm of long run times, in s."""
    mix: Pair = (-0.0054, 0.78)
    """Slope and intercept of the probability that a run is short, as a linear function of its
    processors."""
    gaps: Gamma = (10.2303, 0.4871)
    """Shape and scale of the gamma law of the natural logarithm of times between arrivals in peak
    hours, in s."""
    rush: Positive = 1.0225
    """Factor on the scale of `gaps` that turns peak hours into all hours."""
    cycle: Gamma = (8.1737, 3.9631)
    """Shape and scale of the gamma law of the arrivals by half hour of the day."""

    def check(self) -> None:
        # What lies mostly beyond the bound would be drawn again for ever.
        for name, most in BOUNDS.items():
            shape, scale = law = getattr(self, name)
            if shape * scale > most:
                raise Unacceptable(name, law, f"shape and scale of mean {most:g} or less")
        if (mean := self.gaps[0] * self.gaps[1]) * self.rush > LONGEST_GAP:
            raise Unacceptable("rush", self.rush, f"at most {LONGEST_GAP / mean:.4g} with `gaps`")

    def draw(self, rng: Generator, workers: int) -> JobLog:
        """Draw the jobs with `rng`; time 0 is a midnight, and times are whole seconds.

        `workers` is the machine's size where `machine` is not set. Raises InputError where the
        least job is larger than the machine.
        """
        most = log2(max(2, self.machine or workers))
        if self.smallest > most:
            raise unfit(
                "job.lublin.smallest",
                f"{self.smallest:g}, and the machine's size is 2^{most:.3g}",
                f"up to {most:.3g}",
            )
        sizes = self._sizes(rng, most)
        # Whole seconds, as logs have them.
        submitted, times = np.floor(self._arrivals(rng)), self._times(rng, sizes)
        rows = zip(submitted.tolist(), times.tolist(), sizes.tolist(), strict=True)
        return JobLog.of(LoggedJob(f"J{k}", *row) for k, row in enumerate(rows, start=1))

    def _sizes(self, rng: Generator, most: float) -> NDArray[np.int64]:
        kind, stage = rng.random((2, self.jobs))
        bend = max(self.smallest, most - self.bend)
        logs = np.where(
            stage <= self.below,
            rng.uniform(self.smallest, bend, self.jobs),
            rng.uniform(bend, most, self.jobs),
        )
        powers = kind <= self.serial + self.powers
        sizes = np.rint(2 ** np.where(powers, np.rint(logs), logs)).astype(np.int64)
        return np.where(kind <= self.serial, 1, sizes)

    def _times(self, rng: Generator, sizes: NDArray[np.int64]) -> Times:
        slope, intercept = self.mix
        logs = np.full(self.jobs, np.inf)
        while (again := logs > LONGEST_RUN).any():
            short = rng.random(again.sum()) < slope * sizes[again] + intercept
            laws = [rng.gamma(*law, size=short.size) for law in (self.short, self.long)]
            logs[again] = np.where(short, *laws)
        times: Times = np.maximum(1.0, np.floor(np.exp(logs)))
        return times

    def _arrivals(self, rng: Generator) -> Times:
        shape, scale = self.gaps
        logs = np.full(self.jobs, np.inf)
        while (again := logs > LONGEST_GAP).any():
            logs[again] = rng.gamma(shape, scale * self.rush, again.sum())
        # A gap is a time on a clock that runs as fast as jobs come at that hour.
        days, rest = np.divmod(np.cumsum(np.exp(logs)), DAY)
        clock = np.concatenate(([0.0], np.cumsum(self.weights()))) * SLOT
        arrivals: Times = days * DAY + np.interp(rest, clock, np.arange(SLOTS + 1) * SLOT)
        return arrivals

    def weights(self) -> Times:
        """Return the relative number of arrivals in each half hour of a day from midnight on; the
        mean is 1."""
        from scipy.stats import gamma  # it takes longer to import than most runs

        shape, scale = self.cycle
        half_hours = np.arange(FIRST, FIRST + SLOTS)
        law = gamma(shape, scale=scale)
        weights: Times = np.roll(law.cdf(half_hours + 0.5) - law.cdf(half_hours - 0.5), DAWN)
        weights /= weights.mean()
        return weights
