"""Answer which settings of a scenario make a measure best: `holdfast tune`.

The search (`search`) chooses points; this module runs them as a campaign's variants, on common
seeds, and measures the best point anew on seeds that the search did not use: the mean of the best
of many is lower than its true value on the seeds by which it was chosen.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf, isinf, isnan
from pathlib import Path
from typing import Any

from attrs import define, evolve

from policies.maths.tolerance import SAME
from sims.campaign import Campaign, TuneSection
from sims.campaign.answers import Answer, assumptions, ends, expressions
from sims.campaign.axes import (
    FORMS,
    Dimension,
    Point,
    Settings,
    as_toml,
    dimension,
    each_once,
    settings_at,
    settings_text,
)
from sims.campaign.engine import Watch, unwatched
from sims.campaign.executors import Workers, opened
from sims.campaign.indifferent import warn_of_indifference
from sims.campaign.pace import Pace
from sims.campaign.picture import draw_tuning
from sims.campaign.plan import Case, Cases
from sims.campaign.question import (
    MOST_RUNS,
    campaign_of,
    named,
    precision_of,
)
from sims.campaign.results import Results, store_in
from sims.campaign.runner import Bound, Runner, naming_over, short_of_workers, values_of
from sims.campaign.search import (
    EACH,
    FINE,
    FIRST,
    SURE,
    Search,
    State,
    Trial,
    Value,
    Values,
    estimate,
)
from sims.durations import FORMS as FORMS_OF_TIME
from sims.durations import seconds
from sims.errors import COMMAND_LINE, InputError, chosen
from sims.intervals import LEVEL, Estimate, at_most, rounded
from sims.metrics.measures import Measure
from sims.scenario import Scenario
from sims.telling import amount_of, counted, grid, time_words, units

FEW = 7
"""Numbers of a range at which it is looked whether it can matter."""
FRESH = 2**20
"""Distance between the seeds of the search and those of the answer."""


@define(repr=False)
class Tuned(Answer):
    """The answer to a search for the best settings: the best point, the points that are as good,
    and all that were tried. A notebook shows it, `print` prints it."""

    case: Case
    """The best point as a case, whose campaign has the file and what follows."""
    search: Search
    best: Trial
    measure: Measure
    bounds: tuple[Bound, ...]
    fresh: Sequence[Value]
    """Results of the best point's runs on seeds that the search did not use."""
    level: float
    """Level of its intervals, which pays for each look at them after which runs could end."""
    pace: Pace

    @property
    def settings(self) -> Settings:
        """Settings of the best point."""
        return settings_at(self.search.dimensions, self.best.point)

    @property
    def follows(self) -> Settings:
        """Settings that follow from those of the best point."""
        names = self.case.plan.campaign.follows
        return tuple(it for it in self.case.settings() if it[0] in names)

    @property
    def scenario(self) -> Scenario:
        """Scenario at the best point."""
        return self.case.scenario(0)

    @property
    def estimate(self) -> Estimate:
        """Mean of the measure at the best point, over seeds that the search did not use."""
        return self._estimate(0)

    def _estimate(self, which: int) -> Estimate:
        """Return the mean of value number `which` over the fresh runs."""
        return estimate(self.fresh, which, self.level)

    @property
    def runs(self) -> int:
        """Number of runs that the whole search took, with those of the answer."""
        return self.search.runs + len(self.fresh)

    @property
    def command(self) -> str:
        """Command that runs the best point alone."""
        settings, asked = self.case.settings(), self.case.plan.campaign
        words = (part for key, it in settings for part in ("--set", f"{key}={as_toml(it)}"))
        file = str(Path(asked.folder, asked.scenario))
        return shlex.join(["holdfast", "run", file, *words])

    @property
    def sentence(self) -> str:
        """The answer in one sentence, which claims no more than the intervals support."""
        regions = self.search.region(self.best), self.search.region(self.best, State.OPEN)
        clauses = [
            self._clause(it, best, *(region[it.key] for region in regions))
            for it, best in zip(self.search.dimensions, self.best.point, strict=True)
        ]
        means = {self.measure: self.estimate}
        for k, it in enumerate(self.bounds, 1):
            means.setdefault(it.measure, self._estimate(k))
        values = [self._told(it, mean, k) for k, (it, mean) in enumerate(means.items())]
        runs = counted(len(self.fresh), "run")
        if len(self.fresh) > 1 and len({it[0] for it in self.fresh}) == 1:
            runs += f", all with the same {self.measure.value}"
        if self.pace.out:
            runs = f"stopped after {time_words(self.pace.within)}; {runs}"
        if self.follows:
            clauses.append(f"with {settings_text(self.follows)}")
        return "; ".join((", ".join(clauses), ", ".join(values), *self._doubted, f"{runs}."))

    def _told(self, measure: Measure, mean: Estimate, which: int) -> str:
        """Return a measure's mean over the fresh runs as text; where it counts events of which none
        came, how frequent they may be all the same."""
        if measure.counts_jobs and mean.mean == 0:
            most = at_most(mean.size, self.level)
            none = f"0 of {mean.size:,} {measure.value}"
            return f"{none}: at most {most} % ({amount_of(100 * self.level, 4)} %)"
        return f"{measure.value} {rounded(mean)}{self._unit(measure)}"

    @property
    def _doubted(self) -> list[str]:
        """A clause on each bound to which the fresh runs do not show that the best point keeps."""
        beyond = [it.beyond(self.fresh, k, self.level) for k, it in enumerate(self.bounds, 1)]
        return [
            f"not shown: {bound}" if more.low <= 0 else f"broken: {bound}"
            for bound, more in zip(self.bounds, beyond, strict=True)
            if not more.high <= 0
        ]

    def _clause(self, it: Dimension, best: Any, good: Sequence[Any], open_: Sequence[Any]) -> str:
        """Return a clause on one key: its `best` value, the values `good` that are as good, the
        values `open_` that are or may be as good, each given as `Search.region` returns them, and
        whether better ones may lie beyond the range."""
        sure, perhaps = it.others(good, best), it.others(open_, best)
        within = f"as good within {amount_of(100 * self.search.tolerance)} %"
        clauses = [f"{within}: {sure}"] if sure else []
        if perhaps != sure:
            clauses.append(f"may be: {perhaps}" if sure else f"may be as good: {perhaps}")
        # Where both ends are as good as the best, nothing points beyond one of them.
        flat = it.ranges and {it.at(0), it.at(1)} <= set(good)
        clauses += filter(None, ["" if flat else it.beyond(best)])
        return f"{it.key} = {it.text(best)}" + (f" ({'; '.join(clauses)})" if clauses else "")

    def _unit(self, measure: Measure, before: str = " ") -> str:
        return f"{before}{units(self.scenario.times.value)}" if measure.timed else ""

    @property
    def _measured(self) -> str:
        return f"{self.measure.value}{self._unit(self.measure, ', ')}"

    @property
    def notes(self) -> list[str]:
        """Sentences below the table: the answer, what the scenario assumes, how points are compared
        with the best and how many are not told apart from it, how much was run, and the command
        that runs the best point alone."""
        trials = self.search.trials.values()
        unknown = [len(it.values) for it in trials if it.state is State.OPEN]
        said = [self.sentence, f"Assumed: {assumptions(self.scenario)}."]
        if self.follows:
            said.append(f"With {expressions(self.case.plan.campaign)}.")
        if worse := list(filter(None, map(self._worse, trials))):
            level = f"{100 * SURE:g} %"
            how = f"the difference from the best on the same seeds, with its {level} interval"
            if any(it.smooth for it in self.search.dimensions):
                how += "; along a range, that of a curve through its points"
            if any(isinf(it.half) for it in worse):
                how += "; without one where the differences are all alike, as one observation"
            said.append(f"Worse by: {how}.")
        if unknown:
            few, many, points = min(unknown), max(unknown), counted(len(unknown), "point")
            runs = f"{few:,} to " * (few < many) + counted(many, "run")
            said.append(f"{points} could be told neither as good nor worse with {runs} each.")
        said += [*short_of_workers(self.search), *self._left(), *self._gaps()]
        tried = f"{counted(len(trials), 'point')}, {counted(self.runs, 'run')}"
        said.append(f"Tried: {tried}; the seeds of the answer are not those of the search.")
        return [*said, f"Run it alone: {self.command}"]

    def _left(self) -> Iterator[str]:
        """Yield a note on what is still open where the search was stopped by its time."""
        if self.pace.out:
            more = max(self.search.at_most - self.search.runs, 0)
            takes = time_words(more * self.pace.each)
            yield (
                f"Stopped after {time_words(self.pace.within)}: at most {counted(more, 'run')} "
                f"more (about {takes}) would tell more. The same command with a longer --within, "
                "or without, goes on from what is kept."
            )

    def _gaps(self) -> Iterator[str]:
        """Yield a note for each range on the values of the line through the best between which
        nothing was tried, where a narrow valley would be missed."""
        for place, it in enumerate(self.search.dimensions):
            gaps = self.search.gaps(self.best, place)
            wide = [gap for gap in gaps if it.span(*gap) > FINE * (1 + SAME)]
            spans = ", ".join(f"{it.text(low)} and {it.text(high)}" for low, high in wide)
            rest = [gap for gap in gaps if gap not in wide]
            steps = it.step(*max(rest, key=lambda gap: it.span(*gap))) if rest else ""
            within = f"two neighbours, which are at most {steps} apart" if rest else ""
            if gaps:
                where = " and elsewhere ".join(filter(None, (spans, within)))
                yield f"{it.key}: nothing was tried between {where}: a valley there is missed."

    # --- as a table ---------------------------------------------------------------------------

    @property
    def _sorted(self) -> list[Trial]:
        """All points that were tried, sorted by state, BEST first, and then by mean, the better
        first."""
        sign, order = self.search.sign, list(State)
        return sorted(
            self.search.trials.values(), key=lambda it: (order.index(it.state), sign * it.mean)
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each point that was tried, the best first: its settings, mean, number of
        runs and state, and by how much it is worse than the best on the same seeds, with the ends
        of that interval. Times are in seconds."""
        return [
            dict(settings_at(self.search.dimensions, it.point))
            | {self.measure.value: it.mean, "runs": len(it.values), "state": it.state.value}
            | ends(self._worse(it), "worse_by", "worse_by_low", "worse_by_high")
            for it in self._sorted
        ]

    def _worse(self, it: Trial) -> Estimate | None:
        """Return by how much a point is worse than the best one, or None for the best itself and
        for points that break a bound."""
        if it.more is None or it.state in (State.BEST, State.UNFIT):
            return None
        return it.more

    def plot(self, path: str | Path) -> Path:
        """Draw the points that were tried, and return the picture's path.

        Raises InputError where matplotlib is missing.
        """
        unit = self.scenario.times.value
        facts = Path(path), self.sentence, self._measured, unit
        return draw_tuning(self.search, self.estimate.mean, *facts)

    def grid(self) -> Any:
        """Return the table for people, which has the best SHOWN points of `rows`, with the units of
        the sentence."""
        dimensions = self.search.dimensions
        title = f"{self.case.plan.campaign.name}: {self._measured}"
        rows = [
            (
                *(one.text(value) for one, value in zip(dimensions, it.point, strict=True)),
                *(
                    it.state.value,
                    f"{it.mean:,.6g}",
                    rounded(self._worse(it)),
                    f"{len(it.values):,}",
                ),
            )
            for it in self._sorted[:SHOWN]
        ]
        left = [*(it.key for it in dimensions), "verdict"]
        return grid(left, [f"mean {self.measure.value}", "worse by", "runs"], rows, title)

    def as_json(self) -> dict[str, Any]:
        """Return the answer as data: the best settings with their mean on fresh seeds, the regions
        that are or may be as good, and every point that was tried."""
        mean = self.estimate
        return {
            "best": dict(self.settings) | dict(self.follows),
            "mean": ends(mean, "mean", "low", "high") | {"size": mean.size},
            "as_good": self.search.region(self.best),
            "may_be_as_good": self.search.region(self.best, State.OPEN),
            "tried": self.rows(),
            "runs": self.runs,
            "stopped": self.pace.out,
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
    say: Callable[[str], object] = lambda text: None,
) -> Tuned:
    """Search for the settings of a scenario file at which the mean of a measure is best, and
    measure them anew.

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
    if isinstance(over, Mapping):
        over = [dimension(key, values) for key, values in over.items()]
    _check(over, each)
    wanted = precision_of(precision, runs, most, of="mean")
    pace = Pace(_real_seconds(within), most if wanted else runs)
    measure, bounds = direction(minimise, maximise), tuple(map(Bound.of, subject_to))
    measures = dict.fromkeys(it.value for it in (measure, *(bound.measure for bound in bounds)))
    asked = campaign_of(Path(file), changes or {}, measure, runs, seed, until)
    also = {"measures": tuple(measures), "follows": dict(follows or {})}
    asked = asked.model_copy(update=also)
    with naming_over():
        warn_of_indifference(Cases(_at_ends(asked, over)), (it.key for it in over))
    kept = store_in(store)
    kept.set_damaged_aside()
    with opened(workers) as ready:
        how = tuple(over), bounds, tolerance, each, -1 if measure.higher_is_better else 1
        runner = Runner(asked, ready, kept, pace, watch, say, *how)
        search = runner.search
        answers = list[Results]()

        def anew(point: Point) -> Values:
            """Run the answer at a point, and return its values."""
            limit = wanted and wanted.model_copy(update={"most": max(pace.answered(most), runs)})
            seeds = {"seed": (asked.seed or 0) + FRESH, "precision": limit}
            seeds["replications"] = pace.answered(runs)
            answers.append(runner.run([point], asked.model_copy(update=seeds), search.runs))
            return values_of(answers[-1], bounds)[0]

        found = search.answer(anew)
        if found is None:
            raise _nothing_fits(search, measure, bounds, pace)
        (best, fresh), answer = found, answers[-1]
    facts = measure, bounds, fresh, answer.campaign.level, pace
    return Tuned(answer.plan[0], search, best, *facts)


def _real_seconds(within: float | str | None) -> float:
    """Return the seconds that a time such as `2min` states; inf for None.

    Raises InputError for anything that is no time above 0.
    """
    try:
        found = inf if within is None else float(seconds(str(within)))
    except ValueError:
        found = 0.0
    if not found > 0:
        accepted = f"a time above 0: {FORMS_OF_TIME}"
        raise InputError(COMMAND_LINE, "--within", f"{within!r} is not accepted", accepted)
    return found


def _at_ends(asked: Campaign, over: Sequence[Dimension]) -> Campaign:
    """Return the campaign `asked` with a variant for each word and some numbers of each dimension,
    while the others are at their first value."""
    values = [it.coarse(FEW) for it in over]
    first = tuple(it[0] for it in values)
    points = dict.fromkeys(
        (*first[:place], value, *first[place + 1 :])
        for place, own in enumerate(values)
        for value in own
    )
    return asked.model_copy(update={"variants": named([settings_at(over, it) for it in points])})


def _check(over: Sequence[Dimension], each: int) -> None:
    """Raise InputError where there is nothing to search: no dimension, one of a single value, a key
    twice, the key `seed`, or fewer than FIRST runs of a point (`each`)."""
    if not over:
        raise InputError(COMMAND_LINE, "--over", "nothing is varied", FORMS)
    names = [it.key for it in over]
    each_once(names, "--over")
    if "seed" in names:
        problem = "seed: all points are run with the same seeds"
        raise InputError(COMMAND_LINE, "--over", problem, "another key; --seed, --runs")
    for it in over:
        if len(it.words) == 1:
            problem = f"{it.key} has one value, {it.text(it.words[0])}: nothing is chosen"
            raise InputError(COMMAND_LINE, "--over", problem, "two values or more, or a range")
    if each < FIRST:
        accepted = f"a whole number from {FIRST}: the runs before points are compared first"
        raise InputError(COMMAND_LINE, "--each", f"{each} is not accepted", accepted)


def _nothing_fits(
    search: Search, measure: Measure, bounds: Sequence[Bound], pace: Pace
) -> InputError:
    """Return the error of a search in which no point keeps to the bounds.

    The message names the point that breaks the fewest bounds, and among these by the least. Where
    runs have no value of the measure, or none of a bound's, it says that instead.
    """
    known = [it for it in search.trials.values() if not isnan(it.mean)]
    if pace.out and not any(it.values for it in search.trials.values()):
        first = len(search.trials) * FIRST
        problem = f"{time_words(pace.within)} are over before anything can be said"
        accepted = f"about {time_words(2 * first * pace.each)}; what is finished is kept"
        return InputError(COMMAND_LINE, "--within", problem, accepted)
    if not known:
        points = counted(len(search.trials), "point")
        problem = f"none of {points} has a {measure.value} in all of its runs"
        problem += "".join(f"; {it}" for it in short_of_workers(search))
        accepted = "ranges in which runs complete, a later --until, or another measure"
        return InputError(COMMAND_LINE, "--over", problem, accepted)

    for k, bound in enumerate(bounds):
        if all(isnan(it.beyond[k].mean) for it in known):
            problem = f"{bound.measure.value} has no value in any run"
            return InputError(COMMAND_LINE, "--subject-to", problem, "bounds of other measures")

    def missed(it: Trial) -> tuple[int, float]:
        """Return the number of bounds that a point breaks, and by how much, relative to the bounds
        and summed over them."""
        pairs = zip(bounds, it.beyond, strict=True)
        parts = [more.mean / (abs(b.limit) or 1) for b, more in pairs if not more.mean <= 0]
        return len(parts), sum(parts)

    nearest = min(known, key=missed)
    at = settings_text(settings_at(search.dimensions, nearest.point))
    means = (estimate(nearest.values, k, LEVEL) for k in range(1, len(bounds) + 1))
    pairs = zip(bounds, means, strict=True)
    with_ = ", ".join(f"{bound.measure.value} {rounded(mean)}" for bound, mean in pairs)
    problem = (
        f"no point keeps to {' and '.join(map(str, bounds))}: the nearest is {at} with {with_}"
    )
    return InputError(COMMAND_LINE, "--subject-to", problem, "wider ranges, or other bounds")


OPTION = re.compile(r"--([a-z-]+)")


def searched(
    asked: Campaign, workers: Workers, store: Path, watch: Watch, say: Callable[[str], object]
) -> Tuned:
    """Search as the `[tune]` section of the campaign `asked` says, with results kept in the folder
    `store`. `say` is called with the plan.

    Raises InputError where nothing can be searched, naming the file and its keys.
    """
    section = asked.tune
    assert section is not None
    try:
        return tune(
            Path(asked.folder) / asked.scenario,
            follows=asked.follows,
            changes=asked.set,
            seed=asked.seed,
            until=asked.until,
            workers=workers,
            store=store,
            watch=watch,
            say=say,
            **dict(section),
        )
    except InputError as error:
        if error.source != COMMAND_LINE:
            raise
        key, accepted = (OPTION.sub(_key, text) for text in (error.key, error.accepted))
        raise evolve(error, source=asked.source, key=key, accepted=accepted) from None


def _key(option: re.Match[str]) -> str:
    """Return the key of a campaign file that stands for an option of `holdfast tune`, found by the
    pattern OPTION: `tune.over` for `--over`, `seed` for `--seed`."""
    name = option[1].replace("-", "_")
    return f"tune.{name}" if name in TuneSection.model_fields else name


def direction(minimise: str | Measure | None, maximise: str | Measure | None) -> Measure:
    """Return the one measure that is to be made best: `minimise` or `maximise`, the other of which
    is None.

    Raises InputError for none, for two, for an unknown one, and where the other direction is the
    better one.
    """
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
