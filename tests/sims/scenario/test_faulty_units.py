"""Laws of faults that are of some units only, racks that fail as one, and faults that spread within
a rack (rules.md, F2 and F3)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from actors.events import FaultsDescribed, ScenarioStarted, Struck, WorkerChanged
from actors.intervals import numbers_in
from actors.runtime import Record
from policies.availability import WorkerState
from sims.audit.audit import audit
from sims.errors import InputError
from sims.session import check, run
from sims.session import load as scenario_of

DAY = 86400


def table(faults: Any, workers: int = 12, until: float = 100, **platform: int) -> dict[str, Any]:
    """A job on all workers."""
    return {
        "name": "units",
        "platform": {"workers": workers, **platform},
        "faults": faults,
        "job": {"kind": "rigid", "jobs": [{"processors": workers, "time": until}]},
    }


def records(faults: Any, until: float = 100, **platform: int) -> list[Record]:
    """What a run tells until then; the audit finds nothing wrong in it."""
    found = list(run(table(faults, **platform), until=until).records())
    assert list(audit(iter(found))) == []
    return found


def struck(told: list[Record]) -> list[tuple[float, int]]:
    """Who goes DOWN, and when."""
    return [
        (it.t, it.event.worker)
        for it in told
        if isinstance(it.event, WorkerChanged) and it.event.state is WorkerState.DOWN
    ]


def described(told: list[Record]) -> list[FaultsDescribed]:
    return [it.event for it in told if isinstance(it.event, FaultsDescribed)]


def test_a_law_of_listed_units_strikes_no_others_and_only_the_scenarios_text_names_them() -> None:
    told = records({"kind": "exponential", "mtbf": 5, "downtime": 1, "units": "1-2, 7"})
    assert {worker for _, worker in struck(told)} == {1, 2, 7}
    assert described(told) == []
    head = told[0].event
    assert isinstance(head, ScenarioStarted)
    assert 'units = "1-2, 7"' in head.text


def test_a_share_is_rounded_to_whole_units_and_drawn_at_the_start() -> None:
    lemons = {"kind": "exponential", "mtbf": 5, "downtime": 1, "share": 0.15}
    told = records(lemons, workers=10)  # floor(1.5 + 1/2) = 2
    [found] = described(told)
    assert len(numbers_in(found.struck)) == 2
    assert {worker for _, worker in struck(told)} == set(numbers_in(found.struck))
    drawn = {
        described(list(run(table(lemons, 10), seed=k, until=1).records()))[0].struck
        for k in range(20)
    }
    assert len(drawn) > 5


def test_listed_strikes_reach_units_that_the_law_is_not_of() -> None:
    law = {"kind": "exponential", "mtbf": 1e9, "downtime": 1, "units": "0", "strikes": [[3, 5]]}
    assert struck(records(law)) == [(3, 5)]


def test_nodes_can_be_lemons() -> None:
    lemons = {"kind": "exponential", "of": "nodes", "mtbf": 5, "downtime": 1, "units": "1"}
    told = records(lemons, node=4)
    assert {worker for _, worker in struck(told)} == {4, 5, 6, 7}


def test_check_expects_the_faults_of_the_share_and_youngs_rate_counts_it() -> None:
    """Of 64 workers, 64 / 100 + 64 x 0.15 / 20 = 1.12 faults a day; floor(9.6 + 1/2) = 10 lemons,
    in 10 days 6.4 and 5 faults. Young: sqrt(2 x 86,400 s / 1.12 x 320 s) = 7,027 s."""
    laws = [{"mtbf": 100 * DAY}, {"mtbf": 20 * DAY, "share": 0.15}]
    faults = {"kind": "several", "laws": [{"kind": "exponential", **it} for it in laws]}
    asked = table(faults, workers=64, until=10 * DAY)
    asked["protection"] = {"kind": "images", "period": "young", "cost": 320}
    lines = str(check(asked))
    assert "6.4 expected within 10 d of 64 workers" in lines
    assert "5 expected within 10 d of 10 workers" in lines
    assert "Young's 1.952 h" in lines


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"share": 0.1, "units": "0"}, "one of them"),
        ({"share": 0}, "a number above 0, up to 1"),
        ({"units": "0-3, 2"}, "2 is in it twice"),
        ({"units": "3-1"}, "3-1 falls"),
        ({"units": "all"}, 'such as "0-15, 40"'),
        ({"units": "0-999999999"}, "workers 0 to 11"),
    ],
)
def test_units_that_cannot_be_are_refused(keys: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        run(table({"kind": "exponential", "mtbf": 5, **keys}))


def test_the_fault_of_a_rack_is_one_of_each_of_its_workers() -> None:
    """Two workers a node, two nodes a rack: rack 1 is workers 4 to 7; the last rack is whole."""
    law = {"kind": "list", "of": "racks", "downtime": 1, "strikes": [[5, 1], [9, 2]]}
    told = struck(records(law, node=2, rack=2))
    assert told == [(5, k) for k in range(4, 8)] + [(9, k) for k in range(8, 12)]


def test_the_last_rack_may_have_fewer_nodes() -> None:
    law = {"kind": "list", "of": "racks", "downtime": 1, "strikes": [[5, 2]]}
    assert struck(records(law, node=1, rack=5)) == [(5, 10), (5, 11)]


def test_a_fault_spreads_to_the_listed_nodes_of_its_rack_in_the_order_of_their_numbers() -> None:
    """Racks of three nodes. Node 0 fails, and of nodes 1 and 2 the first is struck; node 4 fails,
    node 3 is struck, and the list has no word on node 5."""
    law = {
        "kind": "list",
        "of": "nodes",
        "downtime": 1,
        "strikes": [[5, 0], [9, 4]],
        "spread": [1, 0, 1],
    }
    assert struck(records(law, rack=3)) == [(5, 0), (5, 1), (9, 4), (9, 3)]


def test_a_fault_that_spreads_for_certain_takes_its_rack_and_no_other() -> None:
    law = {"kind": "list", "of": "nodes", "downtime": 1, "strikes": [[5, 4]], "spread": 1}
    told = records(law, node=2, rack=2, workers=16)
    assert struck(told) == [(5, 8), (5, 9), (5, 10), (5, 11)]


def test_the_fault_of_a_rack_spreads_to_no_other() -> None:
    law = {"kind": "list", "of": "racks", "downtime": 1, "strikes": [[5, 1]], "spread": 1}
    told = records(law, node=2, rack=2)
    assert struck(told) == [(5, k) for k in range(4, 8)]


def test_a_fault_spreads_with_its_probability_and_leaves_the_laws_own_times() -> None:
    """1,000 faults of one law ask 3,000 other nodes: 900 of them are struck, give or take four
    standard deviations of sqrt(3,000 x 0.3 x 0.7) = 25."""
    law = {"kind": "exponential", "of": "nodes", "mtbf": 80, "downtime": 0}
    alone = struck(records(law, until=10_000, workers=8, rack=4))
    spread = struck(records(law | {"spread": 0.3}, until=10_000, workers=8, rack=4))
    assert set(alone) <= set(spread)
    assert abs((len(spread) - len(alone)) / len(alone) - 0.9) < 4 * 0.025


def test_a_law_that_spreads_where_there_are_no_racks_has_no_effect_and_says_so() -> None:
    law = {"kind": "exponential", "of": "nodes", "mtbf": 800, "spread": 0.5}
    assert "only the fault of a node spreads" in str(check(table(law)))
    platform = scenario_of(table(law, rack=3)).full_platform
    assert platform.units(Struck.RACKS)[1] == range(3, 6)  # type: ignore[index]


def test_a_share_that_rounds_to_no_unit_strikes_nobody() -> None:
    """floor(0.3 x 1 + 1/2) = 0 units."""
    table = {
        "name": "none",
        "unit": "s",
        "platform": {"workers": 1},
        "job": {"kind": "rigid", "jobs": [{"processors": 1, "time": 50}]},
        "faults": {"kind": "exponential", "mtbf": 1, "downtime": 1, "share": 0.3},
    }
    assert run(table).makespan == 50


def test_a_law_of_the_users_own_spreads_and_is_curable_as_its_table_says(tmp_path: Path) -> None:
    law = """
class Once:
    downtime, mtbf = 1, 100

    def faults(self, rng, workers):
        yield 5, 4
"""
    (tmp_path / "mine.py").write_text(law)
    own = {"kind": "own", "name": "mine:Once", "of": "nodes", "spread": 1}
    told = run(table(own, rack=3), until=100, folder=tmp_path).records()
    assert struck(list(told)) == [(5, 4), (5, 3), (5, 5)]
    with pytest.raises(InputError, match=r"faults\.curable"):
        run(table(own | {"curable": True}), until=100, folder=tmp_path)
