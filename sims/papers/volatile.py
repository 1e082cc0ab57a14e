"""002: Tables I and II, Figure 2, and what the paper left for later.

python -m sims.papers.volatile table1 | table2 | figure2 | realtraces --traces DIR
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.box import SIMPLE
from rich.progress import track
from rich.table import Column, Table

from policies.maths.markov import Expectation
from sims.campaign import run_many
from sims.options import Parser, add_choice, add_picture, positive_int
from sims.papers.volatile_paper import HEURISTICS, TABLE_1, TABLE_2, PaperRow
from sims.papers.volatile_real import add_options as add_real_options
from sims.papers.volatile_real import real_traces
from sims.papers.volatile_runs import Instance, instances, makespans
from sims.papers.volatile_scores import Score, Scores, by_fastest, scores
from sims.plots.curves import draw_curves
from sims.script import run_script, wide_console
from sims.telling import counted

REFERENCE = "IE"
"""The heuristic that the others are compared with (002, VII.A)."""


def main(words: Sequence[str] | None = None) -> int:
    """Run one of the experiments; returns the exit code."""
    return run_script(_parser(), words, lambda options: options.run(options))


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="python -m sims.papers.volatile", description="Tables and figures of 002.")
    commands = parser.add_subparsers(required=True, metavar="WHAT")
    for name, about, tasks, chosen, run in (
        ("table1", "Table I: 17 heuristics, m = 5", 5, HEURISTICS, _table1),
        ("table2", "Table II: m = 10", 10, tuple(TABLE_2), _table2),
        ("figure2", "Figure 2: difference to IE by wmin, m = 10", 10, tuple(TABLE_2), _figure2),
    ):
        command = commands.add_parser(name, help=about, description=about)
        command.set_defaults(run=run, tasks=tasks)
        _add_options(command, chosen)
    add_picture(commands.choices["figure2"], Path("logs/volatile-figure2.png"))
    about = "how wrong Markov heuristics are on the real availability of spot instances"
    real = commands.add_parser("realtraces", help=about, description=about)
    real.set_defaults(run=real_traces)
    add_real_options(real)
    return parser


def _add_options(command: argparse.ArgumentParser, heuristics: Sequence[str]) -> None:
    add = command.add_argument
    add("--scenarios", type=positive_int, default=1, help="per n_com and wmin (paper: 10)")
    add("--trials", type=positive_int, default=2, help="per scenario (paper: 10)")
    wmin = tuple(range(1, 11))
    add("--wmin", type=positive_int, nargs="+", default=wmin, metavar="W", help="values of wmin")
    channels = (5, 10, 20)
    about = "channels of the master (n_com)"
    add("--ncom", type=positive_int, nargs="+", default=channels, metavar="N", help=about)
    add("--cap", type=positive_int, default=1_000_000, help="slots at most (paper: 1,000,000)")
    add("--heuristics", nargs="+", default=heuristics, metavar="NAME", help="who is compared")
    add_choice(
        command, "--expectation", Expectation.PRINTED, "which E(S)(W); the tables fit printed"
    )
    add("--store", type=Path, help="results file: an interrupted campaign resumes from it")


# --- the campaign -----------------------------------------------------------------------------


def measure(options: argparse.Namespace) -> dict[Instance, dict[str, int | None]]:
    """Makespan of every heuristic on every instance; None: over the cap."""
    names = tuple(dict.fromkeys((REFERENCE, *options.heuristics)))
    tasks = instances(
        options.tasks,
        options.ncom,
        options.wmin,
        options.scenarios,
        options.trials,
        names,
        options.expectation,
        options.cap,
    )
    results = run_many(makespans, tasks, store=options.store)
    return dict(track(results, counted(len(names), "heuristic"), len(tasks), transient=True))


def _table1(options: argparse.Namespace) -> None:
    _print_table("002, Table I (m = 5)", options, TABLE_1)


def _table2(options: argparse.Namespace) -> None:
    _print_table("002, Table II (m = 10)", options, TABLE_2)


def _print_table(title: str, options: argparse.Namespace, paper: Mapping[str, PaperRow]) -> None:
    found = scores(measure(options), REFERENCE)
    console = wide_console()
    console.print(_table(title, found, paper))
    console.print(
        f"{counted(found.instances, 'instance')} ({counted(found.scenarios, 'scenario')}); E(S)(W) "
        f"{options.expectation.value}; ± is a 95 % interval over scenarios; (paper).",
        highlight=False,
    )


def _table(title: str, found: Scores, paper: Mapping[str, PaperRow]) -> Table:
    heads = ("#fails", "%diff", "%wins", "%wins30", "stdv")
    columns = [Column(head, justify="right", no_wrap=True) for head in heads]
    table = Table(Column("heuristic", no_wrap=True, min_width=9), *columns, title=title, box=SIMPLE)
    for name, score in sorted(found.rows.items(), key=lambda item: item[1].diff.mean):
        table.add_row(name, *_cells(score, paper.get(name)))
    return table


def _cells(score: Score, paper: PaperRow | None) -> list[str]:
    ours = (
        f"{score.fails}",
        f"{_short(score.diff.mean)}±{score.diff.half:.0f}",
        f"{score.wins.mean:.0f}±{score.wins.half:.0f}",
        f"{score.wins30.mean:.0f}±{score.wins30.half:.0f}",
        f"{score.stdv:.1f}",
    )
    if paper is None:
        return list(ours)
    theirs = (
        f"{paper.fails}",
        f"{paper.diff:.0f}",
        f"{paper.wins:.0f}",
        f"{paper.wins30:.0f}",
        f"{paper.stdv:.1f}",
    )
    return [f"{mine} ({other})" for mine, other in zip(ours, theirs, strict=True)]


def _short(value: float) -> str:
    """One decimal where it may matter."""
    return f"{value:.1f}" if abs(value) < 100 else f"{value:.0f}"


def _figure2(options: argparse.Namespace) -> None:
    found = by_fastest(measure(options), REFERENCE)
    names = [name for name in options.heuristics if name != REFERENCE]
    curves = {
        name: [(float(wmin), rows.rows[name].diff) for wmin, rows in found.items()]
        for name in names
    }
    title = "002, Figure 2: difference to IE, m = 10"
    x, y = "slots per task of the fastest worker, wmin", "%diff to IE (below 0: better)"
    path = draw_curves(curves, options.plot, title, x, y)
    console = wide_console()
    table = Table("wmin", *names, title=title, box=SIMPLE)
    for wmin, rows in found.items():
        table.add_row(str(wmin), *(f"{rows.rows[name].diff:.1f}" for name in names))
    console.print(table)
    console.print(f"picture  {path}", highlight=False)


if __name__ == "__main__":
    sys.exit(main())
