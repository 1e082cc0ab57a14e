"""Print every cell of job x hazard x protection x communication, each run once."""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

from rich.box import SIMPLE
from rich.console import Console
from rich.progress import track
from rich.table import Column, Table

from actors.events import End
from sims.campaign import run_many
from sims.errors import InputError
from sims.matrix import (
    Cell,
    CellGuard,
    CellHazard,
    CellKind,
    CellLink,
    cell_named,
    cells,
    scenario,
    text,
)
from sims.options import natural
from sims.script import wide_console
from sims.world import run

ABOUT = """\
Without CELL, every cell's example is run, and its makespan printed: with free communication / with
a master. `holdfast matrix rigid/faults/images/master > mine.toml` writes a cell's example."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.epilog = ABOUT
    about = "such as rigid/faults/images/master: print its scenario file"
    parser.add_argument("cell", metavar="CELL", nargs="?", help=about)
    parser.add_argument("--seed", type=natural, default=0, help="which example of each cell")


def execute(arguments: argparse.Namespace) -> int:
    """Run the command; returns the exit code."""
    if arguments.cell is not None:
        print(text(_named(arguments.cell), arguments.seed), end="")
        return 0
    tasks = [(cell, arguments.seed) for cell in cells()]
    progress = track(
        run_many(outcome, tasks),
        "cells",
        len(tasks),
        console=Console(stderr=True),
        transient=True,
    )
    found = {cell: told for (cell, _), told in progress}
    console = wide_console()
    for kind in CellKind:
        console.print(_table(kind, found))
    console.print(f"{len(found)} cells; each entry: free / master", highlight=False)
    return 0


def outcome(task: tuple[Cell, int]) -> str:
    """The makespan of a cell's example, or the reason why it has no meaning."""
    cell, seed = task
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ending = run(scenario(cell, seed), folder=Path())
        except InputError as refused:
            return str(refused)
    assert ending.end is End.COMPLETED, cell
    return f"{ending.time:.4g}"


def _named(word: str) -> Cell:
    try:
        return cell_named(word)
    except ValueError as accepted:
        raise InputError("command line", "CELL", f"{word!r} is none", str(accepted)) from None


def _table(kind: CellKind, found: dict[Cell, str]) -> Table:
    columns = [Column(guard.value, justify="right") for guard in CellGuard]
    table = Table(kind.value, *columns, box=SIMPLE)
    for hazard in CellHazard:
        pairs = [
            tuple(found[Cell(kind, hazard, guard, link)] for link in CellLink)
            for guard in CellGuard
        ]
        table.add_row(hazard.value, *(" / ".join(pair) for pair in pairs))
    return table
