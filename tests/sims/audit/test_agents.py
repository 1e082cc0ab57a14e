"""The audit notices lies about what agents do."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import define, evolve
from holdfast.agents import Agent, ClosedLoopUser

from actors.events import (
    AgentCalledReserve,
    AgentCancelledJob,
    AgentDescribed,
    AgentFailedWorker,
    AgentHungWorker,
    AgentReturnedWorker,
    AgentSetSpeed,
    AgentSubmittedJob,
    AgentTookWorker,
    HangDetected,
    JobCompleted,
    JobKilled,
    JobSubmitted,
    RunEnded,
    RunHung,
    RunStarted,
    WorkerChanged,
    WorkerSpeedChanged,
)
from actors.runtime import Record, handles
from policies.availability import WorkerState
from sims.audit.audit import audit
from sims.audit.law import Law
from sims.session import load
from sims.world import run, with_given
from tests.sims.audit.altered import changed, place, then, without

pytestmark = pytest.mark.usefixtures("unchecked")

UP, RECLAIMED, DOWN = WorkerState
TABLE: dict[str, Any] = {
    "name": "lies",
    "platform": {"workers": 5, "reserve": 2, "reserve_delay": 2},
    "job": {
        "kind": "rigid",
        "jobs": [
            {"processors": 1, "time": 30},
            {"processors": 1, "time": 20},
            {"processors": 1, "time": 60},
            {"processors": 1, "time": 5, "name": "own"},
            {"processors": 1, "time": 5, "name": "own 2"},
        ],
    },
    "policy": {"name": "EASY"},
}


@define(eq=False)
class Busy(Agent):
    """Does one of each."""

    def begin(self, cause: int) -> None:
        self.inject_fault(0, 4, cause, after=5)
        self.inject_hang(2, 3, cause, after=6)
        self.set_speed(2, 0.5, cause, after=7)
        self.call_reserve(cause, after=1)

    @handles(RunStarted)
    def hear(self, event: RunStarted, cause: int) -> None:
        if event.job == "J2" and event.run == 0:
            self.take(1, cause, after=11)
            self.give_back(1, cause, after=15)


@pytest.fixture(scope="module")
def log() -> list[Record]:
    records: list[Record] = []
    agents = [Busy(), ClosedLoopUser(think=3, jobs=("own*",))]
    run(with_given(load(TABLE), actors=agents), [records.append])
    assert [str(it) for it in audit(iter(records))] == []
    return records


def broken(records: list[Record]) -> Law | None:
    found = next(audit(iter(records)), None)
    return found.law if found is not None else None


def caused(records: list[Record], at: int, cause: int) -> list[Record]:
    return [*records[:at], evolve(records[at], cause=cause), *records[at + 1 :]]


LEFT_OUT: list[tuple[type, dict[str, Any]]] = [
    (AgentDescribed, {"agent": "Busy"}),
    (AgentDescribed, {"agent": "ClosedLoopUser"}),
    (AgentSubmittedJob, {"job": "own"}),
    (AgentTookWorker, {}),
    (AgentReturnedWorker, {}),
    (AgentFailedWorker, {}),
    (AgentHungWorker, {}),
    (AgentSetSpeed, {}),
    (AgentCalledReserve, {}),
    (JobSubmitted, {"job": "own"}),
    (WorkerChanged, {"worker": 1, "state": RECLAIMED}),
    (WorkerChanged, {"worker": 1, "state": UP}),
    (WorkerChanged, {"worker": 0, "state": DOWN}),
    (WorkerSpeedChanged, {}),
    (RunHung, {}),
    (HangDetected, {}),
    (WorkerChanged, {"worker": 4, "state": UP}),
]


@pytest.mark.parametrize(("kind", "fields"), LEFT_OUT)
def test_a_line_of_an_agent_or_of_its_effect_that_is_left_out_is_noticed(
    log: list[Record], kind: type, fields: dict[str, Any]
) -> None:
    assert broken(without(log, place(log, kind, **fields))) is not None


ALTERED: list[tuple[type, dict[str, Any]]] = [
    (AgentSubmittedJob, {"agent": "Busy"}),
    (AgentSubmittedJob, {"job": "own 2"}),
    (AgentTookWorker, {"worker": 2}),
    (AgentTookWorker, {"state": DOWN}),
    (AgentTookWorker, {"agent": "nobody"}),
    (AgentReturnedWorker, {"agent": "ClosedLoopUser"}),
    (AgentReturnedWorker, {"worker": 2}),
    (AgentFailedWorker, {"downtime": 9}),
    (AgentFailedWorker, {"worker": 3}),
    (AgentHungWorker, {"worker": 1}),
    (AgentHungWorker, {"detection": 5}),
    (AgentSetSpeed, {"speed": 0.7}),
    (AgentSetSpeed, {"worker": 1}),
    (AgentCalledReserve, {"worker": 2}),
    (AgentDescribed, {"hears": ()}),
]


@pytest.mark.parametrize(("kind", "fields"), ALTERED)
def test_a_line_of_an_agent_that_says_something_else_is_noticed(
    log: list[Record], kind: type, fields: dict[str, Any]
) -> None:
    assert broken(changed(log, place(log, kind), **fields)) is not None


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (WorkerChanged, {"worker": 1, "state": RECLAIMED}),
        (WorkerChanged, {"worker": 0, "state": DOWN}),
        (WorkerSpeedChanged, {}),
        (RunHung, {}),
        (JobSubmitted, {"job": "own"}),
        (WorkerChanged, {"worker": 4, "state": UP}),
    ],
)
def test_an_effect_without_its_cause_is_noticed(
    log: list[Record], kind: type, fields: dict[str, Any]
) -> None:
    assert broken(caused(log, place(log, kind, **fields), 0)) is Law.CAUSE


def test_an_agent_acts_for_what_it_has_heard_alone(log: list[Record]) -> None:
    at = place(log, AgentTookWorker)
    other = place(log, WorkerSpeedChanged)
    assert broken(caused(log, at, other)) is Law.CAUSE


def test_a_worker_that_an_agent_has_does_not_come_back_by_itself(log: list[Record]) -> None:
    at = place(log, AgentTookWorker) + 1
    up = WorkerChanged(1, UP, RECLAIMED, None)
    assert broken(then(log, at, up, cause=0)) is not None


def test_an_act_that_an_agent_has_not_done_is_noticed(log: list[Record]) -> None:
    at = place(log, JobCompleted, job="own 2")
    assert broken(then(log, at, AgentTookWorker("Busy", 2, RECLAIMED), cause=0)) is Law.MISSING
    assert broken(then(log, at, AgentFailedWorker("Busy", 2, 5), cause=0)) is Law.MISSING
    assert broken(then(log, at, AgentSetSpeed("Busy", 1, 5), cause=0)) is Law.MISSING


@define(eq=False)
class Taker(Agent):
    """Has worker 0 over [20, 100) in a state."""

    kept: WorkerState

    def begin(self, cause: int) -> None:
        self.take(0, cause, after=20, state=self.kept)
        self.give_back(0, cause, after=100)


FAULT = {"faults": {"kind": "list", "strikes": [[10, 0]], "downtime": 50}}
MAINTAINED = {"platform": {"workers": 2, "maintenance": [{"from": 10, "to": 60, "units": "0"}]}}


@pytest.mark.parametrize("down", [FAULT, MAINTAINED])
@pytest.mark.parametrize("state", [RECLAIMED, DOWN])
def test_the_state_in_which_an_agent_has_a_worker_that_is_down_already_is_checked(
    down: dict[str, Any], state: WorkerState
) -> None:
    """A fault or a window has the worker DOWN over [10, 60). It is RECLAIMED from then on, or stays
    DOWN."""
    jobs = {"kind": "rigid", "jobs": [{"processors": 1, "time": 300}]}
    table = TABLE | {"platform": {"workers": 2}, "job": jobs} | down
    log: list[Record] = []
    run(with_given(load(table), actors=[Taker(kept=state)]), [log.append])
    assert list(audit(iter(log))) == []
    at = place(log, AgentTookWorker)
    other = RECLAIMED if state is DOWN else DOWN
    assert broken(changed(log, at, state=other)) is not None


# --- jobs that agents cancel ----------------------------------------------------------------------


@define(eq=False)
class Canceller(Agent):
    """Submits two jobs, and cancels one as it runs and the other as it waits."""

    def begin(self, cause: int) -> None:
        self.submit("ran", cause, after=1)
        self.submit("waited", cause, after=2)
        self.cancel_job("ran", cause, after=7)
        self.cancel_job("waited", cause, after=9)


@pytest.fixture(scope="module")
def cancelled() -> list[Record]:
    jobs = [
        {"processors": 1, "time": 30},
        {"processors": 1, "time": 20, "name": "ran"},
        {"processors": 2, "time": 5, "name": "waited"},
        {"processors": 1, "time": 6, "name": "next", "after": ["ran", "waited"]},
    ]
    table = TABLE | {"platform": {"workers": 2}, "job": {"kind": "rigid", "jobs": jobs}}
    records: list[Record] = []
    run(with_given(load(table), actors=[Canceller(jobs=("ran", "waited"))]), [records.append])
    assert [str(it) for it in audit(iter(records))] == []
    return records


CANCELS: list[tuple[type, dict[str, Any]]] = [
    (AgentCancelledJob, {"job": "ran"}),
    (AgentCancelledJob, {"job": "waited"}),
    (RunEnded, {"job": "ran"}),
    (JobKilled, {"job": "ran"}),
    (JobKilled, {"job": "waited"}),
    (JobSubmitted, {"job": "next"}),
]


@pytest.mark.parametrize(("kind", "fields"), CANCELS)
def test_a_line_of_a_cancellation_that_is_left_out_is_noticed(
    cancelled: list[Record], kind: type, fields: dict[str, Any]
) -> None:
    assert broken(without(cancelled, place(cancelled, kind, **fields))) is not None


@pytest.mark.parametrize(("kind", "fields"), CANCELS[2:])
def test_the_end_of_a_cancelled_job_without_its_cause_is_noticed(
    cancelled: list[Record], kind: type, fields: dict[str, Any]
) -> None:
    assert broken(caused(cancelled, place(cancelled, kind, **fields), 0)) is Law.CAUSE


@pytest.mark.parametrize("fields", [{"agent": "nobody"}, {"job": "J1"}, {"job": "next"}])
def test_a_job_is_cancelled_by_the_agent_that_submitted_it_alone(
    cancelled: list[Record], fields: dict[str, str]
) -> None:
    at = place(cancelled, AgentCancelledJob, job="ran")
    assert broken(changed(cancelled, at, **fields)) is not None


def test_a_job_that_is_cancelled_before_its_submission_is_noticed(cancelled: list[Record]) -> None:
    at = place(cancelled, JobSubmitted, job="J1")
    early = then(cancelled, at + 1, AgentCancelledJob("Canceller", "ran"), cause=0)
    assert broken(early) is not None


def test_a_cancelled_job_that_completes_is_noticed(cancelled: list[Record]) -> None:
    at = place(cancelled, JobKilled, job="waited")
    records = list(cancelled)
    records[at] = evolve(records[at], event=JobCompleted("waited"))
    assert broken(records) is not None


def test_a_cancellation_after_the_end_of_the_job_changes_nothing(cancelled: list[Record]) -> None:
    at = place(cancelled, JobKilled, job="waited")
    again = then(cancelled, at, AgentCancelledJob("Canceller", "ran"), cause=0)
    assert broken(again) is None
