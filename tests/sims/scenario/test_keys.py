"""The reference of the scenario file's keys is what the loader takes: no more, no less."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from math import inf
from pathlib import Path
from typing import Annotated, Any, get_args

import attrs
import pytest
from pydantic import TypeAdapter, ValidationError

from sims.errors import InputError
from sims.scenario import Scenario
from sims.scenario.keys import KeyTable, tables, type_words
from sims.scenario.loader import toml
from sims.tables import Held, Section, table_of
from sims.tables.fields import AsInToml
from sims.tables.refusals import section_of
from tests.sims.kinds import SCENARIOS

STRANGE = "no_section_has_this_key"
LISTED = [pytest.param(table, id=f"{table.heading()} {table.kind or ''}") for table in tables()]


def derived(kind: type[Section]) -> Iterator[type[Section]]:
    for each in kind.__subclasses__():
        yield from (each, *derived(each))


CLASSES = {it.__name__: it for it in derived(Section)}


def objects(hint: Any) -> Iterator[type]:
    """Those of others' classes that a value can be, or hold."""
    inner = get_args(hint)
    if any(isinstance(it, Held) for it in inner):
        yield inner[0]
    for each in inner:
        yield from objects(each)


HELD = {
    it.__name__: it
    for section in CLASSES.values()
    for field in section.model_fields.values()
    for it in objects(Annotated[field.annotation, *field.metadata, ""])
}
"""Classes of others that tables are read into."""

PARENTS = {
    "job.speedup": "malleable",
    "job.swf": "rigid",
    "job.batsim": "rigid",
    "job.stream": "rigid",
    "job.jobs": "iterative",
    "job.jobs.speedup": "malleable",
    "faults.laws": "several",
}
"""Table -> the kind of the one around it, where its own says nothing of that."""


REPEATED = {it.place.rpartition(".")[2] for it in tables() if it.repeated}
"""Last names of tables that are elements of a list."""
OF_KINDS = {it.place for it in tables() for key in it.keys if key.name == "kind"}


def alone(table: KeyTable, inner: dict[str, Any]) -> dict[str, Any]:
    """A scenario that has nothing but `table`, in which is only `inner`."""
    own = any(key.name == "kind" and key.type.startswith('"') for key in table.keys)
    found: Any = {"kind": table.kind, **inner} if table.kind and own else inner
    steps = table.place.split(".") if table.place else []
    for depth in range(len(steps), 0, -1):
        place, step = ".".join(steps[:depth]), steps[depth - 1]
        found = {step: [found] if step in REPEATED else found}
        kind = PARENTS.get(place, None if own else table.kind)
        if kind and ".".join(steps[: depth - 1]) in OF_KINDS:
            found["kind"] = kind
    return found


def place_of(key: str) -> str:
    """Of the table that a key is in."""
    return ".".join(step for step in key.split(".")[:-1] if not step.isdigit())


@pytest.mark.parametrize("table", LISTED)
def test_the_loader_takes_the_listed_keys_and_no_others(table: KeyTable) -> None:
    with pytest.raises(InputError) as refused:
        section_of(Scenario, alone(table, {STRANGE: 0}), "test")
    assert place_of(refused.value.key) == table.place
    assert set(refused.value.accepted.split(", ")) == {key.name for key in table.keys}


@pytest.mark.parametrize("table", LISTED)
def test_every_key_and_table_says_what_it_means(table: KeyTable) -> None:
    assert table.about
    assert all(key.meaning and key.type for key in table.keys)


@pytest.mark.parametrize("table", LISTED)
def test_required_keys_are_those_whose_lack_is_refused(table: KeyTable) -> None:
    with pytest.raises(ValidationError) as raised:
        Scenario.model_validate(alone(table, {}))
    wrong = (it["loc"] for it in raised.value.errors() if it["type"] == "missing")
    keys = (".".join(map(str, place)) for place in wrong)
    missing = {key.rpartition(".")[2] for key in keys if place_of(key) == table.place}
    assert missing == {key.name for key in table.keys if key.required} - {"kind"}


