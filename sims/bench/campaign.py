"""What a campaign costs beside a bare loop over the same simulations.

Simulations of some 5 ms each; CPU time of all processes, so that a busy machine matters little, and
wall time, from which the gain of two cores over one follows. Rounds take turns; the least counts.
`--scheduler` adds a Dask cluster, which should be idle; its workers' CPU time is not ours to see,
so that there the wall time is what is told, beside a pool of as many processes.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from attrs import frozen
from rich.console import Console
from rich.table import Table

import sims
from sims.campaign.campaign import Campaign
from sims.campaign.cells import seeded
from sims.campaign.engine import execute
from sims.campaign.executors import Workers, cluster, local
from sims.campaign.plan import Cells
from sims.campaign.store import Store
from sims.options import positive_int
from sims.summary import Summary
from sims.world import run

BASE = Path(sims.__file__).parent / "scenarios" / "batch-rigid.toml"
ORDERS = ("LPT", "SPT")


@frozen
class Spent:
    """Seconds."""

    cpu: float
    wall: float


def measured(body: Callable[[], object]) -> Spent:
    """What `body` takes, and all processes that it begins and ends."""
    wall, cpu = time.perf_counter(), _cpu()
    body()
    return Spent(_cpu() - cpu, time.perf_counter() - wall)


def _cpu() -> float:
    used = [resource.getrusage(it) for it in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(it.ru_utime + it.ru_stime for it in used)


def question(cells: int) -> Campaign:
    """A campaign of so many cells."""
    return Campaign(
        name="bench",
        scenario=str(BASE),
        replications=max(1, cells // len(ORDERS)),
        variants={order: {"policy.order": order} for order in ORDERS},
    )


def bare(campaign: Campaign) -> None:
    """The same runs, one after the other, their makespans kept."""
    values = []
    for case in Cells.of(campaign):
        one = case.scenario(0)
        for k in range(campaign.replications):
            summary = Summary()
            run(seeded(one, case.seed(k)), [summary])
            values.append(summary.makespan)


def through(campaign: Campaign, place: AbstractContextManager[Workers]) -> None:
    """As a campaign, with a store."""
    with TemporaryDirectory() as folder, place as workers:
        execute(campaign, workers, Store(Path(folder)))


def main(
    cells: Annotated[int, typer.Option(parser=positive_int, help="simulations")] = 10_000,
    rounds: Annotated[int, typer.Option(parser=positive_int, help="the least counts")] = 3,
    scheduler: Annotated[str | None, typer.Option(help="of a Dask cluster")] = None,
) -> None:
    """Print CPU and wall time, and their ratios."""
    campaign = question(cells)
    ways: dict[str, Callable[[], None]] = {
        "bare loop": lambda: bare(campaign),
        "one process": lambda: through(campaign, local(1)),
        "two processes": lambda: through(campaign, local(2)),
    }
    if scheduler:
        ways["cluster"] = lambda: through(campaign, cluster(scheduler))
    measures = [{name: measured(body) for name, body in ways.items()} for _ in range(rounds)]
    cpu = {name: min(found[name].cpu for found in measures) for name in ways}
    wall = {name: min(found[name].wall for found in measures) for name in ways}
    table = Table("way", "CPU, s", "of bare", "wall, s", "one process / it")
    for name in ways:
        ratio = "-" if name == "cluster" else f"{cpu[name] / cpu['bare loop']:.3f}"
        gain = wall["one process"] / wall[name]
        table.add_row(name, f"{cpu[name]:.2f}", ratio, f"{wall[name]:.2f}", f"{gain:.2f}")
    Console().print(table)
