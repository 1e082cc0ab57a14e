"""`holdfast policies` and `keys`: what a scenario file may say."""

from __future__ import annotations

import inspect
import json
import sys
import textwrap
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Annotated

from sims.errors import show
from sims.options import argument, flag
from sims.telling import list_pairs

if TYPE_CHECKING:
    from sims.scenario.keys import Key, KeyTable

LISTED = Path(__file__).with_name("policies.toml")


def policies() -> None:
    """List the policies that scenarios can name."""
    for title, catalogue in _families():
        show(title)
        list_pairs(catalogue.items(), INDENT)
        print()
    print("anywhere: your own, as package.module:Name")


def _families() -> Iterator[tuple[str, Mapping[str, str]]]:
    from policies import deadline, enrolment, pack
    from policies.queue.names import ORDERS

    told = tomllib.loads(LISTED.read_text(encoding="utf-8"))
    of_enrolment = {**enrolment.CATALOGUE, **told["fixed"]}
    yield "of a queue: policy.name", told["queue"]
    yield "of a queue: policy.allocation of moldable jobs", told["allocation"]
    yield "of a queue: policy.order", {**_documented(ORDERS), **told["formulas"]}
    yield "of a queue: policy.placement", told["placement"]
    yield "of enrolment: policy.name (volatile13, section VI)", of_enrolment
    yield "of a pack: policy.name (malleable17, section 5)", pack.CATALOGUE
    yield "of deadlines: policy.name, where jobs have one", _documented(deadline.NAMED)
    yield "of copies: policy.name (redundancy17)", told["redundancy"]


def _documented(objects: Mapping[str, object]) -> dict[str, str]:
    """Name -> first sentence of what the object says of itself, the name left out."""
    texts = {name: " ".join((inspect.getdoc(it) or "").split()) for name, it in objects.items()}
    return {name: text.partition(". ")[0].removeprefix(f"{name}: ") for name, text in texts.items()}


# --- keys -------------------------------------------------------------------------------------

WIDTH = 120
"""Columns where no terminal says how many it has."""
INDENT = "  "

MORE = """\
`holdfast keys SECTION` tells a section's keys, `holdfast keys KIND` those of [job] for one kind of
job. One can be overridden, dotted as its table is: `holdfast run FILE --set master.channels=2`."""

NOTE = """\
unset: the key is left out. Where a table has kinds and one needs no other key, the kind's name
alone will do: `KEY = "KIND"`. time: a number in the file's unit or, where that is seconds,
a text such as "90 s", "7d", "2 h 30 min"."""


def keys(
    section: Annotated[
        str | None, argument(str, "SECTION", "a section, or a kind of job such as rigid")
    ] = None,
    as_json: Annotated[bool, flag("--json", "print all keys as JSON")] = False,
    as_schema: Annotated[
        bool,
        flag(
            "--schema",
            "print a JSON Schema of scenario files, for editors (their first line: `#:schema "
            "FILE`)",
        ),
    ] = False,
) -> None:
    """List the keys of scenario files: type, default and meaning."""
    if as_schema:
        from sims.scenario.keys import schema

        print(json.dumps(schema(), indent=1))
        return
    from sims.scenario.keys import tables  # it takes the source apart: not at every command's start

    told = tables(section or None)
    if as_json:
        print(json.dumps([table.as_json() for table in told]))
    elif section:
        _print_keys(told)
    else:
        _print_sections(told)


def _print_sections(told: Sequence[KeyTable]) -> None:
    places = {table.place: table for table in reversed(told)}
    named = (key for key in told[0].keys if key.name in places)
    list_pairs((places[key.name].heading(), key.meaning) for key in named)
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
