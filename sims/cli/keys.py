"""Tell what a scenario file may say: every key, its default and its meaning."""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from collections.abc import Iterator, Sequence
from shutil import get_terminal_size
from typing import TYPE_CHECKING

from sims.scenario.jobs.section import KINDS

if TYPE_CHECKING:
    from sims.scenario.keys import Key, KeyTable

WIDTH = 120
"""Columns where no terminal says how many it has."""
INDENT = "  "

MORE = """\
`holdfast keys SECTION` tells a section's keys, `holdfast keys KIND` those of [job] for one kind of
job. One can be overridden, dotted as its table is: `holdfast run FILE --set master.channels=2`."""

NOTE = """\
unset: the key is left out. Where a table has kinds and one needs no other key, the kind's name
alone will do: `KEY = "KIND"`."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("section", metavar="SECTION", nargs="?", help=f"or {', '.join(KINDS)}")
    parser.add_argument("--json", action="store_true", help="print it as JSON, all keys of all")
    about = "print a JSON Schema of scenario files, for editors (their first line: `#:schema FILE`)"
    parser.add_argument("--schema", action="store_true", help=about)


def execute(arguments: argparse.Namespace) -> int:
    """Run the command; returns the exit code."""
    if arguments.schema:
        from sims.scenario.schema import schema

        print(json.dumps(schema(), indent=1))
        return 0
    from sims.scenario.keys import tables  # it takes the source apart: not at every command's start

    told = tables(arguments.section)
    if arguments.json:
        print(json.dumps([table.as_json() for table in told]))
    elif arguments.section:
        _print_keys(told)
    else:
        _print_sections(told)
    return 0


def _print_sections(told: Sequence[KeyTable]) -> None:
    places = {table.place: table for table in reversed(told)}
    rows = [(places[key.name], key.meaning) for key in told[0].keys if key.name in places]
    width = max(len(table.heading()) for table, _ in rows)
    for table, meaning in rows:
        print(f"{table.heading():<{width}}  {meaning}")
    print(f"\n{MORE}")


def _print_keys(listed: Sequence[KeyTable]) -> None:
    width = get_terminal_size((WIDTH, 0)).columns if sys.stdout.isatty() else WIDTH
    explained: set[tuple[tuple[str, str], ...]] = set()
    for table in listed:
        kind = f' kind = "{table.kind}"' if table.kind else ""
        about = textwrap.wrap(table.about, width, initial_indent=INDENT, subsequent_indent=INDENT)
        print(f"{table.heading()}{kind}", *about, sep="\n")
        rows = [list(_cells(key, key.choices not in explained)) for key in table.keys]
        explained.update(key.choices for key in table.keys)
        print("\n".join(_lines(rows, width)), end="\n\n")
    print(NOTE)


def _cells(key: Key, explained: bool) -> Iterator[str]:
    yield INDENT + key.name
    yield ", ".join((key.type, *key.accepted))
    yield "required" if key.required else key.default or "unset"
    yield "\n".join((key.meaning, *(f"{it}: {text}" for it, text in key.choices if explained)))


def _lines(rows: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    """The rows as columns that wrap."""
    from rich.console import Console
    from rich.table import Table as Grid

    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    grid.add_column(f"{INDENT}key", no_wrap=True)
    for title in ("type", "default", "meaning"):
        grid.add_column(title)
    for row in rows:
        grid.add_row(*row)
    console = Console(width=width, markup=False, emoji=False, highlight=False)
    with console.capture() as captured:
        console.print(grid)
    return (line.rstrip() for line in captured.get().splitlines())
