"""How the cost of a job grows with the queue's length, under each way to keep promises.

N jobs come in the first instants to 256 processors, ask for up to ten times what they take, and
wait: the queue is N long at first, and N / 2 on the average. Either all differ, or they are of 20
kinds, as rows of equal jobs make a log's queue. Processor time, us a job; nothing listens.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Sequence
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Column, Table

from actors.runtime import System, stream
from policies.interface.queue import BatchJob, BatchPolicy
from policies.maths.speedup import Rigid
from policies.queue.allocation import requested
from policies.queue.lists import Reading
from policies.queue.names import order_named, strategy_named
from sims.bench.batch_runs import spawn
from sims.options import positive_int

STRATEGIES = ("greedy", "EASY", "R-LIST-Q", "conservative")
PROCESSORS = 256


def jobs(count: int, kinds: int) -> list[BatchJob]:
    """`count` of them, of so many kinds (processors and estimate), one second apart."""
    rng = stream(count, "queues")
    widths = 2 ** rng.integers(0, 7, kinds)
    asked = np.exp(rng.uniform(np.log(600), np.log(86_400), kinds))
    which, shares = rng.integers(0, kinds, count), rng.uniform(0.1, 1, count)
    return [
        BatchJob(
            *(index, f"J{index}", Rigid(int(widths[kind]), float(asked[kind] * share)), 0.0),
            *(float(asked[kind]), float(index)),
        )
        for index, (kind, share) in enumerate(zip(which.tolist(), shares.tolist(), strict=True))
    ]


def seconds(name: str, queue: Sequence[BatchJob]) -> float:
    """Processor time of one run, from its first message to its last."""
    policy = BatchPolicy(order_named("FCFS"), strategy_named(name, Reading.EASY), requested, name)
    system = System(start=0)
    spawn(system, PROCESSORS, queue, [0] * len(queue), policy)
    gc.collect()
    began = time.process_time()
    system.run()
    return time.process_time() - began


def main(
    lengths: Annotated[
        list[int] | None,
        typer.Option(
            "--length",
            parser=positive_int,
            help="jobs in the queue at first (repeatable); default: 100, 300, 1000 and 2000",
        ),
    ] = None,
) -> None:
    """Print a table."""
    asked = lengths or (100, 300, 1000, 2000)
    right = [Column(f"{length:,} jobs", justify="right") for length in asked]
    table = Table("strategy", "jobs", *right, title="processor time, us a job")
    for name in STRATEGIES:
        for like in ("different", "20 kinds"):
            row = []
            for length in asked:
                queue = jobs(length, length if like == "different" else 20)
                row.append(f"{1e6 * seconds(name, queue) / length:.0f}")
            table.add_row(name, like, *row)
    Console().print(table)
