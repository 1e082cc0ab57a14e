"""Rules that need two things to meet at once: a checkpoint cut short at a job's very end, a message
that waits beside a new one, two faults of one worker at one instant (rules.md, L3, W1 and F1)."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from typing import Any

import pytest
from attrs import frozen

from actors.events import (
    FaultDetected,
    Outcome,
    RunEnded,
    RunStarted,
    TransferDropped,
    TransferKind,
    TransferStarted,
    WorkerChanged,
)
from actors.runtime import Event, Record
from policies.availability import WorkerState
from policies.interface.service import Waiting
from sims.audit.audit import audit
from tests.sims.oneworld import Table, records_of

PROGRAM, DATA, SAVE = TransferKind.PROGRAM, TransferKind.DATA, TransferKind.SAVE


def told(scenario: Table) -> list[Record]:
    """The log of a run, which obeys the laws."""
    records = records_of(scenario)
    assert list(audit(records)) == []
    return records


def of(records: list[Record], *asked: type[Event] | str) -> list[tuple[float, Any]]:
    """Events of these kinds, with their times; of jobs of these names, if any is asked for."""
    kinds = tuple(it for it in asked if not isinstance(it, str))
    jobs = [it for it in asked if isinstance(it, str)]
    found = [(it.t, it.event) for it in records if isinstance(it.event, kinds)]
    return [(t, it) for t, it in found if not jobs or getattr(it, "job", "") in jobs]


NEARLY_DONE = """
name = "nearly done"
platform.workers = 4
link = { unit = 1e-9, latency = 0, startup = 0 }
protection = { kind = "images", period = 10, cost = 5 }
policy.name = "EndLocal"
[job]
kind = "malleable"
pair = 2
[[job.jobs]]
footprint = 10
speedup = { kind = "table", times = [21, 10.5, 7, 5.25] }
[[job.jobs]]
footprint = 10
protection.kind = "none"
speedup = { kind = "table", times = [28, 14, 14, 14] }
"""
"""J1 computes until 10, and begins a checkpoint of 5 before the last 0.5 of its work; J2 ends at
14, and leaves its workers to J1."""


def test_a_checkpoint_that_counts_as_work_counts_for_no_more_than_is_left() -> None:
    records = told(tomllib.loads(NEARLY_DONE))
    ends = [(t, event.outcome, event.done) for t, event in of(records, RunEnded, "J1")]
    assert ends[0] == (14, Outcome.CANCELLED, 10.5)
    again = [event for _, event in of(records, RunStarted, "J1")][1]
    assert (again.work, again.begun, again.saved) == (5.25, 5.25, 10.5)


# --- messages -------------------------------------------------------------------------------------

LEFT_OVER = """
name = "left over"
master = { channels = 2, program = 0, data = 4, image = 1 }
protection = { kind = "images", period = 1 }
job = { kind = "iterative", tasks = 4, iterations = 1 }
policy = { name = "E-IY", reuse = true }
workers = [
  { task_time = 3 },
  { task_time = 3, availability = { kind = "letters", states = "dddddddddduu" } },
]
"""
"""Worker 0 holds two of its four units of data and half of the third as worker 1 takes two tasks
over, at 10; it begins to send its image at 19."""


def test_data_of_a_task_that_a_member_has_no_more_is_dropped_as_it_sends_its_image() -> None:
    records = told(tomllib.loads(LEFT_OVER))
    sent = of(records, TransferDropped, TransferStarted)
    assert [(t, type(event), event.worker, event.kind) for t, event in sent if 18 < t < 20] == [
        (19, TransferDropped, 0, DATA),
        (19, TransferStarted, 0, SAVE),
        (19, TransferStarted, 1, SAVE),
    ]


SUSPENDED = """
name = "suspended"
master = { channels = 2, program = 4, data = 4 }
job.kind = "rigid"
job.jobs = [{ processors = 3, time = 5 }]
policy = { name = "R-LIST-0", order = "FCFS" }
workers = [{}, { availability = { kind = "letters", states = "uuru" } }, {}]
"""
"""Worker 1 is RECLAIMED from 2 to 3, and worker 2 has its channel until 6; at 4 worker 0 holds its
program, and wants its data."""


def test_a_channel_that_is_free_serves_a_suspended_message_before_a_lower_worker_s_new_one() -> (
    None
):
    records = told(tomllib.loads(SUSPENDED))
    started = [(t, event) for t, event in of(records, TransferStarted) if t]
    assert [(t, event.worker, event.kind, event.left) for t, event in started][:3] == [
        (2, 2, PROGRAM, 4),
        (4, 1, PROGRAM, 2),
        (6, 0, DATA, 4),
    ]


@frozen
class BegunFirst:
    """An order of service that prefers messages that have begun, and of equals the highest worker;
    but at 2 it serves the lowest."""

    every_slot = True

    def __call__(self, waiting: Sequence[Waiting], channels: int, now: float) -> Sequence[Waiting]:
        if now == 2:
            return sorted(waiting, key=lambda it: it.index)[:channels]
        return sorted(waiting, key=lambda it: (not it.started, -it.index))[:channels]


@pytest.mark.usefixtures("unchecked")  # the order that it names is another
def test_a_message_whose_channel_was_taken_away_counts_as_begun(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("policies.service.LongestFirst", BegunFirst)
    scenario = tomllib.loads(SUSPENDED) | {"workers": [{}, {}, {}]}
    scenario["master"] = {"channels": 1, "program": 4, "order": "longest-first"}
    started = of(records_of(scenario), TransferStarted)
    assert [(t, event.worker, event.left) for t, event in started] == [
        (0, 2, 4),
        (2, 0, 4),
        (3, 2, 2),
        (5, 0, 3),
        (8, 1, 4),
    ]


# --- faults ---------------------------------------------------------------------------------------

SHORT = {"kind": "list", "strikes": [[5, 0]], "downtime": 1, "detection": 3}
LONG = SHORT | {"downtime": 6, "detection": 2}


@pytest.mark.parametrize("laws", [[SHORT, LONG], [LONG, SHORT]])
def test_two_faults_of_one_instant_last_for_the_longer_and_are_heard_of_at_the_earlier(
    laws: list[Table],
) -> None:
    records = told(
        {
            "name": "struck twice",
            "platform": {"workers": 1},
            "job": {"kind": "rigid", "jobs": [{"processors": 1, "time": 8}]},
            "policy": {"name": "R-LIST-0"},
            "faults": laws,
        }
    )
    changes = [(t, event.state) for t, event in of(records, WorkerChanged)]
    assert changes == [(5, WorkerState.DOWN), (11, WorkerState.UP)]
    assert [t for t, _ in of(records, FaultDetected)] == [7]
    assert [(t, event.outcome) for t, event in of(records, RunEnded)] == [
        (7, Outcome.LOST),
        (19, Outcome.COMPLETED),
    ]
