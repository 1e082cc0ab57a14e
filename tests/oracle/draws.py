"""What chance drew in a run, as its log says: the oracle takes it as given (F2, F5, F7, R9).

Raises AssertionError where the draws are none that the rules allow.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, isclose
from random import Random
from typing import Any

from actors.events import (
    FaultsDescribed,
    FaultsReplayed,
    RunStarted,
    StandbysHeld,
    UnitsWornOut,
    WorkerChanged,
)
from actors.runtime import Record
from policies.availability import WorkerState
from tests.oracle.faults import Law

Table = dict[str, Any]
DOWNTIMES = (0.375, 1.625)
"""Of drawn laws, by which the log's faults are told apart: no other law has one of them."""


def draw_chances(rng: Random, scenario: Table) -> None:
    """Add laws of faults that are drawn, and let chance choose workers."""
    workers, scenario["drawn"] = scenario["workers"], []
    for downtime in DOWNTIMES[: rng.choice([1, 1, 2])]:
        law: Table = {"of": rng.choice(["workers", "nodes", "racks"]), "downtime": downtime}
        law |= {"kind": "weibull", "shape": rng.choice([0.7, 1, 3])}
        law |= {"mtbf": workers * rng.randint(15, 50), "age": rng.choice(["new", "stationary"])}
        law |= rng.choice([{}, {"share": rng.choice([0.2, 0.5, 0.7])}])
        if "share" in law and rng.random() < 0.5:
            law |= {"interval": rng.choice([5, 12.5, 30]), "share_added": rng.choice([0.5, 0.6])}
        law |= {"spread": 0.4} if law["of"] == "nodes" else {}
        scenario["drawn"].append(law | {"detection": rng.choice([0, 0, 1.5])})
    if rng.random() < 0.4:
        record = [[[0, 2], [40, 45]], [[30, 31]], [[7, 9], [60, 66]]]
        scenario["drawn"].append({"record": record, "length": 66})
    if "placement" not in scenario and rng.random() < 0.4:
        scenario["placement"] = "random"
    scenario["seed"] = rng.randrange(10**6)


def as_drawn(scenario: Table, records: Sequence[Record]) -> Table:
    """The scenario with all that was drawn in its run listed."""
    events = [record.event for record in records]
    first = len(laws_before(scenario))
    laws = [
        _replay(law, first + k, events)
        if "record" in law
        else _listed(law, first + k, scenario, records)
        for k, law in enumerate(scenario["drawn"])
    ]
    choices: dict[tuple[int, int], list[int]] = {}
    for event in events:
        if isinstance(event, RunStarted):
            choices[int(event.job), event.run] = _numbers(event.processors)
        elif isinstance(event, StandbysHeld):
            choices[int(event.job), event.run] += _numbers(event.processors)
    listed = scenario | {"laws": [*scenario.get("laws", ()), *laws]}
    return listed | ({"choices": choices} if scenario.get("placement") == "random" else {})


def laws_before(scenario: Table) -> list[Any]:
    """What a scenario file has as its first laws."""
    first = [scenario[key] for key in ("faults", "hangs") if scenario.get(key)]
    return [*first, *scenario.get("laws", ())]


def _replay(law: Table, number: int, events: list[Any]) -> Table:
    [found] = [it for it in events if isinstance(it, FaultsReplayed) and it.law == number]
    assert 0 <= found.begin < law["length"]
    return law | {"start": found.begin, "nodes": [int(it.split("/")[1]) for it in found.nodes]}


def _listed(law: Table, number: int, scenario: Table, records: Sequence[Record]) -> Table:
    """Its faults that strike somebody; they are of its share, but those that spread from it."""
    units = Law({"of": law["of"]}, scenario)
    struck = {
        (record.t, record.event.worker // units.each)
        for record in records
        if isinstance(record.event, WorkerChanged)
        and record.event.state is WorkerState.DOWN
        and record.event.until is not None
        and isclose(record.event.until - record.t, law["downtime"], abs_tol=1e-6)
    }
    share = [
        _numbers(it.event.struck)
        for it in records
        if isinstance(it.event, FaultsDescribed) and it.event.law == number
    ]
    if "share" in law:
        assert len(set(share[0])) == floor(law["share"] * units.units + 0.5)
        worn = _worn(law, number, set(share[0]), units.units, records)
        away = _away(records, {time for time, _ in struck})
        for time, unit in struck:
            under = {*share[0], *(it for t, it in worn if t <= time)}
            # It also spreads from a unit that is DOWN, of whose fault no line tells.
            sources = [
                it
                for it in under
                if (time, it) in struck
                or away[time].issuperset(units.workers(it, scenario["workers"]))
            ]
            racks = {it // units.rack for it in sources}
            assert unit in under or ("spread" in law and unit // units.rack in racks)
    kept = {key: law[key] for key in ("of", "downtime", "detection")}
    return kept | {"strikes": sorted(struck)}


def _worn(
    law: Table, number: int, under: set[int], units: int, records: Sequence[Record]
) -> list[tuple[float, int]]:
    """When units wear out, and which: at each multiple of the interval as many as the rule says, of
    those that the law does not strike (F8)."""
    found: list[tuple[float, int]] = []
    under = set(under)
    lines = [
        (record.t, _numbers(record.event.units))
        for record in records
        if isinstance(record.event, UnitsWornOut) and record.event.law == number
    ]
    assert "interval" in law or not lines
    for k, (time, worn) in enumerate(lines):
        left = units - len(under)
        assert isclose(time, (k + 1) * law["interval"]) and under.isdisjoint(worn)
        assert len(worn) == min(floor(law["share_added"] * units + 0.5), left) > 0
        under.update(worn)
        found += [(time, unit) for unit in worn]
    if "interval" in law and len(under) < units:
        assert records[-1].t <= (len(lines) + 1) * law["interval"]
    return found


def _away(records: Sequence[Record], times: set[float]) -> dict[float, set[int]]:
    """Workers that are DOWN before each of these times."""
    found: dict[float, set[int]] = {}
    down: set[int] = set()
    for record in records:
        if record.t in times:
            found.setdefault(record.t, set(down))
        if isinstance(record.event, WorkerChanged):
            gone = record.event.state is WorkerState.DOWN
            (down.add if gone else down.discard)(record.event.worker)
    return found


def _numbers(text: str) -> list[int]:
    """Of an interval set."""
    spans = [part.partition("-") for part in text.split()]
    return [k for first, _, last in spans for k in range(int(first), int(last or first) + 1)]
