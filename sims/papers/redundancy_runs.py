"""One run of redundant copies, without a log: what the study and the bounds repeat (004)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from attrs import evolve, frozen
from numpy.typing import NDArray

from actors.runtime import System, stream
from policies.maths.single_machine import Capacity
from sims.metrics.flowtimes import FlowtimeFold, Flowtimes
from sims.scenario.build import populate
from sims.scenario.jobs.section import RigidSection
from sims.scenario.jobs.stream import (
    ExponentialSizes,
    PoissonArrivals,
    SizeSection,
    StreamSection,
)
from sims.scenario.platform import PlatformSection
from sims.scenario.policy import PolicySection
from sims.scenario.scenario import Scenario
from sims.scenario.speeds import Speed, TwoPointLaw

WARM_UP = 0.1
"""Part of the jobs that is left out of steady-state numbers: they met an empty cluster."""

SPEEDS: Speed = TwoPointLaw(peak=4, interval=0.3)
"""REFERENCE's speeds: 4 or 0, redrawn at exponential times of mean 0.3."""
SIZES: SizeSection = ExponentialSizes()


@frozen(kw_only=True)
class Setting:
    """One point of the study."""

    servers: int = 10
    """M."""
    load: float = 0.7
    """As a fraction of M."""
    speed: Speed = SPEEDS
    sizes: SizeSection = SIZES
    jobs: int = 2000

    def scenario(self, policy: str, seed: int) -> Scenario:
        """The scenario of one run."""
        arrivals = PoissonArrivals(load=self.load)
        stream = StreamSection(count=self.jobs, arrivals=arrivals, sizes=self.sizes)
        return Scenario(
            name="redundancy",
            seed=seed,
            platform=PlatformSection(workers=self.servers, speed=self.speed),
            job=RigidSection(kind="rigid", stream=stream),
            policy=PolicySection(name=policy),
        )


def simulate(scenario: Scenario, folder: Path = Path()) -> Flowtimes:
    """Flowtimes of all jobs of `scenario`. Raises what the scenario and the runtime raise."""
    fold = FlowtimeFold()
    system = System(scenario.seed, [fold], start=0)
    populate(scenario, system, folder)
    system.run()
    return fold.result()


def pool(scenario: Scenario) -> PlatformSection:
    """Its workers, which are all alike."""
    assert scenario.platform is not None
    return scenario.platform


def augmented(scenario: Scenario, speed: float) -> Scenario:
    """The same with `speed` augmentation."""
    return evolve(scenario, platform=evolve(pool(scenario), augmentation=speed))


@frozen
class Numbers:
    """What one run gives: flowtime and stretch, each as mean, 95th and 99th percentile."""

    flowtime: tuple[float, float, float]
    """Time units."""
    stretch: tuple[float, float, float]

    @classmethod
    def of(cls, flowtimes: Flowtimes) -> Numbers:
        """Without the warm-up."""
        steady = flowtimes.after(WARM_UP)
        return cls(_summary(steady.flowtimes), _summary(steady.stretches))


def _summary(values: NDArray[np.float64]) -> tuple[float, float, float]:
    high, highest = np.percentile(values, [95, 99])
    return float(values.mean()), float(high), float(highest)


def capacity(scenario: Scenario, horizon: float) -> Capacity:
    """C(t) of the very speeds that a run of `scenario` meets, up to `horizon`."""
    crew = scenario.crew
    paths = [
        crew[worker].speeds(stream(scenario.seed, f"speed/{crew.name(worker)}"), Path())
        for worker in range(crew.size)
    ]
    return Capacity.of(paths, horizon)
