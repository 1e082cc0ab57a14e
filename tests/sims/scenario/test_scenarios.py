"""Every scenario of the repository runs, and every key that a scenario may have is explained."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin

import attrs
import pytest

from actors.events import End
from sims.errors import InputError
from sims.scenario.jobs.section import KINDS
from sims.scenario.loader import load
from sims.scenario.scenario import Scenario
from sims.summary import Summary
from sims.world import run

SCENARIOS = Path(__file__).parents[3] / "sims" / "scenarios"
FILES = sorted(SCENARIOS.glob("*.toml"))

# The keys that say which table this is, and the scenario's own name.
PLAIN = frozenset(("kind", "name"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_scenario_of_the_repository_runs_to_its_end(path: Path) -> None:
    scenario, summary = load(path), Summary()
    ending = run(scenario, [summary], path.parent)
    assert ending.end is End.COMPLETED
    assert summary.end is End.COMPLETED
    assert summary.submitted
    assert summary.started is not None
    assert summary.started.scenario == path.stem


def test_every_kind_of_job_has_a_scenario() -> None:
    assert {load(path).job.kind for path in FILES} == set(KINDS)


# --- what every key means -------------------------------------------------------------------------


def inner(kind: Any) -> Iterator[type]:
    """The attrs classes that a field's type mentions."""
    if get_origin(kind) in (Union, UnionType, tuple, dict):
        for member in get_args(kind):
            yield from inner(member)
    elif isinstance(kind, type) and attrs.has(kind):
        yield kind


def fields(section: type) -> tuple[attrs.Attribute[Any], ...]:
    resolved: tuple[attrs.Attribute[Any], ...] = attrs.fields(attrs.resolve_types(section))
    return resolved


def sections(section: type, seen: set[type]) -> set[type]:
    """The class and all that its fields reach."""
    if section not in seen:
        seen.add(section)
        for field in fields(section):
            for member in inner(field.type):
                sections(member, seen)
    return seen


def explained(section: type) -> set[str]:
    """Fields with a docstring of their own, inherited ones included."""
    found: set[str] = set()
    for base in section.__mro__:
        if attrs.has(base):
            [body] = ast.parse(textwrap.dedent(inspect.getsource(base))).body
            assert isinstance(body, ast.ClassDef)
            for before, after in zip(body.body, body.body[1:], strict=False):
                if isinstance(before, ast.AnnAssign) and is_text(after):
                    found.add(ast.unparse(before.target))
    return found


def is_text(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def test_every_key_of_a_scenario_is_explained_where_it_is_declared() -> None:
    """By a docstring of its own or, where a table stands there, by that of the table's class."""
    reached = sections(Scenario, set())
    assert len(reached) > 5
    for section in reached:
        assert section.__doc__, section
        told = explained(section)
        for field in fields(section):
            table = next(inner(field.type), None) is not None
            assert field.name in told or table or field.name in PLAIN, (section, field.name)


def test_tasks_take_fractions_of_seconds_but_whole_slots() -> None:
    def makespan(unit: str, time: float) -> float:
        changes = [f"unit={unit}", *(f"workers.{k}.task_time={time}" for k in range(5))]
        summary = Summary()
        run(load(SCENARIOS / "coupled.toml", changes), [summary])
        assert summary.makespan is not None
        return summary.makespan

    assert makespan("s", 2) == makespan("slot", 2)
    assert makespan("s", 1.5) % 1
    with pytest.raises(InputError, match=r"task_time = 1\.5 is no whole number of slots"):
        makespan("slot", 1.5)
