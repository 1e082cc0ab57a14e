"""SimPy's master-worker loop: the yardstick that all benchmarks here are measured with.

Workers take a task, hold for its duration and report; the master hands out the next one.
"""

from __future__ import annotations

import gc
import itertools
import time
from collections.abc import Generator, Sequence
from typing import Any

import numpy as np

from sims.errors import InputError


def durations(tasks: int, seed: int = 1) -> list[float]:
    """Exponential task durations with mean 1."""
    return [float(x) for x in np.random.default_rng(seed).exponential(size=tasks)]


def run_simpy(workers: int, tasks: Sequence[float]) -> tuple[float, float]:
    """(wall seconds, virtual time) of SimPy's loop.

    Raises InputError where SimPy is not installed.
    """
    try:
        import simpy
    except ImportError:
        missing = "pip install 'holdfast[bench]'"
        raise InputError("sims.bench", "", "SimPy is missing", missing) from None
    environment = simpy.Environment()
    offers, reports = simpy.Store(environment), simpy.Store(environment)
    for _ in range(workers):
        environment.process(_worker(environment, offers, reports))
    master = environment.process(_master(offers, reports, workers, tasks))
    gc.collect()
    began = time.perf_counter()
    environment.run(master)
    return time.perf_counter() - began, float(environment.now)


def _worker(environment: Any, offers: Any, reports: Any) -> Generator[Any, Any, None]:
    while True:
        duration = yield offers.get()
        yield environment.timeout(duration)
        yield reports.put(duration)


def _master(
    offers: Any, reports: Any, workers: int, tasks: Sequence[float]
) -> Generator[Any, Any, None]:
    left = iter(tasks)
    for duration in itertools.islice(left, workers):
        yield offers.put(duration)
    for _ in tasks:
        yield reports.get()
        following = next(left, None)
        if following is not None:
            yield offers.put(following)


def seconds_per_task(workers: int = 20, tasks: int = 100_000) -> float:
    """Wall seconds that SimPy's loop takes per task on this machine, now."""
    return run_simpy(workers, durations(tasks))[0] / tasks
