"""Columns and runs are two forms of one account: the same jobs, runs and instants."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from actors.deciders.copies import CopyRuns, PlacementRule
from actors.events import JobCompleted
from actors.runtime import Record, System
from policies.copies import Fcfs, Srpt, SrptR, SrptREven
from policies.interface.copies import RedundancyPolicy
from tests.actors.deciders.copies.worlds import (
    columns,
    described,
    runs_of,
    spawn_columns,
    spawn_runs,
)

POLICIES = (SrptR(), SrptR(cloning=False), SrptREven(), Srpt(), Srpt(stay=True), Fcfs())
RATES = st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(1), Fraction(2), Fraction(4)])


def eighths(least: int) -> st.SearchStrategy[Fraction]:
    return st.integers(least, 24).map(lambda k: Fraction(k, 8))


@st.composite
def traces(draw: st.DrawFn) -> Any:
    """A worker's speed: rising times, any of a few rates, and in the end one that goes on."""
    times = sorted(draw(st.sets(st.integers(1, 40), max_size=4)))
    steps = [(Fraction(time, 4), draw(RATES)) for time in (0, *times)]
    return (*steps, (Fraction(11), Fraction(1)))


def told(decider: Any, spawn: Any, jobs: Any, speeds: Any) -> list[Record]:
    records = list[Record]()
    system = System(3, [records.append], start=Fraction(0))
    spawn(system, decider, len(speeds), described(jobs), speeds)
    system.run()
    return records


@settings(max_examples=300)
@given(
    jobs=st.lists(st.tuples(eighths(0), eighths(1)), min_size=1, max_size=7).map(sorted),
    speeds=st.lists(traces(), min_size=1, max_size=4),
    policy=st.sampled_from(POLICIES),
    rule=st.sampled_from(PlacementRule),
)
def test_both_carriers_tell_the_same_runs_and_completions(
    jobs: Any, speeds: Any, policy: RedundancyPolicy, rule: PlacementRule
) -> None:
    runs = CopyRuns(policy, rule, cloning=getattr(policy, "cloning", True), exact=True)
    arrays = told(columns(policy, rule=rule, exact=True), spawn_columns, jobs, speeds)
    actors = told(runs, spawn_runs, jobs, speeds)
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
