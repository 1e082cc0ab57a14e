"""Implements `holdfast new`, `examples` and `matrix`, which give files to begin from, and
`policies` and `keys`, which list what a file may contain."""

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

import typer

from sims.errors import COMMAND_LINE, InputError, show
from sims.examples import (
    AGENT,
    AXES,
    HAZARD,
    campaigns,
    cell_file,
    copy,
    copy_files,
    example,
    meanings,
    policy_file,
    scenario_file,
    script,
    scripts,
)
from sims.examples import examples as shipped
from sims.options import argument, flag, natural, one_of, option, written
from sims.telling import grid, list_pairs, show_table
from sims.writing import replacing

if TYPE_CHECKING:
    from sims.scenario.keys import Key, KeyTable

SCENARIO, POLICY = "scenario", "policy"
ALONE = (HAZARD, AGENT)
WHAT = (SCENARIO, POLICY, *ALONE)


def new(
    what: Annotated[
        str,
        typer.Argument(
            metavar="|".join(WHAT),
            parser=one_of(WHAT),
            autocompletion=lambda: list(WHAT),
            help="what to print",
        ),
    ],
    name: Annotated[
        str | None,
        argument(str, "KIND|CELL|POINT", "which one: see above; a hazard or agent has none"),
    ] = None,
    seed: Annotated[int, option(natural, "SEED", "which example of a cell")] = 0,
    output: Annotated[
        Path | None,
        written("write it to this file"),
    ] = None,
) -> None:
    """Print a file to begin with: a scenario, a policy, a hazard or an agent.

    `holdfast new scenario KIND` (rigid, moldable, malleable, iterative), or CELL of `holdfast
    matrix`, prints a scenario file with each key explained; `holdfast new scenario fleet` one of a
    training job on nodes that fail, with four lines to edit. -o also writes the editors' schema
    beside it. `holdfast new policy POINT` prints a policy for a decision point: of a queue
    strategy, order, allocation, batch_allocation; enrolment; of a pack pack_allocation,
    redistribution; copies; of a master service; of deadlines deadline; of starts placement; of
    repairs retirement.
    `holdfast new hazard` prints a law of faults, `holdfast new agent` an actor of your own in the
    world.
    """
    begun = what == SCENARIO
    if what in ALONE:
        name = what
    if name is None or (what == POLICY and name == HAZARD):
        problem = "lacks what kind of it"
        raise InputError(COMMAND_LINE, f"new {what}", problem, "see `holdfast new -h`")
    text = scenario_file(name, seed) if begun else policy_file(name)
    if output is None:
        print(text, end="")
        return
    if output.exists():
        raise InputError(str(output), "", "is there already", "a new file")
    _write(output, text)
    if begun:
        from sims.scenario.keys import FILE, schema

        path, content = output.parent / FILE, json.dumps(schema(), indent=1)
        if not path.exists() or path.read_text(encoding="utf-8") != content:
            _write(path, content)


def _write(path: Path, text: str) -> None:
    with replacing(path) as new:
        new.write_text(text, encoding="utf-8")
    show(path)


def examples(
    names: Annotated[list[str] | None, argument(str, "NAME", "copy this one")] = None,
    everything: Annotated[bool, flag("--all", "copy all of them")] = False,
    of_python: Annotated[bool, flag("--scripts", "Python scripts instead")] = False,
    output: Annotated[Path, written("where to", Path, "FOLDER")] = Path(),
) -> None:
    """List the scenarios, campaigns and scripts that come with Holdfast, or copy some.

    `holdfast examples volatile20` copies it to the current folder; --all copies all of them.
    `holdfast examples --scripts bandwidth` copies a script, to be run with `python bandwidth.py`.
    """
    known = scripts() if of_python else shipped() | campaigns()
    find = script if of_python else example
    if not names and not everything:
        list_pairs(known.items())
        return
    for name in names or ():
        find(name)  # none is copied where one is unknown
    for name in known if everything else names or ():
        show(*(copy_files([script(name)], output) if of_python else copy(name, output)))


def matrix(
    cell: Annotated[
        str | None,
        argument(str, "CELL", "such as rigid/faults/images/master: print its scenario file"),
    ] = None,
    seed: Annotated[int, option(natural, "SEED", "which example of each cell")] = 0,
) -> None:
    """List the combinations of job, hazard, protection and communication.

    `holdfast matrix rigid/faults/images/master > mine.toml` writes the example of one cell.
    """
    if cell is None:
        for axis in AXES.values():
            rows = ((name, part["about"]) for name, part in axis["parts"].items())
            show_table(grid((axis["about"], ""), (), rows))
        show("A cell is one of each: rigid/faults/images/master; every cell runs.")
        return
    try:
        print(*(f"# {line}" for line in meanings(cell)), cell_file(cell, seed), sep="\n", end="")
    except ValueError as accepted:
        raise InputError(COMMAND_LINE, "CELL", f"{cell!r} is none", str(accepted)) from None


