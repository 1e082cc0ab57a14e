"""Every run starts up before its members fetch anything, and a run whose workers a policy chooses
spends the choice before that (rules.md, R5)."""

from __future__ import annotations

from typing import Any

import pytest

from actors.events import (
    JobCompleted,
    JobDescribed,
    JobKilled,
    RedistributionPlanned,
    ReservationMade,
    RunStarted,
    Stage,
    StageStarted,
)
from actors.runtime import Record
from sims.audit.audit import audit
from sims.errors import InputError
from sims.history.rows import Use
from sims.session import check, run
from tests.sims.kinds import SCENARIOS

COSTS = {"startup": 3, "select": 2}


def scenario(jobs: list[dict[str, Any]], size: int = 2, **more: Any) -> dict[str, Any]:
    job = {"kind": "rigid", **COSTS, "jobs": jobs} | more.pop("job", {})
    return {"name": "starts", "unit": "s", "platform": {"workers": size}, "job": job} | more


def told(table: dict[str, Any]) -> list[Record]:
    """What a run tells; the audit finds nothing wrong in it."""
    found = list(run(table).records())
    assert [str(it) for it in audit(iter(found))] == []
    return found


def stages(records: list[Record]) -> list[tuple[float, int, str]]:
    """When each run enters which stage."""
    return [
        (it.t, it.event.run, it.event.stage.value)
        for it in records
        if isinstance(it.event, StageStarted)
    ]


def ends(records: list[Record]) -> list[float]:
    return [it.t for it in records if isinstance(it.event, JobCompleted)]


WIDE = [{"processors": 2, "time": 10}]
FAULT = {"kind": "list", "downtime": 4, "strikes": [[9, 0]]}


def test_a_run_from_scratch_chooses_workers_and_starts_up_again() -> None:
    """2 + 3, then 4 of 10 until the fault at 9; UP again at 13, and 2 + 3 + 10 end at 28."""
    found = told(scenario(WIDE, faults=FAULT))
    expected = [(0, 0, "starting_up"), (5, 0, "computing")]
    assert stages(found) == [*expected, (13, 1, "starting_up"), (18, 1, "computing")]
    assert ends(found) == [28]


def test_a_run_on_kept_workers_starts_up_and_chooses_none() -> None:
    """The fault at 9 comes as the first checkpoint is complete. At 13: start-up 3, recovery 2,
    work 3, checkpoint 1, work 3, checkpoint 1, work 1."""
    buddies = {"kind": "buddies", "period": 3, "cost": 1, "recovery": 2}
    found = told(scenario(WIDE, faults=FAULT, protection=buddies))
    assert (13, 1, "starting_up") in stages(found)
    assert (16, 1, "recovering") in stages(found)
    assert ends(found) == [27]


def test_messages_begin_after_the_start_up() -> None:
    """2 + 3, then a program of 2 and data of 1 for each of two workers on one channel: 11."""
    found = told(scenario(WIDE, master={"channels": 1, "program": 2, "data": 1}))
    expected = [(0, 0, "starting_up"), (5, 0, "staging_in"), (11, 0, "computing")]
    assert stages(found) == expected
    assert ends(found) == [21]


def test_a_start_up_is_suspended_as_all_parts_are_and_takes_its_time_at_any_speed() -> None:
    """RECLAIMED over [1, 4) the run has started up at 5 + 3, and computes 10 at speed 2."""
    workers = [{"speed": 2, "availability": "urrr" + "u" * 30}]
    found = told(scenario([{"processors": 1, "time": 10}], 0, workers=workers))
    assert ends(found) == [13]


def test_each_iteration_starts_up() -> None:
    """Two iterations of one task of 4 s, each after 2 + 3."""
    jobs = [{"tasks": 1, "iterations": 2, "processors": 1}]
    workers = [{"task_time": 4}]
    found = told(
        scenario(jobs, 0, job={"kind": "iterative"}, workers=workers, policy={"name": "R-LIST-0"})
    )
    assert ends(found) == [18]


