"""001: figures 4, 5 and 6, and Table 1's study on any log in the Standard Workload Format.

python -m sims.papers.rigid figure4 | figure5 | figure6 | table1-swf LOG
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.box import SIMPLE
from rich.console import Console
from rich.progress import track
from rich.table import Column, Table

from policies.queue.lists import Reading
from policies.queue.orders import PAPER_ORDERS
from sims.campaign import run_many
from sims.options import Parser, add_choice, add_picture, positive_int, probability
from sims.papers.rigid_log import add_options as add_log_options
from sims.papers.rigid_log import table1
from sims.papers.rigid_runs import HEURISTICS, SHELVES, Cell, Outcomes, Point, outcomes, synthetic
from sims.plots.curves import draw_curves
from sims.script import run_script, wide_console
from sims.statistics import Interval, mean_interval
from sims.telling import counted

AVERAGES = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9)
PLATFORMS = (5000, 7500, 10000, 12500, 15000, 17500, 20000)
DEFAULT_AVERAGE, DEFAULT_PLATFORM = 0.3, 10000
CLAIMED_GAIN = {"B": 4.8, "NB": 4.9}
"""Per cent by which filling improves shelves, P = 10,000 left out (001, section 5.2)."""

Found = dict[tuple[float, int, Cell], Interval]
"""Mean ratio over the sets by (q-bar, P, cell)."""


def main(words: Sequence[str] | None = None) -> int:
    """Run one of the experiments; returns the exit code."""
    return run_script(_parser(), words, lambda options: options.run(options))


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="python -m sims.papers.rigid", description="Figures and tables of 001.")
    commands = parser.add_subparsers(required=True, metavar="WHAT")
    for name, about, run in (
        ("figure4", "shelves, filled and not", _figure4),
        ("figure5", "heuristics and orders by q-bar", _figure5),
        ("figure6", "heuristics and orders by P", _figure6),
    ):
        command = commands.add_parser(name, help=about, description=about)
        command.set_defaults(run=run)
        _add_options(command, Path(f"logs/rigid-{name}.png"))
    for name in ("figure4", "figure5"):
        _add_averages(commands.choices[name])
    for name in ("figure4", "figure6"):
        _add_platforms(commands.choices[name])
    for name in ("figure5", "figure6"):
        _add_orders(commands.choices[name])
    about = "Table 1's study on any log: each day's jobs as one set"
    log = commands.add_parser("table1-swf", help=about, description=about)
    log.set_defaults(run=table1)
    add_log_options(log)
    return parser


def _add_options(command: argparse.ArgumentParser, figure: Path) -> None:
    add = command.add_argument
    add("--sets", type=positive_int, default=30, help="sets of 100 jobs (paper: 30)")
    add("--scenarios", type=positive_int, default=10, help="per set (paper: 1000)")
    about = "of R-LIST's reservations; `kept` is what the paper's curves fit"
    add_choice(command, "--reading", Reading.KEPT, about)
    add_picture(command, figure)


def _add_averages(command: argparse.ArgumentParser) -> None:
    about = "mean probabilities that an attempt fails"
    command.add_argument(
        *("--averages",), type=probability, nargs="+", default=AVERAGES, metavar="Q", help=about
    )


def _add_platforms(command: argparse.ArgumentParser) -> None:
    about = "numbers of processors"
    command.add_argument(
        *("--platforms",), type=positive_int, nargs="+", default=PLATFORMS, metavar="P", help=about
    )


def _add_orders(command: argparse.ArgumentParser) -> None:
    orders = tuple(PAPER_ORDERS)
    about = f"of the queue: {', '.join(orders)}"
    command.add_argument(
        *("--orders",), nargs="+", choices=orders, default=orders, metavar="ORDER", help=about
    )


# --- the campaign -----------------------------------------------------------------------------


def measure(
    options: argparse.Namespace,
    averages: Iterable[float],
    platforms: Iterable[int],
    cells: Sequence[Cell],
) -> Found:
    """Mean ratios with intervals over the sets of jobs."""
    points = [
        Point(
            f"set {number}",
            synthetic(number),
            p,
            q,
            options.scenarios,
            tuple(cells),
            options.reading,
        )
        for q in sorted(averages, reverse=True)  # long runs first: cores end together
        for p in platforms
        for number in range(options.sets)
    ]
    means: dict[tuple[float, int, Cell], list[float]] = {}
    results = run_many(outcomes, points)
    for point, result in track(results, counted(len(points), "point"), len(points), transient=True):
        _gather(means, point, result)
    return {key: mean_interval(sorted(values)) for key, values in means.items()}


def _gather(
    means: dict[tuple[float, int, Cell], list[float]], point: Point, result: Outcomes
) -> None:
    for cell in point.cells:
        key = point.average, point.processors, cell
        means.setdefault(key, []).append(result.mean(cell))


def _figure4(options: argparse.Namespace) -> None:
    cells = [(heuristic, "LPT") for heuristic in SHELVES]
    by_average = measure(options, options.averages, (DEFAULT_PLATFORM,), cells)
    by_platform = measure(options, (DEFAULT_AVERAGE,), options.platforms, cells)
    console = wide_console()
    _print_table(console, "001, figure 4a: shelves with LPT, P = 10,000", by_average, cells)
    _print_table(console, "001, figure 4b: shelves with LPT, q-bar = 0.3", by_platform, cells)
    for suffix, claimed in CLAIMED_GAIN.items():
        gain = _gain(by_platform, f"R-SHELF-{suffix}", f"R-SHELFFILL-{suffix}")
        console.print(
            f"filling improves R-SHELF-{suffix} by {gain:.1f} % (paper: {claimed} %), "
            f"P = 10,000 left out",
            highlight=False,
        )
    title = "001, figure 4b: shelves with LPT, q-bar = 0.3"
    _draw(console, options, title, by_platform, cells)


def _gain(found: Found, plain: str, filled: str) -> float:
    """Mean per cent over the platforms but P = 10,000."""
    keys = [(q, p) for q, p, cell in found if cell == (plain, "LPT") and p != DEFAULT_PLATFORM]
    gains = [
        1 - found[*key, (filled, "LPT")].mean / found[*key, (plain, "LPT")].mean for key in keys
    ]
    return 100 * sum(gains) / len(gains) if gains else 0.0


def _figure5(options: argparse.Namespace) -> None:
    cells = [(heuristic, order) for heuristic in HEURISTICS for order in options.orders]
    found = measure(options, options.averages, (DEFAULT_PLATFORM,), cells)
    _report(options, "001, figure 5", found, cells)


def _figure6(options: argparse.Namespace) -> None:
    cells = [(heuristic, order) for heuristic in HEURISTICS for order in options.orders]
    found = measure(options, (DEFAULT_AVERAGE,), options.platforms, cells)
    _report(options, "001, figure 6", found, cells)


def _report(options: argparse.Namespace, title: str, found: Found, cells: Sequence[Cell]) -> None:
    console = wide_console()
    for heuristic in HEURISTICS:
        chosen = [cell for cell in cells if cell[0] == heuristic]
        _print_table(console, f"{title}: {heuristic} ({options.reading.value})", found, chosen)
    best = [
        min((c for c in cells if c[0] == h), key=lambda c: _overall(found, c)) for h in HEURISTICS
    ]
    _print_table(console, f"{title}f: the best order of each", found, best)
    about = f"{title}f: the best order of each, R-LIST's reading {options.reading.value}"
    _draw(console, options, about, found, best)


def _overall(found: Found, cell: Cell) -> float:
    return sum(value.mean for (_, _, key), value in found.items() if key == cell)


def _print_table(console: Console, title: str, found: Found, cells: Sequence[Cell]) -> None:
    heads = [Column(" ".join(cell), justify="right") for cell in cells]
    table = Table("q-bar", "P", *heads, title=title, box=SIMPLE)
    for q, p in sorted({(q, p) for q, p, _ in found}):
        table.add_row(f"{q:g}", str(p), *(f"{found[q, p, cell]:.3f}" for cell in cells))
    console.print(table)
    console.print("mean T/L(f); ± is a 95 % interval over the sets of jobs", highlight=False)


def _draw(
    console: Console, options: argparse.Namespace, title: str, found: Found, cells: Sequence[Cell]
) -> None:
    by_platform = len({q for q, _, _ in found}) == 1
    curves = {
        " ".join(cell): [
            (float(p) if by_platform else q, found[q, p, cell])
            for q, p in sorted({(q, p) for q, p, _ in found})
        ]
        for cell in cells
    }
    axis = "processors, P" if by_platform else "mean probability that an attempt fails, q-bar"
    path = draw_curves(curves, options.plot, title, axis, "makespan / lower bound")
    console.print(f"picture  {path}", highlight=False)


if __name__ == "__main__":
    sys.exit(main())
