"""Implements `holdfast compare`: which variant of a scenario is better, by how much, and how
surely."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from sims.campaign import Campaign
from sims.campaign.answers import Shown
from sims.campaign.axes import axis
from sims.campaign.engine import execute as run_campaign
from sims.campaign.question import (
    MOST_RUNS,
    combined,
    precision_of,
    question,
    refuse_raised,
)
from sims.campaign.results import Results, Store
from sims.campaign.tables import SUFFIXES, Table
from sims.cli.progress import bar, interruptible
from sims.durations import in_unit
from sims.errors import naming, note, show
from sims.metrics.jobs import By
from sims.metrics.measures import Measure
from sims.options import (
    FirstSeed,
    Overrides,
    Policies,
    ScenarioFile,
    Until,
    flag,
    option,
    picture,
    positive_int,
    written,
)
from sims.scenario.loader import load, overridden
from sims.telling import show_table

VALUES = "KEY=V1,V2,..."


def finished(asked: Campaign, store: Path | None, title: str) -> Results:
    """Run what is missing of a campaign on this machine's cores, and return all results.

    Raises InputError where a run raised an error.
    """
    with interruptible(store), bar(title) as watch:
        found = run_campaign(asked, store=Store(store) if store else None, watch=watch)
    refuse_raised(found)
    return found


def tell(answer: Shown, as_json: bool, output: Path | None) -> None:
    """Print an answer, and write it to a picture or a table if asked."""
    if as_json:
        print(json.dumps(answer.as_json(), default=str))
    else:
        show_table(answer)
    if output is not None:
        (note if as_json else show)(answer.saved(output))


def compare(
    file: ScenarioFile,
    vary: Annotated[
        list[str] | None,
        option(
            str,
            VALUES,
            "the variants, such as policy.name=IE,Y-IE; repeated: all combinations",
        ),
    ] = None,
    across: Annotated[
        list[str] | None,
        option(
            str, VALUES, "compare anew for each of these, such as master.channels=1,5 (repeatable)"
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        option(
            str,
            "VARIANT",
            "variant to compare with, such as policy.name=Y-IE; default: the first",
        ),
    ] = None,
    runs: Annotated[int, option(positive_int, "N", "runs of each variant, a seed each")] = 10,
    precision: Annotated[
        str | None,
        option(
            str,
            "1%",
            "add runs until the printed interval's half-width is so small: a percentage, or a "
            "number in the measure's unit",
        ),
    ] = None,
    most: Annotated[
        int, option(positive_int, "N", "with --precision: runs of each variant at most")
    ] = MOST_RUNS,
    by: Annotated[
        By | None,
        typer.Option(help="compare the jobs of each user, size and so on; needs a measure of jobs"),
    ] = None,
    difference: Annotated[
        bool, flag("--difference", "compare the difference of means in place of their ratio")
    ] = False,
    measure: Annotated[
        Measure,
        typer.Option(
            help="measure to compare; flowtime, stretch, wait: the mean over a run's jobs"
        ),
    ] = Measure.MAKESPAN,
    seed: FirstSeed = None,
    changes: Overrides = None,
    policies: Policies = None,
    until: Until = None,
    store: Annotated[
        Path | None,
        option(Path, "DIR", "folder of results: an interrupted comparison resumes from it"),
    ] = None,
    as_json: Annotated[bool, flag("--json", "print JSON, with the value of each run")] = False,
    output: Annotated[
        Path | None,
        written(
            "draw the distribution of each variant's runs, or write a table",
            lambda word: picture(word, *SUFFIXES),
        ),
    ] = None,
) -> None:
    """Compare variants of a scenario on the same seeds, with confidence intervals.

    Each variant is run with the same seeds: SEED, SEED + 1 and so on. Failures, availability,
    speeds and arrivals have random streams of their own: all variants meet the same ones. What a
    file draws with a seed of its own, such as random_workers, is the same in all runs.

    The ratio is a variant's mean over the baseline's, over the seeds on which both completed. All
    intervals of a table hold together at 95 % (Bonferroni). A variant is better or worse where the
    interval of its ratio excludes 1. Runs in which nothing is random count once.

    With --precision, RUNS are those before the first look at the intervals. Each of k looks is at
    1 - 0.05/k, so that the intervals at the end hold at 95 % whenever runs ended.
    """
    until = in_unit(until, "--until", lambda: load(file, changes or (), seed).times.value)
    places = [axis(word, "--across") for word in across or ()]
    asked = question(
        file,
        combined([axis(word) for word in vary or ()], places),
        places,
        changes=overridden(changes),
        baseline=baseline,
        runs=runs,
        measure=measure,
        effect="difference" if difference else "ratio",
        by=by,
        seed=seed,
        until=until,
        precision=precision_of(precision, runs, most),
    )
    with naming(file):
        found = finished(asked, store, "simulating")
    tell(Table(found), as_json, output)
