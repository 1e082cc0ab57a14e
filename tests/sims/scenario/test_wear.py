"""Units that come under a law of faults in the course of time, as nodes do that become lemons
(rules.md, F8)."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from actors.events import (
    FaultsDescribed,
    UnitFailed,
    UnitsWornOut,
    WorkerChanged,
)
from actors.intervals import numbers_in
from actors.runtime import Record
from policies.availability import WorkerState
from sims.audit.audit import audit
from sims.audit.law import Law
from sims.errors import InputError
from sims.session import check, run

WEARING = {"kind": "exponential", "mtbf": 5, "downtime": 0}
FIXED = {"stages": [{"time": 1, "law": "fixed", "fixes": 1}]}


def table(faults: Any, workers: int = 8, time: float = 100, **more: Any) -> dict[str, Any]:
    """A job on all workers that computes again and again from where it was."""
    return {
        "name": "wear",
        "platform": {"workers": workers} | more.pop("platform", {}),
        "faults": faults,
        "protection": {"kind": "images", "period": "continuous"},
        "job": {"kind": "rigid", "jobs": [{"processors": workers, "time": time}]},
    } | more


def told(faults: Any, until: float = 50, seed: int = 0, **more: Any) -> list[Record]:
    """What a run tells until then; the audit finds nothing wrong in it."""
    found = list(run(table(faults, **more), until=until, seed=seed).records())
    assert [str(it) for it in audit(iter(found))] == []
    return found


def worn(records: list[Record]) -> list[tuple[float, list[int]]]:
    """When units wear out, and which."""
    return [
        (it.t, list(numbers_in(it.event.units)))
        for it in records
        if isinstance(it.event, UnitsWornOut)
    ]


def struck(records: list[Record]) -> list[tuple[float, int]]:
    """Who goes DOWN, and when."""
    return [
        (it.t, it.event.worker)
        for it in records
        if isinstance(it.event, WorkerChanged) and it.event.state is WorkerState.DOWN
    ]


def test_at_each_interval_so_many_of_the_well_units_wear_out_until_none_is_left() -> None:
    """floor(0.3 x 8 + 1/2) = 2 of 8, of which one is a lemon from the start: 3 x 2, then 1."""
    found = told(WEARING | {"units": "3", "interval": 10, "share_added": 0.3})
    each = worn(found)
    assert [(time, len(units)) for time, units in each] == [(10, 2), (20, 2), (30, 2), (40, 1)]
    assert sorted(unit for _, units in each for unit in units) == [0, 1, 2, 4, 5, 6, 7]


@pytest.mark.parametrize("clock", ["calendar", "computing"])
def test_a_unit_fails_by_the_law_only_once_it_has_worn_out(clock: str) -> None:
    law = WEARING | {"units": "0", "interval": 20, "added": ["2, 5"], "clock": clock}
    found = struck(told(law))
    assert {unit for _, unit in found} == {0, 2, 5}
    assert min(time for time, unit in found if unit) > 20


def test_a_fleet_can_begin_without_a_lemon() -> None:
    found = told(WEARING | {"share": 0, "interval": 20, "share_added": 0.2})
    assert [it.event for it in found if isinstance(it.event, FaultsDescribed)] == [
        FaultsDescribed(0, 8, "")
    ]
    assert min(time for time, _ in struck(found)) > 20


def test_the_time_to_a_worn_out_units_fault_begins_as_it_wears_out() -> None:
    """Worker 1 wears out at 4 and computes then: its listed 3 and 2 of computing end at 7 and 9.
    Worker 0 is listed a second time at 8, when the law strikes it already."""
    law = {"kind": "exponential", "mtbf": 1e12, "downtime": 0, "clock": "computing", "units": "0"}
    law |= {"gaps": [[20], [3, 2]], "interval": 4, "added": ["1", "0"]}
    found = told(law, workers=2, time=25)
    assert worn(found) == [(4, [1])]
    assert struck(found) == [(7, 1), (9, 1), (20, 0)]


def test_units_may_be_nodes_and_racks() -> None:
    law = WEARING | {"of": "racks", "units": "0", "interval": 10, "added": ["1"]}
    found = told(law, platform={"workers": 8, "node": 2, "rack": 2})
    assert {worker for time, worker in struck(found) if time < 10} <= {0, 1, 2, 3}
    assert {worker for _, worker in struck(found)} == set(range(8))


def test_a_cured_unit_is_well_and_can_wear_out_again() -> None:
    """Worker 0 fails at 1 and is repaired for good at 2, which ends the 50 to its next fault. It
    wears out again at 5, and 2 later it fails. Worker 1, struck at 9, is cured at the very 10, too
    late to wear out then: that comes before repairs end."""
    law = {"kind": "exponential", "mtbf": 1e12, "clock": "computing", "units": "0-1"}
    law |= {"curable": True, "gaps": [[1, 50, 2], [7.0]], "interval": 5, "added": ["0", "1"]}
    found = told(law, workers=2, time=12, repair=FIXED)
    assert worn(found) == [(5, [0])]
    failed = [(it.t, it.event.workers) for it in found if isinstance(it.event, UnitFailed)]
    # Both compute over [0, 1), [2, 7) and from 8 on: 7 of computing are over at 9.
    assert failed == [(1, "0"), (7, "0"), (9, "1")]


def test_who_wears_out_changes_little_with_what_was_cured() -> None:
    """Of 40 units in one random order the first well ones are taken: with and without repairs that
    cure, nearly the same."""
    law = {"mtbf": 200, "units": "0-3", "interval": 10, "share_added": 0.1}
    both = [
        {unit for _, units in worn(told(law, workers=40, repair=repair)) for unit in units}
        for repair in ({"stages": [{"time": 1, "fixes": fixes}]} for fixes in (0, 1))
    ]
    assert len(both[0] & both[1]) >= 16


def test_an_exponential_law_strikes_worn_out_units_at_its_rate() -> None:
    """4 units from the start, 4 more each 25: over 100, (4 x 100 + 4 x (75 + 50 + 25)) / 5 = 200
    faults by calendar; 14 is one standard deviation."""
    law = WEARING | {"share": 0.05, "interval": 25, "share_added": 0.05}
    for clock in ("calendar", "computing"):
        faults = law | {"clock": clock}
        counts = [
            len(struck(told(faults, workers=80, until=100, seed=k, time=1000))) for k in range(4)
        ]
        assert 800 - 3 * 28.3 < sum(counts) < 800 + 3 * 28.3


def test_check_expects_the_faults_of_units_that_wear_out() -> None:
    """4 of 80 for 100 time units, and 4 more after 25, 50, 75 and 100."""
    law = WEARING | {"share": 0.05, "interval": 25, "share_added": 0.05}
    said = str(check(table(law, workers=80)))
    assert "200 expected within 100 s of 4 workers, and of 16 more that wear out" in said


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"share": 0.1, "interval": 5}, "needs `share_added`"),
        ({"share": 0.1, "share_added": 0.1}, "needs `interval`"),
        ({"interval": 5, "share_added": 0.2}, "strikes all units from the start"),
        ({"share": 0}, "a number above 0, up to 1"),
        ({"share": 0.2, "interval": 5, "share_added": 0.01}, "less than half of one"),
        ({"share": 0.2, "interval": 5, "added": ["8"]}, "workers 0 to 7"),
    ],
)
def test_what_cannot_wear_out_is_refused(keys: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        run(table({"kind": "exponential", "mtbf": 5, **keys}))


def violations(records: list[Record]) -> list[Law]:
    return [it.law for it in audit(iter(records))]


def changed(records: list[Record], **fields: Any) -> list[Record]:
    """The log with other fields in the first line about units that wear out."""
    place = next(k for k, it in enumerate(records) if isinstance(it.event, UnitsWornOut))
    line = records[place]
    records[place] = evolve(line, event=evolve(line.event, **fields))
    return records


@pytest.mark.parametrize(
    ("fields", "law"),
    [
        ({"units": "3-4"}, Law.INPUT),  # 3 is a lemon already
        ({"units": "4"}, Law.FOLLOWS),  # one too few
        ({"units": "4-6"}, Law.FOLLOWS),
        ({"law": 1}, Law.INPUT),
    ],
)
def test_the_audit_finds_other_units_than_may_wear_out(fields: dict[str, Any], law: Law) -> None:
    keys = {"units": "3", "interval": 10, "share_added": 0.3, "mtbf": 1e9}
    found = told(WEARING | keys, until=15)
    assert violations(changed(found, **fields)) == [law]


def test_the_audit_misses_a_line_of_units_that_wear_out() -> None:
    law = {"units": "3", "interval": 10, "share_added": 0.3, "mtbf": 1e9}
    found = told(WEARING | law, until=35)
    place = next(k for k, it in enumerate(found) if isinstance(it.event, UnitsWornOut))
    rest = [evolve(it, seq=it.seq - 1) for it in found[place + 1 :]]
    assert violations([*found[:place], *rest]) == [Law.MISSING]
