"""The one world against an independent simulator of its rules: tests/oracle/."""

from __future__ import annotations

from pathlib import Path

import pytest

from sims.audit.audit import audit
from tests.case_files import case_file
from tests.oracle.__main__ import differences
from tests.oracle.coincidences import EIGHTH, TENTH, WHOLE
from tests.oracle.world import simulate
from tests.sims.oneworld import Table, play
from tests.sims.test_oneworld_cases import check

pytestmark = pytest.mark.usefixtures("unchecked")


@pytest.mark.parametrize("name", ["oneworld.json", "practice.json"])
def test_the_oracle_gives_every_expected_value_of_every_case(cases_dir: Path, name: str) -> None:
    """Else what it says of random scenarios would say nothing."""
    cases = case_file(cases_dir, name)["cases"]
    assert len(cases) > 100
    wrong = [
        f"{case['name']}: {key}"
        for case in cases
        for key, told in simulate(case["scenario"]).items()
        if told != case["expected"].get(key, told)
    ]
    assert wrong == []


@pytest.mark.parametrize(("seeds", "finest"), [(80, WHOLE), (40, EIGHTH), (60, TENTH)])
@pytest.mark.filterwarnings("ignore:.*has one worker, and no buddy")
def test_our_world_does_what_the_oracle_says_in_random_scenarios(seeds: int, finest: int) -> None:
    """In tenths: within rounding, and what is one instant on paper is one."""
    wrong = [problem for seed in range(seeds) for problem in differences(seed, finest)]
    assert wrong == []


@pytest.mark.parametrize(("practised", "fleet"), [(False, False), (True, False), (False, True)])
@pytest.mark.filterwarnings("ignore:.*has one worker, and no buddy", "ignore:.*has no effect")
def test_our_world_does_what_the_oracle_says_of_jobs_that_follow_others_and_of_partitions(
    practised: bool, fleet: bool
) -> None:
    drawn: list[str] = []
    about = WHOLE, practised, fleet, drawn
    assert [it for k in range(50) for it in differences(k, *about, groups=True)] == []
    assert sum("dependencies" in name for name in drawn) > 20
    assert sum("partitions" in name for name in drawn) > 20
    if practised:  # free workers, or spares, replace members of buddies there
        assert any("buddies" in name and "spares+" in name for name in drawn)


@pytest.mark.parametrize("practised", [False, True])
@pytest.mark.filterwarnings("ignore:.*has one worker, and no buddy", "ignore:.*has no effect")
def test_our_world_does_what_the_oracle_says_of_fleets(practised: bool) -> None:
    seeds = range(60)
    drawn: list[str] = []
    assert [it for k in seeds for it in differences(k, WHOLE, practised, True, drawn)] == []
    if not practised:  # else that they agree would say nothing of a rule
        assert {rule for name in drawn for rule in name.split("+")[1:]} == {
            *("hangs", "startup", "windows", "repair", "records", "reserve", "replicas"),
            *("standbys", "storage", "racks", "computing", "replayed", "drawn", "always"),
        }


@pytest.mark.parametrize(
    "seed",
    [
        301470,
        304095,
        410013,
        411940,
        600408,
        602251,
        602905,
        603950,
        705215,
        708882,
        708943,
        826193,
        861149,
        902131,
        969504,
    ],
)
def test_our_world_does_what_the_oracle_says_where_it_once_did_not(seed: int) -> None:
    """Failures under way at a replay's begin strike with those that begin then; of whom a fault
    strikes at this instant it is not the hang that counts; of two equal images that arrive at one
    instant that of the earlier run is kept; a worker of the reserve that a fault strikes as it
    comes is repaired then, and becomes a standby; a record that is replayed without an end lets a
    job never end; a fault spreads from a node that is DOWN; of faults that an instant makes known
    those that the end of their run does are blamed in the order of laws, too; a fault that the end
    of a job's standbys makes known is blamed on others, and its worker starts another job; who was
    DOWN until this instant is not blamed in place of others, nor who is RECLAIMED since; a strategy
    knows which workers their records choose for a start before a window; a fault that is known at
    once makes an earlier one of its worker known, which no standby replaces then; where workers are
    drawn for a start before a window, the worker that is left goes to the job that waits, and not
    to a further copy; a message that passes while a run pauses is not counted beside the pause
    where the run ends in it."""
    assert differences(seed, fleet=True) == []


@pytest.mark.parametrize("seed", [860909, 861041, 882603, 883546, 884084])
def test_our_world_does_what_the_oracle_says_of_practised_fleets_where_it_once_did_not(
    seed: int,
) -> None:
    """Of two faults of one worker, which laws detect after different times, the second is known
    first, and makes the first one known; the fault of a member that is replaced is known at once; a
    job that waits for all workers that are left waits for none of the spares, which retire; a run
    that fails at a notice leaves no pause to the next one."""
    assert differences(seed, practised=True, fleet=True) == []


@pytest.mark.parametrize("seed", [40015, 40119, 41211])
@pytest.mark.filterwarnings("ignore:.*has one worker, and no buddy", "ignore:.*has no effect")
def test_our_world_does_what_the_oracle_says_of_practised_fleets_in_groups_where_it_once_did_not(
    seed: int,
) -> None:
    """Members and standbys in a partition are one choice of the placement; nobody is called for a
    job that is above a limit as another starts behind it."""
    assert differences(seed, practised=True, fleet=True, groups=True) == []


SPARE: Table = {
    "workers": 3,
    "owner": ["", "uurrrrrrrrrrrrrrrrrrrrru", ""],
    "faults": [[2, 1], [6, 1]],
    "downtime": 1,
    "detection": 3,
    "speeds": None,
    "master": None,
    "shared_program": False,
    "order": "FCFS",
    "spares": 1,
}
MEMBERS: Table = {
    "kind": "rigid",
    "release": 0,
    "p": 2,
    "t": 10,
    "verification": 0,
    "failures": [],
    "protection": "buddies",
    "verified": False,
    "period": 4,
    "cost": 1,
    "recovery": 0,
    "copies": 1,
    "cloning": False,
    "delay": 0,
    "program": 0,
    "data": 0,
    "image": 0,
    "replace_after": 5,
}


@pytest.mark.parametrize(
    ("faults", "replaced"),
    [
        ([[2, 1]], 7),  # detected at 5, and away since 2
        ([[2, 1], [6, 1]], 7),  # the second would be detected at 9
        ([[4, 1], [8, 1]], 9),  # the first, which a RECLAIMED worker has, is detected at 7
    ],
)
def test_a_member_is_replaced_as_its_first_fault_says(
    faults: list[list[int]], replaced: int
) -> None:
    """rules.md, P10: a later fault of which nobody has heard changes nothing."""
    scenario = SPARE | {"jobs": [MEMBERS], "faults": faults}
    expected = simulate(scenario)
    assert [run[2:4] for run in expected["runs"]] == [[[0, 1], 0], [[0, 2], replaced]]
    check({"name": "replaced", "scenario": scenario, "expected": expected})
    assert list(audit(play(scenario))) == []
