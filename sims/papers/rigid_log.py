"""001, section 5.4: the jobs that a log saw submitted on each day, scheduled as one set."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, stdev

from attrs import frozen
from rich.box import SIMPLE
from rich.console import Console
from rich.progress import track
from rich.table import Column, Table

from policies.maths.speedup import Rigid
from policies.queue.lists import Reading
from policies.queue.orders import PAPER_ORDERS
from sims.campaign import run_many
from sims.errors import InputError
from sims.options import add_choice, positive_int, probability
from sims.papers.rigid_runs import HEURISTICS, Cell, Outcomes, Point, outcomes
from sims.readers.swf import SwfLog, read_swf
from sims.script import wide_console
from sims.statistics import mean_interval
from sims.telling import counted

DAY = 86_400
AVERAGES = (0.0, 0.05, 0.1)
MIRA = {
    0.0: (
        "0",
        ("1.067", "1.051", "1.051", "1.407", "1.441"),
        ("8.78e-2", "8.19e-2", "8.17e-2", "1.27e-1", "1.42e-1"),
        ("1.425", "1.425", "1.425", "1.633", "1.760"),
    ),
    0.05: (
        "15.2913",
        ("1.031", "1.049", "1.061", "1.105", "1.117"),
        ("6.79e-2", "6.87e-2", "7.78e-2", "1.20e-1", "1.32e-1"),
        ("1.278", "1.292", "1.292", "1.475", "1.495"),
    ),
    0.1: (
        "254.453",
        ("1.016", "1.025", "1.028", "1.052", "1.054"),
        ("4.66e-2", "4.54e-2", "4.97e-2", "8.97e-2", "9.28e-2"),
        ("1.249", "1.224", "1.245", "1.391", "1.407"),
    ),
}
"""001, Table 1: by q-bar the mean number of failures, and per heuristic the mean ratio, its
standard deviation and the maximum, on Mira's June 2019 (30 days, 4,699 jobs, P = 49,152)."""


@frozen
class Days:
    """A log cut into sets."""

    sets: tuple[tuple[Rigid, ...], ...]
    processors: int
    wide: int
    """Jobs left out because they need more processors than there are."""


def add_options(command: argparse.ArgumentParser) -> None:
    """Options of `table1-swf`."""
    add = command.add_argument
    add("log", type=Path, metavar="LOG", help="a log in the Standard Workload Format")
    add("--processors", type=positive_int, help="default: the log's MaxProcs")
    add("--days", type=positive_int, help="the first so many days only (paper: 30)")
    add("--scenarios", type=positive_int, default=10, help="per day (paper: 1000)")
    about = "mean probabilities that an attempt fails"
    add("--averages", type=probability, nargs="+", default=AVERAGES, metavar="Q", help=about)
    about = "of the queue: %(choices)s"
    add("--order", choices=tuple(PAPER_ORDERS), default="LPT", metavar="ORDER", help=about)
    add_choice(command, "--reading", Reading.KEPT, "of R-LIST's reservations")


def cut(log: SwfLog, processors: int, days: int | None) -> Days:
    """One set per day with a submission, counted from the log's first."""
    by_day: dict[int, list[Rigid]] = {}
    wide = 0
    for job in log.jobs:
        if job.processors > processors:
            wide += 1
        else:
            by_day.setdefault(int(job.submit // DAY), []).append(Rigid(job.processors, job.run))
    sets = [tuple(by_day[day]) for day in sorted(by_day)]
    return Days(tuple(sets[:days]), processors, wide)


def table1(options: argparse.Namespace) -> None:
    """Print Table 1's columns for a log. Raises InputError."""
    log = read_swf(options.log)
    processors = options.processors or log.header.max_procs
    if not processors:
        raise InputError(str(options.log), "MaxProcs", "missing", "--processors P")
    days = cut(log, processors, options.days)
    cells = tuple((heuristic, options.order) for heuristic in HEURISTICS)
    points = [
        Point(f"day {k}", jobs, processors, q, options.scenarios, cells, options.reading)
        for q in sorted(options.averages, reverse=True)
        for k, jobs in enumerate(days.sets)
    ]
    results = run_many(outcomes, points)
    found = list(track(results, counted(len(points), "point"), len(points), transient=True))
    console = wide_console()
    wide = f"{counted(days.wide, 'job')} wider than {counted(processors, 'processor')}"
    console.print(f"{log.summary()}; {wide}", highlight=False)
    for q in sorted(options.averages):
        _print(console, q, cells, [result for point, result in found if point.average == q], days)


def _print(
    console: Console, q: float, cells: Sequence[Cell], results: Sequence[Outcomes], days: Days
) -> None:
    failures = fmean(count for result in results for count in result.failures)
    size = fmean(map(len, days.sets))
    sets = counted(len(days.sets), "set")
    title = (
        f"q-bar = {q:g}: {sets} of {size:.1f} jobs, {failures:.1f} failures"
        f" (Mira: {MIRA[q][0] if q in MIRA else '-'})"
    )
    heads = ("mean", "standard deviation", "maximum")
    columns = [Column(f"{head} / Mira's", justify="right") for head in heads]
    table = Table("heuristic", *columns, title=title, box=SIMPLE)
    for k, cell in enumerate(cells):
        pooled = [ratio for result in results for ratio in result.ratios[cell]]
        spread = stdev(pooled) if len(pooled) > 1 else 0.0
        ours = (
            f"{mean_interval([r.mean(cell) for r in results]):.3f}",
            f"{spread:.2e}",
            f"{max(pooled):.3f}",
        )
        theirs = [row[k] for row in MIRA[q][1:]] if q in MIRA else ["-"] * 3
        table.add_row(" ".join(cell), *(f"{a} / {b}" for a, b in zip(ours, theirs, strict=True)))
    console.print(table)
