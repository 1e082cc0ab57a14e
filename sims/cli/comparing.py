"""Implements `holdfast compare`, `tune` and `sensitivity`: each runs a scenario many times, and
answers one question with a table and a sentence."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer
from attrs import evolve

from sims.campaign.answers import Answer
from sims.campaign.asking import compare as compared
from sims.campaign.axes import Axis, axis, dimension_of, full_key
from sims.campaign.certainty import MOST_RUNS, Certainty, precision_of
from sims.campaign.door import Door
from sims.campaign.executors import PATIENCE
from sims.campaign.follows import apart
from sims.campaign.measured import Measured
from sims.campaign.question import Question, Where
from sims.campaign.search import EACH
from sims.campaign.sensitivity import sensitivity as ranked
from sims.campaign.shifts import Shifts
from sims.campaign.subject import Subject
from sims.campaign.tables import SUFFIXES
from sims.campaign.tuning import tune as tuned
from sims.campaign.varied import Ranges, Variants, combined
from sims.cli.campaigns import Patience, Scheduler, working
from sims.errors import COMMAND_LINE, note, show
from sims.exports.tables import SUFFIXES as TABLES
from sims.metrics.jobs import By
from sims.metrics.measures import Measure
from sims.options import (
    AsJson,
    FirstSeed,
    Overrides,
    Policies,
    ScenarioFile,
    Until,
    duration,
    flag,
    option,
    picture,
    positive_int,
    written,
)
from sims.scenario import Scenario
from sims.scenario.loader import overridden
from sims.telling import show_table
from sims.writing import unlinked

OPTIONS = {
    key: f"--{key.replace('_', '-')}"
    for key in (
        *("vary", "across", "baseline", "over", "keys", "pairs", "by", "measure", "minimise"),
        *("maximise", "subject_to", "runs", "each", "within", "precision", "most", "seed", "until"),
        *("store", "difference"),
    )
} | {"changes": "--set"}
"""Maps keys of a question to options of the command line."""
COMPARE = Door(COMMAND_LINE, OPTIONS | {"follows": "--vary"})
TUNE = Door(COMMAND_LINE, OPTIONS | {"follows": "--over"})
"""Doors of the commands: what follows from a key is said after its values."""
VALUES = "KEY=V1,V2,..."
Precision = Annotated[
    str | None,
    option(
        str,
        "1%",
        "add runs until the printed interval's half-width is so small: a percentage, or a number "
        "in the measure's unit",
    ),
]
Most = Annotated[int, option(positive_int, "N", "with --precision: runs at most")]
Store = Annotated[
    Path | None,
    option(
        Path,
        "DIR",
        "folder of results, from which what was stopped goes on; default: logs/NAME.runs; "
        "`none`: nothing is kept",
    ),
]
Output = Annotated[
    Path | None,
    written("draw a picture, or write the table", lambda word: picture(word, *TABLES)),
]


def _kept(scenario: Scenario, store: Path | None) -> Path | None:
    """Return the folder in which the results of a question about a scenario are kept: `store`, or
    by default a folder beside the scenario's log; None where nothing is kept.

    Without polars nothing can be kept by default, which a note says.
    """
    if store is not None:
        return None if store == Path("none") else store
    if find_spec("polars") is None:
        note("nothing is kept: polars is missing; pip install 'holdfast[results]'")
        return None
    return unlinked(Path("logs") / f"{scenario.name}.runs", "--store")


def _tell(answer: Answer, as_json: bool, output: Path | None) -> None:
    """Print an answer as JSON or as a table with notes, and write it to `output`, a picture or a
    table as its suffix says, if that is given."""
    if as_json:
        print(json.dumps(answer.as_json(), default=str))
    else:
        show_table(answer)
    if output is not None:
        (note if as_json else show)(answer.saved(output))


def _axes(words: list[str], option: str) -> list[Axis]:
    """Return the axes that words ask for, under the dotted keys that their keys mean."""
    pairs = (axis(word, option) for word in words)
    return [(full_key(key, option), values) for key, values in pairs]


def compare(
    file: ScenarioFile,
    vary: Annotated[
        list[str] | None,
        option(
            str,
            VALUES,
            "the variants, such as policy.name=IE,Y-IE; repeated: all combinations; a key that "
            "follows: 'platform.spares=0..8 with platform.workers = 128 + spares'",
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
    precision: Precision = None,
    most: Most = MOST_RUNS,
    by: Annotated[
        By | None,
        typer.Option(help="compare the jobs of each user, size and so on; needs a measure of jobs"),
    ] = None,
    difference: Annotated[
        bool, flag("--difference", "compare the difference of means in place of their ratio")
    ] = False,
    measure: Annotated[
        list[Measure] | None,
        typer.Option(
            help="measure to compare (repeatable); flowtime, stretch, wait: the mean over a run's "
            "jobs; default: makespan"
        ),
    ] = None,
    seed: FirstSeed = None,
    changes: Overrides = None,
    policies: Policies = None,
    until: Until = None,
    store: Store = None,
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
    1 - 0.05/k, so that the intervals at the end hold at 95 % whenever runs ended. Of several
    measures, --precision and the picture are about the first.
    """
    door = COMPARE
    rows, follows = apart(vary or (), door("vary"))
    columns, more = apart(across or (), door("across"))
    places = _axes(columns, door("across"))
    variants = combined(_axes(rows, door("vary")), door, places)
    subject = Subject.of(file, overridden(changes))
    scenario, asked = subject.scenario(door), measure or [Measure.MAKESPAN]
    varied = Variants.of(variants, door, across=places, baseline=baseline, follows=follows | more)
    narrow = precision_of(precision, runs, most, door)
    question = Question(
        subject,
        varied,
        Measured.of(asked, door, subject.home, by=by, difference=difference),
        Certainty.of(scenario, door, runs=runs, seed=seed, until=until, precision=narrow),
        door=door,
        name=scenario.name,
    )
    kept = _kept(scenario, store)
    with working(file, "simulating", kept) as (workers, watch):
        found = compared(evolve(question, where=Where(kept, workers, watch)))
    _tell(found, as_json, output)


