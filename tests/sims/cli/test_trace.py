"""`holdfast trace`: the life of one job, for people and as data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.sims.cli.commands import TINY, Shell


@pytest.fixture
def log(shell: Shell) -> Path:
    """The log of a run."""
    shell("run", shell.write(TINY), "--log", "run.jsonl")
    return Path("run.jsonl")


def spans(span: dict[str, Any]) -> list[dict[str, Any]]:
    """The span and all within it."""
    return [span, *(it for child in span["children"] for it in spans(child))]


def test_json_and_text_tell_the_same_spans(shell: Shell, log: Path) -> None:
    told = shell("trace", log, "--job", "application", "--json").json()
    lines = shell("trace", log, "--job", "application").out.splitlines()
    for line, span in zip(lines, spans(told), strict=False):
        assert span["title"] in line
        if span["cause"] is not None:
            assert f"(#{span['seq']} because of #{span['cause']})" in line


def test_the_life_is_as_long_as_the_run_and_its_iterations_are_its_parts(
    shell: Shell, log: Path
) -> None:
    told = shell("trace", log, "--job", "application", "--json").json()
    makespan = shell("summary", log, "--json").json()["makespan"]
    assert (told["start"], told["end"]) == (0, makespan)
    assert [child["title"] for child in told["children"]][:3] == [
        "iteration 0",
        "iteration 1",
        "iteration 2",
    ]


def test_causes_lead_back_to_events_of_the_log(shell: Shell, log: Path) -> None:
    events = [json.loads(line) for line in log.read_text().splitlines()]
    told = shell("trace", log, "--job", "application", "--json").json()
    for span in spans(told):
        assert events[span["seq"]]["t"] == span["start"]
        if span["cause"] is not None:
            assert events[span["cause"]]["t"] <= span["start"]


def test_a_cut_log_tells_as_much_as_there_is(shell: Shell, log: Path) -> None:
    content = log.read_bytes()
    log.write_bytes(content[: content.rindex(b"\n", 0, -700) + 20])
    said = shell("trace", log, "--job", "application")
    assert said.code == 0
    assert "the last line is cut" in said.err
    assert "to ?" in said.out.splitlines()[0]
