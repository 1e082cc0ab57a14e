"""`holdfast keys`: the scenario file's format, for people and for programs."""

from __future__ import annotations

import pytest

from sims.scenario.keys import tables
from sims.scenario.loader import FAMILIES
from tests.sims.cli.commands import Shell


def test_without_a_kind_each_has_one_line_with_its_sections(shell: Shell) -> None:
    said = shell("keys")
    listed, _ = said.out.split("\n\n")
    lines = {kind: sections for kind, *sections in map(str.split, listed.splitlines())}
    assert said.code == 0
    assert list(lines) == list(FAMILIES)
    assert {"[master]", "[[workers]]", "[job]", "[policy]"} <= set(lines["iterative"])


@pytest.mark.parametrize("kind", FAMILIES)
def test_every_table_and_key_is_printed(shell: Shell, kind: str) -> None:
    *blocks, _ = shell("keys", kind).out.split("\n\n")
    for table, block in zip(tables(kind), blocks, strict=True):
        heading, *lines = block.splitlines()
        assert heading.startswith(table.heading())
        assert (f'kind = "{table.kind}"' in heading) == (table.kind is not None)
        rows = [line for line in lines if line[2] != " "]
        assert {key.name for key in table.keys} <= {row.split()[0] for row in rows}


def test_a_row_tells_type_default_and_meaning(shell: Shell) -> None:
    [row] = [line for line in shell("keys", "moldable").out.splitlines() if " eps " in line]
    assert row.split("  ", 1)[1].startswith("eps")
    assert "number, above 0, up to 1" in row
    assert "0.1" in row
    assert "Of `scaled` and `programme`" in row


def test_lines_fit_where_no_terminal_says_how_wide_it_is(shell: Shell) -> None:
    for kind in FAMILIES:
        assert max(map(len, shell("keys", kind).out.splitlines())) <= 120


def test_json_has_the_same_as_data(shell: Shell) -> None:
    everything = shell("keys", "--json").json()
    assert list(everything) == list(FAMILIES)
    for kind in FAMILIES:
        assert shell("keys", kind, "--json").json() == {kind: everything[kind]}
    master = next(t for t in everything["iterative"] if t["table"] == "[master]")
    channels = next(key for key in master["keys"] if key["name"] == "channels")
    assert channels == {
        "name": "channels",
        "type": "whole number",
        "accepted": ["above 0"],
        "required": True,
        "default": None,
        "meaning": "n_com: transfers served at once.",
        "choices": {},
    }


def test_an_unknown_kind_is_refused_with_those_that_are(shell: Shell) -> None:
    said = shell("keys", "elastic")
    assert said.code == 2
    assert "elastic" in said.complaint()
    assert all(kind in said.complaint() for kind in FAMILIES)
