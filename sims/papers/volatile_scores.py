"""How 002, VII.A scores a heuristic against the reference: #fails, %diff, %wins, %wins30, stdv."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from statistics import fmean, stdev

from attrs import frozen

from sims.papers.volatile_runs import Instance
from sims.statistics import Interval, mean_interval

Results = Mapping[Instance, Mapping[str, int | None]]
Place = tuple[int, int, int]
"""A scenario: (n_com, wmin, number)."""


@frozen
class Score:
    """One row of Table I or II."""

    fails: int
    """Instances in which the cap was reached."""
    diff: Interval
    """%diff: (M_H - M_ref) / min(M_H, M_ref), makespans averaged per scenario over the trials in
    which both succeed; then over scenarios. Negative: better than the reference."""
    wins: Interval
    """Per cent of trials with M_H <= M_ref, per scenario, over scenarios."""
    wins30: Interval
    """Per cent of trials with M_H <= 1.3 M_ref."""
    stdv: float
    """Standard deviation of the difference over scenarios; 1 is 100 %."""


@frozen
class Scores:
    """A table."""

    rows: dict[str, Score]
    instances: int
    scenarios: int


def scores(results: Results, reference: str) -> Scores:
    """Score every heuristic of `results`."""
    places: dict[Place, list[Mapping[str, int | None]]] = defaultdict(list)
    for instance in sorted(results, key=_order):
        place = (instance.channels, instance.fastest, instance.scenario)
        places[place].append(results[instance])
    names = next(iter(results.values()))
    rows = {name: _score(list(places.values()), name, reference) for name in names}
    return Scores(rows, len(results), len(places))


def by_fastest(results: Results, reference: str) -> dict[int, Scores]:
    """The same per wmin (Figure 2)."""
    values = sorted({instance.fastest for instance in results})
    return {
        wmin: scores({i: r for i, r in results.items() if i.fastest == wmin}, reference)
        for wmin in values
    }


def _order(instance: Instance) -> tuple[int, ...]:
    return (instance.channels, instance.fastest, instance.scenario, instance.trial)


def _score(places: list[list[Mapping[str, int | None]]], name: str, reference: str) -> Score:
    pairs = [_both(trials, name, reference) for trials in places]
    pairs = [both for both in pairs if both]
    diffs = [_difference(both) for both in pairs]
    return Score(
        fails=sum(trial[name] is None for trials in places for trial in trials),
        diff=mean_interval([100 * diff for diff in diffs]),
        wins=mean_interval([_share(both, 1.0) for both in pairs]),
        wins30=mean_interval([_share(both, 1.3) for both in pairs]),
        stdv=stdev(diffs) if len(diffs) > 1 else 0.0,
    )


def _both(
    trials: list[Mapping[str, int | None]], name: str, reference: str
) -> list[tuple[int, int]]:
    made = ((trial[name], trial[reference]) for trial in trials)
    return [(mine, its) for mine, its in made if mine is not None and its is not None]


def _difference(both: list[tuple[int, int]]) -> float:
    mine, its = fmean(a for a, _ in both), fmean(b for _, b in both)
    return (mine - its) / min(mine, its)


def _share(both: list[tuple[int, int]], factor: float) -> float:
    return 100 * sum(mine <= factor * its for mine, its in both) / len(both)
