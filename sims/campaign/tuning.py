"""Answer which settings of a scenario make a measure best.

The search (`search`) chooses points; this module runs them as variants, on common seeds, and
measures the best point anew on seeds that the search did not use: the mean of the best of many is
lower than its true value on the seeds by which it was chosen.
"""

from __future__ import annotations

from math import isnan

from attrs import evolve

from sims.campaign.axes import Point, settings_at, settings_text
from sims.campaign.door import Door
from sims.campaign.executors import opened
from sims.campaign.indifferent import warn_of_indifference
from sims.campaign.measured import Measured
from sims.campaign.pace import Pace
from sims.campaign.plan import Cases
from sims.campaign.question import Question
from sims.campaign.results import Results, store_in
from sims.campaign.runner import Runner, short_of_workers, values_of
from sims.campaign.search import FIRST, Search, Trial
from sims.campaign.tuned import Tuned
from sims.campaign.values import Values, estimate, steady
from sims.campaign.varied import Ranges
from sims.errors import InputError, naming
from sims.estimates import rounded
from sims.intervals import LEVEL
from sims.telling import counted, time_words
from sims.world import checked_seed

FRESH = 2**20
"""Distance between the seeds of the search and those of the answer."""


def tune(question: Question) -> Tuned:
    """Search for the settings at which the mean of a measure is best, and measure them anew.

    Raises InputError where no point keeps to the bounds, or the time is too short to say anything.
    """
    with naming(question.subject.called):
        seeded = _seeded(question)
        warn_of_indifference(Cases(seeded), seeded.varied.keys)
        return _searched(seeded)


def _seeded(question: Question) -> Question:
    """Return the question with a first seed: that of the scenario where it has none."""
    seed, door = question.surely.seed, question.door
    first = question.subject.scenario(door).seed if seed is None else seed
    checked_seed(first, door.source, door("seed"))
    return evolve(question, surely=evolve(question.surely, seed=first))


def _searched(question: Question) -> Tuned:
    ranges, surely, where = question.varied, question.surely, question.where
    assert isinstance(ranges, Ranges)
    assert surely.seed is not None
    precision, first = surely.precision, surely.seed
    pace = Pace(ranges.within, surely.most)
    kept = store_in(where.store)
    kept.set_damaged_aside()
    with opened(question.workers) as ready:
        runner = Runner(question, ready, kept, pace)
        search = runner.search
        answers = list[Results]()

        def anew(point: Point) -> Values:
            """Run the answer at a point, and return its values."""
            most = max(pace.answered(surely.most), surely.runs)
            limit = precision and precision.model_copy(update={"most": most})
            fresh = evolve(
                surely, seed=first + FRESH, precision=limit, runs=pace.answered(surely.runs)
            )
            if steady(search.trials[point].values):  # its run is known, and no seed changes it
                fresh = evolve(surely, precision=None, runs=1)
            answers.append(runner.run([point], fresh, search.runs))
            return values_of(answers[-1])[0]

        found = search.answer(anew)
        if found is None:
            raise _nothing_fits(search, question.measured, pace, question.door)
        (best, values), answer = found, answers[-1]
    facts = question.measured, values, answer.question.surely.level, pace
    return Tuned(answer.plan[0], search, best, *facts)


def _nothing_fits(search: Search, measured: Measured, pace: Pace, door: Door) -> InputError:
    """Return the error of a search in which no point keeps to the bounds.

    The message names the point that breaks the fewest bounds, and among these by the least. Where
    runs have no value of the measure, or none of a bound's, it says that instead.
    """
    measure, bounds = measured.gauges[0], measured.bounds
    known = [it for it in search.trials.values() if not isnan(it.mean)]
    if pace.out and not any(it.values for it in search.trials.values()):
        first = len(search.trials) * FIRST
        problem = f"{time_words(pace.within)} are over before anything can be said"
        accepted = f"about {time_words(2 * first * pace.each)}; what is finished is kept"
        return door.refused("within", problem, accepted)
    if not known:
        points = counted(len(search.trials), "point")
        problem = f"none of {points} has a {measure.value} in all of its runs"
        problem += "".join(f"; {it}" for it in short_of_workers(search))
        accepted = f"ranges in which runs complete, a later {door('until')}, or another measure"
        return door.refused("over", problem, accepted)

    for k, bound in enumerate(bounds):
        if all(isnan(it.beyond[k].mean) for it in known):
            problem = f"{bound.measure.value} has no value in any run"
            return door.refused("subject_to", problem, "bounds of other measures")

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
    return door.refused("subject_to", problem, "wider ranges, or other bounds")
