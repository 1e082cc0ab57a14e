"""Runs advance by their members, and end by one rule (WORLD.md, R)."""

from __future__ import annotations

import pytest

from actors.events import RateChanged, Stage, StageStarted
from actors.hazards import SilentErrors
from actors.job import Life
from actors.messages import StartCopy
from actors.protection import ProtectionKind, Rules, protection
from actors.runs import JobOfRuns
from actors.runtime import Deadlock, System, UnexpectedMessage
from policies.interface.queue import BatchJob
from policies.maths.speedup import Rigid
from tests.actors.worlds import Task, World, of, runs


def test_a_run_waits_while_one_of_its_members_is_reclaimed() -> None:
    records = World(owners=["u", "uuurruu"]).run(Task(processors=2))
    assert runs(records) == [("a", 0, "0-1", 0, 12, "completed", 0)]
    assert [(r.t, r.event.rate, r.event.done) for r in of(records, RateChanged)] == [
        (3, 0, 3),
        (5, 1, 3),
    ]


def test_it_is_lost_when_a_member_goes_down_and_the_job_goes_back_to_its_queue() -> None:
    records = World(owners=["u", "uuudduu", "u"]).run(Task(processors=2))
    assert runs(records) == [
        ("a", 0, "0-1", 0, 3, "lost", 0),
        ("a", 1, "0 2", 3, 13, "completed", 0),
    ]


def test_it_advances_at_its_slowest_members_speed() -> None:
    world = World(speeds=[[(0, 2)], [(0, 1), (4, 4)]])
    assert runs(world.run(Task(processors=2, time=10)))[0][4] == 7


def test_a_checkpoint_takes_its_time_whatever_the_speed() -> None:
    task = Task(time=8, kind=ProtectionKind.IMAGES, period=4, rules={"cost": 3})
    assert runs(World(speeds=[[(0, 2)]]).run(task))[0][4] == 2 + 3 + 2


def test_the_work_that_ends_at_the_instant_of_a_fault_is_complete() -> None:
    records = World(workers=1, faults=[(10, 0)], downtime=2).run(Task())
    assert [run[5] for run in runs(records)] == ["completed"]


def test_an_error_is_found_by_the_verification_that_ends_the_run() -> None:
    records = World(workers=1).run(Task(verification=2, failures=[1, 0]))
    assert [run[3:6] for run in runs(records)] == [(0, 12, "failed"), (12, 24, "completed")]


def test_stages_are_told_with_their_rates() -> None:
    records = World(workers=1, channels=1).run(Task(program=2, data=1, verification=2))
    stages = [(r.t, r.event.stage, r.event.rate) for r in of(records, StageStarted)]
    assert stages == [(0, Stage.STAGING_IN, 0), (3, Stage.COMPUTING, 1), (13, Stage.VERIFYING, 1)]


def test_a_run_that_never_ends_is_told_with_who_waits() -> None:
    with pytest.raises(Deadlock, match="1 of 1 jobs"):
        World(speeds=[[(0, 1), (3, 0)]]).run(Task())


def test_a_kept_member_that_never_comes_back_is_named() -> None:
    task = Task(kind=ProtectionKind.BUDDIES, period=4)
    with pytest.raises(Deadlock, match="worker 0 to be UP again"):
        World(workers=1, faults=[(3, 0)], downtime=float("inf")).run(task)


def test_who_was_killed_is_told_apart_from_who_has_completed() -> None:
    system = System(0)
    described = BatchJob(0, "a", Rigid(1, 10))
    rules = protection(Rules())
    for end, name in ((Life.COMPLETED, "COMPLETED"), (Life.KILLED, "KILLED")):
        job = JobOfRuns(name, described, None, protection=rules, errors=SilentErrors(iter(())))
        job.system = system
        for state in (Life.WAITING, Life.RUNNING, end):
            job.become(state)
        assert job.state is end
        with pytest.raises(UnexpectedMessage, match=f"JobOfRuns that is {name} does not"):
            job.handlers[StartCopy]
