"""The log on disk: one JSON object a line, keys sorted, whole lines whatever happens."""

from __future__ import annotations

import enum
import io
import json
from pathlib import Path

import numpy as np
import pytest
import structlog
from attrs import frozen

from actors.runtime import NOTHING, ActorFailed, Event, JsonLines, System
from actors.runtime.journal import FLUSH_EVERY
from tests.actors.runtime.worlds import Doer, Noted


class Colour(enum.Enum):
    """An enum, as events have."""

    RED = "red"


@frozen
class Painted(Event):
    """Fields of every kind that a log holds."""

    wall: str
    colour: Colour
    area: float
    coats: int | None
    tins: tuple[int, ...]


@frozen
class Measured(Event):
    """Fields as numpy computes them."""

    area: np.float64
    tins: np.int64
    dry: np.bool_


@frozen
class Clash(Event):
    """An event whose field is called as one of the log's own."""

    seq: int


class Kept(io.BytesIO):
    """A file that can be read after it was closed."""

    text = b""

    def close(self) -> None:
        self.text = self.getvalue()
        super().close()


def as_it_is(event: Event) -> Event:
    return event


def written(*events: Event) -> list[bytes]:
    file = Kept()
    with JsonLines(file) as sink:
        system = System(sinks=[sink], start=0.5)
        system.loop.close()  # the journal needs its clock only
        cause = NOTHING
        for event in events:
            cause = system.journal.record(cause, as_it_is, event)
    return file.text.splitlines()


def test_a_record_is_one_json_object_a_line_with_sorted_keys() -> None:
    first, second = written(Noted("grün"), Painted("west", Colour.RED, 2.5, None, (1, 2)))
    assert first == '{"event":"Noted","seq":0,"t":0.5,"text":"grün"}'.encode()
    assert second == (
        b'{"area":2.5,"cause":0,"coats":null,"colour":"red","event":"Painted",'
        b'"seq":1,"t":0.5,"tins":[1,2],"wall":"west"}'
    )


@pytest.mark.parametrize("number", [0.1, 1.7e9 + 0.1, 1e-300, 2**53 - 1.0])
def test_numbers_are_written_so_that_they_are_read_back_exactly(number: float) -> None:
    (line,) = written(Painted("west", Colour.RED, number, 1, ()))
    assert json.loads(line)["area"] == number


def test_numpys_numbers_are_written_as_numbers() -> None:
    (line,) = written(Measured(np.float64(0.1), np.int64(3), np.bool_(True)))
    values = json.loads(line)
    assert [values[name] for name in ("area", "tins", "dry")] == [0.1, 3, True]


def test_a_field_that_would_hide_the_logs_own_is_refused() -> None:
    with pytest.raises(ValueError, match=r"Clash\.seq hides the log's own 'seq'"):
        written(Clash(1))


def test_the_file_is_closed_and_whole_when_the_run_fails(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    file = path.open("wb")

    def fail() -> None:
        doer.record(NOTHING, Noted, "last")
        raise ValueError("worn out")

    with pytest.raises(ActorFailed), JsonLines(file) as sink:
        system = System(sinks=[sink])
        doer = system.spawn(Doer("doer"))
        doer.plan(1, lambda: doer.record(NOTHING, Noted, "first"))
        doer.plan(2, fail)
        system.run()
    assert file.closed
    assert [json.loads(line)["text"] for line in path.read_text().splitlines()] == ["first", "last"]


def test_a_long_run_reaches_the_disk_while_it_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with JsonLines(path.open("wb")) as sink:
        system = System(sinks=[sink])
        doer = system.spawn(Doer("doer"))
        for _ in range(FLUSH_EVERY):
            doer.record(NOTHING, Noted, "text")
        assert len(path.read_bytes().splitlines()) == FLUSH_EVERY
        system.loop.close()


def test_structlogs_global_configuration_is_neither_used_nor_touched() -> None:
    def shout(_: object, __: str, values: structlog.typing.EventDict) -> structlog.typing.EventDict:
        return {**values, "shouted": True}

    structlog.configure(processors=[shout])
    try:
        before = structlog.get_config()
        (line,) = written(Noted("calm"))
        assert structlog.get_config() == before
        assert b"shouted" not in line
    finally:
        structlog.reset_defaults()
    assert not structlog.is_configured()
