"""000: the example of section 4.7, Table 1, figures 4 and 5.

python -m sims.papers.moldable example | table1 | figure4 | figure5
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from attrs import frozen
from rich.box import SIMPLE
from rich.console import Console
from rich.progress import track
from rich.table import Column, Table

from sims.campaign import run_many
from sims.options import Parser, add_picture, positive, positive_int
from sims.papers.moldable_example import example
from sims.papers.moldable_runs import ALGORITHMS, Cell, Point, mean, ratios
from sims.plots.curves import draw_curves
from sims.plots.groups import draw_groups
from sims.scenario.jobs.moldable import Model
from sims.script import run_script, wide_console
from sims.statistics import Interval, mean_interval
from sims.telling import counted

P, N, RATE = 7500, 500, 1e-7
"""000's default parameters (section 5.1)."""
PROCESSORS = (1000, 4000, 7500, 11000, 15000)
JOBS = (100, 250, 500, 750, 1000)
RATES = (1e-8, 3e-8, 1e-7, 3e-7, 1e-6)
ORDERS = ("LPT", "HPA", "LA")
AXES = {
    "P": "processors, P",
    "n": "jobs, n",
    "lambda": "errors per second of sequential work, lambda",
}
"""What the pictures call what they vary."""

PAPER = {
    "LPA": (
        ("1.057", "1.312", "1.961", "1.896", "1.867", "1.861"),
        ("1.219", "2.241", "2.349", "1.987", "1.995", "9.655"),
    ),
    "BATCH": (
        ("1.158", "1.434", "1.529", "1.548", "1.571", "1.549"),
        ("1.999", "2.449", "2.874", "3.674", "4.164", "3.975"),
    ),
    "MINTIME": (
        ("1.057", "2.044", "15.567", "2.810", "2.704", "20.386"),
        ("1.219", "2.666", "49.795", "12.611", "27.174", "61.726"),
    ),
    "MINAREA": (
        ("114.079", "122.199", "23.594", "16.875", "9.686", "2.571"),
        ("1217.13", "871.38", "199.572", "259.163", "120.9", "27.109"),
    ),
}
"""000, Table 1: expected and maximum ratios by model, over sweeps whose grid is not stated."""


@frozen
class Setting:
    """A point less its set of jobs."""

    model: Model
    jobs: int
    processors: int
    rate: float


@frozen
class Summary:
    """Of one algorithm in one setting."""

    expected: Interval
    """Over the sets of jobs."""
    worst: float


Found = dict[tuple[Setting, Cell], Summary]


def main(words: Sequence[str] | None = None) -> int:
    """Run one of the experiments; returns the exit code."""
    return run_script(_parser(), words, lambda options: options.run(options))


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="python -m sims.papers.moldable", description="Figures and table of 000.")
    commands = parser.add_subparsers(required=True, metavar="WHAT")
    about = "the example of section 4.7"
    command = commands.add_parser("example", help=about, description=about)
    command.set_defaults(run=lambda options: example(wide_console()))
    for name, about, run, sets in (
        ("table1", "Table 1: allocation rules by speedup model", _table1, 30),
        ("figure4", "figure 4: allocation rules and orders", _figure4, 30),
        ("figure5", "figure 5: by P, n and lambda", _figure5, 10),
    ):
        command = commands.add_parser(name, help=about, description=about)
        command.set_defaults(run=run)
        _add_options(command, sets)
    for name in ("figure4", "figure5"):
        add_picture(commands.choices[name], Path(f"logs/moldable-{name}.png"))
    about = "sweep P, n and lambda too"
    commands.choices["table1"].add_argument("--pooled", action="store_true", help=about)
    return parser


def _add_options(command: argparse.ArgumentParser, sets: int) -> None:
    add = command.add_argument
    add("--sets", type=positive_int, default=sets, help="sets of jobs (paper: 30)")
    add("--scenarios", type=positive_int, default=10, help="per set (paper: 100)")
    models = tuple(model.value for model in Model)
    about = "of speedup: %(choices)s (default: the paper's)"
    add("--models", nargs="+", choices=models, metavar="MODEL", help=about)
    allotment = command.add_mutually_exclusive_group()
    about = "of BATCH's scaled allotment; 0.1 reproduces what the paper states for 0.3"
    allotment.add_argument("--eps", type=positive, default=0.1, help=about)
    about = "BATCH with the exact allotment"
    allotment.add_argument("--exact", action="store_true", help=about)


def _models(options: argparse.Namespace, default: Iterable[Model]) -> list[Model]:
    return [Model(name) for name in options.models] if options.models else list(default)


def measure(
    options: argparse.Namespace, settings: Sequence[Setting], cells: Sequence[Cell]
) -> Found:
    """Expected and worst ratios of every cell in every setting."""
    eps = None if options.exact else options.eps
    points = {
        Point(s.model, k, s.jobs, s.processors, s.rate, options.scenarios, tuple(cells), eps): s
        for s in sorted(settings, key=lambda s: -s.rate * s.jobs)
        for k in range(options.sets)
    }
    means: dict[tuple[Setting, Cell], list[float]] = {}
    worst: dict[tuple[Setting, Cell], float] = {}
    results = run_many(ratios, points)
    for point, found in track(results, counted(len(points), "point"), len(points), transient=True):
        for cell in cells:
            key = points[point], cell
            means.setdefault(key, []).append(mean(found, cell))
            worst[key] = max(worst.get(key, 0.0), *found[cell])
    return {key: Summary(mean_interval(sorted(means[key])), worst[key]) for key in means}


# --- Table 1 -----------------------------------------------------------------------------------


