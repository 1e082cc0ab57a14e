"""Regenerate volatile13, iterative applications on volatile workers: Tables I and II, and figure 2.

The study on real traces answers a question that section VIII left for later: how wrong are Markov
heuristics on real availability?
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any

from attrs import evolve, frozen

from actors.runtime import stream
from sims.campaign.results import Results
from sims.errors import COMMAND_LINE, InputError
from sims.papers.inputs import base, letters_of, traced
from sims.papers.values import Place, Value, drawn, estimated, runs, spread, without
from sims.readers.fits import MarkovFit, fit_markov
from sims.readers.spot import turned_to

REFERENCE = "IE"
"""Heuristic with which the others are compared (VII.A)."""


def instance(tasks: int, channels: int, fastest: int, number: int) -> dict[str, Any]:
    """Return scenario number `number` of the space in section VII.A; its seeds are its trials.

    `tasks` is m, `channels` n_com and `fastest` w_min, the least number of slots for a task: a
    message of data takes w_min slots, the program 5 w_min.
    """
    place = 1000 * (100 * channels + fastest) + number
    own = {
        "seed": 1000 * place,
        "master.channels": channels,
        "master.program": 5 * fastest,
        "master.data": fastest,
        "random_workers.fastest": fastest,
        "random_workers.seed": place,
        "job.tasks": tasks,
    }
    return base("volatile13/base", own)


# --- scores -----------------------------------------------------------------------------------

Makespans = Mapping[str, Sequence[float | None]]
"""Maps each heuristic to a makespan for each trial, or None where the trial reached the cap."""
Both = list[tuple[float, float]]
"""Makespans of a heuristic and of the reference in the trials in which both succeed."""


def table(results: Results) -> list[Value]:
    """Return the scores of each heuristic over all scenarios of a campaign, for Tables 1 and 2."""
    return scores(list(runs(results).values()))


def figure2(results: Results) -> Iterator[Value]:
    """Yield the score %diff of each heuristic but IE for each w_min, the number of slots of a task
    on the fastest worker, over all numbers of channels."""
    places = defaultdict[Place, list[Makespans]](list)
    for place, made in runs(results).items():
        places[without(place, "number", "channels")].append(made)
    for place, several in places.items():
        for it in scores(several):
            if it.what == "%diff" and it.who != REFERENCE:
                yield evolve(it, place=place)


def scores(scenarios: Sequence[Makespans]) -> list[Value]:
    """Return the scores of section VII.A for each heuristic, the lowest %diff first.

    M_H and M_ref are the makespans of the heuristic and of IE. #fails: trials that reached the cap;
    %diff: (M_H - M_ref) / min(M_H, M_ref) in per cent, of makespans averaged per scenario over the
    trials in which both succeed, then averaged over scenarios (below 0: better); %wins and %wins30:
    per cent of trials with M_H <= M_ref and M_H <= 1.3 M_ref; stdv: standard deviation of the
    difference over scenarios (1 is 100 %).
    """
    rows = [list(_scores(scenarios, name)) for name in scenarios[0]]
    return [it for row in sorted(rows, key=lambda row: row[1].ours.mean) for it in row]


def _scores(scenarios: Sequence[Makespans], name: str) -> Iterator[Value]:
    """Yield the scores of the heuristic `name`, as `scores` defines them."""
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
    """Return pairs of makespans (this heuristic's, the reference's) of the trials in which both
    succeed."""
    made = zip(mine, its, strict=True)
    return [(a, b) for a, b in made if a is not None and b is not None]


def difference(mine: float, its: float) -> float:
    """Return (M_H - M_ref) / min(M_H, M_ref) for the makespans `mine` of a heuristic and `its` of
    the reference; below 0 the heuristic is better."""
    return (mine - its) / min(mine, its)


# --- real availability ------------------------------------------------------------------------
#
# Each folder of spot-instance traces is a platform, each of its instances a volatile worker. A
# Markov chain is fitted to every worker; the heuristics believe it. They run on the trace itself,
# from a random start (the trace wraps around), and, with the same platform and first states, on
# availability that really is the fitted chain. What differs between the two is what "Markov" gets
# wrong.

TRACE, CHAIN = "on the traces", "on fitted chains"


@frozen
class RealWorker:
    """A worker of the study on real availability: one spot instance of a trace, with the Markov
    chain fitted to it. A slot is a tick of the trace."""

    name: str
    letters: str
    """State in each slot, u or d."""
    fit: MarkovFit
    """Markov chain fitted to the letters."""

    def section(self, task_time: int, first: int, on: str) -> dict[str, Any]:
        """Return the worker as an entry of `[[workers]]`, from slot `first` of the trace on; a task
        takes `task_time` slots on it.

        `on` is TRACE or CHAIN: its availability is the trace itself, which repeats, or the fitted
        chain, from the trace's state in that slot. Policies believe the chain in either case.
        """
        rotated = turned_to(self.letters, first)
        chain = {"kind": "markov", "rows": self.fit.rows}
        trace = {"kind": "letters", "states": rotated, "after": "repeat"}
        availability = trace if on == TRACE else chain | {"first": rotated[0]}
        return {
            "name": self.name,
            "task_time": task_time,
            "availability": availability,
            "belief": chain,
        }


@cache
def _platforms(traces: str) -> Mapping[str, tuple[RealWorker, ...]]:
    """Return the workers of each platform in the traces. Raises InputError without traces."""
    if not traces:
        problem = "volatile13/realtraces runs on spot-instance traces of yours"
        accepted = "a folder (or tar archive) of JSON files"
        raise InputError(COMMAND_LINE, "--input", problem, accepted)
    return {
        platform: tuple(
            RealWorker(name, letters_of(node), fit_markov(node)) for name, node in nodes.items()
        )
        for platform, _, nodes in traced(Path(traces))
    }


def given(traces: str) -> dict[str, Any]:
    """Return the changes that traces make to the campaign, as keys and values: its platforms.
    Raises InputError where they cannot be read."""
    return {"axes": {"platform": list(_platforms(traces))}}


def evidence(traces: str) -> Iterator[str]:
    """Yield the fitted chain of each zone, with its standard errors and tests, in lines for people.

    Only the first instance of a zone is shown, since the others look much the same.
    """
    for worker in (it for platform in _platforms(traces).values() for it in platform):
        if worker.name.endswith(".0"):
            share, stays = worker.letters.count("u") / len(worker.letters), []
            up, _, down = worker.fit.holding
            for name, times in (("UP", up), ("not UP", down)):
                test = times.geometric
                verdict = "too few to test" if test is None else f"geometric: p={test.p_value:.0e}"
                stays.append(f"mean stay {name} {times.mean_slots:.0f} slots, {verdict}")
            yield f"{worker.name}: UP {share:.0%}; {', '.join(stays)}"
            yield worker.fit.report()


def start(
    platform: str,
    number: int,
    on: str,
    heuristic: str,
    traces: str = "",
    tasks: int = 5,
    fastest: int = 2,
    cap: int = 100_000,
) -> dict[str, Any]:
    """Return the scenario of start number `number` on a platform of the traces: an iterative job of
    10 iterations of `tasks` tasks, under a heuristic.

    The start begins at a random slot of the traces, and each worker takes a random number of slots
    for a task, from `fastest` to ten times as many. `on` is that of `RealWorker.section`, `traces`
    the path of the traces, and `cap` the slot at which a run is cut off.
    """
    workers = _platforms(traces)[platform]
    rng = stream(number, f"realtraces/{platform}")
    speeds = rng.integers(fastest, 10 * fastest, size=len(workers), endpoint=True).tolist()
    first = int(rng.integers(len(workers[0].letters)))
    pairs = zip(workers, speeds, strict=True)
    return {
        "name": "realtraces",
        "seed": number,
        "master": {"channels": 5, "program": 5 * fastest, "data": fastest},
        "workers": [it.section(speed, first, on) for it, speed in pairs],
        "job": {"kind": "iterative", "tasks": tasks, "iterations": 10, "cap": cap},
        "policy": {"name": heuristic},
    }


def realtraces(results: Results) -> Iterator[Value]:
    """Yield for each heuristic: its %diff to IE on traces and on fitted chains, the mean ratio of
    its makespan on the trace to that on the chain, and the number of its failed runs on each."""
    made = runs(results).items()
    ways = {
        on: {without(place, "on"): row for place, row in made if dict(place)["on"] == on}
        for on in (TRACE, CHAIN)
    }
    for name in results.question.varied.variants:
        for on, starts in ways.items():
            pairs = [it for row in starts.values() for it in both(row[name], row[REFERENCE])]
            diffs = [100 * difference(*pair) for pair in pairs]
            yield Value((), name, f"%diff to IE {on}", estimated(diffs))
        chains, traces = ways[CHAIN], ways[TRACE].items()
        pairs = [it for at, row in traces for it in both(row[name], chains[at][name])]
        yield Value((), name, "trace / chain", estimated([a / b for a, b in pairs]))
        for on, starts in ways.items():
            fails = sum(it is None for row in starts.values() for it in row[name])
            yield Value((), name, f"#fails {on}", drawn(fails))
