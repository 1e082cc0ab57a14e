"""The papers' tables and figures: list them, run one, check that all say what they said."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.box import SIMPLE
from rich.table import Column, Table

from sims.campaign.axes import axis
from sims.campaign.engine import execute as run_campaign
from sims.campaign.executors import local
from sims.campaign.results import Results
from sims.campaign.store import Store
from sims.cli.watching import bar, interruptible
from sims.errors import InputError
from sims.options import Parser, positive_int
from sims.papers import guard
from sims.papers.catalogue import ITEMS, SIZES, Item, current, item
from sims.papers.values import draw, table
from sims.scenario.loader import split_override, value_of
from sims.script import prepare_pictures, wide_console
from sims.telling import counted, in_units

RESULTS = Path("logs/papers")

LEGEND = (
    "± and [ ]: 95 % intervals; (what the paper prints, to its digits: `in` our interval or `out`)"
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.set_defaults(action=_list)
    actions = parser.add_subparsers(metavar="ACTION", parser_class=Parser)
    about = "Run one; print its table beside what the paper prints, draw its figure."
    command = actions.add_parser("run", help=about, description=about)
    command.set_defaults(action=_run)
    _running(command)
    about = "Run all at smoke size, beside the intervals that are stored."
    command = actions.add_parser("check", help=about, description=about)
    command.set_defaults(action=_check)
    command.add_argument("names", metavar="NAME", nargs="*", help="only these")
    command.add_argument("--store", action="store_true", help="store what they say instead")


def _running(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("name", metavar="NAME", help="such as volatile13/table1: `holdfast papers` lists all")
    add("--size", choices=SIZES, default="default", help="`full` is the paper's")
    about = "another value, such as policy.reading=fresh (repeatable)"
    add("--set", metavar="KEY=VALUE", action="append", default=[], help=about)
    about = "other values along an axis, such as channels=5,10 (repeatable)"
    add("--axis", metavar="KEY=V1,V2,...", action="append", default=[], help=about)
    add("--replications", type=positive_int, metavar="N", help="runs of every variant in a cell")
    add("--input", type=Path, metavar="PATH", help="the log or the traces that some need")
    add("--evidence", action="store_true", help="tell what was made of the input")
    about = "of results, from which an interrupted run goes on; default: logs/papers/NAME"
    add("--results", metavar="DIR", type=Path, help=about)


def execute(arguments: argparse.Namespace) -> int:
    """Run the command; returns the exit code."""
    code: int = arguments.action(arguments)
    return code


def _named(name: str) -> Item:
    """The one of that name. Says so on stderr if it is an old name. Raises InputError."""
    one = item(current(name))
    if one.name != name:
        print(f"holdfast: {name} is an old name: write {one.name}", file=sys.stderr)
    return one


# --- list -------------------------------------------------------------------------------------


def _list(arguments: argparse.Namespace) -> int:
    known = guard.stored()
    heads = (Column(size, justify="right") for size in SIZES)
    grid = Table("name", "", *heads, title="CPU time by --size", box=SIMPLE)
    for one in ITEMS:
        seconds = known.get(one.name, guard.Stored()).seconds
        grid.add_row(one.name, one.about, *(_told(seconds.get(size)) for size in SIZES))
    wide_console().print(grid)
    return 0


def _told(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    return f"{seconds:.1f} s" if seconds < 60 else in_units(round(seconds), "s")


# --- run --------------------------------------------------------------------------------------


def _run(arguments: argparse.Namespace) -> int:
    one = _named(arguments.name)
    folder = arguments.results or RESULTS / one.name
    results = _results(one, arguments, folder) if one.drawn else None
    values, console = one.values(results), wide_console()
    console.print(table(f"{one.name}: {one.about}", values))
    console.print(LEGEND, highlight=False, markup=False)
    name = f"{one.name.partition('/')[2]}.png"
    drawn = draw(results, values, folder / name) if results else one.pictures(folder)
    for path in drawn:
        print(f"picture  {path}")
    return 0


def _results(one: Item, arguments: argparse.Namespace, folder: Path) -> Results:
    campaign = one.campaign(arguments.size, _changes(one, arguments))
    if campaign.picture is not None:
        prepare_pictures(folder)
    kept = f"what is finished is in {folder}: the same command goes on"
    with interruptible(kept), bar(campaign.name) as watch:
        return _sound(run_campaign(campaign, store=Store(folder), watch=watch))


def _changes(one: Item, arguments: argparse.Namespace) -> dict[str, Any]:
    given = one.given(arguments.input) if arguments.input else {"set": {}, "axes": {}}
    if arguments.evidence:
        for line in one.evidence(arguments.input):
            print(line)
    sets = {key: value_of(text) for key, text in map(split_override, arguments.set)}
    axes = {it.key: list(it.values) for it in (axis(word, "--axis") for word in arguments.axis)}
    more = {"replications": arguments.replications} if arguments.replications else {}
    return {**given, "set": given["set"] | sets, "axes": given["axes"] | axes, **more}


def _sound(results: Results) -> Results:
    for (case, _), result in results.raised():
        raise InputError(f"{case}, seed {result.seed}", "", str(result.error))
    return results


# --- check ------------------------------------------------------------------------------------


def _check(arguments: argparse.Namespace) -> int:
    chosen = [_named(name) for name in arguments.names] or [it for it in ITEMS if guard.checked(it)]
    with local() as workers:
        if arguments.store:
            guard.store(chosen, workers)
            return 0
        wrong = sum(_differs(one, guard.said(one, workers)) for one in chosen)
    print(f"{counted(len(chosen), 'table or figure', 'tables and figures')}, {wrong} differ")
    return 1 if wrong else 0


def _differs(one: Item, lines: Sequence[str]) -> bool:
    for line in lines:
        print(f"{one.name}: {line}")
    return bool(lines)
