"""Malleable co-scheduling: one run of IteratedGreedy-EndGreedy without a log, beside SimPy."""

from __future__ import annotations

import gc
import statistics
import time
from pathlib import Path

from attrs import frozen
from rich.console import Console
from rich.table import Table

from actors.runtime import System
from policies.pack import LookAhead
from sims.bench.simpy_loop import seconds_per_task
from sims.metrics.makespan import Makespan
from sims.papers.malleable17 import pack
from sims.scenario.build import populate
from sims.scenario.loader import read

POLICY = "IteratedGreedy-EndGreedy"
TARGETS = ((1000, 0.3), (5000, 3.0))
"""(processors, seconds that a run with 100 applications may take)."""


@frozen
class Timing:
    """One run."""

    seconds: float
    """Processor time, building the world included: what else runs here does not count."""
    wall: float
    """Wall time, to set against SimPy's."""
    events: int
    """What a log would hold."""


def measure(processors: int, seed: int) -> Timing:
    """Run 100 applications once, from scenario to end."""
    table = pack(POLICY, seed, processors=processors, look=LookAhead.ANY.value)
    gc.collect()
    began, clock = time.process_time(), time.perf_counter()
    system = System(seed, [Makespan()])
    populate(read(table, "malleable17"), system, Path())
    system.run()
    spent = time.process_time() - began
    return Timing(spent, time.perf_counter() - clock, system.journal.length)


def main(repeats: int = 7) -> None:
    """Print seconds per run, the target, and the ratio to SimPy's loop per event."""
    table = Table(
        *("processors", "CPU s: median (min to max)", "target", "events"),
        *("run / SimPy task", "event / SimPy task"),
    )
    for processors, target in TARGETS:
        found = [measure(processors, seed) for seed in range(repeats)]
        simpy = seconds_per_task()
        table.add_row(*_row(processors, target, found, simpy))
    Console().print(table)


def _row(processors: int, target: float, found: list[Timing], simpy: float) -> list[str]:
    seconds = [run.seconds for run in found]
    events = statistics.median(run.events for run in found)
    wall = statistics.median(run.wall for run in found)
    return [
        str(processors),
        f"{statistics.median(seconds):.3f} ({min(seconds):.3f} to {max(seconds):.3f})",
        f"{target:g}",
        f"{events:,.0f}",
        f"{wall / simpy:,.0f}",
        f"{wall / events / simpy:.1f}",
    ]
