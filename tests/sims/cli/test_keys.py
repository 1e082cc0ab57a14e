"""`holdfast keys`: the scenario file's format, for people and for programs."""

from __future__ import annotations

import pytest

from sims.scenario.jobs import KINDS
from sims.scenario.keys import tables
from tests.sims.cli.commands import Shell

ABOUT = ("platform", "workers", "faults", "master", "job", "protection", "policy", *KINDS)


def test_without_a_section_each_has_one_line_with_its_meaning(shell: Shell) -> None:
    said = shell("keys")
    listed, _ = said.out.split("\n\n")
    lines = dict(line.split(maxsplit=1) for line in listed.splitlines())
    assert said.code == 0
    assert {"[platform]", "[master]", "[[workers]]", "[job]", "[policy]"} <= set(lines)
    assert all(lines.values())


@pytest.mark.parametrize("about", ABOUT)
def test_every_table_and_key_is_printed(shell: Shell, about: str) -> None:
    said = shell("keys", about).out
    assert max(map(len, said.splitlines())) <= 120  # where no terminal says how wide it is
    *blocks, _ = said.split("\n\n")
    for table, block in zip(tables(about), blocks, strict=True):
        heading, *lines = block.splitlines()
        assert heading.startswith(table.heading())
        assert (f'kind = "{table.kind}"' in heading) == (table.kind is not None)
        rows = [line for line in lines if line[2] != " "]
        assert {key.name for key in table.keys} <= {row.split()[0] for row in rows}


def test_a_kind_of_job_has_its_own_keys_alone(shell: Shell) -> None:
    said = shell("keys", "iterative").out
    assert '[job] kind = "iterative"' in said
    assert '[job] kind = "rigid"' not in said


def test_a_row_tells_type_default_and_meaning(shell: Shell) -> None:
    [row] = [line for line in shell("keys", "policy").out.splitlines() if " eps " in line]
    assert row.split("  ", 1)[1].startswith("eps")
    assert "number, above 0, up to 1" in row
    assert "0.1" in row
    assert "Of `scaled` and `programme`" in row


def test_json_has_the_same_as_data(shell: Shell) -> None:
    everything = shell.told("keys")
    assert len(everything) == len(tables())
    [master] = shell.told("keys", "master")
    assert master in everything
    channels = next(key for key in master["keys"] if key["name"] == "channels")
    assert channels == {
        "name": "channels",
        "type": "whole number",
        "accepted": ["above 0"],
        "required": True,
        "default": None,
        "meaning": "n_com: messages under way at once, in both directions together.",
        "choices": {},
    }


def test_an_unknown_section_is_refused_with_those_that_are(shell: Shell) -> None:
    line = shell.refused("keys", "elastic")
    assert "elastic" in line
    assert all(about in line for about in ABOUT)
