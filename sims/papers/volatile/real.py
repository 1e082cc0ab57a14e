"""What volatile13, section VIII left for later: how wrong are Markov heuristics on real
availability?

Each folder of spot-instance traces is a platform, each of its instances a volatile worker. A
Markov chain is fitted to every worker; the heuristics believe it. They run on the trace itself,
from a random start (the trace wraps around), and, with the same platform and first states, on
availability that really is the fitted chain. What differs between the two is what "Markov" gets
wrong.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from attrs import frozen

from actors.runtime import stream
from policies.availability import WorkerState
from sims.campaign.results import Results
from sims.errors import COMMAND_LINE, InputError
from sims.papers.values import Place, Value, drawn, estimated, runs, without
from sims.papers.volatile import REFERENCE
from sims.readers.markov_fit import MarkovFit, fit_markov
from sims.readers.spot import read_spot_trace, spot_folder, spot_groups, turned_to
from sims.scenario.availability import After, Availability, Letters, Markov
from sims.scenario.jobs.section import IterativeSection
from sims.scenario.master import MasterSection
from sims.scenario.platform import WorkerSection
from sims.scenario.policy import PolicySection
from sims.scenario.scenario import Scenario

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


def given(path: Path) -> dict[str, Any]:
    """The traces' platforms, for the campaign. Raises InputError."""
    traces = str(path.absolute())
    return {"set": {"traces": traces}, "axes": {"platform": list(_platforms(traces))}}


def evidence(path: Path) -> Iterator[str]:
    """Each zone's fitted chain, with its standard errors and tests; further instances of one zone
    look much the same."""
    for workers in _platforms(str(path.absolute())).values():
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
) -> Scenario:
    """One start in the traces, with speeds drawn for it."""
    workers = _platforms(traces)[platform]
    rng = stream(number, f"realtraces/{platform}")
    speeds = rng.integers(fastest, 10 * fastest, size=len(workers), endpoint=True).tolist()
    first = int(rng.integers(len(workers[0].letters)))
    sections = tuple(
        WorkerSection(
            name=it.name,
            task_time=speed,
            availability=_availability(it, turned_to(it.letters, first), on),
            belief=Markov(rows=it.fit.rows),
        )
        for it, speed in zip(workers, speeds, strict=True)
    )
    return Scenario(
        name="realtraces",
        seed=number,
        master=MasterSection(channels=5, program=5 * fastest, data=fastest),
        workers=sections,
        job=IterativeSection(kind="iterative", tasks=tasks, iterations=10, cap=cap),
        policy=PolicySection(name=heuristic),
    )


def _availability(worker: RealWorker, turned: str, on: str) -> Availability:
    if on == TRACE:
        return Letters(states=turned, then=After.REPEAT)
    return Markov(rows=worker.fit.rows, first=WorkerState(turned[0]))


# --- the view ---------------------------------------------------------------------------------

Makespans = dict[Place, dict[str, float | None]]
"""By platform and start, and by heuristic; None where it reached the cap."""


def view(results: Results) -> list[Value]:
    """%diff to IE on both, makespans on the trace over those on the chain that policies believe in,
    and runs that failed."""
    made: dict[str, Makespans] = {on: defaultdict(dict) for on in (TRACE, CHAIN)}
    for ran in runs(results):
        made[dict(ran.place)["on"]][without(ran.place, "on")][ran.variant] = ran.value
    return [it for name in results.campaign.variants for it in _row(made, name)]


def _row(made: Mapping[str, Makespans], name: str) -> Iterator[Value]:
    for on in (TRACE, CHAIN):
        pairs = ((row[name], row[REFERENCE]) for row in made[on].values())
        both = [(a, b) for a, b in pairs if a is not None and b is not None]
        diffs = [100 * (a - b) / min(a, b) for a, b in both]
        yield Value((), name, f"%diff to IE {on}", estimated(diffs))
    ways = ((made[TRACE][place][name], made[CHAIN][place][name]) for place in made[TRACE])
    longer = [a / b for a, b in ways if a is not None and b is not None]
    yield Value((), name, "trace / chain", estimated(longer))
    for on in (TRACE, CHAIN):
        fails = sum(row[name] is None for row in made[on].values())
        yield Value((), name, f"#fails {on}", drawn(fails))
