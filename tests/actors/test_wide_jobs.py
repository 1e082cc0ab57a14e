"""What a fault costs does not grow with the width of the job that it strikes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.intervals import Members, among, covers, intervals_of, members, without
from sims.history.summary import Summary
from sims.papers.published.fleet import default
from sims.scenario.loader import read
from sims.session import run
from sims.world import run as simulate

sets = st.sets(st.integers(0, 40)).map(sorted)


@given(sets, sets)
def test_sets_of_intervals_say_what_sets_of_numbers_say(ours: list[int], theirs: list[int]) -> None:
    spans = intervals_of(ours)
    assert without(spans, theirs) == intervals_of(sorted(set(ours) - set(theirs)))
    assert among(spans, theirs) == sorted(set(ours) & set(theirs))
    assert covers(spans, intervals_of(theirs)) is (set(theirs) <= set(ours))


@given(sets)
def test_members_are_the_numbers_of_their_intervals(numbers: list[int]) -> None:
    found = Members(intervals_of(numbers))
    assert (len(found), list(found)) == (len(numbers), numbers)
    assert all(number in found for number in numbers)
    assert found[1:] == members(found.intervals)[1:]


@given(sets.filter(bool), st.lists(st.tuples(st.integers(0, 40), st.integers(0, 60)), max_size=9))
def test_sets_of_members_tell_the_exchanges_between_them(
    numbers: list[int], chosen: list[tuple[int, int]]
) -> None:
    found, held = [Members(intervals_of(numbers))], set(numbers)
    for place, other in chosen:
        if other not in held:
            number = sorted(held)[place % len(held)]
            held = held - {number} | {other}
            found.append(found[-1].exchanged(number, other))
            assert (list(found[-1]), len(found[-1])) == (sorted(held), len(held))
            assert found[-1].intervals == intervals_of(sorted(held))
    for k, before in enumerate(found):
        kept = set(before)
        for number, other in found[-1].since(before) or ():
            kept = kept - {number} | {other}
        assert kept == held
        assert before.since(found[-1]) is None or k == len(found) - 1


def test_two_exchanges_of_the_same_members_are_not_mixed_up() -> None:
    whole = Members(((0, 3),))
    one, other = whole.exchanged(0, 7), whole.exchanged(1, 8)
    assert (one.since(whole), other.since(whole)) == ([(0, 7)], None)
    assert other.since(one) is None
    assert list(other.exchanged(2, 9)) == [0, 3, 8, 9]


def steps(width: int) -> int:
    """Calls of Python functions of a run in which a hundred faults strike a job of this width."""
    table: dict[str, Any] = {
        "name": "wide",
        "unit": "s",
        "platform": {"workers": width + 32},
        "faults": {
            "kind": "exponential",
            "mtbf": 3600 * width,
            "downtime": 7200,
        },
        "job": {"kind": "rigid", "jobs": [{"processors": width, "time": 360_000}]},
        "protection": {"kind": "images", "period": 3000, "cost": 1, "recovery": 60},
    }
    return calls(lambda: run(table, keep=False, seed=1))


def calls(act: Callable[[], object]) -> int:
    """How many calls of Python functions doing this takes."""
    counted = [0]

    def count(frame: FrameType, event: str, _: Any) -> None:
        counted[0] += event == "call"

    sys.setprofile(count)
    try:
        act()
    finally:
        sys.setprofile(None)
    return counted[0]


@pytest.mark.usefixtures("unchecked")
def test_a_fault_costs_no_more_calls_in_a_wide_job_than_in_a_narrow_one() -> None:
    """A call for each member of 4,096 would be fifteen times as many as for each of 256."""
    steps(64)  # what is imported or compiled at first use counts nowhere
    assert steps(4096) < 1.3 * steps(256)


def a_fault_of_a_fleet(act: Callable[[dict[str, Any]], object]) -> float:
    """Calls for each fault of AIReSim's default, from its second day to its eighth, of a run that
    is done so."""
    found = []
    act(default(1, 0.1))  # what is imported or compiled at first use counts nowhere
    for days in (2, 8):
        summary = Summary()
        simulate(read(default(1, days), "fleet"), [summary])
        faults = sum(summary.repairs.failed.values())
        found.append((calls(lambda days=days: act(default(1, days))), faults))  # type: ignore[misc]
    (few, before), (many, after) = found
    return (many - few) / (after - before)


@pytest.mark.usefixtures("unchecked")
def test_a_fault_of_a_fleet_takes_few_calls() -> None:
    """Of repairs, standbys and lemons among 4,360 servers: 450 calls on 30 November 2026, and 970
    where the history of the log is followed, too: 53,400 when each server was looked at."""
    assert a_fault_of_a_fleet(lambda it: simulate(read(it, "fleet"), [Summary()])) < 550
    assert a_fault_of_a_fleet(lambda it: run(it, keep=False)) < 1250
