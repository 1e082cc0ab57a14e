"""What all benchmarks are measured by: cases timed in turn, beside SimPy's master-worker loop.

There, workers take a task, hold for its duration and report; the master hands out the next one.
"""

from __future__ import annotations

import gc
import itertools
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from attrs import define, frozen
from rich.table import Table

from actors.runtime import NOTHING, Actor, System, handles, message
from sims.errors import imported
from sims.telling import grid

SIMPY = "SimPy"
Body = Callable[[], int]
"""Does something, and returns how much was done."""


@frozen
class Case:
    """Something that takes time."""

    name: str
    ready: Callable[[], Body]
    """Sets it up, which is not timed; what it returns is."""
    unit: str
    """Of what is done."""
    most: float | None = None
    """Most times what it is set beside that it may take."""
    beside: str = SIMPY
    """The case, run in the same round, that it is set beside."""


@frozen
class Spent:
    """Seconds for each unit of a case."""

    units: int
    cpu: float
    """Processor time, that of processes which it began and ended included."""
    wall: float


def _cpu() -> float:
    used = [getrusage(whose) for whose in (RUSAGE_SELF, RUSAGE_CHILDREN)]
    return sum(it.ru_utime + it.ru_stime for it in used)


def spent(case: Case) -> Spent:
    """What one run of it takes."""
    body = case.ready()
    gc.collect()
    wall, cpu = perf_counter(), _cpu()
    units = body()
    cpu, wall = _cpu() - cpu, perf_counter() - wall
    return Spent(units, cpu / max(1, units), wall / max(1, units))


HEADS = ("done", "CPU us each", "wall us each", "ratio of CPU (min to max)", "to", "at most")


def table(title: str, cases: Sequence[Case], rounds: int) -> Table:
    """A row for each case: medians over rounds, in each of which all take turns, SimPy first."""
    all_cases = (simpy_case(), *cases)
    found = [{case.name: spent(case) for case in all_cases} for _ in range(rounds)]
    return grid(("case",), HEADS, (_row(case, found) for case in all_cases), title)


def _row(case: Case, found: Sequence[Mapping[str, Spent]]) -> Iterator[str]:
    own, beside = ([it[name] for it in found] for name in (case.name, case.beside))
    ratios = [ours.cpu / theirs.cpu for ours, theirs in zip(own, beside, strict=True)]
    yield from (case.name, f"{own[0].units:,} {case.unit}")
    yield from (
        f"{1e6 * median(it):,.2f}" for it in zip(*((s.cpu, s.wall) for s in own), strict=True)
    )
    yield f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
    yield from (case.beside, "" if case.most is None else f"{case.most:g}")


def finished(systems: Sequence[System], units: int = 0) -> Body:
    """Runs them to their ends; units are events, unless told."""

    def body() -> int:
        for system in systems:
            system.run()
        return units or sum(system.journal.length for system in systems)

    return body


# --- SimPy ------------------------------------------------------------------------------------


def durations(tasks: int, seed: int = 1) -> list[float]:
    """Exponential task durations with mean 1."""
    return np.random.default_rng(seed).exponential(size=tasks).tolist()  # type: ignore[no-any-return]


def simpy_case(workers: int = 20, tasks: int = 100_000, name: str = SIMPY) -> Case:
    """The loop, as a case."""

    def ready() -> Callable[[], int]:
        loop = simpy_loop(workers, durations(tasks))
        return lambda: tasks if loop() else 0

    return Case(name, ready, "tasks")


def simpy_loop(workers: int, tasks: Sequence[float]) -> Callable[[], float]:
    """What runs it, and returns the virtual time. Raises InputError without SimPy."""
    simpy = imported("simpy", "sims.bench", "pip install 'holdfast[bench]'")
    environment = simpy.Environment()
    offers, reports = simpy.Store(environment), simpy.Store(environment)
    for _ in range(workers):
        environment.process(_worker(environment, offers, reports))
    master = environment.process(_master(offers, reports, workers, tasks))

    def run() -> float:
        environment.run(master)
        return float(environment.now)

    return run


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


# --- the same loop of our actors -----------------------------------------------------------------


@message
class Hold:
    """Master to worker: hold for `duration`."""

    duration: float


@message
class TaskOver:
    """Worker to itself: the task's duration is over."""


@message
class Finished:
    """Worker to master: I am done; give me another."""

    worker: Actor


@define(eq=False)
class BenchWorker(Actor):
    """Takes a task, holds, reports."""

    master: Actor

    @handles(Hold)
    def take(self, task: Hold, cause: int) -> None:
        self.after(task.duration, TaskOver(), cause)

    @handles(TaskOver)
    def report(self, _: TaskOver, cause: int) -> None:
        self.send(self.master, Finished(self), cause)


@define(eq=False)
class BenchMaster(Actor):
    """Hands out tasks until all are done."""

    left: Iterator[float]
    unfinished: int

    @handles(Finished)
    def next_task(self, report: Finished, cause: int) -> None:
        self.unfinished -= 1
        duration = next(self.left, None)
        if duration is not None:
            self.send(report.worker, Hold(duration), cause)
        elif self.unfinished == 0:
            self.system.finish(cause)


def master_worker(workers: int, tasks: Sequence[float]) -> System:
    """SimPy's loop, of our actors."""
    system = System()
    # Each worker reports once before its first task.
    master = system.spawn(BenchMaster("master", iter(tasks), len(tasks) + workers))
    for k in range(workers):
        worker = system.spawn(BenchWorker(f"worker {k}", master))
        worker.send(master, Finished(worker), NOTHING)
    return system
