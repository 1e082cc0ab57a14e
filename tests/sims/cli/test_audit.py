"""Whole runs whose true logs were once accused, and what `audit` answers to them."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.sims.cli.commands import Shell

HERE = Path(__file__)
SCENARIOS: dict[str, str] = tomllib.loads(HERE.with_suffix(".toml").read_text())
Lines = list[dict[str, Any]]


def logged(shell: Shell, scenario: str) -> Lines:
    """The log of a scenario's run, which breaks no law."""
    ran = shell("run", shell.write(SCENARIOS[scenario], "a.toml"), "--log", "a.jsonl")
    assert ran.code == 0, ran
    audited = shell("audit", "a.jsonl")
    assert "every law holds" in audited.out, audited
    return [json.loads(line) for line in Path("a.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_true_log_is_not_accused(shell: Shell, scenario: str) -> None:
    assert logged(shell, scenario)[-1]["end"] == "completed"


def of(lines: Lines, *kinds: str) -> list[tuple[float, str, int]]:
    """When events of these kinds come, and of which worker they are."""
    return [(it["t"], it["event"], it["worker"]) for it in lines if it["event"] in kinds]


def test_a_message_that_is_lost_keeps_its_channel_until_that_is_known(shell: Shell) -> None:
    """Worker 1 lacks 5 and is served first; struck at 1, it would be served last from 3 on; that is
    detected at 4."""
    lines = logged(shell, "a lost message is not preempted")
    messages = of(lines, "TransferStarted", "TransferSuspended", "TransferDropped", "TransferEnded")
    assert messages == [
        (0, "TransferStarted", 1),
        (4, "TransferDropped", 1),
        (4, "TransferStarted", 0),
        (6, "TransferEnded", 0),
        (9, "TransferStarted", 0),
        (14, "TransferEnded", 0),
    ]
    assert lines[-1]["t"] == 15


def test_a_copy_of_a_stream_is_lost_when_its_fault_is_detected(shell: Shell) -> None:
    """Both copies compute from 0 on; one is struck at 0.25, which is detected at 0.75. All copies
    are placed again then: the other goes on from what it has done, and has done all, 1, at 1."""
    lines = logged(shell, "a copy of a stream is lost late")
    ends = [(it["t"], it["outcome"], it["done"]) for it in lines if it["event"] == "RunEnded"]
    assert ends == [(0.75, "lost", 0.25), (0.75, "cancelled", 0.75), (1, "completed", 1)]


def test_a_spare_runs_no_copy_of_a_stream(shell: Shell) -> None:
    lines = logged(shell, "a copy of a stream is lost late")
    started = {it["processors"] for it in lines if it["event"] == "RunStarted"}
    assert started == {"0", "1"}


def test_each_fault_is_detected_as_its_kind_is(shell: Shell) -> None:
    """Worker 0 is struck at 1, which is detected at 4; worker 1 at 2, which is known at once."""
    lines = logged(shell, "kinds of faults differ in their detection")
    lost = [(it["t"], it["done"]) for it in lines if it.get("outcome") == "lost"]
    assert lost == [(2, 2), (4, 1)]
    struck = [(it["t"], it["detection"]) for it in lines if "detection" in it]
    assert struck == [(1, 3), (2, 0)]
