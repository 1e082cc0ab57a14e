"""Wall time per attempt of whole simulations of rigid and moldable jobs, beside SimPy's per task.

Rigid: 100 jobs, P = 10,000, q-bar = 0.3, R-LIST-0 with LPT, no log. Moldable: n = 500, P = 7,500,
lambda = 1e-7, mix model, LPT; the allocation is part of every simulation.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from typing import Annotated

import typer
from attrs import frozen
from rich.console import Console
from rich.table import Table

from actors.runtime import System, stream
from policies.interface.queue import BatchJob, BatchPolicy
from policies.maths.silent_errors import draw_failures, failure_probabilities, rate_probabilities
from policies.queue.allocation import LPA, requested
from policies.queue.batches import Scaled
from policies.queue.lists import RList
from policies.queue.orders import longest_time
from sims.bench.simpy_loop import seconds_per_task
from sims.papers.batch_runs import described, spawn
from sims.scenario.jobs.drawn import Model, SyntheticJobs, UniformJobs


@frozen
class ListTrial:
    """A set of jobs under many failure scenarios."""

    processors: int
    jobs: tuple[BatchJob, ...]
    failures: tuple[list[int], ...]

    @property
    def attempts(self) -> int:
        """In all scenarios together."""
        return sum(len(self.jobs) + sum(failures) for failures in self.failures)


@frozen
class TimePerAttempt:
    """Wall seconds per attempt."""

    run: float
    """From the first message to the last: what is timed of SimPy's loop, too."""
    whole: float
    """Building and populating the system included."""


def rigid(scenarios: int) -> ListTrial:
    """rigid21, section 5.1, at q-bar = 0.3."""
    jobs = UniformJobs(seed=1).draw()
    fails = failure_probabilities([job.work for job in jobs], 0.3)
    rng = stream(1, "failures")
    drawn = tuple(draw_failures(fails, rng) for _ in range(scenarios))
    return ListTrial(10_000, described(jobs), drawn)


def moldable(scenarios: int) -> ListTrial:
    """moldable21, section 5.1, default parameters."""
    jobs = SyntheticJobs(model=Model.MIX, count=500, seed=1).draw()
    fails = rate_probabilities([job.work for job in jobs], 1e-7)
    rng = stream(1, "failures")
    drawn = tuple(draw_failures(fails, rng) for _ in range(scenarios))
    return ListTrial(7_500, described(jobs), drawn)


def measure(trial: ListTrial, policy: Callable[[], BatchPolicy]) -> TimePerAttempt:
    """Simulate every scenario of `trial` once, with a fresh policy each."""
    run = whole = 0.0
    gc.collect()
    for failures in trial.failures:
        began = time.perf_counter()
        system = System(start=0)
        spawn(system, trial.processors, trial.jobs, failures, policy())
        built = time.perf_counter()
        system.run()
        ended = time.perf_counter()
        run, whole = run + ended - built, whole + ended - began
    return TimePerAttempt(run / trial.attempts, whole / trial.attempts)


def r_list() -> BatchPolicy:
    """R-LIST-0 with LPT."""
    return BatchPolicy(longest_time, RList(0), requested)


def lpa_list() -> BatchPolicy:
    """LPA-LIST with LPT."""
    return BatchPolicy(longest_time, RList(0), LPA)


def batch_list() -> BatchPolicy:
    """BATCH-LIST (scaled, eps = 0.1) with LPT."""
    return BatchPolicy(longest_time, RList(0), Scaled())


def main(
    rounds: Annotated[int, typer.Option(help="medians are over so many")] = 5,
    scenarios: Annotated[int, typer.Option(help="rigid simulations a round")] = 200,
) -> None:
    """Print time per attempt, in microseconds and in SimPy tasks; SimPy runs in between."""
    few = max(1, scenarios // 10)
    contests = [
        ("rigid R-LIST-0", rigid(scenarios), r_list, 0.8),
        ("moldable LPA", moldable(few), lpa_list, 2.0),
        ("moldable BATCH", moldable(few), batch_list, 2.0),
    ]
    table = Table("simulation", "run: us/attempt", "of a SimPy task", "with building", "at most")
    for name, trial, policy, most in contests:
        found = [(seconds_per_task(), measure(trial, policy)) for _ in range(rounds)]
        run = statistics.median(spent.run for _, spent in found)
        ratio = statistics.median(spent.run / task for task, spent in found)
        whole = statistics.median(spent.whole / task for task, spent in found)
        table.add_row(name, f"{1e6 * run:.2f}", f"{ratio:.2f}", f"{whole:.2f}", f"{most:g}")
    Console().print(table)
