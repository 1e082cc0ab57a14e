"""Run the points of a search, and those of its answer, as variants of a campaign on common seeds,
in the time that there is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import define, evolve, field

from sims.campaign.axes import Point, settings_at, settings_text
from sims.campaign.batches import RunResult, RunStatus
from sims.campaign.certainty import Certainty
from sims.campaign.engine import LONGEST, execute
from sims.campaign.executors import Workers
from sims.campaign.observations import drew_nothing, known_of, run_of
from sims.campaign.pace import Pace
from sims.campaign.plan import Cases
from sims.campaign.question import Question
from sims.campaign.results import Kept, Results, refuse_raised
from sims.campaign.search import SURE, Search
from sims.campaign.values import Value, Values, depleted_of, made_of, steady
from sims.campaign.varied import Ranges
from sims.intervals import Estimate
from sims.telling import counted, time_words


@define
class Runner:
    """Runs the points of a search, and of its answer, as variants of a campaign."""

    question: Question
    workers: Workers
    kept: Kept
    pace: Pace
    search: Search = field(init=False)
    _steady: bool = field(init=False, default=False)
    """Whether the first runs drew nothing at random, so that one run of a point may be enough."""

    def __attrs_post_init__(self) -> None:
        sign = -1 if self.question.measured.gauges[0].higher_is_better else 1
        ranges = self._ranges
        how = ranges.tolerance, ranges.each, sign
        self.search = Search(ranges.over, self.evaluate, self.beyond, *how)

    @property
    def _ranges(self) -> Ranges:
        assert isinstance(self.question.varied, Ranges)
        return self.question.varied

    def run(self, points: Sequence[Point], surely: Certainty, others: int) -> Results:
        """Run these points, each as often as `surely` says, and return the results.

        `others` is the number of runs of other points, which count as done where progress is shown.
        """
        found = execute(
            self._about(points, surely),
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
        found = self._once(points, count) if self._steady else {}
        if rest := [it for it in points if it not in found]:
            runs = self.pace.affordable(self._known(rest, count), count)
            found |= zip(rest, values_of(self._run_timed(rest, runs)), strict=True)
        return {it: found[it] for it in points}

    def _once(self, points: Sequence[Point], count: int) -> dict[Point, Values]:
        """Run each of these points once; return, for those that draw nothing at random, the value
        `count` times."""
        found = zip(points, values_of(self._run_timed(points, 1)), strict=True)
        return {point: it.repeated(count) for point, it in found if steady(it)}

    def _known(self, points: Sequence[Point], count: int) -> list[int]:
        """Return how many of the first `count` runs of each point have a result."""
        if not self.kept.results:
            return [0] * len(points)
        plan = Cases(self._about(points, self.question.surely))
        return [sum(case.key(k) in self.kept.results for k in range(count)) for case in plan]

    def _about(self, points: Sequence[Point], surely: Certainty) -> Question:
        """Return the question about these points, each a variant."""
        return evolve(self.question, varied=self._ranges.at(points), surely=surely)

    def _each(self, runs: int) -> Certainty:
        """Return how surely a point of the search is known by so many runs."""
        return evolve(self.question.surely, runs=runs, precision=None)

    def _look(self, points: Sequence[Point], known: int) -> None:
        """Run a few points once to see how long a run takes, and say the plan."""
        found = self.run(points[: 2 * self.workers.slots], self._each(1), 0)
        # What they took themselves: the first ones also wait for processes to begin.
        took = sum(it.seconds for it in found.found.values())
        self.pace.note(len(found.found), took / self.workers.slots)
        self._steady = all(map(steady, values_of(found)))
        if all(None not in value for row in values_of(found) for value in row):
            self.question.where.say(self._plan(len(points), known))

    def beyond(self, values: Sequence[Value]) -> list[Estimate]:
        """Return by how much the means of a point's values are beyond each bound."""
        return [it.beyond(values, k, SURE) for k, it in enumerate(self.question.measured.bounds, 1)]

    def _run_timed(self, points: Sequence[Point], count: int) -> Results:
        others = (
            made_of(it.values) for it in self.search.trials.values() if it.point not in points
        )
        known = len(self.kept.results)
        with self.pace.timing(lambda: len(self.kept.results) - known):
            return self.run(points, self._each(count), sum(others))

    def _seen(self, done: int) -> None:
        self.question.where.watch(done, self.search.at_most + self.pace.reserved)
        self.pace.check()

    def _plan(self, points: int, known: int) -> str:
        """Return what will be run, and how long that takes, as far as it is known at the start."""
        text = f"plan: {counted(points, 'point')} first, then those beside the best"
        if self._steady:
            return f"{text}; nothing is random, so that one run of each does"
        most = self.search.at_most + self.pace.reserved
        text += f"; at most {counted(most, 'run')}"
        if self.pace.each:
            text += f", at most {time_words(most * self.pace.each)} on {self.workers.slots} cores"
        return text + (f", of which {known:,} may be known" if known else "")


def values_of(found: Results) -> list[Values]:
    """Return, for each variant, a tuple for each run: the value of the measure first, and then of
    those that have bounds."""
    measured, until = found.question.measured, found.question.surely.until
    gauges = [measured.gauges[0], *(it.measure for it in measured.bounds)]
    rows: dict[str, list[RunResult]] = {name: [] for name in found.plan.variants}
    for (case, _), result in found.finished():
        rows[case.variant].append(result)

    def values(results: Sequence[RunResult]) -> Values:
        """Return the values of a variant's runs with the knowledge of each measure."""
        columns = [[run_of(it, gauge, until) for it in results] for gauge in gauges]
        known = map(known_of, columns, gauges)
        rows = zip(*([run.value for run in row] for row in columns), strict=True)
        drawn = not all(map(drew_nothing, columns))
        return Values(rows, known, sum(it.end is RunStatus.DEPLETED for it in results), drawn)

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
