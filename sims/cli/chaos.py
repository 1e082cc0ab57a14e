"""Run a scenario again with each worker killed, or taken back, at each moment."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from rich.box import SIMPLE
from rich.console import Console
from rich.progress import track
from rich.table import Column, Table

from sims.campaign import run_many
from sims.chaos import (
    Baseline,
    InjectedRun,
    Injection,
    TrialOutcome,
    attempt,
    trials,
    undisturbed,
    usual_length,
)
from sims.cli.scenarios import naming
from sims.options import natural, positive, positive_int
from sims.scenario.loader import load
from sims.scenario.scenario import Scenario
from sims.script import wide_console
from sims.telling import counted

ABOUT = """\
Each run differs from the scenario by one injected failure: at an instant at which something happens
in the baseline run, or between two, one worker goes DOWN, or is RECLAIMED. Every run must end, pass
the audit, and begin again from all that its protection had saved; what fails is printed with the
command that makes the same run."""
WORST, SHOWN = 5, 10
"""Injected failures that are listed: those that cost most, those that found something."""
Found = Sequence[tuple[InjectedRun, TrialOutcome]]


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.epilog = ABOUT
    add = parser.add_argument
    add("file", metavar="FILE", type=Path, help="scenario (TOML)")
    add("--seed", type=natural, help="default: the scenario's")
    about = "overrides one key, such as protection.kind=images (repeatable)"
    add("--set", metavar="KEY=VALUE", action="append", default=[], help=about)
    about = "how long a failed worker stays away; default: faults.downtime, or a tenth of the run"
    add("--length", metavar="TIME", type=positive, help=about)
    add("--most", type=positive_int, default=2000, help="runs; of more, so many are drawn")


def execute(arguments: argparse.Namespace) -> int:
    """Run the command; returns the exit code: 0 where every run is sound, 1 otherwise."""
    path = arguments.file
    scenario = load(path, arguments.set, arguments.seed)
    with naming(path):
        baseline = undisturbed(scenario, path.parent)
    length = arguments.length or usual_length(scenario, baseline)
    asked = trials(scenario, path.parent, baseline, length, arguments.most)
    console = wide_console()
    console.print(_announced(scenario, baseline, length, len(asked)), highlight=False)
    results = run_many(attempt, asked)
    progress = Console(stderr=True)
    found = list(track(results, "injected failures", len(asked), console=progress, transient=True))
    _report(console, baseline, found)
    _tell_problems(console, path, baseline, found)
    return 1 if baseline.problems or any(verdict.problems for _, verdict in found) else 0


def _announced(scenario: Scenario, baseline: Baseline, length: float, runs: int) -> str:
    unit, workers = scenario.times.value, scenario.full_platform.size
    every = 2 * workers * len(baseline.instants)
    which = f"all {every:,}" if runs == every else f"{runs:,} of {every:,}, drawn at random"
    moments = counted(len(baseline.instants), "moment")
    return (
        f"{scenario.name}: {counted(workers, 'worker')}, {moments}, "
        f"baseline makespan {baseline.makespan:g} {unit}; "
        f"each injected failure lasts {length:g} {unit}; {which}"
    )


def _report(console: Console, baseline: Baseline, found: Found) -> None:
    heads = ("runs", "sound", "makespan: mean", "most", "more work lost: mean", "most")
    columns = [Column(head, justify="right") for head in heads]
    table = Table("injected failure", *columns, box=SIMPLE)
    for injection in Injection:
        verdicts = [verdict for trial, verdict in found if trial.injection is injection]
        if verdicts:
            table.add_row(injection.value, *_row(baseline, verdicts))
    console.print(table)
    worst = sorted(found, key=_cost)[:WORST]
    console.print(f"what cost most (baseline: {baseline.makespan:g})", highlight=False)
    for trial, verdict in worst:
        where = f"{trial.injection.value} worker {trial.worker} at {trial.time:g}"
        console.print(
            f"  {where}: makespan {verdict.makespan:g}, lost {verdict.lost:g}", highlight=False
        )


def _row(baseline: Baseline, verdicts: Sequence[TrialOutcome]) -> tuple[str, ...]:
    count, sound = len(verdicts), sum(not verdict.problems for verdict in verdicts)
    spans = [
        verdict.makespan / baseline.makespan if baseline.makespan else 1 for verdict in verdicts
    ]
    lost = [verdict.lost - baseline.lost for verdict in verdicts]
    return (
        *(f"{count:,}", f"{sound:,}"),
        *(f"x {sum(spans) / count:.3f}", f"x {max(spans):.3f}"),
        *(f"{sum(lost) / count:.4g}", f"{max(lost):.4g}"),
    )


def _cost(pair: tuple[InjectedRun, TrialOutcome]) -> tuple[float, float, float, int]:
    trial, verdict = pair
    return -verdict.makespan, -verdict.lost, trial.time, trial.worker


def _tell_problems(console: Console, path: Path, baseline: Baseline, found: Found) -> None:
    for problem in baseline.problems[:SHOWN]:
        console.print(f"baseline: {problem}", highlight=False, soft_wrap=True)
    wrong = [(trial, verdict) for trial, verdict in found if verdict.problems]
    for trial, verdict in wrong[:SHOWN]:
        line = f"holdfast run {path} --seed {trial.scenario.seed} {trial.spelt()}"
        console.print(f"{verdict.problems[0]}\n  {line}", highlight=False, soft_wrap=True)
    if not (wrong or baseline.problems):
        console.print("every run ends, obeys every law, and keeps what was saved", highlight=False)
