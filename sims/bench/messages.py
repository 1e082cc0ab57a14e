"""Actors and messages against SimPy: the same master-worker loop on both, in turn."""

from __future__ import annotations

import gc
import statistics
import time
import tracemalloc
from collections.abc import Iterator, Sequence

from attrs import define
from rich.console import Console
from rich.table import Table

from actors.runtime import NOTHING, Actor, System, handles, message
from sims.bench.simpy_loop import durations, run_simpy


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


def run_actors(workers: int, tasks: Sequence[float]) -> tuple[float, float]:
    """(wall seconds, virtual time) of our loop."""
    system = System()
    # Each worker reports once before its first task.
    master = system.spawn(BenchMaster("master", iter(tasks), len(tasks) + workers))
    for k in range(workers):
        worker = system.spawn(BenchWorker(f"worker {k}", master))
        worker.send(master, Finished(worker), NOTHING)
    gc.collect()
    began = time.perf_counter()
    system.run()
    return time.perf_counter() - began, system.loop.now


def bytes_per_idle_actor(actors: int = 10_000) -> float:
    """Memory of one more actor that waits for messages, its entry in the system included."""
    system = System()
    master = system.spawn(BenchMaster("master", iter(()), 0))
    names = [f"worker {k}" for k in range(actors)]
    tracemalloc.start()
    for name in names:
        system.spawn(BenchWorker(name, master))
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return size / actors


def compare(workers: int, tasks: int, repeats: int) -> tuple[list[float], list[float]]:
    """Tasks per second of (ours, SimPy), measured in turn. Both must end at the same time."""
    ours, theirs = [], []
    work = durations(tasks)
    for _ in range(repeats):
        mine, my_end = run_actors(workers, work)
        his, his_end = run_simpy(workers, work)
        if my_end != his_end:
            raise AssertionError(f"the two loops differ: they end at {my_end} and {his_end}")
        ours.append(tasks / mine)
        theirs.append(tasks / his)
    return ours, theirs


def main(tasks: int = 100_000, repeats: int = 7) -> None:
    """Print the comparison."""
    table = Table("workers", "tasks/s, ours", "tasks/s, SimPy", "ratio: median (min to max)")
    for workers in (20, 500):
        ours, theirs = compare(workers, tasks, repeats)
        ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
        table.add_row(
            str(workers),
            f"{statistics.median(ours):,.0f}",
            f"{statistics.median(theirs):,.0f}",
            f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})",
        )
    console = Console()
    console.print(table)
    console.print(f"bytes per idle actor: {bytes_per_idle_actor():,.0f}")
