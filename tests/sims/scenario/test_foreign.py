"""Sections of other kinds of job."""

from __future__ import annotations

import tomllib

import attrs
import pytest

from sims.errors import InputError
from sims.scenario.foreign import REASONS
from sims.scenario.loader import FAMILIES, family_of, read
from tests.sims.kinds import SCENARIOS

EXAMPLES = {
    "iterative": "volatile20",
    "rigid": "batch-rigid",
    "moldable": "batch-moldable",
    "malleable": "malleable10",
    "redundant": "redundant",
}


def sections(kind: str) -> set[str]:
    """The tables of a kind's file."""
    names = {field.name for field in attrs.fields(family_of(kind).SCENARIO)}
    return names - {"name", "seed", "log"}


@pytest.mark.parametrize("kind", FAMILIES)
def test_every_section_that_only_other_kinds_have_is_refused_with_a_reason(kind: str) -> None:
    others = set().union(*map(sections, FAMILIES)) - sections(kind)
    assert set(REASONS[kind]) == others


@pytest.mark.parametrize(("kind", "section"), [(k, s) for k, them in REASONS.items() for s in them])
def test_the_refusal_names_section_reason_and_what_the_kind_has(kind: str, section: str) -> None:
    table = tomllib.loads((SCENARIOS / f"{EXAMPLES[kind]}.toml").read_text())
    with pytest.raises(InputError) as refused:
        read(table | {section: {}}, "file.toml")
    assert str(refused.value).startswith(f"file.toml: {section}: {kind} jobs have none: ")
    assert refused.value.accepted.startswith("name, seed, log, ")
    assert REASONS[kind][section] in refused.value.problem