# --- what a file may say -----------------------------------------------------------------------


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

    content = tomllib.loads(LISTED.read_text(encoding="utf-8"))
    of_enrolment = {**enrolment.CATALOGUE, **content["fixed"]}
    yield "of a queue: policy.name", content["queue"]
    yield "of a queue: policy.allocation of moldable jobs", content["allocation"]
    yield "of a queue: policy.order", {**_documented(ORDERS), **content["formulas"]}
    yield "of a queue: policy.placement", content["placement"]
    yield "of enrolment: policy.name (volatile13, section VI)", of_enrolment
    yield "of a pack: policy.name (malleable17, section 5)", pack.CATALOGUE
    yield "of deadlines: policy.name, where jobs have one", _documented(deadline.NAMED)
    yield "of copies: policy.name (redundancy17)", content["redundancy"]


def _documented(objects: Mapping[str, object]) -> dict[str, str]:
    """Map each name to the first sentence of its object's docstring, without the name before it."""
    texts = {name: " ".join((inspect.getdoc(it) or "").split()) for name, it in objects.items()}
    return {
        name: text.partition(". ")[0].rstrip(".").removeprefix(f"{name}: ")
        for name, text in texts.items()
    }


# --- keys -------------------------------------------------------------------------------------

WIDTH = 120
"""Number of columns where stdout is no terminal."""
INDENT = "  "

MORE = """\
`holdfast keys SECTION` tells a section's keys, `holdfast keys KIND` those of [job] for one kind of
job, `holdfast keys job.sacct` those of a table within one, `holdfast keys rigid.estimate` one key.
A key can be overridden, dotted as its table is: `holdfast run FILE --set master.channels=2`."""

NOTE = """\
unset: the key is left out. Where a table has kinds and one needs no other key, the kind's name
alone will do: `KEY = "KIND"`. time: a number in the file's unit or, where that is seconds,
a text such as "90 s", "7d", "2 h 30 min"."""


def keys(
    section: Annotated[
        str | None,
        argument(str, "SECTION", "a section, a kind of job such as rigid, or a path: job.sacct"),
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

    content = tables(section or None)
    if as_json:
        print(json.dumps([table.as_json() for table in content]))
    elif section:
        _print_keys(content)
    else:
        _print_sections(content)


def _print_sections(content: Sequence[KeyTable]) -> None:
    places = {table.place: table for table in reversed(content)}
    named = (key for key in content[0].keys if key.name in places)
    list_pairs((places[key.name].heading(), key.meaning) for key in named)
    print(f"\n{MORE}")


def _print_keys(listed: Sequence[KeyTable]) -> None:
    width = get_terminal_size((WIDTH, 0)).columns if sys.stdout.isatty() else WIDTH
    explained: set[tuple[tuple[str, str], ...]] = set()
    outer = [it for it in listed if it.depth == listed[0].depth]
    for table in outer:
        kind = f' kind = "{table.kind}"' if table.kind else ""
        about = textwrap.wrap(table.about, width, initial_indent=INDENT, subsequent_indent=INDENT)
        print(f"{table.heading()}{kind}", *about, sep="\n")
        rows = [list(_cells(key, key.choices not in explained)) for key in table.keys]
        explained.update(key.choices for key in table.keys)
        print("\n".join(_lines(rows, width)), end="\n\n")
    if inner := [it for it in listed if it not in outer]:
        _print_within(inner, width)
    print(NOTE)


def _print_within(inner: Sequence[KeyTable], width: int) -> None:
    """Print, for each table within those that are printed in full, its place and the names of its
    keys."""
    named: dict[str, dict[str, None]] = {}
    for table in inner:
        named.setdefault(table.place, {}).update(dict.fromkeys(key.name for key in table.keys))
    print("Tables within; `holdfast keys PLACE` tells their keys in full:")
    column = max(map(len, named)) + len(INDENT)
    for place, names in named.items():
        begun = f"{INDENT}{place:<{column}}"
        print(
            textwrap.fill(
                ", ".join(names), width, initial_indent=begun, subsequent_indent=" " * len(begun)
            )
        )
    print()


def _cells(key: Key, explained: bool) -> Iterator[str]:
    yield INDENT + key.name
    yield ", ".join((key.type, *key.accepted))
    yield "required" if key.required else key.default or "unset"
    yield "\n".join((key.meaning, *(f"{it}: {text}" for it, text in key.choices if explained)))


def _lines(rows: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    """Return rows of four texts (key, type, default, meaning) as the lines of a table of this
    width, below a head. Columns wrap, but for the key."""
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
