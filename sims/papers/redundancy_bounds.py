"""The competitive ratio of SRPT+R and LAPS+R against the lower bounds on OPT (004, Theorem 1)."""

from __future__ import annotations

import enum
from pathlib import Path

from attrs import evolve, frozen

from policies.maths.single_machine import mean_bound, proof_constant, sample_path_bound
from sims.metrics.flowtimes import Flowtimes
from sims.papers.redundancy_runs import Setting, augmented, capacity, pool, simulate
from sims.scenario.scenario import Scenario
from sims.scenario.speeds import ProcessGain, Speed


class Semantics(enum.Enum):
    """What a copy's progress is."""

    SAMPLE_PATH = "sample-path"
    """What its worker really delivers."""
    MEAN = "mean"
    """x g(r, t), the mean of the furthest of r copies (004, Assumption 2)."""


@frozen
class BoundTask:
    """One run under one semantics with speed augmentation."""

    setting: Setting
    policy: str
    semantics: Semantics
    speed: float
    """Speed augmentation of the policy; the optimum has none."""
    seed: int

    def scenario(self) -> Scenario:
        """The run at unit speed."""
        scenario = self.setting.scenario(self.policy, self.seed)
        gain = ProcessGain() if self.semantics is Semantics.MEAN else None
        return evolve(scenario, platform=evolve(pool(scenario), gain=gain))


@frozen
class Ratio:
    """Overall flowtime of a policy over a lower bound on that of any schedule at unit speed."""

    flowtime: float
    bound: float

    @property
    def ratio(self) -> float:
        """At least flowtime over OPT on this instance, since OPT is at least the bound."""
        return self.flowtime / self.bound


def run_bound(task: BoundTask) -> Ratio:
    """Simulate, and bound the optimum on the same jobs (and, sample path, the same speeds)."""
    scenario = task.scenario()
    flowtimes = simulate(augmented(scenario, task.speed))
    return Ratio(flowtimes.total, _bound(scenario, flowtimes))


def guarantee(setting: Setting, policy: str, speed: float) -> float | None:
    """Theorem 1's constant where it holds: SRPT+R (or better) with more than unit speed."""
    if policy != "SRPT+R" or speed <= 1:
        return None
    return proof_constant(_peak(setting.speed), speed - 1)


def _peak(law: Speed) -> float:
    return law.process(Path()).peak


def _bound(scenario: Scenario, flowtimes: Flowtimes) -> float:
    arrivals, sizes, workers = flowtimes.submitted, flowtimes.sizes, pool(scenario)
    if workers.gain is not None:
        return mean_bound(arrivals, sizes, workers.workers, _peak(workers.speed))
    # The policy's speed is augmented: at unit speed the bound may need the servers for longer.
    horizon = 2 * float(flowtimes.completed.max())
    while capacity(scenario, horizon).work[-1] < 2 * float(sizes.sum()):
        horizon *= 2
    return sample_path_bound(arrivals, sizes, capacity(scenario, horizon))
