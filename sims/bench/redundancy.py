"""redundancy17's most message-hungry case: M = 100 servers, every copy placed afresh twice per
arrival."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from actors.runtime import System
from sims.bench.simpy_loop import seconds_per_task
from sims.papers.redundancy17 import stream
from sims.scenario.build import populate
from sims.scenario.loader import read
from sims.scenario.scenario import Scenario

TARGET = 15.0
"""Most times SimPy's time per task that an arrival may take."""
SPEEDS: dict[str, dict[str, Any]] = {
    "constant": {"kind": "constant"},
    "two-point, Delta 4, tau 1": {"kind": "two-point", "peak": 4, "interval": 1},
    "two-point slots, Delta 4, tau 0.3": {"kind": "two-point-slots", "peak": 4, "slot": 0.3},
}


def scenario(servers: int, load: float, speed: dict[str, Any], arrivals: int) -> Scenario:
    """Of the study's kind, under SRPT+R."""
    table = stream() | {"seed": 1, "policy": {"name": "SRPT+R"}}
    table["platform"] = {"workers": servers, "speed": speed}
    table["job"]["stream"] |= {"count": arrivals, "arrivals": {"kind": "poisson", "load": load}}
    return read(table, "redundancy17")


def seconds(scenario: Scenario) -> float:
    """Wall seconds of one run without a log, once its actors are there."""
    system = System(scenario.seed, start=0)
    populate(scenario, system, Path())
    began = time.perf_counter()
    system.run()
    return time.perf_counter() - began


def measure(
    servers: int, load: float, arrivals: int, repeat: int
) -> tuple[float, dict[str, float]]:
    """Seconds per SimPy task, and per arrival by speeds: the best of `repeat` turns, in each of
    which all are measured, so that whatever else the machine does meets them alike."""
    simpy, best = float("inf"), dict.fromkeys(SPEEDS, float("inf"))
    for _ in range(repeat):
        simpy = min(simpy, seconds_per_task())
        for name, speed in SPEEDS.items():
            each = seconds(scenario(servers, load, speed, arrivals)) / arrivals
            best[name] = min(best[name], each)
    return simpy, best


def main(
    servers: int = 100,
    load: float = 0.7,
    arrivals: int = 10_000,
    repeat: Annotated[int, typer.Option(help="the best of so many runs counts")] = 3,
) -> None:
    """Print microseconds per arrival under SRPT+R, and the ratio to SimPy's task."""
    simpy, best = measure(servers, load, arrivals, repeat)
    table = Table("speeds", "microseconds per arrival", f"times SimPy's task (at most {TARGET:g})")
    for name, each in best.items():
        table.add_row(name, f"{each * 1e6:.1f}", f"{each / simpy:.1f}")
    console = Console()
    console.print(f"SRPT+R, M = {servers}, load {load}, exponential sizes")
    console.print(f"SimPy: {simpy * 1e6:.2f} microseconds per task")
    console.print(table)
