"""000, section 4.7: four jobs on four processors, J3 and J4 fail once."""

from __future__ import annotations

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table as Printed

from actors.events import RunEnded, RunStarted
from actors.runtime import Record, System
from policies.interface.queue import (
    Allocation,
    BatchAllocation,
    BatchJob,
    BatchPolicy,
    Draw,
)
from policies.maths.speedup import Table
from policies.queue.allocation import LocalProcessorAllocation
from policies.queue.batches import Exact
from policies.queue.lists import RList
from sims.ledger.slices import count
from sims.papers.batch_runs import described, spawn

TIMES = ((11, 7, 5, 4), (10, 9.8, 9.6, 9.5), (4, 3, 3, 2.5), (3, 2, 1.7, 1.4))
FAILURES = (0, 0, 1, 1)
PROCESSORS, PAPER = 4, {"LPA": 13, "BATCH": 13}


def by_index(job: BatchJob, processors: int, time: float, platform: int, draw: Draw) -> float:
    """The example's order: from J1 to J4."""
    return -job.index


def schedule(rule: Allocation | BatchAllocation) -> list[tuple[str, int, float, float]]:
    """(job, processors, start, end) of every attempt, by start."""
    records: list[Record] = []
    system = System(0, [records.append], start=0)
    policy = BatchPolicy(by_index, RList(0), rule)
    spawn(system, PROCESSORS, described([Table(times) for times in TIMES]), FAILURES, policy)
    system.run()
    ends = {(r.event.job, r.event.run): r.t for r in records if isinstance(r.event, RunEnded)}
    return [
        (event.job, count(event.processors), record.t, ends[event.job, event.run])
        for record in records
        if isinstance(event := record.event, RunStarted)
    ]


def example(console: Console) -> None:
    """Print the schedules of LPA-LIST and BATCH-LIST (figure 3)."""
    rules: dict[str, Allocation | BatchAllocation] = {
        "LPA": LocalProcessorAllocation(),
        "BATCH": Exact(),
    }
    for name, rule in rules.items():
        attempts = schedule(rule)
        makespan = max(end for _, _, _, end in attempts)
        title = f"{name}-LIST: makespan {makespan:g} (paper: {PAPER[name]})"
        table = Printed("job", "processors", "start", "end", title=title, box=SIMPLE)
        for job, processors, start, end in attempts:
            table.add_row(job, str(processors), f"{start:g}", f"{end:g}")
        console.print(table)
    console.print("the optimal makespan is 10 (paper, figure 3)", highlight=False)
