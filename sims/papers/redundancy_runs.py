"""One run of redundant copies, without a log: what the study and the bounds repeat (004)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from actors.redundant.assembly import server_name
from attrs import evolve, frozen
from numpy.typing import NDArray

from actors.runtime import System, stream
from policies.maths.single_machine import Capacity
from sims.metrics.flowtimes import FlowtimeFold, Flowtimes
from sims.scenario.policies import PolicySection
from sims.scenario.redundant import RedundantScenario, ServerSection, populate
from sims.scenario.redundant_speeds import SpeedSection, TwoPointSlotsSection
from sims.scenario.redundant_workload import (
    ExponentialSizes,
    PoissonArrivals,
    RedundantSection,
    SizeSection,
)

WARM_UP = 0.1
"""Part of the jobs that is left out of steady-state numbers: they met an empty cluster."""

SPEEDS: SpeedSection = TwoPointSlotsSection(peak=4, slot=0.3)
"""REFERENCE's speeds: 4 or 0, redrawn in slots of 0.3."""
SIZES: SizeSection = ExponentialSizes()


@frozen(kw_only=True)
class Setting:
    """One point of the study."""

    servers: int = 10
    """M."""
    load: float = 0.7
    """As a fraction of M."""
    speed: SpeedSection = SPEEDS
    sizes: SizeSection = SIZES
    jobs: int = 2000

    def scenario(self, policy: str, seed: int) -> RedundantScenario:
        """The scenario of one run."""
        arrivals = PoissonArrivals(load=self.load)
        return RedundantScenario(
            name="redundancy",
            seed=seed,
            servers=ServerSection(count=self.servers, speed=self.speed),
            job=RedundantSection(
                kind="redundant", count=self.jobs, arrivals=arrivals, sizes=self.sizes
            ),
            policy=PolicySection(name=policy),
        )


def simulate(scenario: RedundantScenario, folder: Path = Path()) -> Flowtimes:
    """Flowtimes of all jobs of `scenario`. Raises what the scenario and the runtime raise."""
    fold = FlowtimeFold()
    system = System(scenario.seed, [fold], start=0)
    populate(scenario, system, folder)
    system.run()
    return fold.result()


def augmented(scenario: RedundantScenario, speed: float) -> RedundantScenario:
    """The same with `speed` augmentation."""
    return evolve(scenario, servers=evolve(scenario.servers, augmentation=speed))


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


def capacity(scenario: RedundantScenario, horizon: float) -> Capacity:
    """C(t) of the very speeds that a run of `scenario` meets, up to `horizon`."""
    paths = []
    for index in range(scenario.servers.count):
        process = scenario.servers.speed.process(index, Path())
        paths.append(process.path(stream(scenario.seed, f"{server_name(index)}.speed")))
    return Capacity.of(paths, horizon)
