"""Logs on disk: what is written is what is read, for every event there is."""

from __future__ import annotations

import enum
import io
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

import attrs
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.events import SCHEMA, End, ScenarioEnded, ScenarioStarted
from actors.runtime import Event, JsonLines, Record
from sims.journals.file import RUNTIMES
from sims.log import VOCABULARY, LogFile, Misfit, decode
from sims.session import run
from tests.sims.kinds import records_of
from tests.sims.worlds import write

START = ScenarioStarted(SCHEMA, "made up", 1, ("iterative",), "IE", 2, ("P1", "P2"), "slot")

# Whole numbers beyond 2^53 are no JSON numbers that all readers agree on.
WHOLE = st.integers(-(2**53), 2**53)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    int: WHOLE,
    float: NUMBERS,
    str: st.text(st.characters(codec="utf-8"), max_size=8),
    bool: st.booleans(),
    type(None): st.none(),
}


def values(kind: Any) -> st.SearchStrategy[Any]:
    """Any value of a field's type."""
    if kind in PLAIN:
        return PLAIN[kind]
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return st.sampled_from(kind)
    members = get_args(kind)
    if get_origin(kind) in (Union, types.UnionType):
        return st.one_of([values(member) for member in members])
    assert get_origin(kind) is tuple, kind
    if members[-1] is Ellipsis:
        return st.lists(values(members[0]), max_size=3).map(tuple)
    return st.tuples(*[values(member) for member in members])


def records(kind: type[Event]) -> st.SearchStrategy[Record]:
    """Any record of an event of this class."""
    hints = get_type_hints(kind)
    fields = {field.name: values(hints[field.name]) for field in attrs.fields(kind)}
    number, time = st.integers(0, 2**40), st.integers(0, 2**50) | st.floats(0, 1e300)
    return st.builds(Record, number, time, st.none() | number, st.builds(kind, **fields))


def line(record: Record) -> bytes:
    """What a log holds of it."""
    file = io.BytesIO()
    JsonLines(file)(record)
    return file.getvalue()


@pytest.mark.parametrize("name", sorted(VOCABULARY))
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_a_record_is_read_as_it_was_written(name: str, data: st.DataObject) -> None:
    record = data.draw(records(VOCABULARY[name]))
    read = decode(orjson.loads(line(record)))
    assert read == record
    assert line(read) == line(record)


def every_event(kind: type[Event]) -> Iterator[type[Event]]:
    """All that derive from it."""
    for derived in kind.__subclasses__():
        yield derived
        yield from every_event(derived)


def test_the_vocabulary_holds_every_event_of_the_projects_own_modules() -> None:
    own = {it.__name__ for it in every_event(Event) if it.__module__.startswith("actors.")}
    assert own - {"Compound"} == set(VOCABULARY) | set(RUNTIMES)
    assert not set(VOCABULARY) & set(RUNTIMES)


@pytest.mark.parametrize("end", [0, 2.5])
def test_a_log_is_read_as_it_was_written_and_read_again(tmp_path: Path, end: float) -> None:
    records = [Record(0, 0, None, START), Record(1, end, 0, ScenarioEnded(End.COMPLETED))]
    log = LogFile(write(records, tmp_path / "run.jsonl"))
    assert list(log) == records
    assert list(log) == records
    assert not log.cut


def test_whole_numbers_stay_whole_and_others_exact(tmp_path: Path) -> None:
    times = [0, 5e-324, 0.1 + 0.2, 3, 1e300]
    records = [Record(k, t, k - 1 if k else None, START) for k, t in enumerate(times)]
    read = list(LogFile(write(records, tmp_path / "run.jsonl")))
    assert [(type(record.t), record.t) for record in read] == [(type(t), t) for t in times]


def test_a_time_whose_sums_leave_64_bits_is_a_double_in_the_log(tmp_path: Path) -> None:
    """As a whole number it would stop the writing of the log."""
    job = {"processors": 2, "time": 2**63 - 1, "estimate": 200}
    jobs = {"kind": "rigid", "jobs": [job, job]}
    log = tmp_path / "long.jsonl"
    run({"name": "long", "platform": {"workers": 2}, "job": jobs}, log=log)
    last = list(LogFile(log))[-1]
    assert last.t == 2 * float(2**63)


@pytest.mark.parametrize(
    ("event", "field", "value"),
    [
        ("RedistributionDecided", "moves", [["T2", 4]]),
        ("RedistributionDecided", "moves", [["T2", "four", 8]]),
        ("CopiesPlaced", "runs", [0, "one"]),
        ("CopiesPlaced", "jobs", [0, "job-1"]),
    ],
)
def test_a_list_of_other_things_than_its_event_holds_is_refused(
    event: str, field: str, value: list[object]
) -> None:
    name = {"RedistributionDecided": "promised", "CopiesPlaced": "shared"}[event]
    record = next(it for it in records_of(name) if type(it.event) is VOCABULARY[event])
    told = orjson.loads(line(record))
    assert decode(told) == record
    with pytest.raises(Misfit) as caught:
        decode(told | {field: value})
    assert caught.value.key == field
    assert f"is nothing that {event} holds" in caught.value.problem
