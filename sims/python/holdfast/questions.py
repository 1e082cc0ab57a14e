"""Questions about many runs of a scenario, as a program asks them: `compare`, `tune` and
`sensitivity`, and those of campaign files.

The scenario is what `holdfast.run` takes: the path of its file, its table, or the object itself.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve

import sims  # noqa: F401  # makes Holdfast's packages found, whatever lies beside the notebook
from sims.campaign import asking, tuning
from sims.campaign import sensitivity as ranking
from sims.campaign.axes import Axis, Settings
from sims.campaign.certainty import MOST_RUNS, Certainty, precision_of
from sims.campaign.door import CALL
from sims.campaign.engine import execute
from sims.campaign.executors import Workers
from sims.campaign.file import load_campaign
from sims.campaign.measured import Measured, OneMeasure
from sims.campaign.question import Question, Watch, Where, unsaid, unwatched
from sims.campaign.results import store_in
from sims.campaign.search import EACH
from sims.campaign.sensitivity import PairMap, Sensitivity
from sims.campaign.shifts import Shifts
from sims.campaign.subject import Subject
from sims.campaign.tables import Table
from sims.campaign.tuned import Tuned
from sims.campaign.varied import Ranges, Variants, combined
from sims.metrics.jobs import By
from sims.metrics.measures import Measure
from sims.scenario import Scenario
from sims.scenario.faults import FaultLaw
from sims.session import Source

__all__ = ["campaign", "compare", "sensitivity", "tune"]


def compare(
    source: Source,
    vary: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]],
    *,
    across: Mapping[str, Sequence[Any]] | None = None,
    follows: Mapping[str, str] | None = None,
    changes: Mapping[str, Any] | None = None,
    policy: Any = None,
    hazard: FaultLaw | None = None,
    baseline: str | None = None,
    runs: int = 10,
    measure: OneMeasure | Sequence[OneMeasure] = Measure.MAKESPAN,
    higher_is_better: bool = False,
    difference: bool = False,
    by: str | By | None = None,
    seed: int | None = None,
    until: float | None = None,
    precision: float | str | None = None,
    most: int = MOST_RUNS,
    store: str | Path | None = None,
    workers: Workers | None = None,
    watch: Watch = unwatched,
) -> Table:
    """Run variants of a scenario on the same seeds, on this machine's cores.

    `vary`: dotted keys with their values, all combinations of which are compared, or a list of
    variants, each a mapping from dotted keys to values. Values of `policy.name`, `policy.order`,
    `faults` and others may be objects, as `run` takes them. `across`: compare separately at each of
    these; `follows`: keys that follow from those, such as `{"platform.workers": "128 + spares"}`;
    `changes`, `policy`, `hazard`: settings of all variants; `measure`: a name, or your
    function of a run's `Report`, which returns a finite number or None, or a list of several, of
    which `precision` and pictures are about the first; `higher_is_better`: whether more of your
    measure is better; `difference`: compare by the difference of means, not by their
    ratio; `precision`: half-width of the printed interval at which no more runs are added, such as
    "1%" or a number in its unit, with at most `most` runs of each variant; `by`: `user`, `group`,
    `queue`, `partition`, `size` or `time`, to compare the jobs of each; `store`: a folder of
    results to go on from; `workers` and `watch` are as for `engine.execute`.

    Raises TypeError, naming the argument, for an argument of a wrong type, and InputError for what
    cannot be run.
    """
    _expect("runs", runs, int, "a whole number from 1")
    places = _axes("across", across or {})
    variants = _variants(vary, places)
    for name, value in (("policy", policy), ("hazard", hazard)):
        if isinstance(value, int | float | list):
            raise TypeError(f"{name}: {value!r} is not accepted; accepted: a name, or an object")
    keys = {"policy.name": policy, "faults": hazard}
    given = {key: it for key, it in keys.items() if it is not None}
    subject = _subject(source, {**(changes or {}), **given})
    varied = Variants.of(variants, CALL, across=places, baseline=baseline, follows=follows)
    measured = Measured.of(
        measure,
        CALL,
        subject.home,
        higher_is_better=higher_is_better,
        by=by,
        difference=difference,
    )
    scenario, narrow = subject.scenario(CALL), precision_of(precision, runs, most, CALL)
    surely = Certainty.of(scenario, CALL, runs=runs, seed=seed, until=until, precision=narrow)
    where = Where(_path(store), workers, watch)
    return asking.compare(Question(subject, varied, measured, surely, where, name=scenario.name))


def tune(
    source: Source,
    over: Mapping[str, Any],
    *,
    minimise: str | Measure | None = None,
    maximise: str | Measure | None = None,
    subject_to: Sequence[str] = (),
    follows: Mapping[str, str] | None = None,
    changes: Mapping[str, Any] | None = None,
    runs: int = 30,
    precision: float | str | None = None,
    most: int = MOST_RUNS,
    each: int = EACH,
    within: float | str | None = None,
    tolerance: float = 0.01,
    seed: int | None = None,
    until: float | None = None,
    workers: Workers | None = None,
    store: str | Path | None = None,
    watch: Watch = unwatched,
    say: Callable[[str], object] = unsaid,
) -> Tuned:
    """Search for the settings of a scenario at which the mean of a measure is best, and measure
    them anew.

    `over` maps keys to a pair (low, high) of numbers or of times as texts, to a text such as
    "5min..4h", or to a list of words; one of `minimise` and `maximise` names the measure;
    `subject_to` has bounds of means such as "goodput>=0.95"; `follows` maps keys that follow from
    those to expressions such as "128 + spares". `runs` are those of the answer, on
    fresh seeds; with `precision`, such as "1%", more are added, up to `most`, until the interval's
    half-width is so small. `each` is the largest number of runs of a point of the search; points
    within `tolerance` of the best mean are as good. `within` is the real time in which the search
    ends with what it then knows, seconds or a text such as "2min"; `say` is called with the plan
    once the time of a run is known. The rest is as for `compare`. Raises InputError where nothing
    can be varied, no point keeps to the bounds, or the time is too short to say anything.
    """
    _expect("over", over, Mapping, "{key: range or list of words}")
    _expect("runs", runs, int, "a whole number from 1")
    varied = Ranges.of(over, CALL, follows=follows, each=each, tolerance=tolerance, within=within)
    measured = Measured.best(CALL, minimise=minimise, maximise=maximise, subject_to=subject_to)
    subject = _subject(source, changes)
    scenario = subject.scenario(CALL)
    narrow = precision_of(precision, runs, most, CALL, of="mean")
    surely = Certainty.of(scenario, CALL, runs=runs, seed=seed, until=until, precision=narrow)
    where = Where(_path(store), workers, watch, say)
    return tuning.tune(Question(subject, varied, measured, surely, where, name=scenario.name))


def sensitivity(
    source: Source,
    keys: Sequence[str] = (),
    *,
    pairs: Sequence[str] = (),
    by: float | str = 0.2,
    measure: OneMeasure | Sequence[OneMeasure] = Measure.MAKESPAN,
    changes: Mapping[str, Any] | None = None,
    runs: int = 30,
    seed: int | None = None,
    until: float | None = None,
    workers: Workers | None = None,
    store: str | Path | None = None,
    watch: Watch = unwatched,
) -> Sensitivity | PairMap:
    """Change each number of a scenario alone, and rank the numbers by what that does to a measure;
    with `pairs`, change two numbers together.

    `keys`: the numbers' dotted keys, by default those of every number with a unit that the scenario
    gives, but for the jobs' own lengths; `pairs`: two such keys instead; `by`: the part by which
    each is made smaller and larger, such as 0.2 or "20%", above 0 and below 1; `measure`: of
    several, each has its columns, and the first one ranks the numbers. The rest is as for
    `compare`. Raises InputError for a key that holds no number above 0, for no key, for too many
    that are not named, for pairs that are not two keys, and for fewer than two runs.
    """
    _expect("runs", runs, int, "a whole number from 2")
    for name, value in (("keys", keys), ("pairs", pairs)):
        _expect(name, value, list | tuple, "a list of keys")
    subject = _subject(source, changes)
    scenario = subject.scenario(CALL)
    varied = Shifts.of(subject, scenario, CALL, keys=keys, pairs=pairs, by=by)
    measured = Measured.of(measure, CALL, subject.home)
    surely = Certainty.of(scenario, CALL, runs=runs, seed=seed, until=until)
    where = Where(_path(store), workers, watch)
    return ranking.sensitivity(
        Question(subject, varied, measured, surely, where, name=scenario.name)
    )


def campaign(
    file: str | Path, *, size: str | None = None, store: str | Path | None = None
) -> Table | Tuned:
    """Run a campaign file on this machine's cores, and return its table, or the answer of its
    search.

    `size` is one of its [sizes]; `store` is a folder of results to go on from. Raises InputError
    for a campaign that cannot be run.
    """
    question = load_campaign(Path(file), size)
    if isinstance(question.varied, Ranges):
        return tuning.tune(evolve(question, where=Where(_path(store))))
    return Table(execute(question, store=store_in(store)))


# --- what a program gives ---------------------------------------------------------------------


def _subject(source: Source, changes: Mapping[str, Any] | None) -> Subject:
    _expect("source", source, str | Path | Mapping | Scenario, "a path, a table, or a Scenario")
    return Subject.of(source, changes)


def _path(folder: str | Path | None) -> Path | None:
    return None if folder is None else Path(folder)


def _variants(
    vary: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]], across: Sequence[Axis]
) -> list[Settings]:
    """Return the settings of each variant that the argument `vary` of `compare` asks for: all
    combinations of a mapping's values, or those that a list names.

    Raises TypeError for an argument of another type, and InputError where a key is varied twice, in
    `across` or in a mapping.
    """
    if isinstance(vary, Mapping):
        return combined(_axes("vary", vary), CALL, across)
    _expect("vary", vary, list | tuple, "{key: values}, or a list of {key: value}")
    for it in vary:
        _expect("vary", it, Mapping, "a list of {key: value}")
    return [tuple(it.items()) for it in vary]


def _axes(name: str, asked: Mapping[str, Sequence[Any]]) -> list[Axis]:
    """Return the axes of a mapping from keys to lists of values. Raises TypeError, naming the
    argument `name`, for another type."""
    _expect(name, asked, Mapping, "{key: values}")
    for key, values in asked.items():
        _expect(f"{name}[{key!r}]", values, list | tuple | range, "a list of values")
    return [(key, tuple(values)) for key, values in asked.items()]


def _expect(name: str, value: object, kind: Any, accepted: str) -> None:
    """Raise TypeError, naming the argument and what would be accepted, where a value is not of the
    type `kind`. A truth value is never accepted, not even as a number."""
    if not isinstance(value, kind) or isinstance(value, bool):
        raise TypeError(f"{name}: {value!r} is not accepted; accepted: {accepted}")
