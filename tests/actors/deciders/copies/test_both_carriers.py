"""Columns and runs are two forms of one account: the same jobs, runs and instants."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, cast

import pytest
from hypothesis import given, settings

from actors.deciders.copies import CopyRuns, PlacementRule
from actors.events import JobCompleted
from actors.runtime import Record, System
from policies.copies import Fcfs, Srpt, SrptR, SrptREven
from policies.interface.copies import RedundancyPolicy
from tests.actors.deciders.copies.oracle import Instance
from tests.actors.deciders.copies.test_copies_oracle import instances
from tests.actors.deciders.copies.worlds import (
    columns,
    described,
    runs_of,
    spawn_columns,
    spawn_runs,
)

POLICIES = (SrptR(), SrptR(cloning=False), SrptREven(), Srpt(), Srpt(stay=True), Fcfs())
RULES = tuple(PlacementRule)


def both(instance: Instance, policy: RedundancyPolicy, rule: PlacementRule) -> list[list[Record]]:
    """What either carrier records."""
    cloning = getattr(policy, "cloning", True)
    deciders: list[Any] = [
        columns(policy, rule=rule, exact=True),
        CopyRuns(policy, rule, cloning=cloning, exact=True),
    ]
    jobs = described(cast(Any, zip(instance.arrivals, instance.sizes, strict=True)))
    logs = list[list[Record]]()
    for decider, spawn in zip(deciders, (spawn_columns, spawn_runs), strict=True):
        records = list[Record]()
        system = System(3, [records.append], start=cast(float, Fraction(0)))
        traces = [[(t, instance.speed * v) for t, v in trace] for trace in instance.traces]
        cast(Any, spawn)(system, decider, len(traces), jobs, traces)
        system.run()
        logs.append(records)
    return logs


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
@pytest.mark.parametrize("rule", RULES)
@settings(max_examples=40, deadline=None)
@given(instance=instances())
def test_both_carriers_tell_the_same_runs_and_completions(
    policy: RedundancyPolicy, rule: PlacementRule, instance: Instance
) -> None:
    arrays, actors = both(instance, policy, rule)
    assert runs_of(arrays) == runs_of(actors)
    ended = [
        {(it.t, it.event) for it in log if isinstance(it.event, JobCompleted)}
        for log in (arrays, actors)
    ]
    assert ended[0] == ended[1]
    assert arrays[-1].event == actors[-1].event


def test_a_job_whose_first_copy_has_ended_is_no_actor_any_more() -> None:
    """However many jobs come, the system knows those alone that are not over."""
    system = System(0)
    spawn_columns(system, columns(SrptR()), 2, described([(k, 1.0) for k in range(50)]))
    system.run()
    assert not [name for name in system.actors if name.isdigit()]
