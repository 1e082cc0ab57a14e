"""The JSON Schema of scenario files takes what the loader takes, and refuses what is misspelt."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from copy import deepcopy
from itertools import islice
from typing import Any

import pytest

from sims.errors import InputError
from sims.examples import cell_file, cells, example, examples
from sims.scenario.keys import schema, tables
from sims.scenario.loader import read
from tests.case_files import listed
from tests.golden.regenerate import ACCEPTED, accepted
from tests.sims.anything import TABLES

jsonschema = pytest.importorskip("jsonschema")

SCHEMA = schema()
CHECK = jsonschema.Draft7Validator(SCHEMA)
SHIPPED = [pytest.param(tomllib.loads(example(it).read_text()), id=it) for it in examples()]


def test_it_is_a_schema_as_json_can_say_it() -> None:
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    assert json.loads(json.dumps(SCHEMA, allow_nan=False)) == SCHEMA


def test_what_files_may_say_changes_knowingly() -> None:
    """`make golden` writes it anew: see in its difference whose file breaks."""
    assert accepted() == ACCEPTED.read_text()


@pytest.mark.parametrize("table", SHIPPED)
def test_it_takes_every_shipped_scenario(table: dict[str, Any]) -> None:
    CHECK.validate(table)


def test_it_takes_examples_of_cells() -> None:
    for cell in islice(cells(), 0, None, 5):
        CHECK.validate(tomllib.loads(cell_file(cell)))


@pytest.mark.parametrize("kind", TABLES)
def test_it_takes_whatever_the_loader_takes(kind: str) -> None:
    for seed in range(12):
        table = TABLES[kind](seed)
        read(table, "test")
        CHECK.validate(table)


def places(table: Any) -> Iterator[tuple[Any, ...]]:
    """Where each key of a table stands, those of tables within included; not a policy's own."""
    items = table.items() if isinstance(table, dict) else enumerate(table)
    for key, value in items:
        if isinstance(table, dict):
            yield (key,)
        if isinstance(value, dict | list) and key != "parameters":
            yield from ((key, *rest) for rest in places(value))


def renamed(table: Any, place: tuple[Any, ...]) -> Any:
    """The table with one key misspelt."""
    spoilt = deepcopy(table)
    inner = spoilt
    for step in place[:-1]:
        inner = inner[step]
    inner[f"{place[-1]}x"] = inner.pop(place[-1])
    return spoilt


def refused(table: Any) -> bool:
    try:
        read(table, "test")
    except InputError:
        return True
    return False


@pytest.mark.parametrize("table", SHIPPED[::3])
def test_it_refuses_every_misspelt_key(table: dict[str, Any]) -> None:
    for place in places(table):
        spoilt = renamed(table, place)
        assert refused(spoilt), place
        assert not CHECK.is_valid(spoilt), place


@pytest.mark.parametrize(("place", "value"), listed(__file__, "refused"))
def test_it_refuses_values_that_the_loader_refuses(place: str, value: object) -> None:
    table: dict[str, Any] = tomllib.loads(cell_file(next(cells())))
    inner = table
    *steps, last = place.split(".")
    for step in steps:
        inner = inner.setdefault(step, {})
    inner[last] = value
    assert refused(table)
    assert not CHECK.is_valid(table)


def test_every_key_is_described_as_the_list_of_keys_does() -> None:
    head = {key.name: key for key in tables()[0].keys}
    assert set(SCHEMA["properties"]) == set(head)
    assert SCHEMA["properties"]["seed"]["description"] == head["seed"].meaning
    assert SCHEMA["properties"]["seed"]["default"] == 0
