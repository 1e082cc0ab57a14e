"""The competitive ratio of SRPT+R and LAPS+R against the lower bounds on OPT (004, Theorem 1)."""

from __future__ import annotations

from pathlib import Path

from attrs import evolve, frozen

from policies.maths.single_machine import mean_bound, proof_constant, sample_path_bound
from sims.metrics.flowtimes import Flowtimes
from sims.papers.redundancy_runs import Setting, augmented, capacity, simulate
from sims.scenario.redundant import RedundantScenario, Semantics
from sims.scenario.redundant_speeds import SpeedSection


@frozen
class BoundTask:
    """One run under one semantics with speed augmentation."""

    setting: Setting
    policy: str
    semantics: Semantics
    speed: float
    """Speed augmentation of the policy; the optimum has none."""
    seed: int

    def scenario(self) -> RedundantScenario:
        """The run at unit speed."""
        scenario = self.setting.scenario(self.policy, self.seed)
        return evolve(scenario, servers=evolve(scenario.servers, semantics=self.semantics))


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


def _peak(section: SpeedSection) -> float:
    return section.process(0, Path()).peak


def _bound(scenario: RedundantScenario, flowtimes: Flowtimes) -> float:
    arrivals, sizes = flowtimes.submitted, flowtimes.sizes
    if scenario.servers.semantics is Semantics.MEAN:
        return mean_bound(arrivals, sizes, scenario.servers.count, _peak(scenario.servers.speed))
    # The policy's speed is augmented: at unit speed the bound may need the servers for longer.
    horizon = 2 * float(flowtimes.completed.max())
    while capacity(scenario, horizon).work[-1] < 2 * float(sizes.sum()):
        horizon *= 2
    return sample_path_bound(arrivals, sizes, capacity(scenario, horizon))