def tune(
    file: ScenarioFile,
    over: Annotated[
        list[str] | None,
        option(
            str,
            "KEY=RANGE",
            "what may be chosen: protection.period=5min..4h, platform.spares=0..8, "
            "protection.kind=images,buddies (repeatable); a key that follows: "
            "'platform.spares=0..8 with platform.workers = 128 + spares'",
        ),
    ] = None,
    minimise: Annotated[Measure | None, typer.Option(help="measure to make small")] = None,
    maximise: Annotated[Measure | None, typer.Option(help="measure to make large")] = None,
    subject_to: Annotated[
        list[str] | None,
        option(str, "BOUND", "bound of a mean, such as goodput>=0.95 (repeatable)"),
    ] = None,
    runs: Annotated[int, option(positive_int, "N", "runs of the answer, on fresh seeds")] = 30,
    precision: Precision = None,
    most: Most = MOST_RUNS,
    each: Annotated[int, option(positive_int, "N", "runs of a point of the search at most")] = EACH,
    within: Annotated[
        float | None,
        option(duration, "TIME", "real time in which the search ends with what it then knows"),
    ] = None,
    seed: FirstSeed = None,
    changes: Overrides = None,
    policies: Policies = None,
    until: Until = None,
    store: Store = None,
    scheduler: Scheduler = None,
    patience: Patience = PATIENCE,
    as_json: AsJson = False,
    output: Output = None,
) -> None:
    """Search for the settings at which a measure is best, with few runs for bad ones.

    A coarse grid is run first, all points with the same seeds. A point that is worse than the best,
    as far as the differences on each seed show, gets no more runs. Then points beside the best are
    tried, closer each time. The best one is measured anew on seeds that the search did not use.
    With --precision, runs of the answer are added, and RUNS are those before the first look at its
    interval; each of k looks is at 1 - 0.05/k (Bonferroni).

    With --within the search ends in time, with the best that it then knows and what is still open.
    What is finished is kept (--store), and the same command goes on from it.

    The answer also says which settings are as good within 1 %, as far as intervals show.
    """
    door = TUNE
    ranges, follows = apart(over or (), door("over"))
    dimensions = [dimension_of(word, door) for word in ranges]
    varied = Ranges.of(dimensions, door, follows=follows, each=each, within=within)
    subject = Subject.of(file, overridden(changes))
    scenario = subject.scenario(door)
    narrow = precision_of(precision, runs, most, door, of="mean")
    question = Question(
        subject,
        varied,
        Measured.best(door, minimise=minimise, maximise=maximise, subject_to=subject_to or ()),
        Certainty.of(scenario, door, runs=runs, seed=seed, until=until, precision=narrow),
        door=door,
        name=scenario.name,
    )
    kept = _kept(scenario, store)
    with working(file, "searching", kept, scheduler, patience, bound=True) as (workers, watch):
        found = tuned(evolve(question, where=Where(kept, workers, watch, note)))
    _tell(found, as_json, output)


def _keys(word: str | None) -> list[str]:
    """Return the keys between the commas of an option's word."""
    return [key.strip() for key in word.split(",")] if word else []


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
        list[Measure] | None,
        typer.Option(
            help="measure whose mean is looked at (repeatable: a column each, ranked by the "
            "first); default: makespan"
        ),
    ] = None,
    runs: Annotated[int, option(positive_int, "N", "runs of each change, a seed each")] = 30,
    seed: FirstSeed = None,
    changes: Overrides = None,
    policies: Policies = None,
    until: Until = None,
    store: Store = None,
    scheduler: Scheduler = None,
    patience: Patience = PATIENCE,
    as_json: AsJson = False,
    output: Output = None,
) -> None:
    """Rank the numbers of a scenario by what a change of each alone does.

    Each number is made smaller and larger by the same part, on the same seeds as the scenario as it
    is. With --pairs two are changed together, in five steps each. Intervals of the ratios hold all
    together at 95 % (Bonferroni).
    """
    door, subject = COMPARE, Subject.of(file, overridden(changes))
    scenario = subject.scenario(door)
    varied = Shifts.of(subject, scenario, door, keys=_keys(keys), pairs=_keys(pairs), by=by)
    question = Question(
        subject,
        varied,
        Measured.of(measure or [Measure.MAKESPAN], door, subject.home),
        Certainty.of(scenario, door, runs=runs, seed=seed, until=until),
        door=door,
        name=scenario.name,
    )
    kept = _kept(scenario, store)
    with working(file, "simulating", kept, scheduler, patience) as (workers, watch):
        found = ranked(evolve(question, where=Where(kept, workers, watch)))
    _tell(found, as_json, output)
