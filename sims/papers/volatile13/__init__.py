"""volatile13: iterative applications on volatile workers: Tables I and II, figure 2."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from attrs import evolve

from sims.campaign.results import Results
from sims.papers.values import Place, Value, drawn, estimated, runs, spread, without

REFERENCE = "IE"
"""The heuristic that the others are compared with (VII.A)."""


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

Makespans = Mapping[str, Sequence[float | None]]
"""By heuristic, a value for each trial; None where it reached the cap."""
Both = list[tuple[float, float]]
"""A heuristic's and the reference's makespans of the trials in which both succeed."""


def table(results: Results) -> list[Value]:
    """View: all scores."""
    return scores(list(runs(results).values()))


def figure2(results: Results) -> list[Value]:
    """View: %diff by wmin."""
    places: dict[Place, list[Makespans]] = {}
    for place, made in runs(results).items():
        places.setdefault(without(place, "number", "channels"), []).append(made)
    return [
        evolve(it, place=place)
        for place, made in places.items()
        for it in scores(made)
        if it.what == "%diff" and it.who != REFERENCE
    ]


def scores(scenarios: Sequence[Makespans]) -> list[Value]:
    """VII.A's scores, best first: #fails; %diff, (M_H - M_ref) / min(M_H, M_ref), makespans taken
    per scenario over the trials in which both succeed, then over scenarios (below 0: better);
    %wins and %wins30, per cent of trials with M_H <= M_ref and 1.3 M_ref; stdv, of the difference
    over scenarios (1 is 100 %)."""
    rows = [list(_scores(scenarios, name)) for name in scenarios[0]]
    return [it for row in sorted(rows, key=lambda row: row[1].ours.mean) for it in row]


def _scores(scenarios: Sequence[Makespans], name: str) -> Iterator[Value]:
    pairs = [found for it in scenarios if (found := both(it[name], it[REFERENCE]))]
    means = ([fmean(column) for column in zip(*found, strict=True)] for found in pairs)
    diffs = [difference(mine, its) for mine, its in means]
    fails = sum(value is None for it in scenarios for value in it[name])
    yield Value((), name, "#fails", drawn(fails))
    yield Value((), name, "%diff", estimated([100 * diff for diff in diffs]))
    for what, factor in (("%wins", 1.0), ("%wins30", 1.3)):
        wins = [100 * fmean(mine <= factor * its for mine, its in found) for found in pairs]
        yield Value((), name, what, estimated(wins))
    yield Value((), name, "stdv", spread(diffs))


def both(mine: Sequence[float | None], its: Sequence[float | None]) -> Both:
    """Trials in which both succeed."""
    made = zip(mine, its, strict=True)
    return [(a, b) for a, b in made if a is not None and b is not None]


def difference(mine: float, its: float) -> float:
    """Below 0: better."""
    return (mine - its) / min(mine, its)
