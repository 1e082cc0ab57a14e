"""`holdfast keys`: the scenario file's format, for people and for programs."""

from __future__ import annotations

import pytest

from policies.interface.kinds import JobKind
from sims.scenario.keys import tables
from tests.sims.cli.commands import Shell

ABOUT = ("platform", "workers", "faults", "master", "job", "protection", "policy", *JobKind)


def test_without_a_section_each_has_one_line_with_its_meaning(shell: Shell) -> None:
    said = shell("keys")
    listed, _ = said.out.split("\n\n")
    lines = dict(line.split(maxsplit=1) for line in listed.splitlines())
    assert said.code == 0
    assert {"[platform]", "[master]", "[[workers]]", "[job]", "[policy]"} <= set(lines)
    assert all(lines.values())


@pytest.mark.parametrize("about", ABOUT)
def test_every_table_of_a_section_is_printed_and_the_keys_within_are_named(
    shell: Shell, about: str
) -> None:
    said = shell("keys", about).out
    assert max(map(len, said.splitlines())) <= 120  # where no terminal says how wide it is
    *blocks, _ = said.split("\n\n")
    outer = [it for it in tables(about) if "." not in it.place]
    within = [it for it in tables(about) if "." in it.place]
    named = " ".join(blocks.pop().split()) if within else ""
    assert all(f"{it.place} " in named for it in within)
    assert {key.name for it in within for key in it.keys} <= set(named.replace(",", "").split())
    for table, block in zip(outer, blocks, strict=True):
        heading, *lines = block.splitlines()
        assert heading.startswith(table.heading())
        assert (f'kind = "{table.kind}"' in heading) == (table.kind is not None)
        rows = [line for line in lines if line[2] != " "]
        assert {key.name for key in table.keys} <= {row.split()[0] for row in rows}


def test_a_kind_of_job_has_its_own_keys_alone(shell: Shell) -> None:
    said = shell("keys", "iterative").out
    assert '[job] kind = "iterative"' in said
    assert '[job] kind = "rigid"' not in said


def test_a_kind_of_job_is_a_page(shell: Shell) -> None:
    assert all(len(shell("keys", kind).out.splitlines()) <= 80 for kind in JobKind)


def test_a_path_leads_to_a_table_to_one_of_its_kinds_and_to_a_single_key(shell: Shell) -> None:
    sacct, fitted = shell("keys", "job.sacct").out, shell("keys", "faults.weibull").out
    assert sacct.startswith('[job.sacct] kind = "rigid"')
    assert "partition_limit" in sacct
    assert fitted.startswith('[faults] kind = "weibull"')
    assert 'kind = "exponential"' not in fitted
    heading, _, _, row, *_ = shell("keys", "rigid.estimate").out.splitlines()
    assert heading == '[[job.jobs]] kind = "rigid"'
    assert "The run time that the user requested" in row
    [table] = shell.told("keys", "job.sacct")
    assert table["table"] == "[job.sacct]"


def test_a_path_that_leads_nowhere_is_refused_with_what_it_can_go_on_with(shell: Shell) -> None:
    assert "did you mean job.sacct?" in shell.refused("keys", "job.sact")
    assert "rigid.sacct, rigid.lublin" in shell.refused("keys", "rigid.elastic")


def test_a_row_shows_type_default_and_meaning(shell: Shell) -> None:
    [row] = [line for line in shell("keys", "policy").out.splitlines() if " eps " in line]
    assert row.split("  ", 1)[1].startswith("eps")
    assert "number, above 0, up to 1" in row
    assert "0.1" in row
    assert "Precision of `scaled` and `programme`" in row


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
        "meaning": "n_com: number of messages under way at once, in both directions together.",
        "choices": {},
    }


def test_an_unknown_section_is_refused_with_those_that_are(shell: Shell) -> None:
    line = shell.refused("keys", "elastic")
    assert "elastic" in line
    assert all(about in line for about in ABOUT)