def written(place: str, table: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """(table's place, key) of all keys of a parsed file but numbers, and the parameters of a
    class, which are the user's."""
    for key, value in table.items():
        if key.isdecimal():
            continue
        yield place, key
        if key == "parameters":
            continue
        inner = f"{place}.{key}" if place else key
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, dict):
                yield from written(inner, each)


@pytest.mark.parametrize("path", sorted(SCENARIOS.glob("*.toml")), ids=lambda path: path.stem)
def test_every_key_of_the_scenarios_is_listed(path: Path) -> None:
    file = tomllib.loads(path.read_text())
    listed = {(t.place, key.name) for t in tables() for key in t.keys}
    assert set(written("", file)) <= listed


@pytest.mark.parametrize("table", LISTED)
def test_a_default_is_what_the_file_would_say(table: KeyTable) -> None:
    for key in table.keys:
        if key.default is not None:
            default = tomllib.loads(f"value = {key.default}")["value"]
            assert value_of(table, key.name, default) == default_of(table, key.name)


def value_of(table: KeyTable, key: str, value: Any) -> Any:
    """What the loader makes of a key's value."""
    if table.section not in CLASSES:
        kind = HELD[table.section]
        return table_of(kind).validate_python({key: value})[key]
    field = CLASSES[table.section].model_fields[key]
    adapter = TypeAdapter(Annotated[field.annotation, *field.metadata, AsInToml()])
    return adapter.validate_python(value)


def default_of(table: KeyTable, key: str) -> Any:
    if table.section not in CLASSES:
        return getattr(attrs.fields(HELD[table.section]), key).default
    return CLASSES[table.section].model_fields[key].get_default(call_default_factory=True)


# --- single keys -----------------------------------------------------------------------------


def found(place: str, name: str, of: str | None = None) -> Any:
    [key] = [
        key
        for table in tables()
        for key in table.keys
        if (table.place, table.kind, key.name) == (place, of, name)
    ]
    return key


def test_a_required_key_has_its_unit_and_its_bounds() -> None:
    key = found("master", "channels")
    assert (key.required, key.default, key.type) == (True, None, "whole number")
    assert key.accepted == ("above 0",)
    assert "messages" in key.meaning


def test_an_inherited_key_keeps_its_meaning() -> None:
    own = found("job.jobs", "release", "rigid")
    assert (
        own == found("job.jobs", "release", "moldable") == found("job.jobs", "release", "iterative")
    )
    assert "submitted" in own.meaning


def test_a_kind_is_required_only_where_it_has_to_choose() -> None:
    assert found("workers.availability", "kind", "markov").required
    assert not found("workers.belief", "kind").required
    key = found("job.jobs", "kind", "moldable")
    assert (key.required, key.meaning) == (False, "Default: that of [job].")


def test_types_name_values_and_kinds_each_of_which_is_explained() -> None:
    assert found("protection", "period").type == 'time | "young" | "daly" | "continuous"'
    key = found("job", "overrun", "rigid")
    assert key.type.split(" | ") == list(dict(key.choices)) == ["finish", "kill"]
    kinds = found("platform", "speed").type.split(" | ")
    assert kinds == [t.kind for t in tables() if t.place == "platform.speed"]
    assert found("platform.speed", "interval", "two-point").default == "1.0"


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (int, "whole number"),
        (str | None, "text"),
        (tuple[float, ...], "list of numbers"),
        (tuple[tuple[float, int], ...], "list of [number, whole number]"),
        (tuple[float, float], "list of 2 numbers"),
        (tuple[tuple[str, tuple[int, int]], ...], "list of [text, list of 2 whole numbers]"),
        (dict[str, Any], "table"),
        (dict[int, str], "table: whole number = text"),
    ],
)
def test_types_are_reported_in_words(kind: Any, words: str) -> None:
    assert type_words(kind) == words


def test_a_type_without_words_is_refused_rather_than_left_out() -> None:
    with pytest.raises(TypeError, match="no words"):
        type_words(object)


def test_a_default_is_written_as_toml() -> None:
    assert toml((1, 2.5, inf, "x", True)) == '[1, 2.5, inf, "x", true]'
