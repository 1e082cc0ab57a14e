"""Studies of several mechanisms at once, which no paper prints: campaigns and their views.

Variants are compared on the same realisations of platform and work, one for each seed. Where a run
may be cut off, what it left undone counts as done then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from sims.campaign.cells import RunStatus
from sims.campaign.intervals import LEVEL, ratio_of
from sims.campaign.results import Results
from sims.papers.values import Place, Value, drawn
from sims.summary import Summary

Runs = Mapping[Place, Mapping[str, list[float]]]
"""By place and variant, a value for each seed."""


def flowtime(summary: Summary) -> float:
    """Mean over the jobs that were submitted, completion minus submission, in the scenario's unit;
    where the run was cut off, jobs that it left count as completed then."""
    ends, starts = summary.completed, summary.submitted
    total = sum(ends.get(job, summary.time) - start for job, start in starts.items())
    return total / len(starts)


def whole(results: Results) -> Runs:
    """The first measure of all runs, those that were cut off included."""
    found: dict[Place, dict[str, list[float]]] = {}
    name = results.campaign.measures[0]
    for (case, _), result in results.finished():
        value = result.values[name]
        assert value is not None
        found.setdefault(case.point, {}).setdefault(case.variant, []).append(value)
    return found


def cut_off(results: Results) -> Mapping[tuple[Place, str], int]:
    """How many runs of a variant were, by place."""
    found: dict[tuple[Place, str], int] = {}
    for (case, _), result in results.finished():
        key = case.point, case.variant
        found[key] = found.get(key, 0) + (result.end is RunStatus.CAPPED)
    return found


def against(
    results: Results, reference: str, place_of: Callable[[Place, str], Place]
) -> Iterator[Value]:
    """Means over the reference's, paired by seed, and how many runs were cut off, at `place_of` a
    place and a variant: what is one run at several places is told once."""
    late, told = cut_off(results), set()
    for place, made in whole(results).items():
        for who, values in made.items():
            at = place_of(place, who)
            if who != reference and (at, who) not in told:
                told.add((at, who))
                ratio = ratio_of(values, made[reference], LEVEL)
                assert ratio is not None
                yield Value(at, who, f"mean flowtime / {reference}'s", ratio)
                yield Value(at, who, "cut off", drawn(late[place, who]))
