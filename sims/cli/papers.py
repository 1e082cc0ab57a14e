"""Implements `holdfast papers`: lists the papers' tables and figures, runs one, and checks them
all."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Annotated

import typer
from attrs import evolve

from sims.campaign.axes import axis
from sims.campaign.engine import execute
from sims.campaign.executors import local
from sims.campaign.picture import prepare_pictures
from sims.campaign.question import Question
from sims.campaign.results import Store, refuse_raised
from sims.campaign.varied import Variants
from sims.cli.campaigns import Replications, working
from sims.errors import COMMAND_LINE, InputError, note, show
from sims.options import argument, chosen, flag, group, option
from sims.papers import ITEMS, SIZES, Item, current, differences, store_anew, stored
from sims.papers import item as item_named
from sims.papers.values import draw, table
from sims.scenario.loader import overridden
from sims.tables.refusals import meant
from sims.telling import counted, grid, in_units, show_table

RESULTS = Path("logs/papers")

INTERVALS = "± and [ ]: 95 % intervals"
LEGEND = f"{INTERVALS}; (what the paper prints, to its digits: `in` our interval or `out`)"
BASED = f"{INTERVALS}; (a value that the last column explains: `in` our interval or `out`)"

papers = group("List, run and check the tables and figures of the five papers.")


@papers.callback(invoke_without_command=True)
def listed(context: typer.Context) -> None:
    """List all tables and figures, if no action is given."""
    if context.invoked_subcommand is not None:
        return
    known = stored()
    rows = (
        (one.name, one.about, *(_cpu_time(seconds.get(size)) for size in SIZES))
        for one in ITEMS
        for seconds in (known.get(one.name, {}).get("seconds", {}),)
    )
    show_table(grid(("name", ""), SIZES, rows, "CPU time by --size"))


def _cpu_time(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    return f"{seconds:.1f} s" if seconds < 60 else in_units(round(seconds), "s")


def _named(name: str) -> Item:
    """Return the table or figure of that name. If the name is an old one, say so on stderr.

    Raises InputError for an unknown name.
    """
    one = item_named(current(name))
    if one.name != name:
        note(f"{name} is an old name: write {one.name}")
    return one


# --- run --------------------------------------------------------------------------------------


@papers.command()
def run(
    name: Annotated[
        str,
        argument(str, "NAME", "such as volatile13/table1: `holdfast papers` lists all"),
    ],
    size: Annotated[str, chosen(SIZES, "`full` is the paper's")] = "default",
    changes: Annotated[
        list[str] | None,
        option(
            str, "KEY=VALUE", "another value, such as policy.reading=fresh (repeatable)", "--set"
        ),
    ] = None,
    axes: Annotated[
        list[str] | None,
        option(
            str,
            "KEY=V1,V2,...",
            "other values along an axis, such as channels=5,10 (repeatable)",
            "--axis",
        ),
    ] = None,
    only: Annotated[
        str | None,
        option(str, "NAME,NAME...", "only these rows: variants of it, run beside the first one"),
    ] = None,
    replications: Replications = None,
    given: Annotated[
        Path | None,
        option(Path, "PATH", "the log or the traces that some need", "--input"),
    ] = None,
    evidence: Annotated[bool, flag("--evidence", "print what was read from the input")] = False,
    results: Annotated[
        Path | None,
        option(
            Path,
            "DIR",
            "of results, from which an interrupted run goes on; default: logs/papers/NAME",
        ),
    ] = None,
) -> None:
    """Run one: print its table beside the paper's values, and draw its figure."""
    item = _named(name)
    folder, found = results or RESULTS / item.name, None
    rows = [row.strip() for row in only.split(",")] if only else []
    if rows and not item.drawn:
        problem = f"{item.name} is computed as a whole"
        raise InputError(COMMAND_LINE, "--only", problem, "a table that runs variants")
    if item.drawn:
        asked = item.given(given) if given else {"set": {}, "axes": {}}
        if evidence:
            show(*item.evidence(given))
        asked["set"] |= overridden(changes)
        along = (axis(word, "--axis") for word in axes or ())
        asked["axes"] |= {key: list(values) for key, values in along}
        if replications:
            asked["replications"] = replications
        _refuse_axes(item.campaign(size), asked["axes"])
        question = _reduced(item.campaign(size, asked), rows)
        if question.picture is not None:
            prepare_pictures(folder)
        with working(question.door.source, question.name, folder) as (workers, watch):
            found = execute(question, workers, Store(folder), watch=watch)
        refuse_raised(found)
    values = [it for it in item.values(found) if not rows or it.who in rows]
    sizes = [item.campaign(it).subject.changes for it in (size, "full")] if item.whole else []
    if sizes and sizes[0] != sizes[1]:
        values = [evolve(it, paper=None, basis="") for it in values]
        show("At this size less is run than was published, whose values do not stand beside it.")
    show_table(table(f"{item.name}: {item.about}", values))
    printed = LEGEND if any(it.paper is not None for it in values) else INTERVALS
    show(BASED if any(it.basis for it in values) else printed)
    picture = folder / f"{item.name.partition('/')[2]}.png"
    for path in draw(found, values, picture) if found else item.pictures(folder):
        show(f"picture  {path}")


def _refuse_axes(question: Question, axes: Collection[str]) -> None:
    """Raise InputError for an axis that the campaign's variants set: each of its values would be
    the same runs once more."""
    variants = question.varied.variants
    for key in axes:
        if any(key in settings for settings in variants.values()):
            problem = f"{key} is what the variants set"
            accepted = f"another key; --only for some of {', '.join(variants)}"
            raise InputError(COMMAND_LINE, "--axis", problem, accepted)


def _reduced(question: Question, rows: Collection[str]) -> Question:
    """Return the question with these variants, and that with which they are compared; all of it if
    there are no `rows`. Raises InputError for a name that is no variant."""
    varied = question.varied
    assert isinstance(varied, Variants)
    for name in rows:
        if name not in varied.variants:
            problem = f"{name!r} is no row{meant(name, varied.variants)}"
            raise InputError(COMMAND_LINE, "--only", problem, ", ".join(varied.variants))
    if not rows:
        return question
    kept = {varied.reference, *rows}
    variants = {name: it for name, it in varied.variants.items() if name in kept}
    return evolve(question, varied=evolve(varied, variants=variants))


# --- check ------------------------------------------------------------------------------------


@papers.command()
def check(
    names: Annotated[list[str] | None, argument(str, "NAME", "only these")] = None,
    store: Annotated[bool, flag("--store", "store the new values instead")] = False,
) -> int:
    """Run all that need no --input at smoke size, and compare with stored intervals."""
    items = [_named(name) for name in names or ()] or [it for it in ITEMS if not it.needs_input]
    for it in items:
        if it.needs_input:
            problem = f"{it.name} runs on an input of yours, with which nothing is stored"
            raise InputError(COMMAND_LINE, "NAME", problem, "another name of `holdfast papers`")
    with local() as workers:
        if store:
            store_anew(items, workers)
            return 0
        wrong = 0
        for item in items:
            lines = differences(item, workers)
            show(*(f"{item.name}: {line}" for line in lines))
            wrong += bool(lines)
    show(f"{counted(len(items), 'table or figure', 'tables and figures')}, {wrong} differ")
    return 1 if wrong else 0
