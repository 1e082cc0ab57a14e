"""A log read with the schema of its lines alone: nothing here knows the classes of events."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from sims.vocabulary import main

ROOT = Path(__file__).parents[2]
SHIPPED = ROOT / "sims/line.schema.json"
GOLDEN = sorted((ROOT / "tests/golden").glob("*.jsonl"))

Line = dict[str, Any]

SCHEMA = json.loads(SHIPPED.read_text())
VALIDATOR = Draft202012Validator(SCHEMA)
COMMON = frozenset(SCHEMA["properties"])
"""Keys that lines of all kinds can have, which the schema describes once."""


@cache
def validator_of(event: str) -> Draft202012Validator:
    """The schema without the rules of other events, which do not concern such a line; with them, a
    line takes eight times as long."""
    own = [it for it in SCHEMA["allOf"] if it["if"]["properties"]["event"]["const"] == event]
    return Draft202012Validator({**SCHEMA, "allOf": own})


def lines(log: Path) -> Iterator[Line]:
    return map(json.loads, log.read_text().splitlines())


@cache
def examples() -> dict[str, Line]:
    """Of each kind of event that a golden log holds, its first line."""
    found: dict[str, Line] = {}
    for log in GOLDEN:
        for line in lines(log):
            found.setdefault(line["event"], line)
    return found


def test_the_schema_is_a_schema_and_what_the_classes_say(tmp_path: Path) -> None:
    """Else: `python -m sims.vocabulary sims/line.schema.json`."""
    Draft202012Validator.check_schema(SCHEMA)
    assert main([str(tmp_path / "line.json")]) == 0
    assert (tmp_path / "line.json").read_bytes() == SHIPPED.read_bytes()


def test_it_lies_beside_the_logs_and_in_the_wheel() -> None:
    assert (ROOT / "logs" / SHIPPED.name).read_bytes() == SHIPPED.read_bytes()
    assert f'"{SHIPPED.name}"' in (ROOT / "pyproject.toml").read_text()


@pytest.mark.parametrize("log", GOLDEN, ids=lambda log: log.stem)
def test_every_line_of_a_golden_log_fits_the_schema(log: Path) -> None:
    for number, line in enumerate(lines(log)):
        own = validator_of(line["event"])
        assert [error.message for error in own.iter_errors(line)] == []
        assert line["seq"] == number


def test_the_golden_logs_hold_most_kinds_of_events_that_there_are() -> None:
    assert len(examples()) >= 35


@pytest.mark.parametrize("event", SCHEMA["$defs"])
def test_it_says_the_unit_and_meaning_of_every_field(event: str) -> None:
    own = SCHEMA["$defs"][event]["properties"]
    for told in (own[name] for name in own if name not in COMMON):
        assert told["unit"] and told["description"]


# --- mutilated lines ------------------------------------------------------------------------------


def without(line: Line, key: str) -> Line:
    return {name: value for name, value in line.items() if name != key}


def mutilated(line: Line) -> Iterator[tuple[str, Line]]:
    """The line with one thing wrong with it, in each way that there is."""
    yield "one key too many", {**line, "colour": "red"}
    for key, value in line.items():
        yield f"no {key}", without(line, key)
        yield f"{key} misspelt", {**without(line, key), key + "s": value}
        yield f"{key} is an object", {**line, key: {}}
        if isinstance(value, str):
            yield f"{key} is a number", {**line, key: 5}
        else:
            yield f"{key} is a text", {**line, key: "five"}
        if isinstance(value, list) and value:
            yield f"{key} holds an object", {**line, key: [{}, *value[1:]]}


@pytest.mark.parametrize("event", examples())
def test_a_mutilated_line_is_refused(event: str) -> None:
    line = examples()[event]
    for how, broken in mutilated(line):
        assert not VALIDATOR.is_valid(broken), how


WRONG: dict[str, list[Line]] = tomllib.loads("""
RunStarted = [
    { event = "RunBegun" },  # unknown
    { event = "RunEnded" },  # another event's fields
    { processors = "0-" },
]
RunEnded = [{ outcome = "won" }]
WorkerChanged = [{ worker = 0.5 }, { worker = -1 }]
TasksDealt = [{ tasks = [[0, 1, 2]] }, { tasks = [[0]] }]
ScenarioStarted = [{ schema = 2 }, { cause = 0 }]
""")


@pytest.mark.parametrize("event", WRONG)
def test_a_line_with_a_value_that_its_event_cannot_have_is_refused(event: str) -> None:
    line = examples()[event]
    assert VALIDATOR.is_valid(line)
    assert [change for change in WRONG[event] if VALIDATOR.is_valid(line | change)] == []


def test_a_wrong_first_line_and_a_line_that_is_no_object_are_refused() -> None:
    line = examples()["RunEnded"]
    assert not VALIDATOR.is_valid(without(line | {"seq": 0}, "cause"))
    assert not VALIDATOR.is_valid(list(line))
