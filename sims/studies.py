"""What the studies of several mechanisms share: campaigns of paired runs, and how ratios are told.

A trial is one realisation of the platform and of the work. A task runs all variants on it, so that
each is paired with the reference.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from attrs import frozen
from rich.box import SIMPLE
from rich.progress import track
from rich.table import Column, Table

from sims.campaign import run_many
from sims.options import Parser, add_picture, positive_int
from sims.scenario.scenario import Scenario
from sims.statistics import Interval, ratio_interval
from sims.summary import Summary
from sims.world import run

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)

Value = tuple[float, bool]
"""What a run is measured by, and whether it was cut off."""
Values = dict[str, Value]
"""By variant."""

SIGNS = (
    "± is a 95 % interval over the trials, paired; = where it covers 1: no difference shown; "
    "(n): n runs were cut off, what they left undone counting as done then"
)


def study_parser(name: str, about: str, trials: int) -> argparse.ArgumentParser:
    """A parser with what every study takes: how many trials, where results and picture go."""
    parser = Parser(prog=f"python -m sims.{name}", description=about)
    add = parser.add_argument
    add("--trials", type=positive_int, default=trials, help="realisations of every case")
    about = "keep results here, and go on from those that it holds"
    add("--store", type=Path, metavar="FILE", help=about)
    add_picture(parser, Path(f"logs/{name}.png"))
    return parser


def campaign(
    function: Callable[[T], Values], tasks: Sequence[T], store: Path | None
) -> list[tuple[T, Values]]:
    """All results, in the tasks' order; tasks are known by their repr."""
    ran = track(run_many(function, tasks, store=store), "simulating", len(tasks), transient=True)
    found = {repr(task): values for task, values in ran}
    return [(task, found[repr(task)]) for task in tasks]


def mean_flowtime(scenario: Scenario, cap: float) -> Value:
    """Mean over the jobs, completion minus submission, in the scenario's unit. A run is cut off at
    `cap`, and what is not completed counts as completed then."""
    summary = Summary()
    run(scenario, [summary], until=cap)
    ends, starts = summary.completed, summary.submitted
    total = sum(ends.get(job, cap) - start for job, start in starts.items())
    return total / len(starts), len(ends) < len(starts)


# --- ratios -----------------------------------------------------------------------------------


@frozen
class Ratio:
    """A variant's mean over the reference's, paired by trial."""

    value: Interval
    late: int = 0
    """Runs of it that were cut off."""

    def __str__(self) -> str:
        sign = "=" if self.value.holds(1) else " "
        return f"{self.value:.2f} {sign}{f'({self.late})' if self.late else ''}"


def ratios(
    found: Iterable[tuple[T, Values]], case: Callable[[T], K], reference: str
) -> dict[K, dict[str, Ratio]]:
    """By case and variant, over the tasks of each case."""
    cases: dict[K, list[Values]] = {}
    for task, values in found:
        cases.setdefault(case(task), []).append(values)
    return {key: _ratios(trials, reference) for key, trials in cases.items()}


def _ratios(trials: Sequence[Values], reference: str) -> dict[str, Ratio]:
    base = [trial[reference][0] for trial in trials]
    return {
        name: Ratio(
            ratio_interval([trial[name][0] for trial in trials], base),
            sum(trial[name][1] for trial in trials),
        )
        for name in trials[0]
    }


def ratio_table(title: str, heads: Sequence[str], columns: Iterable[str]) -> Table:
    """A table whose last columns are ratios."""
    right = [Column(name, justify="right", no_wrap=True) for name in columns]
    return Table(*heads, *right, title=title, box=SIMPLE)


def pays(curve: Mapping[float, Interval]) -> str:
    """Up to which place a protection surely pays, from where on it surely costs."""
    places = sorted(curve)
    good = [at for at in places if all(curve[it].high < 1 for it in places if it <= at)]
    bad = [at for at in places if curve[at].low > 1]
    helps = f"pays up to {good[-1]:g}" if good else "never surely pays"
    return f"{helps}, costs from {bad[0]:g} on" if bad else helps
