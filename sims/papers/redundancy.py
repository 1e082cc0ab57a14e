"""004: flowtimes with redundant copies, the competitive ratio, and the lemmas.

python -m sims.papers.redundancy study | bounds | lemmas
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.box import SIMPLE
from rich.console import Console
from rich.progress import track
from rich.table import Column, Table

from sims.campaign import run_many
from sims.options import Parser, add_picture, natural, positive, positive_int, whole_from
from sims.papers.redundancy_bounds import BoundTask, Semantics, guarantee, run_bound
from sims.papers.redundancy_lemmas import PROCESSES, TIMES, drain_row, gain_row
from sims.papers.redundancy_runs import Numbers, Setting
from sims.papers.redundancy_study import (
    POLICIES,
    REPRODUCED,
    Axis,
    Cell,
    Task,
    cell,
    points,
    results,
    tasks,
)
from sims.plots.curves import draw_curves
from sims.script import run_script, wide_console
from sims.statistics import mean_interval
from sims.telling import counted

REFERENCE = "SRPT"


def main(words: Sequence[str] | None = None) -> int:
    """Run one of the experiments; returns the exit code."""
    return run_script(_parser(), words, lambda options: options.run(options, wide_console()))


def _parser() -> argparse.ArgumentParser:
    about = "004: flowtimes with redundant copies, the competitive ratio, and the lemmas."
    parser = Parser(prog="python -m sims.papers.redundancy", description=about)
    commands = parser.add_subparsers(required=True, metavar="WHAT")
    for name, about, configure in (
        ("study", "flowtime and stretch along four axes", _study_options),
        ("bounds", "flowtime over lower bounds on OPT", _bounds_options),
        ("lemmas", "Lemmas 1, 2 and 5, numerically", _lemmas_options),
    ):
        configure(commands.add_parser(name, help=about, description=about))
    return parser


def _study_options(command: argparse.ArgumentParser) -> None:
    command.set_defaults(run=_study)
    axes, add = tuple(axis.value for axis in Axis), command.add_argument
    about = "what is varied: %(choices)s"
    add("--axes", nargs="+", choices=axes, default=axes, metavar="AXIS", help=about)
    add("--policies", nargs="+", default=POLICIES, metavar="POLICY", help="who is compared")
    add("--jobs", type=positive_int, default=2000, help="per run, a tenth is warm-up")
    add("--seeds", type=positive_int, default=10, help="runs of every point")
    add_picture(command, Path("logs/redundancy-load.png"))


def _bounds_options(command: argparse.ArgumentParser) -> None:
    command.set_defaults(run=_bounds)
    policies, speeds, add = ("SRPT+R", "LAPS+R(1/2)"), (1.0, 1.5, 2.0, 4.0), command.add_argument
    add("--policies", nargs="+", default=policies, metavar="POLICY", help="who is bounded")
    about = "speed augmentations of the policy"
    add("--speeds", nargs="+", type=positive, default=speeds, metavar="S", help=about)
    add("--load", type=positive, default=0.7, help="offered, of the servers' mean speed")
    add("--jobs", type=positive_int, default=500, help="per run")
    add("--seeds", type=positive_int, default=5, help="runs of every point")


def _lemmas_options(command: argparse.ArgumentParser) -> None:
    command.set_defaults(run=_lemmas)
    add = command.add_argument
    add("--copies", type=whole_from(2), default=10, help="largest r")
    add("--sample", type=positive_int, default=4000, help="servers simulated per time")
    add("--instances", type=positive_int, default=20, help="of Lemma 5")
    add("--seed", type=natural, default=1, help="of what is drawn")


# --- study ------------------------------------------------------------------------------------


def _study(options: argparse.Namespace, console: Console) -> None:
    policies = tuple(dict.fromkeys((REFERENCE, *options.policies)))
    for name in options.axes:
        axis = Axis(name)
        listed = tasks(points(axis, options.jobs), policies, options.seeds)
        ran = track(
            results(listed), f"{name}: {counted(len(listed), 'run')}", len(listed), transient=True
        )
        cells = _cells(dict(ran), policies)
        _print_study(console, axis, options, cells)
        if axis is Axis.LOAD:
            _draw(console, options.plot, cells)


def _cells(found: dict[Task, Numbers], policies: Sequence[str]) -> dict[tuple[str, str], Cell]:
    """By (label, policy), seeds in order."""
    runs: dict[tuple[str, str], list[Numbers]] = {}
    for task in sorted(found, key=lambda task: task.seed):
        runs.setdefault((task.label, task.policy), []).append(found[task])
    return {
        (label, policy): cell(runs[label, policy], runs[label, REFERENCE])
        for policy in policies
        for label in dict.fromkeys(label for label, _ in runs)
    }


def _print_study(
    console: Console, axis: Axis, options: argparse.Namespace, cells: dict[tuple[str, str], Cell]
) -> None:
    runs = f"{counted(options.jobs, 'job')} x {counted(options.seeds, 'seed')}"
    title = f"004: flowtime by {axis.value}, {runs}"
    flowtime = _table(title, axis, "mean", "95 %", "99 %", "mean / SRPT's")
    stretch = _table(f"004: stretch by {axis.value}", axis, "mean", "95 %", "99 %")
    order = list(points(axis, options.jobs))
    for (label, policy), found in sorted(cells.items(), key=lambda item: order.index(item[0][0])):
        ratio = f"{found.ratio:.3f}{_printed(axis, label, policy)}"
        flowtime.add_row(label, policy, *(f"{value:.2f}" for value in found.flowtime), ratio)
        stretch.add_row(label, policy, *(f"{value:.2f}" for value in found.stretch))
    console.print(flowtime, stretch)
    console.print("± is a 95 % interval over the seeds, which all policies share", highlight=False)


def _table(title: str, axis: Axis, *heads: str) -> Table:
    columns = [Column(head, justify="right", no_wrap=True) for head in heads]
    policy = Column("policy", no_wrap=True)
    return Table(axis.value, policy, *columns, title=title, box=SIMPLE)


def _printed(axis: Axis, label: str, policy: str) -> str:
    """The figure that was reproduced before, beside SRPT+R's."""
    if axis is Axis.LOAD and policy == "SRPT+R" and float(label) in REPRODUCED:
        return f" ({REPRODUCED[float(label)]:.3f})"
    return ""


