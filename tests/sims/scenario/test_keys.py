"""The reference of the scenario file's keys is what the loader takes: no more, no less."""

from __future__ import annotations

import importlib
import pkgutil
import tomllib
from collections.abc import Iterator
from math import inf
from pathlib import Path
from typing import Any

import attrs
import pytest
from cattrs.errors import ClassValidationError

import sims.scenario
from sims.scenario.keys import KeyTable, tables
from sims.scenario.loader import converter, first_problem
from sims.scenario.scenario import Scenario
from sims.scenario.strict import tag_of
from sims.scenario.type_words import bounds, toml, type_words

SCENARIOS = sorted((Path(__file__).parents[3] / "sims" / "scenarios").glob("*.toml"))
STRANGE = "no_section_has_this_key"
LISTED = [pytest.param(table, id=f"{table.heading()} {table.kind or ''}") for table in tables()]


def section_classes() -> Iterator[type]:
    """What a file's tables are read into: keyword-only attrs classes of sims/scenario."""
    for module in pkgutil.walk_packages(sims.scenario.__path__, "sims.scenario."):
        found = importlib.import_module(module.name)
        for it in vars(found).values():
            if isinstance(it, type) and attrs.has(it) and it.__module__ == found.__name__:
                fields = attrs.fields(it)
                if fields and all(field.kw_only for field in fields):
                    yield it


PARENTS = {
    "job.speedup": "malleable",
    "job.swf": "rigid",
    "job.batsim": "rigid",
    "job.stream": "rigid",
    "job.jobs": "iterative",
    "job.jobs.speedup": "malleable",
}
"""Table -> the kind of the one around it, where its own says nothing of that."""


def spoilt(table: KeyTable) -> dict[str, Any]:
    """A scenario that has nothing but `table`, with a key that no table has."""
    inner: Any = {STRANGE: 0}
    own = tag_of(table.section)
    if table.kind and own:
        inner["kind"] = table.kind
    steps = table.place.split(".") if table.place else []
    for depth in range(len(steps), 0, -1):
        place, step = ".".join(steps[:depth]), steps[depth - 1]
        inner = {step: [inner] if step in ("workers", "jobs") else inner}
        kind = PARENTS.get(place, None if own else table.kind)
        if kind and depth > 1 and steps[depth - 2] != "stream":
            inner["kind"] = kind
    return inner


def accepted(table: KeyTable) -> tuple[str, set[str]]:
    """Where the loader finds the strange key, and which ones it would take there."""
    with pytest.raises(Exception) as raised:
        converter().structure(spoilt(table), Scenario)
    problem = first_problem(raised.value, "test")
    place = [step for step in problem.key.split(".")[:-1] if not step.isdigit()]
    return ".".join(place), set(problem.accepted.split(", "))


@pytest.mark.parametrize("table", LISTED)
def test_the_loader_takes_the_listed_keys_and_no_others(table: KeyTable) -> None:
    assert accepted(table) == (table.place, {key.name for key in table.keys})


@pytest.mark.parametrize("table", LISTED)
def test_every_key_and_table_says_what_it_means(table: KeyTable) -> None:
    assert table.about
    for key in table.keys:
        assert key.meaning, key.name
        assert key.type, key.name


def test_every_section_class_is_listed_or_the_base_of_one() -> None:
    listed = {table.section for table in tables()}
    for section in section_classes():
        assert any(issubclass(each, section) for each in listed), section


@pytest.mark.parametrize("table", LISTED)
def test_required_keys_are_those_whose_lack_is_refused(table: KeyTable) -> None:
    required = {key.name for key in table.keys if key.required}
    assert lacking(table) == required - {"kind"}


def lacking(table: KeyTable) -> set[str]:
    """What the loader misses in a table that has its kind, where it is of one, and nothing else."""
    kind = tag_of(table.section)
    try:
        converter().structure({"kind": kind} if kind else {}, table.section)
    except ClassValidationError as error:
        return {str(each.args[0]) for each in error.exceptions if isinstance(each, KeyError)}
    return set()


def written(place: str, table: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """(table's place, key) of all keys of a parsed file."""
    for key, value in table.items():
        yield place, key
        inner = f"{place}.{key}" if place else key
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, dict):
                yield from written(inner, each)


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_every_key_of_the_scenarios_is_listed(path: Path) -> None:
    file = tomllib.loads(path.read_text())
    listed = {(t.place, key.name) for t in tables() for key in t.keys}
    assert set(written("", file)) <= listed


@pytest.mark.parametrize("table", LISTED)
def test_a_default_is_what_the_file_would_say(table: KeyTable) -> None:
    fields = attrs.fields_dict(attrs.resolve_types(table.section))
    for key in table.keys:
        if key.default is not None:
            default = tomllib.loads(f"value = {key.default}")["value"]
            field = fields[key.name]
            made = converter().structure(default, field.type)
            factory = isinstance(field.default, attrs.Factory)
            assert made == (field.default.factory() if factory else field.default)


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


def test_a_listed_job_is_of_its_sections_kind_unless_it_says_so() -> None:
    key = found("job.jobs", "kind", "moldable")
    assert not key.required
    assert key.meaning == "Default: that of [job]."


def test_a_key_may_be_a_number_or_a_word() -> None:
    assert found("protection", "period").type == 'number | "young" | "daly"'


def test_an_enums_values_say_what_they_mean() -> None:
    key = found("job", "overrun", "rigid")
    assert key.type == "finish | kill"
    assert dict(key.choices).keys() == {"finish", "kill"}


def test_a_table_of_kinds_names_them_and_each_has_a_table() -> None:
    kinds = found("platform", "speed").type.split(" | ")
    assert kinds == [t.kind for t in tables() if t.place == "platform.speed"]
    assert found("platform.speed", "interval", "two-point").default == "1.0"


def test_a_kind_is_required_only_where_it_has_to_choose() -> None:
    assert found("workers.availability", "kind", "markov").required
    assert not found("workers.belief", "kind").required


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
def test_types_are_told_in_words(kind: Any, words: str) -> None:
    assert type_words(kind) == words


def test_a_type_without_words_is_refused_rather_than_left_out() -> None:
    with pytest.raises(TypeError, match="no words"):
        type_words(complex)


def test_a_check_that_says_nothing_is_refused_rather_than_left_out() -> None:
    with pytest.raises(TypeError, match="does not say"):
        list(bounds(lambda *_: None))


def test_a_default_is_written_as_toml() -> None:
    assert toml((1, 2.5, inf, "x", True)) == '[1, 2.5, inf, "x", true]'
