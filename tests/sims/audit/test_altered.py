"""What the audit says of one event that cannot be so: workers, queues, copies, messages, stages."""

from __future__ import annotations

import tomllib
from functools import cache
from typing import Any

import pytest

from actors.events import (
    BatchOpened,
    CheckpointTaken,
    CopiesPlaced,
    JobDescribed,
    LinkDescribed,
    Outcome,
    ProtectionDescribed,
    ProtectionKind,
    ReservationDropped,
    ReservationMade,
    RunEnded,
    RunStarted,
    ShelfOpened,
    Stage,
    StageStarted,
    TransferEnded,
    TransferSuspended,
    WorkerChanged,
    WorkerSpeedChanged,
)
from actors.runtime import Record
from policies.availability import WorkerState
from sims.audit.audit import audit
from sims.audit.law import Law
from tests.sims.audit.altered import changed, place, reasons, renumbered, then, without
from tests.sims.audit.anything import queue, records_of, shares
from tests.sims.audit.oneworld import cases
from tests.sims.audit.oneworld import records_of as one_world
from tests.sims.audit.test_placement import TABLE

FEW: dict[str, Any] = {
    "name": "few",
    "unit": "s",
    "platform": {"workers": 8},
    "job": {
        "kind": "rigid",
        "overrun": "kill",
        "jobs": [
            {"processors": 6, "time": 50, "estimate": 90},
            {"processors": 8, "time": 10, "estimate": 20, "release": 1},
            {"processors": 2, "time": 30, "estimate": 20, "release": 2},
        ],
    },
    "policy": {"name": "R-LIST-1", "order": "FCFS", "reading": "easy"},
}
"""J2 is promised 90 and starts at 50; J3 is killed at 22."""


@cache
def few() -> list[Record]:
    return records_of(FEW)


@cache
def placed() -> list[Record]:
    """Copies that are placed all at once."""
    return records_of(shares(2))


@cache
def case(number: int) -> list[Record]:
    return one_world(cases()[number]["scenario"])


def link() -> list[Record]:
    return case(18)


def test_the_logs_themselves_break_no_law() -> None:
    for records in (few(), placed(), link(), case(0), case(108)):
        assert list(audit(records)) == []


# --- workers --------------------------------------------------------------------------------------


def test_a_worker_that_fails_is_down_for_a_while() -> None:
    down = WorkerChanged(0, WorkerState.DOWN, WorkerState.UP, until=0)
    why = reasons(then(few(), place(few(), RunStarted), down), Law.DURATION)
    assert "worker 0 goes DOWN at 0, until 0" in why


def test_no_worker_is_of_a_speed_below_0() -> None:
    records = placed()
    at = place(records, WorkerSpeedChanged)
    assert "worker 0 has speed -1" in reasons(changed(records, at, speed=-1.0), Law.SPEED)


def test_a_worker_that_comes_back_late_does_not_do_so_because_its_downtime_is_over() -> None:
    """Its owner may have taken it meanwhile: then its return has no cause in the world."""
    table = {**FEW, "faults": {"kind": "list", "strikes": [[5, 7], [70, 0]], "downtime": 4}}
    records = records_of(table)
    at = place(records, WorkerChanged, state=WorkerState.UP)
    assert records[at].t == 9
    early = [it for it in records if it.t < 11 and it is not records[at]]
    late = [*early, Record(-1, 11, records[at].cause, records[at].event)]
    told = renumbered([*late, *(it for it in records if it.t >= 11)])
    assert "WorkerChanged cannot be caused by this WorkerChanged" in reasons(told, Law.CAUSE)


def test_a_share_is_of_a_worker_that_there_is() -> None:
    records = placed()
    at = place(records, CopiesPlaced)
    other = changed(records, at, share=0.5, workers=(0, 1, 2, 3, 5, 99))
    assert "worker 99 of 6" in reasons(other, Law.CAPACITY)


# --- queues ---------------------------------------------------------------------------------------


def test_a_promise_that_nothing_delayed_is_kept() -> None:
    records = few()
    at = place(records, ReservationMade)
    assert records[at].event == ReservationMade("J2", 90, 8)
    late = reasons(changed(records, at, start=40.0), Law.PROMISE)
    assert "J2 was promised its start for 40.0" in late


