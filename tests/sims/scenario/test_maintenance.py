"""Windows of maintenance: jobs start only where their workers stay UP to their ends (rules.md,
M2)."""

from __future__ import annotations

from typing import Any

import pytest

from actors.events import (
    JobCompleted,
    MaintenancePlanned,
    Outcome,
    ReservationMade,
    RunEnded,
    RunStarted,
    StageStarted,
    WorkerChanged,
)
from actors.runtime import Record
from policies.availability import WorkerState
from sims.audit.audit import audit
from sims.errors import InputError
from sims.history.rows import Use
from sims.ledger import account
from sims.session import run

TUESDAY = [(10, 18, "2-3")]
POLICIES = (
    "FCFS",
    "greedy",
    "EASY",
    "conservative",
    "R-LIST-0",
    "R-LIST-2",
    "R-LIST-Q",
    "R-SHELF-B",
)


def table(jobs: list[Any], windows: list[Any], policy: str = "FCFS", **more: Any) -> dict[str, Any]:
    """Jobs of (processors, time) on four workers; windows of (from, to, workers)."""
    listed = [it if isinstance(it, dict) else {"processors": it[0], "time": it[1]} for it in jobs]
    maintenance = [{"from": start, "to": end, "units": units} for start, end, units in windows]
    return {
        "name": "maintenance",
        "unit": "s",
        "platform": {"workers": 4, "maintenance": maintenance},
        "job": {"kind": "rigid", "jobs": listed} | more.pop("job", {}),
        "policy": {"name": policy, "order": "FCFS"} | more.pop("rules", {}),
    } | more


def records(*about: Any, **more: Any) -> list[Record]:
    """The log of such jobs; the audit finds nothing wrong in it."""
    found = list(run(table(*about, **more)).records())
    assert list(audit(iter(found))) == []
    return found


def starts(told: list[Record]) -> list[tuple[str, float, str]]:
    return [
        (it.event.job, it.t, it.event.processors) for it in told if isinstance(it.event, RunStarted)
    ]


def test_the_workers_of_a_window_are_down_in_it() -> None:
    """From 10 to 18, 8 each."""
    told = records([(1, 30)], TUESDAY)
    changes = [
        (it.t, it.event.worker, it.event.state)
        for it in told
        if isinstance(it.event, WorkerChanged)
    ]
    down, up = WorkerState.DOWN, WorkerState.UP
    assert changes == [(10, 2, down), (10, 3, down), (18, 2, up), (18, 3, up)]
    assert account(iter(told), 4).total[Use.DOWN] == 16
    assert [it.event for it in told if isinstance(it.event, MaintenancePlanned)] == [
        MaintenancePlanned(10, 18, "2-3")
    ]


@pytest.mark.parametrize("policy", POLICIES)
def test_a_job_that_would_not_end_before_a_window_is_held_back(policy: str) -> None:
    """Four workers for 11 would be taken at 10: it starts at 18."""
    assert starts(records([(4, 11)], TUESDAY, policy)) == [("J1", 18, "0-3")]


@pytest.mark.parametrize("policy", POLICIES)
def test_a_job_may_end_as_a_window_begins(policy: str) -> None:
    assert starts(records([(4, 10)], TUESDAY, policy)) == [("J1", 0, "0-3")]


def test_an_end_that_rounding_puts_behind_the_window_is_allowed() -> None:
    """0.1 + 0.2 is 0.3, for a window too."""
    jobs = [(4, 0.1), (4, 0.2)]
    assert starts(records(jobs, [(0.3, 1, "0")])) == [("J1", 0, "0-3"), ("J2", 0.1, "0-3")]


@pytest.mark.parametrize("policy", POLICIES)
def test_a_job_is_placed_on_workers_that_no_window_takes(policy: str) -> None:
    told = records([(2, 11)], [(10, 18, "0-1")], policy)
    assert starts(told) == [("J1", 0, "2-3")]


