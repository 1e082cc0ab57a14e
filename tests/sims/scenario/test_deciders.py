"""The registry of kinds of deciders."""

from __future__ import annotations

import pytest

from actors.events import DeciderKind, JobCompleted
from actors.runtime import Record
from policies import deadline, enrolment, pack
from policies.queue.names import FIELD, SHELVES
from sims.audit import audit
from sims.scenario.deciders import DECIDERS, readers
from sims.scenario.loader import read
from sims.scenario.policy import PolicySection
from sims.world import run


def test_every_kind_of_decider_has_an_entry_here_and_in_the_audit() -> None:
    assert set(DECIDERS) == set(DeciderKind) == set(audit.DECIDERS)


@pytest.mark.parametrize("kind", list(DeciderKind))
def test_the_default_policy_of_a_kind_decides_so(kind: DeciderKind) -> None:
    assert DECIDERS[kind].knows(DECIDERS[kind].default)


def test_the_keys_that_deciders_read_are_keys_of_a_policy_section() -> None:
    listed = {key for entry in DECIDERS.values() for key in entry.keys}
    assert listed <= set(PolicySection.model_fields)


def test_keys_that_no_kind_lists_are_read_by_all() -> None:
    assert readers("name") == tuple(DeciderKind)
    assert readers("allocation") == (DeciderKind.QUEUE, DeciderKind.PACK)


def test_no_two_kinds_know_a_policy_by_the_same_name_but_for_two_that_jobs_tell_apart() -> None:
    names = {*FIELD, *SHELVES, *enrolment.CATALOGUE, *pack.CATALOGUE, *deadline.NAMED, "SRPT+R"}
    shared = {it for it in names if sum(entry.knows(it) for entry in DECIDERS.values()) > 1}
    assert shared == {"FCFS", "greedy"}


@pytest.mark.parametrize(
    ("policy", "decider"),
    [
        ({"name": "FCFS"}, DeciderKind.QUEUE),
        ({"name": "FCFS", "decider": "copies"}, DeciderKind.COPIES),
        ({"name": "SRPT+R"}, DeciderKind.COPIES),
        ({"name": "EASY"}, DeciderKind.QUEUE),
    ],
)
def test_a_queue_decides_a_stream_under_fcfs_unless_copies_are_asked_for(
    policy: dict[str, str], decider: DeciderKind
) -> None:
    stream = {"count": 30, "arrivals": {"kind": "poisson", "load": 0.9}}
    table = {"name": "s", "platform": {"workers": 3}, "policy": policy}
    scenario = read(table | {"job": {"kind": "rigid", "stream": stream}}, "test")
    assert scenario.decider is decider


def test_both_deciders_serve_a_stream_first_come_first_served_alike() -> None:
    stream = {"count": 200, "arrivals": {"kind": "poisson", "load": 0.9}}
    table = {"name": "s", "unit": "s", "platform": {"workers": 3}}
    table |= {"job": {"kind": "rigid", "stream": stream}}
    ends = []
    for decider in ("queue", "copies"):
        policy = {"policy": {"name": "FCFS", "decider": decider}}
        found: list[Record] = []
        run(read(table | policy, "test"), [found.append])
        ends.append({it.event.job: it.t for it in found if isinstance(it.event, JobCompleted)})
    assert len(ends[0]) == 200
    assert ends[0] == pytest.approx(ends[1], rel=1e-9)
