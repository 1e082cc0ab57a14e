"""Orders with and without EASY on sequences of a log, beside the field's published means.

`python -m sims.papers.backfilling LOG` takes sequences of 1,024 consecutive jobs from random starts
of a log and tells the mean bounded slowdown of each order, with an interval over the sequences:
once as we schedule, and once as RLScheduler's simulator does, as we understand its published
environment (Zhang, Dai, Bao, Yang and Zhang, SC 2020, Table V: means of 10 sequences of lublin-256,
their draws unknown). As we understand it, it commits itself: the job that the order puts first when
nobody is chosen stays first until it starts, whoever comes meanwhile. Its backfilling goes in the
order of arrival, and starts what ends before the chosen job's start; it never counts processors
that are spare beside it. And it seems to take a waiting job's wait from a start that is not yet
known, -1: w = -1 - s, s the submission in the log's time. WFP3 and UNICEP then put long jobs first
instead of those that have waited long, which would make them worse than FCFS, as they are in its
table.

60 sequences of lublin-256 (published, ours, as RLScheduler; ± 95 %). No backfilling: FCFS 7274,
7030 ± 516, 7030 ± 516; WFP3 19754, 106 ± 5, 17414 ± 797; UNICEP 22275, 39 ± 3, 19827 ± 1037; SJF
277, 42 ± 5, 280 ± 22; F1 258, 26 ± 3, 266 ± 23. With EASY: FCFS 236, 287 ± 25, 248 ± 22; WFP3 134,
84 ± 5, 131 ± 10; UNICEP 307, 67 ± 7, 273 ± 24; SJF 73, 43 ± 4, 74 ± 5; F1 75, 28 ± 3, 63 ± 7. A
mean of ten sequences, as published, is less sure; the table's last column is what ten of its
own would have, from our spread: rules like these can explain its table.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from math import inf, log2, sqrt
from pathlib import Path

import numpy as np
from attrs import define, field, frozen
from rich.box import SIMPLE
from rich.progress import track
from rich.table import Column, Table
from scipy.special import stdtrit

from actors.events import JobCompleted
from actors.runtime import Record, System, stream
from policies.interface.queue import (
    BatchJob,
    BatchPolicy,
    BatchView,
    Decision,
    Draw,
    Order,
    Queued,
    Strategy,
    TimedOrder,
)
from policies.maths.speedup import Rigid
from policies.queue.allocation import requested
from policies.queue.lists import Reading, RList
from policies.queue.names import order_named
from policies.queue.shelves import InOrder
from policies.queue.site_orders import wfp3
from sims.campaign import run_many
from sims.options import Parser, natural, positive_int
from sims.papers.batch_runs import spawn
from sims.readers.swf import read_swf
from sims.readers.swf_record import SwfJob
from sims.script import run_script, wide_console
from sims.statistics import mean_interval

PUBLISHED = {
    ("FCFS", False): 7274,
    ("WFP3", False): 19754,
    ("UNICEP", False): 22275,
    ("SJF", False): 277,
    ("F1", False): 258,
    ("FCFS", True): 236,
    ("WFP3", True): 134,
    ("UNICEP", True): 307,
    ("SJF", True): 73,
    ("F1", True): 75,
}
"""(order, with EASY) -> mean bounded slowdown."""
PUBLISHED_SEQUENCES = 10
"""Behind each of these means."""
SHORTEST = 10.0
"""Seconds that a job counts as at least."""
LENGTH = 1024
"""Jobs in a sequence."""


@frozen
class Sequence1024:
    """Consecutive jobs of a log."""

    first: int
    """Place in the log."""
    jobs: tuple[BatchJob, ...] = field(repr=False)
    began: float = field(repr=False)
    """When the log's first job was submitted: what F1 counts from."""
    processors: int = field(repr=False)


@frozen
class Committed:
    """RLScheduler's: who is chosen stays chosen until he starts."""

    backfilling: bool

    def __call__(self, view: BatchView) -> Decision:
        """See Strategy."""
        queue, free, starts = list(view.queue), view.free, list[Queued]()
        chosen = next((it for it in queue if it.job.index == view.memory), None)
        while queue:
            head = chosen or queue[0]
            chosen = None
            if head.processors > free:
                if self.backfilling:
                    starts += self._backfill(view, starts, head, free)
                return Decision(starts, memory=head.job.index)
            queue.remove(head)
            starts.append(head)
            free -= head.processors
        return Decision(starts)

    @staticmethod
    def _backfill(
        view: BatchView, started: Sequence[Queued], head: Queued, free: int
    ) -> list[Queued]:
        now = view.now
        ends = [(run[0], run[2]) for run in view.running]
        ends += [(now + it.held, it.processors) for it in started]
        shadow, there = inf, free
        for end, processors in sorted(ends):
            there += processors
            if there >= head.processors:
                shadow = end
                break
        starts = []
        taken = {head.job.index, *(it.job.index for it in started)}
        for it in sorted(view.queue, key=lambda it: it.job.index):
            fits = it.processors <= free and now + it.held < shadow
            if fits and it.job.index not in taken:
                starts.append(it)
                free -= it.processors
        return starts


def unstarted_wfp3(job: BatchJob, processors: int, time: float, platform: int, draw: Draw) -> float:
    """WFP3 of a wait of -1 - s."""
    return wfp3(-1 - job.submitted, time, processors)


