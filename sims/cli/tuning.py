"""Implements `holdfast tune`: at which settings of a scenario a measure is best."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sims.campaign.dimensions import dimension_of
from sims.campaign.executors import PATIENCE, cluster, local
from sims.campaign.question import MOST_RUNS
from sims.campaign.search import EACH
from sims.campaign.tuning import tune as search
from sims.cli.campaigns import Patience, Scheduler
from sims.cli.comparing import tell
from sims.cli.progress import bar, interruptible
from sims.durations import in_unit
from sims.errors import naming
from sims.exports.tables import SUFFIXES
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


def picture_or_rows(word: str) -> Path:
    """Return the path of an output file; its suffix must be that of a picture or of a table."""
    return picture(word, *SUFFIXES)


def tune(
    file: ScenarioFile,
    over: Annotated[
        list[str] | None,
        option(
            str,
            "KEY=RANGE",
            "what may be chosen: protection.period=5min..4h, platform.spares=0..8, "
            "protection.kind=images,buddies (repeatable)",
        ),
    ] = None,
    minimise: Annotated[Measure | None, typer.Option(help="measure to make small")] = None,
    maximise: Annotated[Measure | None, typer.Option(help="measure to make large")] = None,
    subject_to: Annotated[
        list[str] | None,
        option(str, "BOUND", "bound of a mean, such as goodput>=0.95 (repeatable)"),
    ] = None,
    runs: Annotated[int, option(positive_int, "N", "runs of the answer, on fresh seeds")] = 30,
    precision: Annotated[
        str | None,
        option(
            str,
            "1%",
            "add runs of the answer until its interval's half-width is so small: a percentage, or "
            "a number in the measure's unit",
        ),
    ] = None,
    most: Annotated[
        int, option(positive_int, "N", "with --precision: runs of the answer at most")
    ] = MOST_RUNS,
    each: Annotated[int, option(positive_int, "N", "runs of a point of the search at most")] = EACH,
    seed: FirstSeed = None,
    changes: Overrides = None,
    policies: Policies = None,
    until: Until = None,
    store: Annotated[
        Path | None,
        option(Path, "DIR", "folder of results: an interrupted search resumes from it"),
    ] = None,
    scheduler: Scheduler = None,
    patience: Patience = PATIENCE,
    as_json: Annotated[bool, flag("--json", "print JSON, with all that was tried")] = False,
    output: Annotated[
        Path | None, written("draw what was tried, or write it as a table", picture_or_rows)
    ] = None,
) -> None:
    """Search for the settings at which a measure is best, with few runs for bad ones.

    A coarse grid is run first, all points with the same seeds. A point that is worse than the best,
    as far as the differences on each seed show, gets no more runs. Then points beside the best are
    tried, closer each time. The best one is measured anew on seeds that the search did not use.
    With --precision, RUNS are those before the first look at its interval; each of k looks is at
    1 - 0.05/k (Bonferroni).

    The answer also says which settings are as good within 1 %, as far as intervals show.
    """
    until = in_unit(until, "--until", lambda: load(file, changes or (), seed).times.value)
    workers = cluster(scheduler, patience) if scheduler else local()
    with (
        naming(file),
        interruptible(store),
        workers as ready,
        bar("searching", bound=True) as watch,
    ):
        found = search(
            file,
            list(map(dimension_of, over or ())),
            minimise=minimise,
            maximise=maximise,
            subject_to=subject_to or (),
            changes=overridden(changes),
            runs=runs,
            precision=precision,
            most=most,
            each=each,
            seed=seed,
            until=until,
            workers=ready,
            store=store,
            watch=watch,
        )
    tell(found, as_json, output)
