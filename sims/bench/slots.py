"""Slots per second of whole volatile runs: 20 workers, m = 10, no log, one core."""

from __future__ import annotations

import statistics
import time

from rich.console import Console
from rich.table import Table

from policies.maths.markov import Expectation
from sims.bench.simpy_loop import seconds_per_task
from sims.scenario.jobs.section import IterativeSection
from sims.scenario.master import MasterSection
from sims.scenario.platform import RandomWorkers
from sims.scenario.policy import PolicySection
from sims.scenario.scenario import Scenario
from sims.world import run

POLICIES = ("IE", "Y-IE", "P-IE", "E-IAY", "Y-IY", "RANDOM")


def scenario(policy: str, seed: int, fastest: int, cap: int) -> Scenario:
    """volatile13, section VII.A with 20 workers, m = 10, n_com = 5, stopped at `cap` slots."""
    return Scenario(
        name="bench",
        seed=seed,
        master=MasterSection(channels=5, program=5 * fastest, data=fastest),
        random_workers=RandomWorkers(count=20, fastest=fastest, seed=seed),
        job=IterativeSection(kind="iterative", tasks=10, iterations=1_000_000, cap=cap),
        policy=PolicySection(name=policy, expectation=Expectation.EXACT),
    )


def slots_per_second(policy: str, seed: int, fastest: int, cap: int) -> float:
    """Speed of one run of `cap` slots, building it included."""
    began = time.perf_counter()
    run(scenario(policy, seed, fastest, cap))
    return cap / (time.perf_counter() - began)


def main(slots: int = 20_000, platforms: int = 5, wmin: int = 2) -> None:
    """Print the speeds, with SimPy's on the same machine beside."""
    yardstick = seconds_per_task()
    table = Table("policy", "slots/s: median (min to max)", "SimPy tasks per slot")
    for policy in POLICIES:
        seeds = range(platforms)
        speeds = [slots_per_second(policy, s, wmin, slots) for s in seeds]
        middle = statistics.median(speeds)
        spread = f"{middle:,.0f} ({min(speeds):,.0f} to {max(speeds):,.0f})"
        table.add_row(policy, spread, f"{1 / middle / yardstick:.1f}")
    console = Console()
    console.print(table)
    console.print(f"SimPy's master-worker loop: {1 / yardstick:,.0f} tasks/s on this machine, now")