def unstarted_unicep(
    job: BatchJob, processors: int, time: float, platform: int, draw: Draw
) -> float:
    """UNICEP of a wait of -1 - s; RLScheduler's log2 of one processor is 1e-15, not 1."""
    return (-1 - job.submitted) / (time * log2(processors + 1e-15))


UNSTARTED: dict[str, Order] = {"WFP3": unstarted_wfp3, "UNICEP": unstarted_unicep}
"""Read only."""

STRATEGIES: dict[tuple[str, bool], Strategy] = {
    ("ours", False): InOrder(),
    ("ours", True): RList(1, Reading.EASY),
    ("committed", False): Committed(backfilling=False),
    ("committed", True): Committed(backfilling=True),
}


@define
class Ends:
    """Fold: when jobs completed."""

    wants = frozenset((JobCompleted,))
    of: dict[str, float] = field(factory=dict)

    def __call__(self, record: Record) -> None:
        assert isinstance(record.event, JobCompleted)
        self.of[record.event.job] = record.t


def sequences(
    log: Sequence[SwfJob], processors: int, count: int, length: int, seed: int
) -> list[Sequence1024]:
    """`count` of them, of `length` jobs each, from random starts."""
    starts = stream(seed, "sequences").integers(0, len(log) - length, size=count, endpoint=True)
    began = log[0].submit
    return [
        Sequence1024(first, _described(log[first : first + length]), began, processors)
        for first in starts.tolist()
    ]


def _described(jobs: Sequence[SwfJob]) -> tuple[BatchJob, ...]:
    return tuple(
        BatchJob(
            *(index, f"J{job.number}", Rigid(job.processors, job.run), 0.0),
            *(job.requested_time or None, job.submit),
        )
        for index, job in enumerate(jobs)
    )


def slowdowns(sequence: Sequence1024) -> dict[tuple[str, str, bool], float]:
    """Mean bounded slowdown by (whose, order, with EASY)."""
    return {
        (whose, order, easy): slowdown(sequence, BatchPolicy(it, strategy, requested, order))
        for order, easy in PUBLISHED
        for whose in ("ours", "committed")
        for it in (_order(order, whose, sequence.began),)
        for strategy in (STRATEGIES[whose, easy],)
    }


def _order(name: str, whose: str, began: float) -> Order | TimedOrder:
    if whose == "committed" and name in UNSTARTED:
        return UNSTARTED[name]
    return order_named(name, began)


def slowdown(sequence: Sequence1024, policy: BatchPolicy) -> float:
    """Mean bounded slowdown of one sequence, sent to an empty machine."""
    ends, jobs = Ends(), sequence.jobs
    system = System(0, [ends], start=0)
    spawn(system, sequence.processors, jobs, [0] * len(jobs), policy)
    system.run()
    flows = np.array([ends.of[job.name] - job.submitted for job in jobs])
    times = np.array([job.profile.work / asked(job) for job in jobs])
    return float(np.maximum(1, flows / np.maximum(times, SHORTEST)).mean())


def asked(job: BatchJob) -> int:
    """Its processors."""
    return requested([job], 0)[0]


def main(words: Sequence[str] | None = None) -> int:
    """Print a table; returns the exit code."""
    parser = Parser(prog="python -m sims.papers.backfilling", description=__doc__)
    add = parser.add_argument
    add("log", type=Path, metavar="LOG", help="a log in the Standard Workload Format")
    add("--processors", type=positive_int, default=256, help="of the machine")
    add("--sequences", type=positive_int, default=50, help="how many")
    add("--length", type=positive_int, default=LENGTH, help="jobs in each")
    add("--seed", type=natural, default=1, help="draws where they start")
    return run_script(parser, words, lambda options: wide_console().print(_table(options)))


def half_of_ten(values: Sequence[float]) -> float:
    """Half of the 95 % interval of a mean of PUBLISHED_SEQUENCES such values, by Student's law."""
    if len(values) < 2:
        return inf
    spread = float(np.std(values, ddof=1))
    return float(stdtrit(PUBLISHED_SEQUENCES - 1, 0.975)) * spread / sqrt(PUBLISHED_SEQUENCES)


def _table(options: argparse.Namespace) -> Table:
    log = [it for it in read_swf(options.log).jobs if it.processors <= options.processors]
    size = options.processors, options.sequences, options.length, options.seed
    ran = run_many(slowdowns, sequences(log, *size))
    found = [result for _, result in track(ran, "simulating", options.sequences, transient=True)]
    heads = ("published", "ours", "median", "as RLScheduler", "median", "± of ten")
    right = [Column(head, justify="right") for head in heads]
    about = f"mean bounded slowdown over {options.sequences} sequences of {options.length} jobs"
    table = Table("order", "EASY", *right, title=f"{about}; ± is a 95 % interval", box=SIMPLE)
    for (order, easy), mean in PUBLISHED.items():
        cells = []
        for whose in ("ours", "committed"):
            values = [result[whose, order, easy] for result in found]
            cells += [f"{mean_interval(values):.0f}", f"{np.median(values):.0f}"]
        cells.append(f"{half_of_ten(values):,.0f}")
        table.add_row(order, "yes" if easy else "no", f"{mean:,}", *cells)
    return table


if __name__ == "__main__":
    sys.exit(main())
