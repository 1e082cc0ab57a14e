"""Time the cases of benchmarks in turn, beside SimPy's master-worker loop.

In this loop, workers take a task, hold for its duration and report; the master hands out the next
one.
"""

from __future__ import annotations

import asyncio
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
from actors.runtime.coroutines import CoroutineActor
from actors.runtime.simulate import clock, simulate
from sims.errors import imported
from sims.telling import grid

SIMPY = "SimPy"
"""Name of the case that runs SimPy's loop."""
Body = Callable[[], int]
"""A function that does the timed work, and returns the number of units done."""


@frozen
class Case:
    """A case of a benchmark: work whose time is measured."""

    name: str
    ready: Callable[[], Body]
    """Function that sets the case up, which is not timed, and returns the body, which is."""
    unit: str
    """Name of the units that are counted."""
    most: float | None = None
    """Largest accepted ratio of its time to that of the case `beside`, or None."""
    beside: str = SIMPY
    """Name of the case, run in the same round, with which this one is compared."""


@frozen
class Spent:
    """Processor and wall time that a case took for each unit of its work."""

    units: int
    """Number of units done."""
    cpu: float
    """Processor time for a unit, in seconds, which includes that of processes which the case began
    and ended."""
    wall: float
    """Wall time for a unit, in seconds."""


