"""volatile13: iterative applications on volatile workers: Tables I and II, figure 2."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from statistics import fmean, stdev
from typing import Any

from attrs import evolve

from sims.campaign.results import Results
from sims.papers.values import Place, Value, drawn, estimated, runs, without
from sims.papers.volatile.printed import TABLE_1, TABLE_2, PaperRow

REFERENCE = "IE"
"""The heuristic that the others are compared with (VII.A)."""
NUMBER = "number"
"""Axis: which platform is drawn."""


def instance(tasks: int, channels: int, fastest: int, number: int) -> dict[str, Any]:
    """Scenario `number` of VII.A's space; its seeds are its trials.

    `expectation` is printed: what the tables fit.
    """
    place = 1000 * (100 * channels + fastest) + number
    return {
        "name": "volatile13-VII-A",
        "seed": 1000 * place,
        "master": {"channels": channels, "program": 5 * fastest, "data": fastest},
        "random_workers": {"count": 20, "fastest": fastest, "seed": place},
        "job": {"kind": "iterative", "tasks": tasks, "iterations": 10, "cap": 1_000_000},
        "policy": {"name": REFERENCE, "expectation": "printed"},
    }


# --- scores -----------------------------------------------------------------------------------

Makespans = dict[str, list[float | None]]
"""By heuristic, a value for each trial; None where it reached the cap."""


def figure2(results: Results) -> list[Value]:
    """%diff by wmin."""
    places: dict[Any, list[Makespans]] = defaultdict(list)
    for place, made in _scenarios(results).items():
        places[without(place, NUMBER, "channels")].append(made)
    return [
        evolve(it, place=place)
        for place, made in places.items()
        for it in scores(made, REFERENCE)
        if it.what == "%diff" and it.who != REFERENCE
    ]


def table1(results: Results) -> list[Value]:
    """All scores beside Table I."""
    return _table(results, TABLE_1)


def table2(results: Results) -> list[Value]:
    """All scores beside Table II."""
    return _table(results, TABLE_2)


def _table(results: Results, printed: dict[str, PaperRow]) -> list[Value]:
    found = scores(list(_scenarios(results).values()), REFERENCE)
    return [
        evolve(it, paper=printed[it.who].of(it.what)) if it.who in printed else it for it in found
    ]


def _scenarios(results: Results) -> dict[Place, Makespans]:
    made: dict[Place, Makespans] = defaultdict(lambda: defaultdict(list))
    for ran in runs(results):
        made[ran.place][ran.variant].append(ran.value)
    return made


def scores(scenarios: Sequence[Makespans], reference: str) -> list[Value]:
    """VII.A's scores, best first: #fails; %diff, (M_H - M_ref) / min(M_H, M_ref), makespans taken
    per scenario over the trials in which both succeed, then over scenarios (below 0: better);
    %wins and %wins30, per cent of trials with M_H <= M_ref and 1.3 M_ref; stdv, of the difference
    over scenarios (1 is 100 %)."""
    scored = [list(_scores(scenarios, name, reference)) for name in scenarios[0]]
    return [it for row in sorted(scored, key=_difference_of) for it in row]


def _difference_of(row: list[Value]) -> float:
    return row[1].ours.mean


def _scores(scenarios: Sequence[Makespans], name: str, reference: str) -> Iterator[Value]:
    pairs = [both for it in scenarios if (both := _both(it[name], it[reference]))]
    diffs = [_difference(both) for both in pairs]
    fails = sum(value is None for it in scenarios for value in it[name])
    yield Value((), name, "#fails", drawn(fails))
    yield Value((), name, "%diff", estimated([100 * diff for diff in diffs]))
    for what, factor in (("%wins", 1.0), ("%wins30", 1.3)):
        yield Value((), name, what, estimated([_share(both, factor) for both in pairs]))
    yield Value((), name, "stdv", drawn(stdev(diffs) if len(diffs) > 1 else 0.0))


def _both(mine: Sequence[float | None], its: Sequence[float | None]) -> list[tuple[float, float]]:
    made = zip(mine, its, strict=True)
    return [(a, b) for a, b in made if a is not None and b is not None]


def _difference(both: list[tuple[float, float]]) -> float:
    mine, its = fmean(a for a, _ in both), fmean(b for _, b in both)
    return (mine - its) / min(mine, its)


def _share(both: list[tuple[float, float]], factor: float) -> float:
    return 100 * sum(mine <= factor * its for mine, its in both) / len(both)
