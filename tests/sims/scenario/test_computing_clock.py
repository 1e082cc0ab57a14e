"""Faults whose clocks pass only while the workers of a unit compute (rules.md, F4)."""

from __future__ import annotations

from typing import Any

import pytest

from actors.events import JobCompleted, WorkerChanged
from actors.runtime import Record
from policies.availability import WorkerState
from sims.audit.audit import audit
from sims.errors import InputError
from sims.session import check, run


def scenario(gaps: list[list[float]], size: int = 1, **more: Any) -> dict[str, Any]:
    """A job of 10 s on worker 0; gaps are listed, and those that would be drawn never come."""
    faults = {"kind": "exponential", "mtbf": 1e9, "downtime": 1, "clock": "computing"}
    job = {"kind": "rigid", "jobs": [{"processors": 1, "time": 10}]} | more.pop("job", {})
    faults |= {"gaps": gaps} | more.pop("faults", {})
    platform = {"workers": size} | more.pop("platform", {})
    return {"name": "clock", "unit": "s", "platform": platform, "faults": faults, "job": job} | more


def told(table: dict[str, Any]) -> list[Record]:
    """What a run tells; the audit finds nothing wrong in it."""
    found = list(run(table).records())
    assert [str(it) for it in audit(iter(found))] == []
    return found


def downs(records: list[Record]) -> list[tuple[float, int]]:
    return [
        (it.t, it.event.worker)
        for it in records
        if isinstance(it.event, WorkerChanged) and it.event.state is WorkerState.DOWN
    ]


def end(records: list[Record]) -> float:
    return max(it.t for it in records if isinstance(it.event, JobCompleted))


IMAGES = {"kind": "images", "period": 3, "cost": 2}


def test_no_time_passes_in_checkpoints() -> None:
    """3 s of computing, a checkpoint over [3, 5), and the fourth second of computing ends at 6. UP
    at 7, the work goes on from 3: 3 + 2 + 3 + 2 + 1 end at 18."""
    found = told(scenario([[4]], protection=IMAGES))
    assert downs(found) == [(6, 0)]
    assert end(found) == 18


def test_no_time_passes_while_a_run_is_suspended() -> None:
    reclaimed = {"availability": "uurrr" + "u" * 30}
    found = told(scenario([[4]], 0, workers=[reclaimed]))
    assert downs(found)[0] == (7, 0)


def test_no_time_passes_while_a_run_starts_up() -> None:
    assert downs(told(scenario([[4]], job={"startup": 3}))) == [(7, 0)]


def test_time_passes_at_rate_1_whatever_the_speed() -> None:
    """At speed 2 the work of 10 would end at 5, and the clock runs out at 4."""
    assert downs(told(scenario([[4]], platform={"speed": 2})))[0] == (4, 0)


def test_workers_that_compute_nothing_never_fail() -> None:
    assert downs(told(scenario([[99], [1]], 2))) == []


def test_a_nodes_clock_passes_while_one_of_its_workers_computes() -> None:
    """Two jobs on the two workers of node 0: the time in which both compute counts once."""
    jobs = [{"processors": 1, "time": 10}, {"processors": 1, "time": 2}]
    found = told(
        scenario([[4]], 4, platform={"node": 2}, faults={"of": "nodes"}, job={"jobs": jobs})
    )
    assert downs(found)[:2] == [(4, 0), (4, 1)]


def test_a_nodes_clock_passes_on_with_another_job_when_one_has_ended() -> None:
    """The job on worker 0 ends at 2, that on worker 1 computes on: 5 s are over at 5."""
    jobs = [{"processors": 1, "time": 2}, {"processors": 1, "time": 10}]
    found = told(
        scenario([[5]], 2, platform={"node": 2}, faults={"of": "nodes"}, job={"jobs": jobs})
    )
    assert downs(found)[:2] == [(5, 0), (5, 1)]


def test_what_is_left_of_a_workers_time_passes_under_its_next_job() -> None:
    jobs = [{"processors": 1, "time": 2}, {"processors": 1, "time": 10}]
    assert downs(told(scenario([[5]], job={"jobs": jobs}))) == [(5, 0)]


def test_a_job_that_moves_meets_the_time_of_its_new_worker() -> None:
    """Worker 0 fails at 4; on worker 1 the job computes from 4, and 3 s of that are over at 7. From
    104 on it computes on worker 0 again."""
    found = told(scenario([[4], [3]], 2, faults={"downtime": 100}))
    assert downs(found) == [(4, 0), (7, 1)]
    assert end(found) == 114


def test_a_member_that_is_replaced_keeps_what_is_left_of_its_time() -> None:
    """Worker 0 fails at 2, and standby 2 takes its place. Worker 1 has computed for 6 s at 6, then
    worker 0, back since 3, takes its place: 8 s of its own are over at 2 + 6 more, at 12."""
    job = {"jobs": [{"processors": 2, "time": 20, "standbys": 1}]}
    images = {"kind": "images", "period": 1}
    found = told(scenario([[2, 6], [6], []], 3, job=job, protection=images))
    assert downs(found) == [(2, 0), (6, 1), (12, 0)]


def test_a_clock_that_runs_out_as_computing_ends_strikes_at_that_instant() -> None:
    """The checkpoint that would begin at 4 is lost, and the work begins from scratch at 5."""
    found = told(scenario([[4]], protection=IMAGES | {"period": 4}))
    assert downs(found) == [(4, 0)]
    assert end(found) == 5 + 10 + 2 * 2


def test_a_clock_starts_anew_at_its_own_fault() -> None:
    """Three faults after 4 s of computing each, without anything saved."""
    found = told(scenario([[4, 4, 4]]))
    assert downs(found) == [(4, 0), (9, 0), (14, 0)]
    assert end(found) == 25


def test_a_units_times_are_its_own_whoever_else_there_is() -> None:
    law = {"mtbf": 20, "gaps": []}
    one = downs(told(scenario([], 1, faults=law, job={"jobs": [{"processors": 1, "time": 30}]})))
    two = downs(told(scenario([], 2, faults=law, job={"jobs": [{"processors": 1, "time": 30}]})))
    assert one[0] == two[0]


def test_as_many_faults_come_as_the_computing_time_lets_expect() -> None:
    """4 workers compute for 3,000 s each; every fault costs at most a period of 1 s more. With an
    MTBF of 20 s, 600 faults are expected, give or take four standard deviations of 24.5."""
    images = {"kind": "images", "period": 1, "cost": 5}
    faults = {"mtbf": 20, "downtime": 0, "gaps": []}
    jobs = [{"processors": 4, "time": 3000}]
    table = scenario([], 4, faults=faults, job={"jobs": jobs}, protection=images)
    assert "600 expected within" in str(check(table))
    found = told(table)
    # Half a period is computed again for each fault, by four workers.
    expected = 600 / (1 - 4 * 0.5 / 20)
    assert abs(len(downs(found)) - expected) < 4 * expected**0.5


@pytest.mark.parametrize(
    ("faults", "said"),
    [
        ({"clock": "calendar"}, "gaps"),
        ({"clock": "sidereal"}, "calendar"),
        ({"strikes": [[1, 0]]}, "a law of its own, of kind list"),
    ],
)
def test_clocks_that_cannot_be_are_refused(faults: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        run(scenario([[4]], faults=faults))


def test_a_replay_has_no_computing_clock() -> None:
    replay = {"kind": "replayed", "file": "a.tab", "clock": "computing"}
    with pytest.raises(InputError, match="times of the calendar"):
        run({"name": "x", "platform": {"workers": 1}, "faults": replay, "job": {"kind": "rigid"}})