def _cpu() -> float:
    """Return the processor time that this process and its ended children have used, in seconds."""
    used = [getrusage(whose) for whose in (RUSAGE_SELF, RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def spent(case: Case) -> Spent:
    """Set a case up, run its body once, and return the time that the body took."""
    body = case.ready()
    # The garbage of the case before must not be collected at this one's expense.
    gc.collect()
    wall, cpu = perf_counter(), _cpu()
    units = body()
    cpu, wall = _cpu() - cpu, perf_counter() - wall
    return Spent(units, cpu / max(1, units), wall / max(1, units))


HEADS = ("done", "CPU us each", "wall us each", "ratio of CPU (min to max)", "to", "at most")


def table(title: str, cases: Sequence[Case], rounds: int) -> Table:
    """Return a table with a row for each case: its units of work, medians of its times, and its
    ratio to the case beside it.

    In each of `rounds` rounds all cases take turns, SimPy first.
    """
    all_cases = (simpy_case(), *cases)
    found = [{case.name: spent(case) for case in all_cases} for _ in range(rounds)]
    return grid(("case",), HEADS, (_row(case, found) for case in all_cases), title)


def _row(case: Case, found: Sequence[Mapping[str, Spent]]) -> Iterator[str]:
    """Yield the cells of a case's row, from the times that each round measured, by the names of the
    cases."""
    measured, beside = ([it[name] for it in found] for name in (case.name, case.beside))
    ratios = [ours.cpu / theirs.cpu for ours, theirs in zip(measured, beside, strict=True)]
    yield from (case.name, f"{measured[0].units:,} {case.unit}")
    yield from (
        f"{1e6 * median(it):,.2f}" for it in zip(*((s.cpu, s.wall) for s in measured), strict=True)
    )
    yield f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
    yield from (case.beside, "" if case.most is None else f"{case.most:g}")


def finished(systems: Sequence[System], units: int = 0) -> Body:
    """Return a benchmark's body, which runs these systems of actors to their ends and returns the
    number of units done: `units`, or for 0 the number of events of all systems."""

    def body() -> int:
        for system in systems:
            system.run()
        return units or sum(system.journal.length for system in systems)

    return body


# --- SimPy ------------------------------------------------------------------------------------


def durations(tasks: int, seed: int = 1) -> list[float]:
    """Return the durations of so many tasks, drawn from the exponential distribution with mean
    1."""
    return np.random.default_rng(seed).exponential(size=tasks).tolist()  # type: ignore[no-any-return]


def simpy_case(workers: int = 20, tasks: int = 100_000, name: str = SIMPY) -> Case:
    """Return the case that runs SimPy's master-worker loop with so many workers and tasks; its unit
    is a task."""

    def ready() -> Callable[[], int]:
        loop = simpy_loop(workers, durations(tasks))
        return lambda: tasks if loop() else 0

    return Case(name, ready, "tasks")


def simpy_loop(workers: int, tasks: Sequence[float]) -> Callable[[], float]:
    """Return a function that runs SimPy's master-worker loop on tasks of these durations, and
    returns the virtual time of its end. Raises InputError where SimPy is missing."""
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
    """Run a worker of SimPy's loop, which takes a task's duration from `offers`, holds for that
    time, and reports to `reports`."""
    while True:
        duration = yield offers.get()
        yield environment.timeout(duration)
        yield reports.put(duration)


def _master(
    offers: Any, reports: Any, workers: int, tasks: Sequence[float]
) -> Generator[Any, Any, None]:
    """Run the master of SimPy's loop, which puts the next task's duration into `offers` for each
    report, until all tasks are done."""
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
    """Message from master to worker: hold for `duration`."""

    duration: float


@message
class TaskOver:
    """Message from a worker to itself: the task's duration is over."""


@message
class Finished:
    """Message from worker to master: the task is done, and the worker is free for another."""

    worker: Actor


@define(eq=False)
class BenchWorker(Actor):
    """A worker that takes a task, holds for its duration and reports."""

    master: Actor

    @handles(Hold)
    def take(self, task: Hold, cause: int) -> None:
        self.after(task.duration, TaskOver(), cause)

    @handles(TaskOver)
    def report(self, _: TaskOver, cause: int) -> None:
        self.send(self.master, Finished(self), cause)


@define(eq=False)
class BenchMaster(Actor):
    """A master that hands out a task for each report of a worker, until all tasks are done."""

    left: Iterator[float]
    """Durations of the tasks that are still to be handed out."""
    unfinished: int
    """Number of reports that are still to come."""

    @handles(Finished)
    def next_task(self, report: Finished, cause: int) -> None:
        self.unfinished -= 1
        duration = next(self.left, None)
        if duration is not None:
            self.send(report.worker, Hold(duration), cause)
        elif self.unfinished == 0:
            self.system.finish(cause)


def master_worker(
    workers: int,
    tasks: Sequence[float],
    of_master: Callable[[str, Iterator[float], int], Actor] = BenchMaster,
    of_worker: Callable[[str, Actor], Actor] = BenchWorker,
) -> System:
    """Return a system of this project's actors that runs the same master-worker loop as SimPy's, on
    tasks of these durations; `of_master` and `of_worker` make its actors."""
    system = System()
    # Each worker reports once before its first task.
    master = system.spawn(of_master("master", iter(tasks), len(tasks) + workers))
    for k in range(workers):
        worker = system.spawn(of_worker(f"worker {k}", master))
        worker.send(master, Finished(worker), NOTHING)
    return system


# --- the same loop of coroutines -----------------------------------------------------------------


@define(eq=False)
class CoroutineWorker(CoroutineActor):
    """A worker that takes a task, holds for its duration and reports, as a coroutine."""

    master: Actor

    async def run(self) -> None:
        while True:
            task, cause = await self.receive()
            await self.sleep(task.duration)
            self.send(self.master, Finished(self), cause)


@define(eq=False)
class CoroutineMaster(CoroutineActor):
    """A master that hands out a task for each report of a worker, as a coroutine."""

    left: Iterator[float]
    """Durations of the tasks that are still to be handed out."""
    unfinished: int
    """Number of reports that are still to come."""

    async def run(self) -> None:
        cause = NOTHING
        for _ in range(self.unfinished):
            report, cause = await self.receive()
            duration = next(self.left, None)
            if duration is not None:
                self.send(report.worker, Hold(duration), cause)
        self.system.finish(cause)


def coroutines(workers: int, tasks: Sequence[float]) -> System:
    """Return a system of coroutine actors that runs the same master-worker loop."""
    return master_worker(workers, tasks, CoroutineMaster, CoroutineWorker)


def queues_loop(workers: int, tasks: Sequence[float]) -> float:
    """Run the same master-worker loop as asyncio tasks with queues, in virtual time, and return the
    time of its end."""

    async def worker(offers: asyncio.Queue[float], reports: asyncio.Queue[float]) -> None:
        while True:
            duration = await offers.get()
            await asyncio.sleep(duration)
            reports.put_nowait(duration)

    async def main() -> float:
        offers, reports, left = asyncio.Queue[float](), asyncio.Queue[float](), iter(tasks)
        running = [asyncio.create_task(worker(offers, reports)) for _ in range(workers)]
        for duration in itertools.islice(left, workers):
            offers.put_nowait(duration)
        for _ in tasks:
            await reports.get()
            following = next(left, None)
            if following is not None:
                offers.put_nowait(following)
        for task in running:
            task.cancel()
        return clock()

    return simulate(main())
