"""Run the points of a search, and those of its answer, as variants of a campaign on common seeds,
in the time that there is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from attrs import define, evolve, field, frozen

from sims.campaign import Campaign
from sims.campaign.axes import Dimension, Point, settings_at, settings_text
from sims.campaign.batches import RunResult, RunStatus
from sims.campaign.comparing import known_of, run_of
from sims.campaign.engine import LONGEST, Watch, execute
from sims.campaign.executors import Workers
from sims.campaign.pace import Pace
from sims.campaign.plan import Cases
from sims.campaign.question import named, refuse_raised
from sims.campaign.results import Kept, Results
from sims.campaign.search import SURE, Search, Value, Values, depleted_of, estimate
from sims.durations import seconds
from sims.errors import COMMAND_LINE, InputError
from sims.intervals import Estimate
from sims.metrics.measures import Measure
from sims.telling import counted, time_words

RELATION = re.compile(r"\s*(>=|<=)\s*")


@frozen
class Bound:
    """A measure whose mean has to be at least, or at most, a number."""

    measure: Measure
    least: bool
    limit: float

    @classmethod
    def of(cls, word: str) -> Bound:
        """Return the bound that a text such as `goodput>=0.95` or `makespan<=2d` states.

        Raises InputError for another word.
        """
        try:
            measure, relation, limit = RELATION.split(word.strip(), maxsplit=1)
            return cls(Measure(measure), relation == ">=", float(seconds(limit)))
        except ValueError:
            names = ", ".join(it.value for it in Measure)
            accepted = f"MEASURE>=NUMBER or MEASURE<=NUMBER; measures: {names}"
            raise InputError(COMMAND_LINE, "--subject-to", f"{word!r} is none", accepted) from None

    def beyond(self, values: Sequence[Value], which: int, level: float) -> Estimate:
        """Return by how much the mean of value number `which` is beyond the bound; it is at most 0
        where it keeps to it."""
        sign, it = -1 if self.least else 1, estimate(values, which, level)
        mean, *ends = (sign * (end - self.limit) for end in (it.mean, it.low, it.high))
        return Estimate(mean, min(ends), max(ends), it.size)

    def __str__(self) -> str:
        return f"{self.measure.value} {'>=' if self.least else '<='} {self.limit:g}"


@define
class Runner:
    """Runs the points of a search, and of its answer, as variants of a campaign."""

    asked: Campaign
    workers: Workers
    kept: Kept
    pace: Pace
    watch: Watch
    say: Callable[[str], object]
    over: tuple[Dimension, ...]
    bounds: tuple[Bound, ...]
    tolerance: float
    each: int
    sign: int
    search: Search = field(init=False)

    def __attrs_post_init__(self) -> None:
        how = self.tolerance, self.each, self.sign
        self.search = Search(self.over, self.evaluate, self.beyond, *how)

    def run(self, points: Sequence[Point], asked: Campaign, others: int) -> Results:
        """Run the campaign `asked` with a variant for each of these points, and return its results.

        `others` is the number of runs of other points, which count as done where progress is shown.
        """
        with naming_over():
            found = execute(
                self._campaign(asked, points),
                self.workers,
                self.kept,
                watch=lambda now, _: self._seen(others + now),
                longest=self.pace.longest(LONGEST),
            )
        refuse_raised(found)
        return found

    def evaluate(self, points: Sequence[Point], count: int) -> dict[Point, Values]:
        """Return the values of `count` runs of each of these points, or of fewer where the time
        ends before. Raises OutOfTime where no more fit."""
        known = len(self.kept.results)
        if not self.pace.ran:
            self._look(points, known)
        found = self._run_timed(points, self.pace.affordable(self._known(points, count), count))
        return dict(zip(points, values_of(found, self.bounds), strict=True))

    def _known(self, points: Sequence[Point], count: int) -> list[int]:
        """Return how many of the first `count` runs of each point have a result."""
        if not self.kept.results:
            return [0] * len(points)
        plan = Cases(self._campaign(self.asked, points))
        return [sum(case.key(k) in self.kept.results for k in range(count)) for case in plan]

    def _campaign(self, asked: Campaign, points: Sequence[Point]) -> Campaign:
        """Return the campaign `asked` with a variant for each of these points."""
        variants = named([settings_at(self.over, it) for it in points])
        return asked.model_copy(update={"variants": variants})

    def _look(self, points: Sequence[Point], known: int) -> None:
        """Run a few points once to see how long a run takes, and say the plan."""
        asked = self.asked.model_copy(update={"replications": 1})
        found = self.run(points[: 2 * self.workers.slots], asked, 0)
        # What they took themselves: the first ones also wait for processes to begin.
        took = sum(it.seconds for it in found.found.values())
        self.pace.note(len(found.found), took / self.workers.slots)
        if all(None not in value for row in values_of(found, self.bounds) for value in row):
            self.say(self._plan(len(points), known))

    def beyond(self, values: Sequence[Value]) -> list[Estimate]:
        """Return by how much the means of a point's values are beyond each bound."""
        return [it.beyond(values, k, SURE) for k, it in enumerate(self.bounds, 1)]

    def _run_timed(self, points: Sequence[Point], count: int) -> Results:
        others = (len(it.values) for it in self.search.trials.values() if it.point not in points)
        asked = self.asked.model_copy(update={"replications": count})
        known = len(self.kept.results)
        with self.pace.timing(lambda: len(self.kept.results) - known):
            return self.run(points, asked, sum(others))

    def _seen(self, done: int) -> None:
        self.watch(done, self.search.at_most + self.pace.reserved)
        self.pace.check()

    def _plan(self, points: int, known: int) -> str:
        """Return what will be run, and how long that takes, as far as it is known at the start."""
        most = self.search.at_most + self.pace.reserved
        text = f"plan: {counted(points, 'point')} first, then those beside the best"
        text += f"; at most {counted(most, 'run')}"
        if self.pace.each:
            text += f", at most {time_words(most * self.pace.each)} on {self.workers.slots} cores"
        return text + (f", of which {known:,} may be known" if known else "")


