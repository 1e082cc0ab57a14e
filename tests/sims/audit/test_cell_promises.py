"""Planted lies about reservations beside partitions and windows of maintenance, and about the order
of the queue: the audit derives both."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from actors.events import ReservationMade, RunStarted
from actors.runtime import Event, Record
from sims.audit.audit import audit
from tests.sims.scenario.test_partitions import BATCH, DEBUG, Table, records, table

HALVES = [{"name": "a", "units": "0-3"}, {"name": "b", "units": "4-7"}]
JOBS = [(3, 10, "a"), (3, 20, "b"), (4, 5, "a"), (4, 5, "b"), (4, 5, "a"), (4, 5, "b")]


def noticed(told: list[Record], true: Event, false: Event) -> list[str]:
    """What the audit says where a log has the event `false` in place of `true`."""
    assert true in [it.event for it in told]
    spoilt = [evolve(it, event=false) if it.event == true else it for it in told]
    return [it.why for it in audit(iter(spoilt))]


@pytest.mark.parametrize(
    ("true", "false", "why"),
    [
        # At 10 J1 ends, and at 20 J2.
        (("J3", 10, 4), ("J3", 9, 4), "J3 can start at 10 at the earliest"),
        (("J3", 10, 4), ("J3", 11, 4), "J3 can start at 10"),
        (("J4", 20, 4), ("J4", 19.5, 4), "J4 can start at 20"),
        (("J3", 10, 4), ("J5", 10, 4), "J3 is ahead of J5"),
        (("J4", 20, 4), ("J6", 20, 4), "J4 is ahead of J6"),
        (("J4", 20, 4), ("J3", 20, 4), ""),
    ],
)
def test_a_reservation_beside_two_partitions_is_derived(
    true: tuple[Any, ...], false: tuple[Any, ...], why: str
) -> None:
    told = records(table(JOBS, HALVES))
    found = noticed(told, ReservationMade(*true), ReservationMade(*false))
    assert found
    assert why in found[0]


@pytest.mark.parametrize("policy", ["EASY", "R-LIST-2"])
@pytest.mark.parametrize("start", [9, 11])
def test_a_reservation_of_overlapping_partitions_is_derived(policy: str, start: float) -> None:
    jobs = [(4, 10), (6, 5), (1, 12, "debug"), (1, 10, "debug")]
    told = records(table(jobs, [DEBUG | {"tier": 1}, BATCH], policy))
    true = next(it.event for it in told if isinstance(it.event, ReservationMade))
    assert (true.job, true.start) == ("J2", 10)
    assert noticed(told, true, evolve(true, start=start))


def windowed() -> Table:
    """J1 holds two workers until 8, J2 wants all four for 5, and a window takes two from 10 to
    20."""
    window = {"from": 10, "to": 20, "units": "0-1"}
    jobs = [(2, 8), (4, 5), (1, 30), (2, 3)]
    return table(jobs, [], workers=4, platform={"maintenance": [window]})


@pytest.mark.parametrize(
    "false", [("J2", 8, 4), ("J2", 25, 4), ("J2", 19, 4), ("J3", 20, 1), ("J2", 20, 3)]
)
def test_a_reservation_beside_a_window_is_derived(false: tuple[Any, ...]) -> None:
    told = records(windowed())
    true = next(it.event for it in told if isinstance(it.event, ReservationMade))
    assert true == ReservationMade("J2", 20, 4)
    assert noticed(told, true, ReservationMade(*false))


@pytest.mark.parametrize("policy", ["conservative", "R-LIST-2", "R-LIST-3"])
def test_a_promise_that_no_policy_could_keep_is_noticed(policy: str) -> None:
    told = records(table(JOBS, HALVES, policy))
    made = [it.event for it in told if isinstance(it.event, ReservationMade)]
    true = next(it for it in made if it.job == "J3")
    assert noticed(told, true, evolve(true, start=5))


def test_a_reservation_of_whole_nodes_is_derived() -> None:
    gpu = {"name": "gpu", "units": "0-7", "exclusive": True, "default": True}
    told = records(table([(1, 10), (1, 20), (5, 10)], [gpu], platform={"node": 4}))
    true = ReservationMade("J3", 20, 5)
    for start in (10, 19, 21):
        assert noticed(told, true, evolve(true, start=start))


# --- the order of the queue ----------------------------------------------------------------------

WEIGHTS = {"age": 1, "age_max": 100, "fair_share": 20, "half_life": 50, "size": 4}


def shared(policy: str, size: int = 4) -> list[Record]:
    """Ann has used the machine before; bob, who comes later, is ahead of her second job."""
    jobs = [
        {"processors": 4, "time": 10, "user": "ann"},
        {"processors": size, "time": 10, "user": "ann", "release": 1},
        {"processors": size, "time": 10, "user": "bob", "release": 2},
    ]
    rules = {"order": "MULTIFACTOR", "parameters": WEIGHTS}
    return records(table(jobs, [], policy, workers=4, rules=rules))


@pytest.mark.parametrize("policy", ["FCFS", "EASY"])
def test_a_start_out_of_the_multifactor_order_is_noticed(policy: str) -> None:
    """At 10 ann's second job starts, and bob's waits until 20: as the log of first come, first
    served has it under this order's head."""
    told = shared(policy)
    started = [(it.t, it.event.job) for it in told if isinstance(it.event, RunStarted)]
    assert started == [(0, "J1"), (10, "J3"), (20, "J2")]
    names = {"J2": "J3", "J3": "J2"}
    at_10 = next(k for k, it in enumerate(told) if it.t >= 10)
    spoilt = told[:at_10] + [
        evolve(it, event=evolve(it.event, job=names[it.event.job]))
        if getattr(it.event, "job", "") in names
        else it
        for it in told[at_10:]
    ]
    found = [it.why for it in audit(iter(spoilt))]
    assert found
    if policy == "FCFS":
        assert "J2 starts, and J3 is ahead of it" in found[0]


def test_a_reservation_out_of_the_multifactor_order_is_noticed() -> None:
    """J3 has the first reservation from 2 on."""
    told = shared("EASY")
    true = next(
        it.event for it in told if isinstance(it.event, ReservationMade) and it.event.job == "J3"
    )
    dropped = [it for it in told if it.t < 2 or not isinstance(it.event, ReservationMade)]
    assert true.start == 10
    assert list(audit(iter(dropped)))