def test_each_copy_starts_up_and_a_clone_is_fetched_after_that() -> None:
    """The second copy is placed at 9, as the first has done 4 of its 10: both start up for 5, the
    clone spends 1, and goes on from there. The first is faster."""
    protection = {"kind": "none", "copies": 2, "cloning": True, "delay": 1}
    jobs = [{"processors": 1, "time": 10}, {"processors": 1, "time": 4}]
    found = told(scenario(jobs, protection=protection))
    assert (14, 1, "recovering") in [it for it in stages(found) if it[2] == "recovering"]
    assert ends(found) == [9, 15]


def test_a_resized_application_goes_on_without_a_start_up() -> None:
    """Every other run of the example starts up: those at its start, and those after faults."""
    changes = {"job.startup": 100, "job.select": 10, "protection.fatal": "possible"}
    found = list(run(SCENARIOS / "malleable10.toml", changes, seed=2).records())
    assert list(audit(iter(found))) == []
    started = [it.event for it in found if isinstance(it.event, RunStarted)]
    resized = {it.event.run for it in found if isinstance(it.event, RedistributionPlanned)}
    assert resized
    starts = [it for it in stages(found) if it[2] == "starting_up"]
    assert len(started) > len(starts) >= 10


def test_the_ledger_has_the_start_ups() -> None:
    """Two workers: twice 5 to start up, 4 lost and 10 useful; worker 0 is DOWN for 4, worker 1 is
    idle meanwhile."""
    result = run(scenario(WIDE, faults=FAULT))
    ledger = {use.value: float(value) for use, value in result.report.ledger.total.items()}
    expected = {"startup": 20, "lost": 8, "useful": 20, "down": 4, "idle": 4}
    assert {use: value for use, value in ledger.items() if value} == expected
    assert Use.STARTUP.value in str(result.trace("J1"))


def test_a_job_has_start_ups_of_its_own() -> None:
    jobs = [{"processors": 1, "time": 10}, {"processors": 1, "time": 10, "startup": 7, "select": 0}]
    assert sorted(ends(told(scenario(jobs)))) == [15, 17]


def test_reservations_and_limits_count_the_start_up() -> None:
    """J1 holds both workers for 2 + 3 + 10, by its estimate for 2 + 3 + 8: at 13 it is killed."""
    jobs = [{"processors": 2, "time": 10, "estimate": 8}, {"processors": 2, "time": 1}]
    policy = {"name": "EASY"}
    found = told(scenario(jobs, policy=policy))
    assert next(it.event.start for it in found if isinstance(it.event, ReservationMade)) == 13
    killed = told(scenario(jobs, policy=policy, job={"overrun": "kill"}))
    assert [it.t for it in killed if isinstance(it.event, JobKilled)] == [13]
    limits = [it.event.limit for it in killed if isinstance(it.event, JobDescribed)]
    assert limits[0] == 13


def test_no_start_up_leaves_the_log_as_it_was() -> None:
    found = told(scenario(WIDE, job={"startup": 0, "select": 0}))
    assert Stage.STARTING_UP.value not in {stage for _, _, stage in stages(found)}
    assert ends(found) == [10]


def test_a_restart_from_scratch_that_pays_is_not_warned_of() -> None:
    images = {"kind": "images", "period": 3, "cost": 1, "recovery": 2}
    free = scenario(WIDE, faults=FAULT, protection=images, job={"startup": 0})
    assert "job.startup is a cost of every run" in str(check(free))
    assert "saving less may look better" not in str(
        check(scenario(WIDE, faults=FAULT, protection=images))
    )


def test_a_time_alone_stands_for_the_choice_of_workers_beside_a_selection_of_a_log() -> None:
    assert ends(told(scenario(WIDE, job={"select": {"choosing": 4}}))) == [17]
    assert ends(told(scenario(WIDE, job={"select": "4 s"}))) == [17]
    with pytest.raises(InputError, match=r"job\.select"):
        run(scenario(WIDE, job={"select": "soon"}))


@pytest.mark.parametrize("key", COSTS)
def test_a_job_that_starts_up_does_so_whichever_jobs_come_before_it(key: str) -> None:
    """Two jobs of one kind and one protection: one begins to compute at once, the other 5 later."""
    jobs = [{"name": "plain", "processors": 1, "time": 10}]
    jobs.append(jobs[0] | {"name": "late", key: 5})
    for listed in (jobs, jobs[::-1]):
        records = told(scenario(listed, job={"startup": 0, "select": 0}))
        assert ends(records) == [10, 15]