def test_a_promise_is_made_before_it_is_dropped() -> None:
    records = few()
    drop = then(records, place(records, RunStarted), ReservationDropped("J1"))
    assert "nothing was promised to J1" in reasons(drop, Law.PROMISE)


def test_while_there_are_shelves_jobs_start_on_them_alone() -> None:
    records = records_of(queue(3))
    at = place(records, ShelfOpened)
    assert "jobs start outside of a shelf" in reasons(without(records, at), Law.DECISION)


def test_a_batch_opens_when_the_one_before_is_over() -> None:
    records = records_of(queue(28))
    second = place(records, BatchOpened, 1)
    first = records[place(records, BatchOpened)]
    early = [it for k, it in enumerate(records) if k != second]
    at = early.index(records[place(records, RunStarted)])
    moved = [*early[: at + 1], Record(-1, first.t, 0, records[second].event), *early[at + 1 :]]
    assert "a batch opens while" in reasons(renumbered(moved), Law.DECISION)


def test_a_job_is_killed_when_its_time_is_over() -> None:
    records = few()
    at = place(records, JobDescribed, job="J1")
    short = changed(records, at, estimate=40.0, limit=40.0)
    assert "run 0 of J1 lasts 50; its job is killed after 40" in reasons(short, Law.DURATION)


# --- copies ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("other", "words"),
    [(None, "another goes on"), ({"kept": True}, "another keeps its members")],
)
def test_when_a_copy_of_an_iteration_completes_the_others_are_over(
    other: dict[str, bool] | None, words: str
) -> None:
    records = records_of(tomllib.loads(TABLE))
    at = place(records, RunEnded, outcome=Outcome.CANCELLED)
    told = without(records, at) if other is None else changed(records, at, **other)
    assert f"a copy of J2 completes, and {words}" in reasons(told, Law.COPIES)


def test_copies_that_are_decided_all_at_once_do_not_begin_one_by_one() -> None:
    records = placed()
    at = place(records, CopiesPlaced)
    more = RunStarted("job-0", 9, "4", 0.7)
    assert reasons(then(records, at, more), Law.CAPACITY)
    stage = StageStarted("job-0", 0, Stage.COMPUTING, 1, 0)
    assert reasons(then(records, at, stage), Law.PROGRESS)


def test_a_server_that_fails_keeps_its_copies() -> None:
    records = placed()
    at = place(records, CopiesPlaced)
    down = WorkerChanged(0, WorkerState.DOWN, WorkerState.UP, None)
    assert list(audit(then(records, at, down, cause=0))) == []


# --- messages -------------------------------------------------------------------------------------


def test_without_a_master_there_are_no_messages() -> None:
    for records in (link(), case(27)):
        alone = without(records, place(records, LinkDescribed))
        assert "1 transfers on 0 channels (n_com)" in reasons(alone, Law.LINK)


def test_of_a_message_to_a_worker_that_goes_down_nothing_is_kept() -> None:
    records = link()
    event = records[place(records, TransferEnded)].event
    assert isinstance(event, TransferEnded)
    at = place(records, TransferEnded)
    down = WorkerChanged(event.worker, WorkerState.DOWN, WorkerState.UP, None)
    kept = TransferSuspended(event.worker, event.kind, 0.0)
    told = [*records[:at], Record(-1, records[at].t, 0, down), Record(-2, records[at].t, 0, kept)]
    told = renumbered([*told, *records[at + 1 :]])
    assert f"worker {event.worker} went DOWN: nothing is kept" in reasons(told, Law.TRANSFER)


# --- protection -----------------------------------------------------------------------------------


def test_a_job_that_keeps_nothing_takes_no_checkpoint() -> None:
    records = case(0)
    event = records[place(records, CheckpointTaken)].event
    assert isinstance(event, CheckpointTaken)
    at = place(records, ProtectionDescribed, job=event.job)
    bare = changed(records, at, kind=ProtectionKind.NONE)
    why = f"takes a checkpoint, and {event.job} keeps none"
    assert why in reasons(bare, Law.CHECKPOINT)


def test_who_tells_its_stages_tells_how_it_is_protected() -> None:
    records = case(0)
    at = place(records, ProtectionDescribed)
    job = records[at].event.job  # type: ignore[attr-defined]
    why = reasons(without(records, at), Law.FRAME)
    assert f"{job} tells its stages, not how it is protected" in why
