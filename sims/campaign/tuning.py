"""Answer which settings of a scenario make a measure best: `holdfast tune`.

The search (`search`) chooses points; this module runs them as a campaign's variants, on common
seeds, and measures the best point anew on seeds that the search did not use: the mean of the best
of many is lower than its true value on the seeds by which it was chosen.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from functools import partial
from math import inf, isfinite, isnan
from pathlib import Path
from typing import Any

from attrs import define, evolve, field, frozen

from sims.campaign import Campaign, Precision
from sims.campaign.answers import Answer, assumptions
from sims.campaign.axes import Settings, as_toml, settings_text
from sims.campaign.cells import CellResult, MeasureSpec
from sims.campaign.comparing import run_of
from sims.campaign.dimensions import FORMS, Dimension, Point, dimension, settings_at
from sims.campaign.engine import Watch, execute
from sims.campaign.executors import Workers, opened
from sims.campaign.question import MOST_RUNS, precision_of, question, refuse_raised
from sims.campaign.results import Results, Store
from sims.campaign.search import EACH, FIRST, Search, State, Trial, Value, estimate
from sims.campaign.tuning_picture import draw_tuning
from sims.durations import seconds
from sims.errors import COMMAND_LINE, InputError, chosen
from sims.intervals import LEVEL, Estimate, rounded
from sims.metrics.measures import Measure
from sims.telling import about, amount_of, counted, grid

FRESH = 2**20
"""Distance between the seeds of the search and those of the answer."""
BOUND = re.compile(r"([a-z0-9-]+)\s*(>=|<=)\s*(.+)")


@frozen
class Bound:
    """A measure whose mean has to be at least, or at most, a number."""

    measure: str
    least: bool
    limit: float

    @classmethod
    def of(cls, word: str) -> Bound:
        """Return the bound that a text such as `goodput>=0.95` states.

        Raises InputError for another word.
        """
        found = BOUND.fullmatch(word.strip())
        names = [it.value for it in Measure]
        try:
            limit = seconds(found[3]) if found else inf
        except ValueError:
            limit = inf
        if found is None or found[1] not in names or not isfinite(limit):
            accepted = f"MEASURE>=NUMBER or MEASURE<=NUMBER; measures: {', '.join(names)}"
            raise InputError(COMMAND_LINE, "--subject-to", f"{word!r} is none", accepted)
        return cls(found[1], found[2] == ">=", float(limit))

    def kept(self, mean: float) -> bool:
        """Return whether a mean keeps to the bound, so that the point is allowed."""
        return mean >= self.limit if self.least else mean <= self.limit

    def __str__(self) -> str:
        return f"{self.measure} {'>=' if self.least else '<='} {self.limit:g}"


@define
class Kept:
    """A keeper of results in memory, which passes them on to a store if there is one."""

    store: Store | None = None
    known: dict[str, CellResult] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        if self.store is not None:
            self.known = self.store.results()

    def results(self) -> dict[str, CellResult]:
        """Return all results by key."""
        return self.known

    def add(self, fresh: Sequence[CellResult]) -> None:
        """Keep the results of a batch."""
        self.known.update((it.key, it) for it in fresh)
        if self.store is not None:
            self.store.add(fresh)

    def describe(self, description: dict[str, Any]) -> None:
        """Note in the store what the campaign is."""
        if self.store is not None:
            self.store.describe(description)


@define(repr=False)
class Tuned(Answer):
    """The answer to a search for the best settings: the best point, what is as good, and all that
    was tried. A notebook shows it, `print` prints it."""

    file: str
    changes: Mapping[str, Any]
    search: Search
    best: Trial
    gauge: MeasureSpec
    bounds: tuple[Bound, ...]
    unit: str
    fresh: Sequence[Value]
    """Results of the best point's runs on seeds that the search did not use."""
    level: float
    """Level of its intervals, which pays for each look at them after which runs could end."""
    assumed: str
    """Assumptions of the scenario about faults, in a line."""

    @property
    def settings(self) -> Settings:
        """Settings of the best point."""
        return settings_at(self.search.dimensions, self.best.point)

    @property
    def estimate(self) -> Estimate:
        """Mean of the measure at the best point, over seeds that the search did not use."""
        found = estimate(self.fresh, 0, self.level)
        return found.negative if self.gauge.higher_is_better else found

    @property
    def runs(self) -> int:
        """Number of runs that the whole search took, with those of the answer."""
        return self.search.runs + len(self.fresh)

    @property
    def command(self) -> str:
        """Command that runs the best point alone."""
        settings = (*self.changes.items(), *self.settings)
        words = (part for key, it in settings for part in ("--set", f"{key}={as_toml(it)}"))
        return shlex.join(["holdfast", "run", self.file, *words])

    @property
    def sentence(self) -> str:
        """The answer in one sentence, which claims no more than the intervals support."""
        clauses = list(map(self._clause, self.search.dimensions))
        values = [f"{self.gauge.name} {rounded(self.estimate)}{self._unit}"]
        values += [
            f"{it.measure} {rounded(estimate(self.fresh, k, self.level))}"
            + (f" {self.unit}" if Measure(it.measure).timed else "")
            for k, it in enumerate(self.bounds, 1)
            if it.measure != self.gauge.name
        ]
        return f"{', '.join(clauses)}; {', '.join(values)}; {counted(len(self.fresh), 'run')}."

    def _clause(self, it: Dimension) -> str:
        """Return a clause on one key: its best value, the values that are as good, and those that
        may be."""
        value = dict(zip((it.key for it in self.search.dimensions), self.best.point, strict=True))
        text, within = self._shown(it, value[it.key]), amount_of(100 * self.search.tolerance)
        good = self.search.region(self.best)[it.key]
        open_ = self.search.region(self.best, State.OPEN)[it.key]
        sure, perhaps = self._named(it, good, value[it.key]), self._named(it, open_, value[it.key])
        clauses = [f"as good within {within} %: {sure}"] if sure else []
        if perhaps != sure:
            clauses.append(f"may be: {perhaps}" if sure else f"may be as good: {perhaps}")
        return f"{it.key} = {text}" + (f" ({'; '.join(clauses)})" if clauses else "")

    def _named(self, it: Dimension, region: Sequence[Any], best: Any) -> str:
        """Return a region of a key's values as text; empty if it holds the best value alone."""
        if not it.ranges:
            return ", ".join(self._shown(it, one) for one in region if one != best)
        low, high = region
        return "" if low == high else f"{self._shown(it, low)} to {self._shown(it, high)}"

    @staticmethod
    def _shown(it: Dimension, value: Any) -> str:
        if not it.timed:
            return as_toml(value)
        minutes = 60 <= value < 3600
        return f"{amount_of(value / 60, 4)} min" if minutes else about(value, "s")

    @property
    def _unit(self) -> str:
        return f" {self.unit}" if self.gauge.timed else ""

    @property
    def _measured(self) -> str:
        return f"{self.gauge.name}{self._unit and f',{self._unit}'}"

    @property
    def notes(self) -> list[str]:
        """The sentence, what was assumed, what is not known, and the command of the answer."""
        states = [it.state for it in self.search.trials.values()]
        unknown = states.count(State.OPEN)
        said = [self.sentence, f"Assumed: {self.assumed}."]
        if unknown:
            most = counted(self.search.each, "run")
            open_ = counted(unknown, "point")
            said.append(f"{open_} could be told neither as good nor worse with at most {most}.")
        tried = f"{counted(len(states), 'point')}, {counted(self.runs, 'run')}"
        said.append(f"Tried: {tried}; the seeds of the answer are not those of the search.")
        return [*said, f"Run it alone: {self.command}"]

    # --- as a table ---------------------------------------------------------------------------

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each point, the best first: its settings, mean, runs and state."""
        sign, order = -1 if self.gauge.higher_is_better else 1, list(State)
        trials = self.search.trials.values()
        return [
            dict(settings_at(self.search.dimensions, it.point))
            | {self.gauge.name: sign * it.mean, "runs": len(it.values), "state": it.state.value}
            for it in sorted(trials, key=lambda it: (order.index(it.state), it.mean))
        ]

    def plot(self, path: str | Path) -> Path:
        """Draw what was tried, and return the picture's path.

        Raises InputError where matplotlib is missing.
        """
        sign, search = -1 if self.gauge.higher_is_better else 1, self.search
        trials = list(search.trials.values())
        return draw_tuning(
            trials, search.dimensions, Path(path), self.sentence, self._measured, sign
        )

    def grid(self) -> Any:
        """Return the table of the points as people read it."""
        keys = [it.key for it in self.search.dimensions]
        title = f"{Path(self.file).stem}: {self._measured}"
        rows = [
            (
                *(as_toml(row[key]) for key in keys),
                *(row["state"], f"{row[self.gauge.name]:,.6g}", f"{row['runs']:,}"),
            )
            for row in self.rows()[:SHOWN]
        ]
        return grid([*keys, "verdict"], [f"mean {self.gauge.name}", "runs"], rows, title)

    def as_json(self) -> dict[str, Any]:
        """Return the answer as data."""
        found, names = self.estimate, dict(self.settings)
        return {
            "best": names,
            "mean": {"mean": found.mean, "low": found.low, "high": found.high, "size": found.size},
            "as_good": self.search.region(self.best),
            "may_be_as_good": self.search.region(self.best, State.OPEN),
            "tried": self.rows(),
            "runs": self.runs,
            "sentence": self.sentence,
            "command": self.command,
        }


SHOWN = 12
"""Rows of the table that people read; the best come first."""


def tune(
    file: str | Path,
    over: Mapping[str, Any] | Sequence[Dimension],
    *,
    minimise: str | Measure | None = None,
    maximise: str | Measure | None = None,
    subject_to: Sequence[str] = (),
    changes: Mapping[str, Any] | None = None,
    runs: int = 30,
    precision: float | str | None = None,
    most: int = MOST_RUNS,
    each: int = EACH,
    tolerance: float = 0.01,
    seed: int | None = None,
    until: float | None = None,
    workers: Workers | None = None,
    store: str | Path | None = None,
    watch: Watch = lambda done, total: None,
) -> Tuned:
    """Search for the settings of a scenario file at which the mean of a measure is best, and
    measure them anew.

    `over` maps keys to a pair (low, high) of numbers or of times as texts, to a text such as
    "5min..4h", or to a list of words; one of `minimise` and `maximise` names the measure;
    `subject_to` has bounds of means such as "goodput>=0.95". `runs` are those of the answer, on
    fresh seeds; with `precision`, such as "1%", more are added, up to `most`, until the interval's
    half-width is so small. `each` is the largest number of runs of a point of the search; points
    within `tolerance` of the best mean are as good. The rest is as for `compare`. Raises InputError
    where nothing can be varied, or no point keeps to the bounds.
    """
    path, measure, bounds = (
        Path(file),
        direction(minimise, maximise),
        tuple(map(Bound.of, subject_to)),
    )
    if isinstance(over, Mapping):
        over = [dimension(key, values) for key, values in over.items()]
    _check(over, each)
    wanted = precision_of(precision, runs, most, of="mean")
    answer_runs = most if wanted else runs
    kept = Kept(Store(Path(store)) if store else None)
    with opened(workers) as ready:

        def campaign_of(
            points: Sequence[Point],
            count: int,
            first: int = 0,
            narrow: Precision | None = None,
        ) -> Campaign:
            asked = question(
                path,
                [settings_at(over, it) for it in points],
                changes=changes,
                runs=count,
                measure=measure,
                seed=seed,
                until=until,
                precision=narrow,
            )
            measures = dict.fromkeys((measure.value, *(it.measure for it in bounds)))
            return asked.model_copy(
                update={"measures": tuple(measures), "seed": (asked.seed or 0) + first}
            )

        def evaluate(points: Sequence[Point], count: int) -> dict[Point, list[Value]]:
            others = (len(it.values) for it in search.trials.values() if it.point not in points)
            return run(points, campaign_of(points, count), sum(others))

        def run(points: Sequence[Point], asked: Campaign, others: int) -> dict[Point, list[Value]]:
            """Return the results of a campaign, beside which there are the runs of other points."""
            try:
                found = execute(
                    asked,
                    ready,
                    kept,
                    watch=lambda now, _: watch(others + now, search.at_most + answer_runs),
                )
            except InputError as error:
                raise evolve(error, key=error.key.replace("--vary", "--over")) from None
            refuse_raised(found)
            return dict(zip(points, _values(found, measure, bounds), strict=True))

        def fits(values: Sequence[Value]) -> bool:
            return all(map(Bound.kept, bounds, _means(values)))

        search = Search(tuple(over), evaluate, fits, tolerance, each)
        best = search.run()
        if best is None:
            raise _nothing_fits(search, measure, bounds)
        answer = campaign_of([best.point], runs, FRESH, wanted)
        fresh = run([best.point], answer, search.runs)[best.point]
    asked = campaign_of([best.point], 1)
    case = Results.of(asked).plan[0].scenario(0)
    gauge = asked.gauges[0]
    facts = case.times.value, fresh, answer.level, assumptions(case)
    return Tuned(str(file), dict(changes or {}), search, best, gauge, bounds, *facts)


def _check(over: Sequence[Dimension], each: int) -> None:
    """Raise InputError where there is nothing to search."""
    if not over:
        raise InputError(COMMAND_LINE, "--over", "nothing is varied", FORMS)
    names = [it.key for it in over]
    if twice := next((it for it in names if names.count(it) > 1), None):
        raise InputError(COMMAND_LINE, "--over", f"{twice} is varied twice", "each key once")
    if "seed" in names:
        problem = "seed: all points are run with the same seeds"
        raise InputError(COMMAND_LINE, "--over", problem, "another key; --seed, --runs")
    if each < FIRST:
        accepted = f"a whole number from {FIRST}: the runs before points are compared first"
        raise InputError(COMMAND_LINE, "--each", f"{each} is not accepted", accepted)


def _values(found: Results, measure: Measure, bounds: Sequence[Bound]) -> list[list[Value]]:
    """Return, for each variant, the values of each run: the measure first, with its sign such that
    less is better, and then those that have bounds."""
    campaign = found.campaign
    sign = -1 if campaign.gauge(measure.value).higher_is_better else 1
    gauges = [campaign.gauge(it) for it in (measure.value, *(bound.measure for bound in bounds))]
    of = partial(run_of, until=campaign.until)
    rows: dict[str, list[Value]] = {name: [] for name in campaign.variants}
    for (case, _), result in found.finished():
        first, *others = (of(result, gauge).value for gauge in gauges)
        rows[case.variant].append((None if first is None else sign * first, *others))
    return list(rows.values())


def _means(values: Sequence[Value]) -> list[float]:
    """Return the means of the measures that have bounds."""
    return [estimate(values, k, LEVEL).mean for k in range(1, len(values[0]))]


def _nothing_fits(search: Search, measure: Measure, bounds: Sequence[Bound]) -> InputError:
    """Return the error of a search in which no point keeps to the bounds; it names the point that
    comes nearest."""
    known = [it for it in search.trials.values() if not isnan(it.mean)]
    if not known:
        points = counted(len(search.trials), "point")
        problem = f"none of {points} has a {measure.value} in all of its runs"
        accepted = "ranges in which runs complete, a later --until, or another measure"
        return InputError(COMMAND_LINE, "--over", problem, accepted)

    means = {it.point: _means(it.values) for it in known}
    for bound, values in zip(bounds, zip(*means.values(), strict=True), strict=True):
        if all(map(isnan, values)):
            problem = f"{bound.measure} has no value in any run"
            return InputError(COMMAND_LINE, "--subject-to", problem, "bounds of other measures")

    def missed(it: Trial) -> tuple[int, float]:
        """Return the number of bounds that a point breaks, and by how much, relative to the bounds
        and summed over them."""
        pairs = list(zip(bounds, means[it.point], strict=True))
        parts = [abs(mean - b.limit) / (abs(b.limit) or 1) for b, mean in pairs if not b.kept(mean)]
        return len(parts), sum(parts)

    nearest = min(known, key=missed)
    at = settings_text(settings_at(search.dimensions, nearest.point))
    pairs = zip(bounds, means[nearest.point], strict=True)
    with_ = ", ".join(f"{bound.measure} {mean:.4g}" for bound, mean in pairs)
    problem = (
        f"no point keeps to {' and '.join(map(str, bounds))}: the nearest is {at} with {with_}"
    )
    return InputError(COMMAND_LINE, "--subject-to", problem, "wider ranges, or other bounds")


def searched(
    asked: Campaign,
    workers: Workers,
    store: Path,
    watch: Watch,
) -> Tuned:
    """Search as the `[tune]` of a campaign file says. Raises InputError where nothing can be
    searched, naming the file."""
    section = asked.tune
    assert section is not None
    try:
        return tune(
            Path(asked.folder) / asked.scenario,
            changes=asked.set,
            seed=asked.seed,
            until=asked.until,
            workers=workers,
            store=store,
            watch=watch,
            **dict(section),
        )
    except InputError as error:
        if error.source != COMMAND_LINE:
            raise
        key = error.key.removeprefix("--").replace("-", "_")
        raise evolve(error, source=asked.source, key=f"tune.{key}") from None


def direction(minimise: str | Measure | None, maximise: str | Measure | None) -> Measure:
    """Return the one measure that is to be made best. Raises InputError for none, for two, and
    where the direction is the wrong one."""

    named = minimise if minimise is not None else maximise
    if named is None or (minimise is not None and maximise is not None):
        problem = "one measure has to be made best"
        raise InputError(COMMAND_LINE, "--minimise", problem, "--minimise or --maximise MEASURE")
    option, other = ("--minimise", "--maximise")[:: 1 if maximise is None else -1]
    try:
        measure = chosen(Measure, named)
    except InputError as error:
        raise evolve(error, source=COMMAND_LINE, key=option) from None
    more = measure.higher_is_better
    if more is (minimise is not None):
        problem = f"{measure.value}: {'more' if more else 'less'} of it is better"
        raise InputError(COMMAND_LINE, option, problem, other)
    return measure
