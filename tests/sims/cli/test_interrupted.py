"""Whatever stops a run, its log is readable up to there; in processes of their own."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import pytest

from sims.log import LogFile
from tests.sims.cli.commands import TINY, Shell, spawn

pytestmark = pytest.mark.usefixtures("hears_ctrl_c")

ENDLESS = TINY.replace("iterations = 3", "iterations = 1_000_000\ncap = inf")
PATIENCE = 60.0
"""Seconds of wall time until a log must have begun to grow."""


def start(shell: Shell, log: str) -> subprocess.Popen[str]:
    """A run that would take for ever, once some of its log is on disk."""
    process = spawn("run", shell.write(ENDLESS), "--log", log, cwd=shell.folder)
    path, began = shell.folder / log, time.monotonic()
    while not path.exists() or path.stat().st_size < 10_000:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() - began < PATIENCE
        time.sleep(0.02)
    return process


def stop(process: subprocess.Popen[str], number: signal.Signals) -> tuple[int, str]:
    """(exit code, stderr) of the process, after this signal."""
    process.send_signal(number)
    _, err = process.communicate(timeout=PATIENCE)
    return process.returncode, err


@pytest.mark.parametrize("log", ["run.jsonl", "run.jsonl.gz"])
def test_control_c_ends_a_run_in_one_line_and_its_log_is_whole(shell: Shell, log: str) -> None:
    code, err = stop(start(shell, log), signal.SIGINT)
    assert code == 130
    assert err == "holdfast: interrupted; what was logged so far is readable\n"
    said = shell("summary", log)
    seen = sum(1 for _ in LogFile(Path(log)))
    note = f"the log stops early; read up to event {seen - 1}"
    assert (said.code, said.err) == (0, f"holdfast: {log}: {note}\n")
    assert "interrupted" in said.out


@pytest.mark.parametrize("log", ["run.jsonl", "run.jsonl.gz"])
def test_a_killed_run_leaves_a_log_that_is_readable_up_to_where_it_is_cut(
    shell: Shell, log: str
) -> None:
    code, _ = stop(start(shell, log), signal.SIGKILL)
    assert code == -signal.SIGKILL
    path = Path(log)
    file = LogFile(path)
    seen = [record.seq for record in file]
    assert seen == list(range(len(seen)))
    assert len(seen) > 50
    said = shell("summary", log)
    assert said.code == 0
    assert "interrupted" in said.out
    how = "the last line is cut" if file.cut else "the log stops early"
    assert said.err == f"holdfast: {log}: {how}; read up to event {seen[-1]}\n"
    assert shell("trace", log, "--job", "application").code == 0