def _draw(console: Console, path: Path, cells: dict[tuple[str, str], Cell]) -> None:
    policies = dict.fromkeys(policy for _, policy in cells)
    curves = {
        policy: [(float(at), found.ratio) for (at, own), found in cells.items() if own == policy]
        for policy in policies
    }
    curves = {policy: sorted(curve, key=lambda point: point[0]) for policy, curve in curves.items()}
    title = "004: mean flowtime over SRPT's, M = 10 servers of speed 4 or 0"
    drawn = draw_curves(
        curves, path, title, "load, of the servers' mean speed", "mean flowtime / SRPT's"
    )
    console.print(f"picture  {drawn}", highlight=False)


# --- bounds -----------------------------------------------------------------------------------


def _bounds(options: argparse.Namespace, console: Console) -> None:
    setting = Setting(load=options.load, jobs=options.jobs)
    listed = [
        BoundTask(setting, policy, semantics, speed, seed)
        for semantics in Semantics
        for policy in options.policies
        for speed in options.speeds
        for seed in range(options.seeds)
    ]
    ran = track(
        run_many(run_bound, listed), counted(len(listed), "run"), len(listed), transient=True
    )
    found: dict[tuple[str, str, float], list[float]] = {}
    for task, ratio in sorted(ran, key=lambda pair: listed.index(pair[0])):
        key = (task.semantics.value, task.policy, task.speed)
        found.setdefault(key, []).append(ratio.ratio)
    heads = [Column(head, justify="right") for head in ("speed", "flowtime / bound", "Theorem 1")]
    title = f"004: overall flowtime over a lower bound on OPT, load {options.load}"
    table = Table("semantics", "policy", *heads, title=title, box=SIMPLE)
    for (semantics_name, policy, speed), ratios in found.items():
        most = guarantee(setting, policy, speed)
        promised = f"{most:.1f}" if most is not None else "-"
        row = (f"{speed:g}", f"{mean_interval(ratios):.3f}", promised)
        table.add_row(semantics_name, policy, *row)
    console.print(table)
    console.print("Theorem 1: (1 + 2 Delta)(1 + 1/epsilon) at speed 1 + epsilon", highlight=False)


# --- lemmas -----------------------------------------------------------------------------------


def _lemmas(options: argparse.Namespace, console: Console) -> None:
    rng = np.random.default_rng(options.seed)
    heads = ("g(2, t)", f"g({options.copies}, t)", "error")
    columns = [Column(head, justify="right") for head in heads]
    table = Table("speeds", "t", *columns, "Lemma 1", "Lemma 2", title="004: g(r, t)", box=SIMPLE)
    cases = [(name, process, time) for name, process in PROCESSES.items() for time in TIMES]
    for name, process, time in track(cases, "lemmas 1 and 2", transient=True):
        row = gain_row(name, process, time, options.copies, options.sample, rng)
        two, most = row.gains[1], row.gains[-1]
        verdicts = ("holds" if ok else "VIOLATED" for ok in (row.concave, row.bounded))
        values = (f"{two.value:.4f}", f"{most.value:.4f}", f"{most.error:.1e}")
        table.add_row(name, f"{time:g}", *values, *verdicts)
    console.print(table)
    _lemma5(options, console, rng)


def _lemma5(options: argparse.Namespace, console: Console, rng: np.random.Generator) -> None:
    worst = 0.0
    for _ in range(options.instances):
        jobs, servers = int(rng.integers(1, 60)), int(rng.integers(1, 12))
        row = drain_row(jobs, servers, float(rng.uniform(0.1, 2)), rng)
        worst = max(worst, abs(row.simulated / row.formula - 1))
    console.print(
        f"Lemma 5: {options.instances} random instances, largest relative difference between "
        f"eq. 13 and simulation {worst:.1e}",
        highlight=False,
    )


if __name__ == "__main__":
    sys.exit(main())
