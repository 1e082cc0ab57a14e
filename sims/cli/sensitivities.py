"""Implements `holdfast sensitivity`: which numbers of a scenario matter."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sims.campaign.executors import PATIENCE, cluster, local
from sims.campaign.results import Store
from sims.campaign.sensitivity import sensitivity as ranked
from sims.cli.campaigns import Patience, Scheduler
from sims.cli.comparing import tell
from sims.cli.progress import bar, interruptible
from sims.cli.tuning import picture_or_rows
from sims.durations import in_unit
from sims.errors import COMMAND_LINE, InputError, naming
from sims.metrics.measures import Measure
from sims.options import (
    FirstSeed,
    Overrides,
    Policies,
    ScenarioFile,
    Until,
    flag,
    option,
    positive_int,
    written,
)
from sims.scenario.loader import load, overridden


def part(word: str) -> float:
    """Return the fraction that a text such as `20%` or `0.2` states.

    Raises InputError for another word.
    """
    text = word.strip()
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        accepted = "a percentage such as 20%"
        raise InputError(COMMAND_LINE, "--by", f"{word!r} is none", accepted) from None
    return number / 100 if text.endswith("%") else number


def sensitivity(
    file: ScenarioFile,
    keys: Annotated[
        str | None,
        option(
            str,
            "KEY,KEY...",
            "numbers to change; default: every one with a unit that the file gives",
        ),
    ] = None,
    pairs: Annotated[
        str | None,
        option(str, "KEY,KEY", "change two numbers together: a map in place of the ranking"),
    ] = None,
    by: Annotated[str, option(str, "20%", "part by which each is changed")] = "20%",
    measure: Annotated[
        Measure, typer.Option(help="measure whose mean is looked at")
    ] = Measure.MAKESPAN,
    runs: Annotated[int, option(positive_int, "N", "runs of each change, a seed each")] = 30,
    seed: FirstSeed = None,
    changes: Overrides = None,
    policies: Policies = None,
    until: Until = None,
    store: Annotated[
        Path | None,
        option(Path, "DIR", "folder of results: what is interrupted resumes from it"),
    ] = None,
    scheduler: Scheduler = None,
    patience: Patience = PATIENCE,
    as_json: Annotated[bool, flag("--json", "print JSON")] = False,
    output: Annotated[
        Path | None, written("draw a tornado, or a map, or write the table", picture_or_rows)
    ] = None,
) -> None:
    """Rank the numbers of a scenario by what a change of each alone does.

    Each number is made smaller and larger by the same part, on the same seeds as the scenario as it
    is. With --pairs two are changed together, in five steps each. Intervals of the ratios hold all
    together at 95 % (Bonferroni).
    """
    until = in_unit(until, "--until", lambda: load(file, changes or (), seed).times.value)
    workers = cluster(scheduler, patience) if scheduler else local()
    with (
        naming(file),
        interruptible(store),
        workers as ready,
        bar("simulating") as watch,
    ):
        found = ranked(
            file,
            [it.strip() for it in keys.split(",")] if keys else [],
            pairs=[it.strip() for it in pairs.split(",")] if pairs else [],
            by=part(by),
            measure=measure,
            changes=overridden(changes),
            runs=runs,
            seed=seed,
            until=until,
            workers=ready,
            store=Store(store) if store else None,
            watch=watch,
        )
    tell(found, as_json, output)
