"""`holdfast policies` and `keys`: what a scenario file may say."""

from __future__ import annotations

import inspect
import json
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Annotated

from sims.errors import show
from sims.options import argument, flag
from sims.script import list_pairs

if TYPE_CHECKING:
    from sims.scenario.keys import Key, KeyTable

FIXED = {"FIXED": "always the configuration of `parameters.members`, such as {P2 = 2, P3 = 1}"}

QUEUE = {
    "FCFS": "in order, no backfilling",
    "EASY": "the first that does not fit is promised processors, what does not delay it starts",
    "conservative": "every job is promised a start on arrival; compressed when a run ends early",
    "greedy": "whatever fits, in order",
    "R-LIST-m": (
        "the first m of the queue are promised processors; Q: all of it (rigid21, section 4.1)"
    ),
    "R-SHELF-B": "shelves, with backfilling; -NB: without (rigid21, section 4.2)",
    "R-SHELFFILL-B": (
        "as R-SHELF, a failed job restarts where it fits its shelf (rigid21, section 4.3)"
    ),
}

ALLOCATION = {
    "LPA": "local processor allocation (moldable21, algorithm 2)",
    "BATCH": "all pending attempts of a batch allotted together (moldable21, section 4.4)",
    "MINTIME": "the fewest processors of least time (moldable21, section 5.1)",
    "MINAREA": "the fewest processors of least area (moldable21, section 5.1)",
}

FORMULAS = {
    "SJF": "the shortest estimate first, as SPT",
    "PRIORITY": "the highest priority first, as the log or the job says",
    "WFP3": "the smallest -(w/r)^3 n first: w wait, r estimate, n processors; sorted anew",
    "UNICEP": "the smallest -w/(r log2 n) first, n at least 2; sorted anew",
    "FAIR-SHARE": "the user with the least processor-time first, half as much after a week; anew",
    "F1": "the smallest log10(r) n + 870 log10(s) first, s: submission, from the first one",
    "F2": "the smallest sqrt(r) n + 25600 log10(s) first",
    "F3": "the smallest r n + 6860000 log10(s) first",
    "F4": "the smallest r sqrt(n) + 530000 log10(s) first",
}

PLACEMENT = {
    "lowest": "the lowest numbers (the default)",
    "compact": "the fewest intervals of numbers: shorter logs of large platforms",
    "programmed": "those that hold the job's program first",
    "IP, IE, IY, IAY": "as volatile13's passive heuristics choose members",
}

REDUNDANCY = {
    "SRPT+R": (
        "shortest remaining time first; all spare servers copy the smallest job (redundancy17, "
        "section IV)"
    ),
    "SRPT+R-even": "as SRPT+R, the spare servers spread over all jobs",
    "SRPT+R-noclone": "as SRPT+R, each copy keeps its own progress",
    "SRPT": "shortest remaining time first, one copy each; SRPT-sticky: jobs keep their servers",
    "LAPS+R(beta)": (
        "the newest part beta of the jobs, with copies (redundancy17, section V); LAPS(beta): "
        "without"
    ),
    "LAPS+R-onecopy(beta)": "LAPS+R's jobs and shares, one copy each",
    "FCFS": "first come, first served",
    "PS": "processor sharing",
}


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

    yield "of a queue: policy.name", QUEUE
    yield "of a queue: policy.allocation of moldable jobs", ALLOCATION
    yield "of a queue: policy.order", {**_documented(ORDERS), **FORMULAS}
    yield "of a queue: policy.placement", PLACEMENT
    yield "of enrolment: policy.name (volatile13, section VI)", {**enrolment.CATALOGUE, **FIXED}
    yield "of a pack: policy.name (malleable17, section 5)", pack.CATALOGUE
    yield "of deadlines: policy.name, where jobs have one", _documented(deadline.NAMED)
    yield "of copies: policy.name (redundancy17)", REDUNDANCY


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
        from sims.scenario.schema import schema

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
