"""Benchmarks of what is around a run: its log, and a campaign. What they are set beside is the same
runs without."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import sims
from actors.runtime import Record, Sink
from sims.bench.timing import SIMPY, Case
from sims.campaign.campaign import Campaign
from sims.campaign.cells import seeded
from sims.campaign.engine import execute
from sims.campaign.executors import local
from sims.campaign.plan import Cells
from sims.campaign.store import Store
from sims.log import LogWriter
from sims.scenario.loader import Scenario, load
from sims.summary import Summary
from sims.world import run

SCENARIOS = Path(sims.__file__).parent / "scenarios"
RUNS = {
    "volatile20": ("job.iterations=150",),
    "batch-rigid": ("job.synthetic.count=3000",),
    "batch-moldable": (),
    "malleable10": ("job.synthetic.count=60", "platform.workers=1000", "faults.mtbf=630720000"),
    "redundant": ("job.stream.count=400",),
}
"""Scenario of each kind -> what makes it long enough to measure."""


WAYS = {"bare": SIMPY, "shown": "bare", "told": "bare", "written": "told"}
"""How runs are heard -> what that is set beside."""


def log(size: float) -> Iterator[Case]:
    """Events of a run: bare, where nobody listens; shown, as `holdfast run --log none`; told, where
    each is made and dropped; written, as `holdfast run`."""
    for name, longer in RUNS.items():
        scenario = load(SCENARIOS / f"{name}.toml", list(longer))
        for way, beside in WAYS.items():
            other = beside if beside == SIMPY else f"{name}, {beside}"
            body = partial(events, scenario, way, max(1, int(5 * size)))
            most = 2.0 if way == "written" else None
            yield Case(f"{name}, {way}", partial(partial, body), "events", most, other)


def events(scenario: Scenario, way: str, times: int) -> int:
    """Of so many runs that are heard in that way."""
    count = 0
    for _ in range(times):
        with TemporaryDirectory() as folder, LogWriter(Path(folder, "log.jsonl")) as writer:
            sinks: dict[str, list[Sink]] = {
                "bare": [],
                "shown": [Summary()],
                "told": [Summary(), _drop],
                "written": [Summary(), writer],
            }
            count += run(scenario, sinks[way], SCENARIOS).events
    return count


def _drop(_: Record) -> None:
    """Listens to everything."""


def campaign(size: float) -> Iterator[Case]:
    """Simulations of some 5 ms each: as a campaign, with a store, beside a bare loop; wall times
    tell what two processes gain."""
    orders = ("LPT", "SPT")
    asked = Campaign(
        name="bench",
        scenario=str(SCENARIOS / "batch-rigid.toml"),
        replications=max(1, int(5_000 * size)),
        variants={order: {"policy.order": order} for order in orders},
    )
    yield Case("bare loop", partial(partial, alone, asked), "cells")
    one = partial(partial, through, asked, 1)
    yield Case("one process", one, "cells", beside="bare loop")
    two = partial(partial, through, asked, 2)
    yield Case("two processes", two, "cells", beside="one process")


def alone(asked: Campaign) -> int:
    """One run after the other, their makespans kept."""
    values = []
    for case in Cells.of(asked):
        one = case.scenario(0)
        for k in range(asked.replications):
            summary = Summary()
            run(seeded(one, case.seed(k)), [summary])
            values.append(summary.makespan)
    return len(values)


def through(asked: Campaign, processes: int) -> int:
    """As a campaign."""
    with TemporaryDirectory() as folder, local(processes) as workers:
        return len(execute(asked, workers, Store(Path(folder))).found)