def test_all_that_a_run_spends_counts() -> None:
    """9 of work, 0.5 of start-up, 0.25 of selection and 0.25 of verification end at 10; a little
    more does not."""
    spends = {"startup": 0.5, "select": 0.25, "verification": 0.25}
    assert starts(records([(4, 9)], TUESDAY, job=spends))[0][1] == 0
    assert starts(records([(4, 9.125)], TUESDAY, job=spends))[0][1] == 18


def test_easy_backfills_beside_a_job_that_waits_for_the_end_of_a_window() -> None:
    """J2 cannot end before 10 and waits for 18. J3, 8 on two workers, cannot have 2 and 3 at 4: it
    gets 0 and 1, which it leaves at 12. J4 ends at 9 on worker 2. J5 would have only 3 then, and
    after 10 nobody but 0 and 1, at 12."""
    jobs = [(4, 4), (4, 8), (2, 8), (1, 5), (2, 3)]
    told = records(jobs, TUESDAY, "EASY")
    assert starts(told) == [
        ("J1", 0, "0-3"),
        ("J3", 4, "0-1"),
        ("J4", 4, "2"),
        ("J5", 12, "0-1"),
        ("J2", 18, "0-3"),
    ]
    promised = [it.event for it in told if isinstance(it.event, ReservationMade)]
    assert promised == [ReservationMade("J2", 18, 4)]


def test_a_backfilled_job_does_not_delay_a_promise_that_windows_make() -> None:
    """J1 keeps 0 to 3 - to 6. J2 wants two workers for 20: only 0 and 1 last, from 6. J3, which
    arrives at 6 with 7 to do, would be there on 0 ... but J2 starts first."""
    jobs = [(4, 6), (2, 20), {"processors": 1, "time": 7, "release": 1}]
    told = records(jobs, TUESDAY, "EASY")
    assert starts(told) == [("J1", 0, "0-3"), ("J2", 6, "0-1"), ("J3", 18, "2")]


def test_a_window_of_a_standby_does_not_end_its_run() -> None:
    """J1 computes on 1 and 2 up to 20 and holds worker 0 ready, which leaves at 10. J2 cannot have
    all workers before 20, and J3 is done by then."""
    ready = {"processors": 2, "time": 20, "standbys": 1}
    later = {"processors": 4, "time": 5, "release": 1}, {"processors": 1, "time": 18, "release": 2}
    told = records([ready, *later], [(10, 12, "0")], "EASY")
    promised = [it.event for it in told if isinstance(it.event, ReservationMade)]
    assert promised == [ReservationMade("J2", 20, 4)]
    assert starts(told) == [("J1", 0, "1-2"), ("J3", 2, "3"), ("J2", 20, "0-3")]


def test_a_run_that_outlives_its_estimate_is_lost() -> None:
    """It asks for 5 and takes 12: it begins at 0 on worker 2, as 0 and 1 are held, is lost at 10,
    and begins again on worker 0 at 11, when the other has ended."""
    late = {"processors": 1, "time": 12, "estimate": 5, "release": 1}
    told = records([(2, 11), late], TUESDAY)
    assert starts(told) == [("J1", 0, "0-1"), ("J2", 1, "2"), ("J2", 11, "0")]
    lost = [
        it.t for it in told if isinstance(it.event, RunEnded) and it.event.outcome is Outcome.LOST
    ]
    assert lost == [10]
    assert [it.t for it in told if isinstance(it.event, JobCompleted)] == [11, 23]


def test_a_job_that_the_windows_leave_no_place_starts_as_if_there_were_none() -> None:
    """Worker 3 goes for good at 10; the first job of all four, of 11, can fit at no time."""
    told = list(run(table([(4, 11), (1, 5)], [(10, float("inf"), "3")]), until=9).records())
    assert starts(told) == [("J1", 0, "0-3")]
    assert list(audit(iter(told))) == []


def test_a_worker_is_free_between_two_windows() -> None:
    """Of 4 on all workers: not before 3, not from 5 to 8, but from 10 on."""
    assert starts(records([(4, 4)], [(3, 5, "0"), (8, 10, "0-1")])) == [("J1", 10, "0-3")]
    assert starts(records([(4, 3)], [(2, 5, "0"), (8, 10, "0-1")])) == [("J1", 5, "0-3")]


