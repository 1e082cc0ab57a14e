"""The answer of a search: the best settings, what is as good, and all that was tried."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isinf, isnan
from pathlib import Path
from typing import Any

from attrs import define

from policies.maths.tolerance import SAME
from sims.campaign.answers import Answer, assumptions, ends, expressions
from sims.campaign.axes import Dimension, Settings, settings_at, settings_text
from sims.campaign.batches import AnyMeasure
from sims.campaign.measured import Bound, Measured
from sims.campaign.pace import Pace
from sims.campaign.picture import draw_tuning
from sims.campaign.plan import Case
from sims.campaign.runner import short_of_workers
from sims.campaign.search import FINE, NEVER, SURE, Search, State, Trial
from sims.campaign.values import Value, estimate, known_of, made_of, steady
from sims.estimates import at_most, rounded
from sims.intervals import Estimate
from sims.scenario import Scenario
from sims.telling import amount_of, counted, grid, time_words, units


@define(repr=False)
class Tuned(Answer):
    """The answer to a search for the best settings: the best point, the points that are as good,
    and all that were tried. A notebook shows it, `print` prints it."""

    case: Case
    """The best point as a case, whose question has the scenario and what follows."""
    search: Search
    best: Trial
    measured: Measured
    """The measure that is made best, and the bounds of means."""
    fresh: Sequence[Value]
    """Results of the best point's runs on seeds that the search did not use."""
    level: float
    """Level of its intervals, which pays for each look at them after which runs could end."""
    pace: Pace

    @property
    def measure(self) -> AnyMeasure:
        """The measure that is made best."""
        return self.measured.gauges[0]

    @property
    def bounds(self) -> tuple[Bound, ...]:
        """Bounds to which the means have to keep."""
        return self.measured.bounds

    @property
    def settings(self) -> Settings:
        """Settings of the best point."""
        return settings_at(self.search.dimensions, self.best.point)

    @property
    def follows(self) -> Settings:
        """Settings that follow from those of the best point."""
        names = self.case.plan.question.varied.follows
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
        return self.search.runs + (0 if steady(self.best.values) else len(self.fresh))

    @property
    def command(self) -> str:
        """Command that runs the best point alone; a call where the scenario has no file."""
        return self.case.plan.question.subject.command(self.case.settings())

    @property
    def sentence(self) -> str:
        """The answer in one sentence, which claims no more than the intervals support."""
        regions = self.search.region(self.best), self.search.region(self.best, State.OPEN)
        clauses = [
            self._clause(it, best, *(region[it.key] for region in regions))
            for it, best in zip(self.search.dimensions, self.best.point, strict=True)
        ]
        means: dict[AnyMeasure, Estimate] = {self.measure: self.estimate}
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

    def _told(self, measure: AnyMeasure, mean: Estimate, which: int) -> str:
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

    def _unit(self, measure: AnyMeasure, before: str = " ") -> str:
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
        unknown = [made_of(it.values) for it in trials if it.state is State.OPEN]
        said = [self.sentence, f"Assumed: {assumptions(self.scenario)}."]
        if self.follows:
            said.append(f"With {expressions(self.case.plan.question)}.")
        if worse := list(filter(None, map(self._worse, trials))):
            level = f"{100 * SURE:g} %"
            how = f"the difference from the best on the same seeds, with its {level} interval"
            if any(it.smooth for it in self.search.dimensions):
                how += "; along a range, that of a curve through its points"
            if any(isinf(it.half) for it in worse):
                how += "; without one where the differences are all alike, as one observation"
            if self._steady:
                exact = not any(it.half for it in worse)
                how = f"the difference from the best, {'exact' if exact else 'without an interval'}"
            said.append(f"Worse by: {how}.")
        if unknown:
            few, many, points = min(unknown), max(unknown), counted(len(unknown), "point")
            runs = f"{few:,} to " * (few < many) + counted(many, "run")
            said.append(f"{points} could be told neither as good nor worse with {runs} each.")
        said += [*self._once(), *short_of_workers(self.search), *self._left(), *self._gaps()]
        tried = f"{counted(len(trials), 'point')}, {counted(self.runs, 'run')}"
        seeds = "no seed changes the answer" if steady(self.best.values) else SEEDS
        said.append(f"Tried: {tried}; {seeds}.")
        return [*said, f"Run it alone: {self.command}"]

    @property
    def _steady(self) -> bool:
        """Whether nothing is drawn at random at any point, so that each had one run."""
        return all(steady(it.values) for it in self.search.trials.values() if it.values)

    def _once(self) -> Iterator[str]:
        """Yield a note on what one run of each point says, where nothing is drawn at random."""
        if not self._steady:
            return
        known = (known_of(it.values, 0) for it in self.search.trials.values() if it.values)
        if all(it.exact for it in known):
            yield (
                "The runs draw nothing at random: each figure is exact, and one run of a point "
                "says all."
            )
        else:
            yield (
                "The runs draw nothing at random, but their jobs or workers are one sample, as a "
                "log is: each point is one observation, without an interval."
            )

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
        """Return a row for each point that was tried, the best first: its settings, the means of
        the measure and of those that have bounds, its number of runs and state, and by how much it
        is worse than the best on the same seeds, with the ends of that interval. Times are in
        seconds."""
        return [
            dict(settings_at(self.search.dimensions, it.point))
            | {self.measure.value: None if isnan(it.mean) else it.mean}
            | {name: self._mean(it, place) for name, place in self._others.items()}
            | {"runs": made_of(it.values), "state": it.state.value}
            | ends(self._worse(it), "worse_by", "worse_by_low", "worse_by_high")
            for it in self._sorted
        ]

    @property
    def _others(self) -> dict[str, int]:
        """Maps the measures that only have bounds to the places of their values in those of a
        run."""
        bounds = enumerate(self.bounds, 1)
        return {it.measure.value: k for k, it in bounds if it.measure != self.measure}

    def _mean(self, it: Trial, place: int) -> float | None:
        """Return the mean of another measure over a point's runs, or None where none has it."""
        found = estimate(it.values, place, self.level)
        return found.mean if found.size else None

    def _worse(self, it: Trial) -> Estimate | None:
        """Return by how much a point is worse than the best one, or None for the best itself and
        for points that cannot be the best."""
        if it.more is None or it.state in (State.BEST, *NEVER):
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
        title = f"{self.case.plan.question.name}: {self._measured}"
        rows = [
            (
                *(one.text(value) for one, value in zip(dimensions, it.point, strict=True)),
                *(
                    it.state.value,
                    _as_text(None if isnan(it.mean) else it.mean),
                    *(_as_text(self._mean(it, place)) for place in self._others.values()),
                    rounded(self._worse(it)),
                    f"{made_of(it.values):,}",
                ),
            )
            for it in self._sorted[:SHOWN]
        ]
        left = [*(it.key for it in dimensions), "verdict"]
        names = [f"mean {name}" for name in (self.measure.value, *self._others)]
        return grid(left, [*names, "worse by", "runs"], rows, title)

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


def _as_text(mean: float | None) -> str:
    return "-" if mean is None else f"{mean:,.6g}"


SEEDS = "the seeds of the answer are not those of the search"
SHOWN = 12
"""Rows of the table that people read; the best come first."""
