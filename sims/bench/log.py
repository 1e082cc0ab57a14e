"""What writing the log costs, beside the run itself: the same runs with and without, in turn."""

from __future__ import annotations

import gc
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from attrs import frozen
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Column, Table

from actors.runtime import Record
from sims.log import LogWriter
from sims.options import chosen
from sims.scenario.loader import Scenario, load
from sims.summary import Summary
from sims.world import run

SCENARIOS = Path(__file__).parents[1] / "scenarios"

RUNS: dict[str, tuple[str, ...]] = {
    "volatile20": ("job.iterations=150",),
    "batch-rigid": ("job.synthetic.count=3000",),
    "batch-moldable": (),
    "malleable10": ("job.synthetic.count=60", "platform.workers=1000", "faults.mtbf=630720000"),
    "redundant": ("job.stream.count=400",),
}
"""Scenario of each kind -> what makes it long enough to measure."""

HEADS = ("scenario", "events", "run, s", "logged, s", "us/event", "log/run", "told", "bare")

SHORT = 0.2
"""Seconds: a shorter run is repeated until it has taken so long."""


@frozen
class LogCost:
    """Seconds of one run; medians over repetitions."""

    events: int
    bare: float
    """Nobody listens: events are counted, not made, and pools do not number their processors."""
    shown: float
    """As `holdfast run --log none`: what the summary needs is made."""
    told: float
    """Every event is made for the summary, and dropped."""
    written: float
    """As `holdfast run`: every event is written beside."""

    @property
    def writing(self) -> float:
        """What writing costs, over the run that it writes; the goal is at most 1."""
        return (self.written - self.told) / self.told

    @property
    def logging(self) -> float:
        """What a log costs, over `holdfast run` without one."""
        return (self.written - self.shown) / self.shown

    @property
    def whole(self) -> float:
        """What a log costs, over a run that not even a summary listens to."""
        return (self.written - self.bare) / self.bare


def measure(name: str, repeats: int, suffix: str = ".jsonl") -> LogCost:
    """Run the scenario `name` bare, told and written, in turn."""
    scenario = load(SCENARIOS / f"{name}.toml", list(RUNS[name]))
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / f"log{suffix}"
        modes = (_bare, _shown, _told, partial(_written, log))
        times = max(1, round(SHORT / _timed(_bare, scenario, 1)))
        rounds = [[_timed(mode, scenario, times) for mode in modes] for _ in range(repeats)]
        events = _told(scenario)
    return LogCost(events, *(statistics.median(column) for column in zip(*rounds, strict=True)))


def _bare(scenario: Scenario) -> int:
    return run(scenario, folder=SCENARIOS).events


def _shown(scenario: Scenario) -> int:
    return run(scenario, [Summary()], SCENARIOS).events


def _told(scenario: Scenario) -> int:
    return run(scenario, [Summary(), _drop], SCENARIOS).events


def _drop(_: Record) -> None:
    """Listens to everything."""


def _written(log: Path, scenario: Scenario) -> int:
    with LogWriter(log) as writer:
        return run(scenario, [Summary(), writer], SCENARIOS).events


def _timed(mode: Callable[[Scenario], int], scenario: Scenario, times: int) -> float:
    """Processor seconds of one run: others on the machine do not count."""
    gc.collect()
    began = time.process_time()
    for _ in range(times):
        mode(scenario)
    return (time.process_time() - began) / times


def main(
    repeats: Annotated[int, typer.Option(help="of each run, in turn")] = 5,
    suffix: Annotated[str, typer.Option(help="of the log: packed by suffix")] = ".jsonl",
    only: Annotated[str | None, chosen(tuple(RUNS), "one scenario")] = None,
) -> None:
    """Print a table."""
    columns = [Column(it, no_wrap=True) for it in HEADS]
    table = Table(*columns, box=SIMPLE, pad_edge=False)
    for name in [only] if only else RUNS:
        cost = measure(name, repeats, suffix)
        each = 1e6 * (cost.written - cost.told) / cost.events
        table.add_row(
            *(name, f"{cost.events:,}", f"{cost.shown:.4f}", f"{cost.written:.4f}"),
            *(f"{each:.2f}", f"{cost.logging:.2f}", f"{cost.writing:.2f}", f"{cost.whole:.2f}"),
        )
    console = Console()
    console.print(table)
    console.print(
        "log/run: over `holdfast run --log none`; told: writing over making the same events; "
        "bare: over a run without even a summary",
        highlight=False,
    )
