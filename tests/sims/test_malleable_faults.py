"""Faults that chase a first one through all that it leads to (malleable17; fatal failures are our
own): every journal of the tests is derived, and what fails here fails as it is written."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.events import CheckpointLost, FaultIgnored, JobCompleted, RestartedFromScratch
from actors.runtime import Event, Record
from policies.pack import CATALOGUE
from sims.ledger import account
from tests.sims.oneworld import records_of

SMALL = """
name = "small"
platform = { workers = 13 }
job = { kind = "malleable", footprints = [1e5, 1.6e5, 2.5e5, 4e4] }
link = { unit = 1.0, startup = 1e4 }
policy.look = "any"
[faults]
kind = "list"
downtime = 5e4
[protection]
kind = "buddies"
period = "young"
mtbf = 3.1536e7
"""
P = 13
"""Processors of the small platform; the last one has no buddy and stays unused."""
FATAL = ("possible", "ignored")


def play(strikes: list[tuple[float, int]], policy: str, fatal: str) -> list[Record]:
    scenario = tomllib.loads(SMALL)
    scenario["faults"]["strikes"] = sorted(map(list, strikes))
    scenario["protection"]["fatal"] = fatal
    scenario["policy"]["name"] = policy
    records = records_of(scenario)
    assert sum(isinstance(it.event, JobCompleted) for it in records) == 4
    ledger = account(records, P)
    assert float(sum(ledger.total.values())) == pytest.approx(P * records[-1].t, rel=1e-9)
    return records


@given(data=st.data(), policy=st.sampled_from(list(CATALOGUE)), fatal=st.sampled_from(FATAL))
def test_work_and_processor_seconds_add_up_when_faults_chase_every_stage_of_the_first_one(
    data: st.DataObject, policy: str, fatal: str
) -> None:
    first = data.draw(st.sampled_from(sorted({it.t for it in play([], policy, fatal)})))
    struck, workers = data.draw(st.integers(0, P - 1)), st.integers(0, P - 1)
    chase = data.draw(st.lists(st.tuples(st.floats(0, 3e5), workers), min_size=1, max_size=4))
    strikes = [(first, struck), *((first + after, worker) for after, worker in chase)]
    buddy = [(first + after / 2, struck ^ 1) for after, _ in chase if struck < P - 1]
    play([*strikes, *buddy], policy, fatal)


@pytest.mark.parametrize(
    ("strikes", "fatal", "told"),
    [
        ([(10.0, 0), (20.0, 1)], "possible", {CheckpointLost: 1, RestartedFromScratch: 0}),
        ([(10.0, 0), (20.0, 0)], "possible", {CheckpointLost: 0}),
        ([(2e6, 0), (2.06e6, 1)], "possible", {CheckpointLost: 1, RestartedFromScratch: 1}),
        ([(2e6, 0), (2.06e6, 1)], "ignored", {CheckpointLost: 0, FaultIgnored: 1}),
        ([(2e6, 0), (4e6, 1)], "possible", {CheckpointLost: 0, RestartedFromScratch: 0}),
        ([(5.0, P - 1)], "ignored", {FaultIgnored: 1}),
        ([(5.0, P - 1)], "possible", {FaultIgnored: 0}),
    ],
)
def test_both_buddies_before_a_recovery_are_fatal_where_that_is_possible(
    strikes: list[tuple[float, int]], fatal: str, told: dict[type[Event], int]
) -> None:
    """Nothing is saved at 10 and much at 2e6; who has no buddy is nobody's."""
    records = play(strikes, "IteratedGreedy-EndGreedy", fatal)
    assert {kind: sum(isinstance(it.event, kind) for it in records) for kind in told} == told
