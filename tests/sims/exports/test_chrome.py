"""What Perfetto asks of a trace, checked strictly: it drops or misdraws what breaks these rules."""

from __future__ import annotations

import io
from collections import defaultdict
from itertools import pairwise
from typing import Any

import orjson
import pytest

from actors.events import JobSubmitted, RunStarted
from sims.exports.viewers import PROCESSORS, write_chrome
from sims.ledger import Use
from sims.ledger.accountant import account
from tests.sims.kinds import EVERY, parts_of, records_of

Json = dict[str, Any]

REQUIRED = {
    "M": {"name", "args"},
    "X": {"name", "cat", "ts", "dur"},
    "b": {"name", "cat", "ts", "id"},
    "e": {"name", "cat", "ts", "id"},
    "C": {"name", "ts", "args"},
}


def trace_of(name: str) -> list[Json]:
    """The trace events of a run, parsed."""
    file = io.BytesIO()
    written = write_chrome(records_of(name), file)
    trace: list[Json] = orjson.loads(file.getvalue())["traceEvents"]
    assert len(trace) == written
    return trace


def tracks(trace: list[Json]) -> dict[tuple[int, int], list[Json]]:
    """Complete events by thread, in order."""
    found: dict[tuple[int, int], list[Json]] = defaultdict(list)
    for event in trace:
        if event["ph"] == "X":
            found[event["pid"], event["tid"]].append(event)
    return {track: sorted(events, key=lambda it: it["ts"]) for track, events in found.items()}


every_kind = pytest.mark.parametrize("name", EVERY)


@every_kind
def test_every_event_has_the_fields_of_its_phase_and_whole_microseconds(name: str) -> None:
    for event in trace_of(name):
        assert REQUIRED[event["ph"]] <= event.keys()
        assert isinstance(event["pid"], int)
        assert isinstance(event["tid"], int)
        assert isinstance(event["ts"], int)
        assert event["ts"] >= 0
        assert isinstance(event.get("dur", 0), int)
        assert event.get("dur", 0) >= 0


@every_kind
def test_slices_of_one_thread_never_overlap(name: str) -> None:
    for events in tracks(trace_of(name)).values():
        for one, other in pairwise(events):
            assert one["ts"] + one["dur"] <= other["ts"], (one, other)


@every_kind
def test_every_thread_and_process_has_a_name(name: str) -> None:
    trace = trace_of(name)
    names = {
        (it["name"], it["pid"], it["tid"]): it["args"]["name"]
        for it in trace
        if it["ph"] == "M" and it["name"].endswith("_name")
    }
    for process, thread in tracks(trace):
        assert names["thread_name", process, thread]
        assert names["process_name", process, 0]


@every_kind
def test_asynchronous_slices_begin_once_and_end_once_not_before(name: str) -> None:
    begun: dict[tuple[object, ...], int] = {}
    for event in trace_of(name):
        key = (event.get("pid"), event.get("cat"), event.get("id"))
        if event["ph"] == "b":
            assert key not in begun
            begun[key] = event["ts"]
        elif event["ph"] == "e":
            assert event["ts"] >= begun[key]
            begun[key] = -1
    assert set(begun.values()) <= {-1}


@every_kind
def test_all_jobs_and_runs_are_there(name: str) -> None:
    trace, records = trace_of(name), records_of(name)
    jobs = {it["id"] for it in trace if it["ph"] == "b" and it["cat"] == "job"}
    assert jobs == {it.event.job for it in records if isinstance(it.event, JobSubmitted)}
    runs = [it["args"] for it in trace if it["ph"] == "X" and it["cat"] == "run"]
    started = [(it.seq, it.cause) for it in parts_of(name) if isinstance(it.event, RunStarted)]
    assert sorted((it["seq"], it["cause"]) for it in runs) == sorted(started)


@every_kind
def test_slices_last_as_long_as_the_ledger_says(name: str) -> None:
    records = records_of(name)
    first: Any = records[0].event
    ledger = account(records, first.processors)
    trace = trace_of(name)
    shared = {it["cat"] for it in trace if it["ph"] == "b" and it["pid"] == PROCESSORS}
    for use in (Use.USEFUL, Use.LOST, Use.DOWN):
        if use.value in shared:
            continue
        spent = sum(
            it["dur"] * size(it, first.processors)
            for it in trace
            if it["ph"] == "X" and it["cat"] == use.value
        )
        assert spent / 1e6 == pytest.approx(float(ledger.total[use]), rel=1e-4, abs=1e-3)


def size(event: Json, processors: int) -> int:
    """How many processors the interval that begins at this event's thread has."""
    for part in event["args"]["processors"].split():
        first, _, last = part.partition("-")
        if int(first) == event["tid"]:
            return int(last or first) - int(first) + 1
    raise AssertionError(event)