def test_a_job_that_only_windows_and_faults_can_meet_has_one_timer_a_run() -> None:
    """J1 outlives its estimate, and the window ends its run as a fault would: no stages, no account
    of progress. A log of 50,000 jobs takes a third of the time."""
    jobs = [{"processors": 2, "time": 12, "estimate": 5}, (2, 8)]
    told = records(jobs, [(10, 14, "0-1")])
    assert starts(told) == [("J1", 0, "0-1"), ("J2", 0, "2-3"), ("J1", 10, "2-3")]
    kinds = {type(it.event) for it in told}
    assert StageStarted not in kinds
    lost = [it for it in told if isinstance(it.event, RunEnded) and it.t == 10]
    assert [(it.event.job, it.event.outcome, it.event.done) for it in lost] == [
        ("J1", Outcome.LOST, 10)
    ]


@pytest.mark.parametrize("criterion", ["IP", "IE", "IY", "IAY"])
def test_a_criterion_chooses_a_part_of_a_rigid_jobs_workers_in_each_cell(criterion: str) -> None:
    """Two workers have a window that is far away: they are a cell of their own."""
    belief = {"rows": [[0.9, 0.05, 0.05], [0.5, 0.5, 0.0], [0.5, 0.0, 0.5]]}
    workers = [{"count": 4, "belief": belief}]
    windows = [{"from": 100, "to": 110, "units": "0-1"}]
    more = {"platform": {"maintenance": windows}, "workers": workers}
    told = records([(3, 10)], [], "FCFS", rules={"placement": criterion}, **more)
    assert [(job, at) for job, at, _ in starts(told)] == [("J1", 0)]


def test_the_next_run_on_kept_workers_does_not_look_at_windows() -> None:
    """Worker 0 fails at 2 and is back at 7; the run goes on at 7 for 9 - 2 + 1 of recovery, is
    struck by the window at 10, and ends after it."""
    told = records(
        [(4, 9)],
        TUESDAY,
        protection={"kind": "buddies", "period": 1, "cost": 0, "recovery": 1},
        faults={"kind": "list", "strikes": [[2, 0]], "downtime": 5},
    )
    assert [time for _, time, _ in starts(told)][:2] == [0, 7]


@pytest.mark.parametrize("policy", POLICIES)
def test_a_window_that_is_far_away_changes_no_start(policy: str) -> None:
    jobs = [(3, 4), (2, 6), (1, 3), (4, 2), (1, 7), (2, 2), (3, 1)]
    far, none = [(1e6, 2e6, "0-1")], list[Any]()
    assert starts(records(jobs, far, policy)) == starts(records(jobs, none, policy))


@pytest.mark.parametrize("placement", ["compact", "nodes", "random", "programmed"])
def test_every_placement_looks_at_windows(placement: str) -> None:
    """Two jobs of two workers for 11, of which one has to wait for 11."""
    rules = {"placement": placement}
    told = records([(2, 11), (2, 11)], [(10, 18, "1-2")], "greedy", rules=rules)
    assert [(time, them) for _, time, them in starts(told)] == [(0, "0 3"), (11, "0 3")]


@pytest.mark.parametrize(
    "window, words",
    [
        ((10, 10, "0"), "is not after 10"),
        ((10, 18, "2-4"), "workers 0 to 3"),
        ((10, 18, "x"), 'such as "0-15, 40"'),
        ((10, 18, "3-1"), "3-1 falls"),
        (("10", 18, "0"), r"'10' is not accepted \(a number has no quotation marks\)"),
        ((10, 18, "0-3, 2"), "2 is in it twice"),
        ((-1, 18, "0"), "0 or above"),
    ],
)
def test_a_window_that_cannot_be_is_refused(window: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        run(table([(1, 1)], [window]))


def test_windows_need_a_queue() -> None:
    scenario = table([(1, 1)], TUESDAY)
    scenario["job"] = {"kind": "iterative", "jobs": [{"tasks": 2, "iterations": 1}]}
    scenario["policy"] = {"name": "IE"}
    scenario["unit"] = "slot"
    with pytest.raises(InputError, match="plans no starts"):
        run(scenario)
