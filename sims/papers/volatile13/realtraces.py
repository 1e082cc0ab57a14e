"""What volatile13, section VIII left for later: how wrong are Markov heuristics on real
availability?

Each folder of spot-instance traces is a platform, each of its instances a volatile worker. A
Markov chain is fitted to every worker; the heuristics believe it. They run on the trace itself,
from a random start (the trace wraps around), and, with the same platform and first states, on
availability that really is the fitted chain. What differs between the two is what "Markov" gets
wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from attrs import frozen

from actors.runtime import stream
from sims.campaign.results import Results
from sims.errors import COMMAND_LINE, InputError
from sims.papers.values import Place, Value, drawn, estimated, runs, without
from sims.papers.volatile13 import REFERENCE, Makespans, both, difference
from sims.readers.markov_fit import MarkovFit, fit_markov
from sims.readers.spot import read_spot_trace
from sims.readers.spot_folders import spot_folder, spot_groups, turned_to

TRACE, CHAIN = "on the traces", "on fitted chains"


@frozen
class RealWorker:
    """One instance of a trace, in slots of the trace's own tick."""

    name: str
    letters: str
    """u or d in each slot."""
    fit: MarkovFit

    def lines(self) -> Iterator[str]:
        """The fitted chain and its evidence."""
        share = self.letters.count("u") / len(self.letters)
        yield f"{self.name}: UP {share:.0%}; {', '.join(self._stays())}"
        yield self.fit.report()

    def _stays(self) -> Iterator[str]:
        up, _, down = self.fit.quality.holding
        for name, times in (("UP", up), ("not UP", down)):
            test = times.geometric
            said = "too few to test" if test is None else f"geometric: p={test.p_value:.0e}"
            yield f"mean stay {name} {times.mean_slots:.0f} slots, {said}"

    def section(self, task_time: int, first: int, on: str) -> dict[str, Any]:
        """As a scenario has it, from slot `first` of the trace."""
        turned = turned_to(self.letters, first)
        chain = {"kind": "markov", "rows": self.fit.rows}
        trace = {"kind": "letters", "states": turned, "then": "repeat"}
        life = trace if on == TRACE else chain | {"first": turned[0]}
        return {"name": self.name, "task_time": task_time, "availability": life, "belief": chain}


@cache
def _platforms(traces: str) -> Mapping[str, tuple[RealWorker, ...]]:
    if not traces:
        problem = "volatile13/realtraces runs on spot-instance traces of yours"
        raise InputError(
            COMMAND_LINE, "--input", problem, "a folder (or tar archive) of JSON files"
        )
    with spot_folder(Path(traces)) as folder:
        return {
            name: tuple(it for path in files for it in _workers(path))
            for name, files in spot_groups(folder)
        }


def _workers(path: Path) -> Iterator[RealWorker]:
    trace = read_spot_trace(path)
    for k, timeline in enumerate(trace.nodes()):
        slots = timeline.slotted(trace.gap_seconds)
        letters = "".join(state.value for state in slots.slots())
        yield RealWorker(f"{path.stem}.{k}", letters, fit_markov(slots))


def given(traces: str) -> dict[str, Any]:
    """The traces' platforms, for the campaign. Raises InputError."""
    return {"axes": {"platform": list(_platforms(traces))}}


def evidence(traces: str) -> Iterator[str]:
    """Each zone's fitted chain, with its standard errors and tests; further instances of one zone
    look much the same."""
    for workers in _platforms(traces).values():
        for worker in workers:
            if worker.name.endswith(".0"):
                yield from worker.lines()


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
    """One start in the traces, with speeds drawn for it."""
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


def view(results: Results) -> list[Value]:
    """%diff to IE on both, makespans on the trace over those on the chain that policies believe in,
    and runs that failed."""
    made = runs(results).items()
    ways = {
        on: {without(place, "on"): row for place, row in made if dict(place)["on"] == on}
        for on in (TRACE, CHAIN)
    }
    return [it for name in results.campaign.variants for it in _row(ways, name)]


def _row(ways: Mapping[str, Mapping[Place, Makespans]], name: str) -> Iterator[Value]:
    for on, starts in ways.items():
        pairs = (it for row in starts.values() for it in both(row[name], row[REFERENCE]))
        diffs = [100 * difference(*pair) for pair in pairs]
        yield Value((), name, f"%diff to IE {on}", estimated(diffs))
    chains = ways[CHAIN]
    pairs = (it for at, row in ways[TRACE].items() for it in both(row[name], chains[at][name]))
    yield Value((), name, "trace / chain", estimated([a / b for a, b in pairs]))
    for on, starts in ways.items():
        fails = sum(it is None for row in starts.values() for it in row[name])
        yield Value((), name, f"#fails {on}", drawn(fails))
