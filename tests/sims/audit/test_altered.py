"""What the audit says of one line that cannot be: which it is, and what must come in its place."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import orjson
import pytest
from attrs import evolve

from actors.events import (
    BatchOpened,
    ChainsBelieved,
    CheckpointTaken,
    CopiesPlaced,
    JobDescribed,
    JobKilled,
    JobsChanged,
    JobsLeftOut,
    MembersChanged,
    MembersJoined,
    MembersPromised,
    Outcome,
    PackDescribed,
    ProtectionDescribed,
    ProtectionKind,
    ReservationDropped,
    ReservationMade,
    RunEnded,
    RunStarted,
    ShelfOpened,
    TransferEnded,
    TransferStarted,
    WorkerChanged,
    WorkerSpeedChanged,
)
from actors.events.pack import FaultIgnored, WhyIgnored
from actors.runtime import JsonLines, Record
from policies.availability import WorkerState
from sims.audit.audit import audit
from sims.audit.law import Law, Violation
from sims.log import LogFile
from tests.sims import kinds
from tests.sims.anything import pack, queue, shares
from tests.sims.audit.altered import changed, place, then, told_of, without
from tests.sims.audit.test_decisions import COMPACT, table
from tests.sims.oneworld import cases, play, records_of

pytestmark = pytest.mark.usefixtures("unchecked")

UP, DOWN = WorkerState.UP, WorkerState.DOWN
FEW: dict[str, Any] = {
    "name": "few",
    "unit": "s",
    "platform": {"workers": 8},
    "faults": {"kind": "list", "strikes": [[5, 7]], "downtime": 4},
    "job": {
        "kind": "rigid",
        "overrun": "kill",
        "jobs": [
            {"processors": 6, "time": 50, "estimate": 90},
            {"processors": 8, "time": 10, "estimate": 20, "release": 1},
            {"processors": 2, "time": 30, "estimate": 20, "release": 12, "failures": 1},
        ],
    },
    "policy": {"name": "R-LIST-1", "order": "FCFS", "reading": "easy"},
}
"""J2 is promised 90 and starts at 50; J3 is killed at 32."""
GROUPS: dict[str, Any] = {
    "name": "groups",
    "unit": "s",
    "platform": {"workers": 4},
    "job": {"kind": "rigid", "jobs": [{"processors": 4, "time": 9, "replicas": 2}]},
}
FLEET: dict[str, Any] = {
    "name": "fleet",
    "unit": "s",
    "platform": {"workers": 4, "reserve": 1, "reserve_delay": 2},
    "faults": {"kind": "list", "strikes": [[5, 0]]},
    "repair": {"stages": [{"time": 4, "law": "fixed"}]},
    "job": {"kind": "rigid", "jobs": [{"processors": 2, "time": 20}, {"processors": 2, "time": 9}]},
    "policy": {"name": "FCFS"},
}
"""Worker 3 is called at 0 and comes at 2; worker 0 is repaired from 5 to 9."""
LOGS: dict[str, Callable[[], list[Record]]] = {
    "few": lambda: records_of(FEW),
    "groups": lambda: records_of(GROUPS),
    "fleet": lambda: records_of(FLEET),
    "columns": lambda: records_of(shares(2)),
    "shelf": lambda: records_of(queue(3)),
    "batch": lambda: records_of(queue(28)),
    "link": lambda: play(cases()[18]["scenario"]),
    "buddies": lambda: play(cases()[0]["scenario"]),
    "iteration": lambda: records_of(table(COMPACT)),
    "promised": lambda: records_of(pack(319)),
    "ignored": lambda: records_of(pack(33)),
}


@cache
def log(name: str) -> list[Record]:
    return LOGS[name]()


def first(records: list[Record]) -> Violation:
    (violation,) = audit(records)
    return violation


@pytest.mark.parametrize("name", LOGS)
def test_the_logs_themselves_break_no_law(name: str) -> None:
    assert list(audit(log(name))) == []


ALTERED: list[tuple[str, type, dict[str, Any], dict[str, Any], Law, str]] = [
    ("few", WorkerChanged, {}, {"worker": 8}, Law.INPUT, "worker 8 of 8"),
    ("few", WorkerChanged, {}, {"was": DOWN}, Law.FOLLOWS, "was must be u"),
    ("few", WorkerChanged, {"state": UP}, {"worker": 3}, Law.INPUT, "it is that already"),
    ("few", RunStarted, {}, {"processors": "0-x"}, Law.SCHEMA, "no interval set"),
    ("few", RunStarted, {}, {"processors": "1-6"}, Law.DECISION, "J1 gets"),
    ("few", RunStarted, {}, {"run": 1}, Law.FOLLOWS, "run must be 0"),
    ("few", RunStarted, {}, {"work": 51.0}, Law.FOLLOWS, "work must be 50"),
    ("few", RunEnded, {}, {"done": 3.0}, Law.FOLLOWS, "done must be 20"),
    ("few", RunEnded, {}, {"outcome": Outcome.LOST}, Law.FOLLOWS, "outcome must be"),
    ("few", JobDescribed, {"job": "J3"}, {"limit": 25.0}, Law.INPUT, "limit=25.0"),
    ("fleet", WorkerChanged, {"worker": 3}, {"worker": 2}, Law.INPUT, "it has no owner"),
    ("fleet", WorkerChanged, {"state": DOWN}, {"worker": 1}, Law.INPUT, "no owner, and no fault"),
    ("columns", WorkerSpeedChanged, {}, {"speed": -1.0}, Law.INPUT, "speed=-1.0"),
    ("columns", CopiesPlaced, {}, {"share": 2.0}, Law.DECISION, "a share of 2.0"),
    ("columns", CopiesPlaced, {}, {"width": 3}, Law.SCHEMA, "columns do not fit"),
    ("batch", BatchOpened, {}, {"attempts": 5}, Law.FOLLOWS, "attempts must be 1"),
    ("link", TransferStarted, {}, {"left": 9.0}, Law.FOLLOWS, "left must be"),
    ("buddies", CheckpointTaken, {}, {"done": 0.5}, Law.FOLLOWS, "done must be"),
    ("promised", MembersPromised, {}, {"processors": "0"}, Law.FOLLOWS, "processors must be"),
    ("promised", MembersJoined, {}, {"processors": "6"}, Law.FOLLOWS, "were not promised"),
    ("promised", MembersChanged, {}, {"run": 5}, Law.FOLLOWS, "run must be"),
    ("promised", PackDescribed, {}, {"fatal": True}, Law.INPUT, "PackDescribed"),
    ("ignored", FaultIgnored, {"why": WhyIgnored.BUSY}, {"job": "T1"}, Law.FOLLOWS, "job must"),
    ("ignored", FaultIgnored, {"why": WhyIgnored.IDLE}, {"worker": 99}, Law.INPUT, "worker 99"),
]


@pytest.mark.parametrize(("name", "kind", "at", "fields", "law", "words"), ALTERED)
def test_the_message_names_the_line_that_is_invalid(
    name: str, kind: type, at: dict[str, Any], fields: dict[str, Any], law: Law, words: str
) -> None:
    where = place(log(name), kind, **at)
    found = first(changed(log(name), where, **fields))
    assert (found.law, found.events) == (law, (where,))
    assert words in found.why


@pytest.mark.parametrize("replicas", [3, 5])
def test_a_run_has_as_many_members_in_each_replica(replicas: int) -> None:
    records = log("groups")
    told = told_of(records, "replicas = 2", f"replicas = {replicas}")
    found = first(told)
    assert (found.law, found.events) == (Law.INPUT, (place(records, RunStarted),))
    assert f"4 members are no {replicas} replicas" in found.why


MISSING: list[tuple[str, type, dict[str, Any], str]] = [
    ("shelf", ShelfOpened, {}, "in no shelf"),
    ("iteration", RunEnded, {"outcome": Outcome.CANCELLED}, "outcome=cancelled"),
    ("link", TransferEnded, {}, "TransferEnded"),
    ("buddies", ProtectionDescribed, {}, "ProtectionDescribed of"),
    ("promised", MembersPromised, {}, "MembersPromised"),
    ("promised", MembersJoined, {}, "promised must come"),
    ("few", JobKilled, {}, "JobKilled"),
]


@pytest.mark.parametrize(("name", "kind", "at", "words"), MISSING)
def test_a_line_that_is_missing_is_reported(
    name: str, kind: type, at: dict[str, Any], words: str
) -> None:
    where = place(log(name), kind, **at)
    less = without(log(name), where)
    found = first(less)
    assert words in found.why
    # At the latest as its instant is over.
    assert where <= found.events[0] and less[found.events[0] - 1].t <= log(name)[where].t


@pytest.mark.parametrize(
    ("worker", "late", "words"),
    [
        (0, (19, 20, 21, 24, 25, 26, 27), "workers [0] come back"),
        (3, (11, 12, 13, 22, 23), "worker 3 of the reserve comes"),
    ],
)
def test_only_an_owner_keeps_a_worker_away_for_longer(
    worker: int, late: tuple[int, ...], words: str
) -> None:
    """The worker, and its job after it, come one second later than it is due; nothing but its owner
    is the cause."""
    records = log("fleet")
    told = [
        evolve(it, t=it.t + 1, cause=0 if it.seq == late[0] else it.cause) if it.seq in late else it
        for it in records
    ]
    assert words in first(told).why
    owned = told_of(told, "[platform]", f"reclaims = [[99, 100, {worker}]]\n\n[platform]")
    assert list(audit(owned)) == []


def test_what_is_said_once_is_not_told_twice() -> None:
    for name, event in (("columns", JobsLeftOut("too wide", 2)), ("few", JobsChanged("cut", 3))):
        once = then(log(name), 0, event)
        assert list(audit(once)) == []
        twice = first(then(once, 1, event))
        assert (twice.law, twice.events, "told twice" in twice.why) == (Law.INPUT, (2,), True)
    columns = log("columns")
    at = place(columns, WorkerSpeedChanged)
    again = first(then(columns, at, columns[at].event))
    assert (again.law, again.events) == (Law.INPUT, (at + 1,))
    assert "has changed at this instant" in again.why


def test_each_listed_job_is_submitted_or_left_out() -> None:
    found = first(then(log("few"), 0, JobsLeftOut("too wide", 2)))
    assert (found.law, "3 of 3 jobs were submitted" in found.why) == (Law.FRAME, True)


def swapped(records: list[Record], at: int) -> list[Record]:
    """The log with the line of this number and the next one, of the same instant, in the other
    order; causes follow."""
    one, other = records[at : at + 2]
    assert one.t == other.t
    assert other.cause != one.seq
    places = {one.seq: other.seq, other.seq: one.seq}
    told = [*records[:at], evolve(other, seq=one.seq), evolve(one, seq=other.seq)]
    told += records[at + 2 :]
    return [evolve(it, cause=places.get(it.cause, it.cause)) for it in told]


def test_a_decision_promises_before_it_starts_jobs() -> None:
    """A decision promises J3 its start, and then starts J1, which does not wait for that."""
    records = records_of(queue(8))
    at = place(records, ReservationMade, job="J3")
    assert isinstance(records[at + 1].event, RunStarted)
    found = first(swapped(records, at))
    assert (found.law, found.events) == (Law.DECISION, (at + 1,))
    assert "started before it" in found.why


def test_beliefs_are_described_before_workers_change() -> None:
    scenario = {
        "name": "linked",
        "master": {"channels": 1, "program": 1},
        "workers": [{"availability": "ruuuuuuuuuuuuuuuuuuuuu"}],
        "job": {"kind": "iterative", "tasks": 1, "iterations": 1},
        "policy": {"name": "IE"},
    }
    records = records_of(scenario)
    at = place(records, WorkerChanged) - 1
    assert isinstance(records[at].event, ChainsBelieved)
    found = first(swapped(records, at))
    assert (found.law, found.events) == (Law.FRAME, (at + 1,))
    assert "too late" in found.why


def test_what_nobody_decides_is_not_logged_twice_nor_out_of_nothing() -> None:
    records = log("few")
    start = place(records, RunStarted)
    assert first(then(records, start, ReservationDropped("J1"))).law is Law.DECISION
    assert first(then(records, start, JobKilled("J1"))).law is Law.FOLLOWS
    at = place(log("columns"), CopiesPlaced)
    assert first(then(log("columns"), at, RunStarted("job-0", 9, "4", 0.7))).law is Law.DECISION


def test_a_server_that_fails_keeps_its_copies() -> None:
    down = WorkerChanged(0, DOWN, UP, None)
    at = place(log("columns"), CopiesPlaced)
    assert list(audit(then(log("columns"), at, down, cause=0))) == []


def test_a_job_that_keeps_nothing_takes_no_checkpoint() -> None:
    records = log("buddies")
    taken = records[place(records, CheckpointTaken)].event
    assert isinstance(taken, CheckpointTaken)
    at = place(records, ProtectionDescribed, job=taken.job)
    bare = changed(records, at, kind=ProtectionKind.NONE, period=None)
    assert first(bare).law is Law.FOLLOWS


def test_a_job_is_killed_at_its_limit_not_before() -> None:
    records = log("few")
    at = place(records, JobKilled)
    early = [evolve(it, t=31) if it.t == records[at].t else it for it in records]
    assert first(early).law is Law.FOLLOWS


LINES: dict[str, Callable[[dict[str, Any]], None]] = {
    "job: missing": lambda line: line.pop("job"),
    "user: missing": lambda line: line.pop("user"),
    "'nice' is no field": lambda line: line.update(nice=1),
    "priority: 'high'": lambda line: line.update(priority="high"),
}


@pytest.mark.parametrize("words", LINES)
def test_a_line_holds_the_fields_of_its_kind_and_no_others(words: str, tmp_path: Any) -> None:
    path = tmp_path / "log.jsonl"
    with JsonLines(path.open("wb")) as file:
        file.write(log("few"))
    lines = [orjson.loads(line) for line in path.read_bytes().splitlines()]
    assert list(audit(LogFile(path, ordered=False))) == []
    LINES[words](lines[1])
    path.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    found = list(audit(LogFile(path, ordered=False)))
    assert [(it.law, it.events) for it in found] == [(Law.SCHEMA, (1,))]
    assert words in found[0].why


def test_a_job_that_workers_are_enrolled_for_has_tasks_and_no_number_of_failures() -> None:
    records = kinds.records_of("figure1")
    at = place(records, JobDescribed)
    assert at in next(audit(changed(records, at, failures=1))).events