def values_of(found: Results, bounds: Sequence[Bound]) -> list[Values]:
    """Return, for each variant, a tuple for each run: the value of the measure first, and then of
    those that have bounds."""
    campaign = found.campaign
    gauges = [campaign.gauges[0], *(campaign.gauge(it.measure.value) for it in bounds)]
    rows: dict[str, list[RunResult]] = {name: [] for name in campaign.variants}
    for (case, _), result in found.finished():
        rows[case.variant].append(result)

    def values(results: Sequence[RunResult]) -> Values:
        """Return the values of a variant's runs with the knowledge of each measure."""
        columns = [[run_of(it, gauge, campaign.until) for it in results] for gauge in gauges]
        known = map(known_of, columns, gauges)
        rows = zip(*([run.value for run in row] for row in columns), strict=True)
        return Values(rows, known, sum(it.end is RunStatus.DEPLETED for it in results))

    return [values(results) for results in rows.values()]


SHORT = 3
"""Number of points of which it is told that runs ran out of workers."""


def short_of_workers(search: Search) -> Iterator[str]:
    """Yield a sentence on the runs of a search that ran out of workers, and are in no mean: their
    points are no answer. Nothing is yielded if there are none."""
    short = [it for it in search.trials.values() if depleted_of(it.values)]
    told = [
        f"{settings_text(settings_at(search.dimensions, it.point))}: "
        f"{depleted_of(it.values)} of {counted(len(it.values), 'run')}"
        for it in short[:SHORT]
    ]
    more = [f"some of {counted(len(short) - SHORT, 'further point')}"] if short[SHORT:] else []
    if short:
        yield f"Ran out of workers, so that their points are no answer: {'; '.join(told + more)}."


@contextmanager
def naming_over() -> Iterator[None]:
    """Return a context in which errors about variants name the option of a search."""
    try:
        yield
    except InputError as error:
        raise evolve(error, key=error.key.replace("--vary", "--over")) from None
