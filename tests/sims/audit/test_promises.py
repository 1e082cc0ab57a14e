"""What the audit says of workers that are promised, and of faults that are ignored
(malleable17)."""

from __future__ import annotations

from functools import cache

import pytest

from actors.events import (
    FaultIgnored,
    MembersChanged,
    MembersJoined,
    MembersPromised,
    Outcome,
    PackDescribed,
    RunEnded,
    RunStarted,
    WhyIgnored,
)
from actors.runtime import Record
from sims.audit.audit import audit
from sims.audit.law import Law
from tests.sims.audit.altered import changed, place, reasons, renumbered, without
from tests.sims.audit.anything import pack, records_of

PROMISED, IGNORED = 319, 33
"""Seeds: T1 promises its workers to T2, which waits for its own; T4 is struck while it recovers,
and a worker that nobody holds."""


@cache
def told(seed: int, downtime: float | None = None) -> list[Record]:
    table = pack(seed)
    if downtime is not None:
        table["faults"]["downtime"] = downtime
    return records_of(table)


@pytest.mark.parametrize("downtime", [0, 60, 5000])
def test_who_begins_with_fewer_workers_than_it_was_promised_breaks_no_law(downtime: float) -> None:
    records = told(PROMISED, downtime)
    assert place(records, MembersPromised) < place(records, MembersJoined)
    assert list(audit(records)) == []
    assert list(audit(told(IGNORED))) == []


@pytest.mark.parametrize("downtime", [0, 5000])
def test_workers_that_are_lacking_are_promised_and_come(downtime: float) -> None:
    records = told(PROMISED, downtime)
    for kind in (MembersPromised, MembersJoined):
        less = without(records, place(records, kind))
        assert "T2 lacks 2 workers, and nobody has promised them" in reasons(less, Law.PROMISE)


def test_only_a_run_that_is_under_way_promises_all_its_workers() -> None:
    records = told(PROMISED)
    at = place(records, MembersPromised)
    for other in ({"processors": "0"}, {"run": 7}, {"job": "T2", "run": 0}):
        assert "cannot promise" in reasons(changed(records, at, **other), Law.PROMISE)
    counting = changed(records, place(records, PackDescribed), fatal=True)
    assert "run 1 of T1 cannot promise 0-1" in reasons(counting, Law.PROMISE)


@pytest.mark.parametrize("policy", ["none", "EndLocal", "EndGreedy"])
def test_nobody_promises_workers_under_a_policy_that_does_nothing_at_faults(policy: str) -> None:
    records = told(PROMISED)
    other = changed(records, 0, policy=policy)
    assert f"{policy} decides no MembersPromised(job='T1'" in reasons(other, Law.POLICY)


@pytest.mark.parametrize(("releases", "why"), [(False, "cannot promise 0-1"), (None, "")])
def test_nobody_promises_workers_in_a_log_that_says_that_nobody_does(
    releases: bool | None, why: str
) -> None:
    records = told(PROMISED)
    other = changed(records, place(records, PackDescribed), releases=releases)
    broken = reasons(other, Law.PROMISE)
    assert why in broken and bool(broken) is bool(why)


def test_who_promised_its_workers_completes() -> None:
    records = told(PROMISED)
    at = place(records, RunEnded, job="T1", outcome=Outcome.COMPLETED)
    lost = reasons(changed(records, at, outcome=Outcome.LOST), Law.PROMISE)
    assert "T1 promised its workers for" in lost
    assert "it ends lost" in lost


def test_workers_join_whom_they_were_promised_to() -> None:
    records = told(PROMISED)
    at = place(records, MembersJoined)
    for other in ({"processors": "0-2"}, {"processors": "6"}, {"job": "T4", "run": 2}):
        why = reasons(changed(records, at, **other), Law.PROMISE)
        assert "were not promised to" in why
    gone = changed(records, at, run=9)
    assert "workers join run 9 of T2, which is not going on" in reasons(gone, Law.SEQUENCE)


def test_members_change_of_a_run_that_keeps_some_and_to_others_that_are_apart() -> None:
    records = told(PROMISED)
    at = place(records, MembersChanged)
    kept = reasons(changed(records, at, run=5), Law.CAPACITY)
    assert "T2 keeps nobody of run 5" in kept
    twice = reasons(changed(records, at, processors="2-5 8 8 10"), Law.CAPACITY)
    assert "T2 holds some of workers 8-8" in twice


def test_who_is_cancelled_to_be_resized_goes_on_at_once() -> None:
    records = told(PROMISED)
    start = place(records, RunStarted, job="T3", run=2)
    other = place(records, RunEnded, job="T4", run=1)
    later = [*records[:start], records[other], *records[start:other], *records[other + 1 :]]
    assert "T3" in reasons(renumbered(later), Law.REDISTRIBUTION)
    late = without(records, place(records, RunStarted, job="T3", run=2))
    assert "run 2 of T3 is not going on" in reasons(late, Law.SEQUENCE)


# --- faults ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("why", "other", "law", "words"),
    [
        (WhyIgnored.IDLE, {"worker": 99}, Law.STATE, "where every fault counts"),
        (WhyIgnored.IDLE, {"job": "T4"}, Law.STATE, "T4 holds worker 10"),
        (WhyIgnored.BUSY, {"why": WhyIgnored.IDLE}, Law.STATE, "holds worker 5"),
        (WhyIgnored.BUSY, {"job": "T1"}, Law.STATE, "and the fault is ignored"),
        (WhyIgnored.BUSY, {"worker": 0}, Law.CAPACITY, "T4 does not hold worker 0"),
    ],
)
def test_a_fault_is_ignored_where_nobody_computes(
    why: WhyIgnored, other: dict[str, object], law: Law, words: str
) -> None:
    records = told(IGNORED)
    at = place(records, FaultIgnored, why=why)
    assert words in reasons(changed(records, at, **other), law)