def sweep(model: Model, pooled: bool) -> list[Setting]:
    """The default setting, or those of figure 5's three sweeps."""
    default = [Setting(model, N, P, RATE)]
    if not pooled:
        return default
    others = [Setting(model, N, p, RATE) for p in PROCESSORS]
    others += [Setting(model, n, P, RATE) for n in JOBS]
    others += [Setting(model, N, P, rate) for rate in RATES]
    return list(dict.fromkeys(default + others))


def _table1(options: argparse.Namespace) -> None:
    models = _models(options, Model)
    cells = [(algorithm, "LPT") for algorithm in ALGORITHMS]
    settings = [setting for model in models for setting in sweep(model, options.pooled)]
    found = measure(options, settings, cells)
    columns = [Column(model.value, justify="right") for model in models]
    table = Table("algorithm", "", *columns, title="000, Table 1", box=SIMPLE)
    for cell in cells:
        table.add_row(cell[0], "expected", *(_expected(found, m, cell) for m in models))
        table.add_row("", "maximum", *(_worst(found, m, cell) for m in models))
    console = wide_console()
    console.print(table)
    grid = "P, n and lambda swept one at a time" if options.pooled else "default parameters"
    console.print(
        f"ratio to L'; paper's value behind /; {grid}; ± is a 95 % interval over sets of "
        f"jobs; BATCH: {'exact' if options.exact else f'scaled, eps = {options.eps:g}'}",
        highlight=False,
    )


def _of(found: Found, model: Model, cell: Cell) -> list[Summary]:
    return [summary for (s, key), summary in found.items() if s.model is model and key == cell]


def _expected(found: Found, model: Model, cell: Cell) -> str:
    theirs = PAPER[cell[0]][0][list(Model).index(model)]
    summaries = _of(found, model, cell)
    if len(summaries) == 1:
        return f"{summaries[0].expected:.3f} / {theirs}"
    return f"{sum(s.expected.mean for s in summaries) / len(summaries):.3f} / {theirs}"


def _worst(found: Found, model: Model, cell: Cell) -> str:
    theirs = PAPER[cell[0]][1][list(Model).index(model)]
    return f"{max(s.worst for s in _of(found, model, cell)):.3f} / {theirs}"


# --- figures -----------------------------------------------------------------------------------


def _figure4(options: argparse.Namespace) -> None:
    cells = [(a, o) for a in ALGORITHMS for o in ORDERS if (a, o) != ("MINAREA", "LA")]
    corners = [(P, N), (1000, 100), (1000, 500), (10000, 100), (10000, 500)]
    console = wide_console()
    models = _models(options, (Model.MIX,))
    for model in models:
        settings = [Setting(model, n, p, RATE) for p, n in corners]
        found = measure(options, settings, cells)
        heads = [Column(f"P={s.processors} n={s.jobs}", justify="right") for s in settings]
        title = f"000, figure 4, {model.value}: expected (maximum) ratio"
        table = Table("algorithm", "order", *heads, title=title, box=SIMPLE)
        for cell in cells:
            values = [found[s, cell] for s in settings]
            table.add_row(*cell, *(f"{v.expected:.3f} ({v.worst:.2f})" for v in values))
        console.print(table)
        groups = {
            f"P = {s.processors:,}\nn = {s.jobs:,}": {c: found[s, c].expected for c in cells}
            for s in settings
        }
        title = f"000, figure 4, {model.value}: expected makespan over its lower bound"
        about = "by P processors and n jobs; MINAREA with LA is MINAREA with LPT"
        target = _picture_of(options.plot, model, models)
        path = draw_groups(groups, target, title, "makespan / lower bound", about)
        console.print(f"picture  {path}", highlight=False)


def _figure5(options: argparse.Namespace) -> None:
    cells = [(algorithm, "LPT") for algorithm in ("LPA", "BATCH", "MINTIME")]
    console = wide_console()
    models = _models(options, (Model.MIX,))
    for model in models:
        sweeps: dict[str, list[tuple[float, Setting]]] = {
            "P": [(p, Setting(model, N, p, RATE)) for p in PROCESSORS],
            "n": [(n, Setting(model, n, P, RATE)) for n in JOBS],
            "lambda": [(rate, Setting(model, N, P, rate)) for rate in RATES],
        }
        settings = dict.fromkeys(s for varied in sweeps.values() for _, s in varied)
        found = measure(options, list(settings), cells)
        target = _picture_of(options.plot, model, models)
        for name, varied in sweeps.items():
            title = f"000, figure 5, {model.value}: expected ratio by {name}"
            path = target.with_stem(f"{target.stem}-{name}")
            _sweep(console, title, AXES[name], path, varied, found, cells)


def _picture_of(path: Path, model: Model, models: Sequence[Model]) -> Path:
    """Where a model's picture goes: PATH, with the model's name where there are several."""
    return path.with_stem(f"{path.stem}-{model.value}") if len(models) > 1 else path


def _sweep(
    console: Console,
    title: str,
    axis: str,
    path: Path,
    varied: Sequence[tuple[float, Setting]],
    found: Found,
    cells: Sequence[Cell],
) -> None:
    heads = [Column(cell[0], justify="right") for cell in cells]
    table = Table(axis, *heads, title=title, box=SIMPLE)
    for value, setting in varied:
        table.add_row(f"{value:g}", *(f"{found[setting, c].expected:.3f}" for c in cells))
    console.print(table)
    curves = {c[0]: [(v, found[s, c].expected) for v, s in varied] for c in cells}
    draw_curves(curves, path, title, axis, "makespan / lower bound", log_x=axis == AXES["lambda"])
    console.print(f"picture  {path}", highlight=False)


if __name__ == "__main__":
    sys.exit(main())
