"""Whatever stops a run, its log is readable up to there, and no other run's is lost; in processes
of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from actors.events import ScenarioEnded, ScenarioStarted
from sims.log import LogFile
from sims.signals import HungUp, hear, heard
from tests.sims.cli.commands import (
    FEW,
    ROOT,
    TINY,
    Said,
    Shell,
    ended,
    environment,
    python,
    spawn,
    until,
)

pytestmark = pytest.mark.usefixtures("hears_ctrl_c")

ENDLESS = TINY.replace("iterations = 3", "iterations = 1_000_000\ncap = inf")
AT_ONCE = 4


def start(shell: Shell, log: str) -> subprocess.Popen[str]:
    """A run that would take for ever, once some of its log is on disk."""
    process = spawn("run", shell.write(ENDLESS), "--log", log)
    path = shell.folder / log
    until(lambda: path.exists() and path.stat().st_size >= 10_000)
    return process


def stop(process: subprocess.Popen[str], number: signal.Signals) -> Said:
    """What the process answers to this signal."""
    process.send_signal(number)
    return ended(process)


@pytest.mark.parametrize(
    ("log", "number", "code", "how"),
    [
        ("run.jsonl", signal.SIGINT, 130, "interrupted"),
        ("run.jsonl.gz", signal.SIGTERM, 143, "terminated"),
    ],
)
def test_a_signal_ends_a_run_in_one_line_and_its_log_is_whole(
    shell: Shell, log: str, number: signal.Signals, code: int, how: str
) -> None:
    stopped = stop(start(shell, log), number)
    told = f"holdfast: {how}; what was logged so far is readable"
    assert (stopped.code, stopped.complaint()) == (code, told)
    said = shell("summary", log)
    seen = sum(1 for _ in LogFile(Path(log)))
    note = f"the log stops early; read up to event {seen - 1}"
    assert (said.code, said.err) == (0, f"holdfast: {log}: {note}\n")
    assert "interrupted" in said.out


SLEEPS = """\
import time
from pathlib import Path

Path("loaded").touch()
time.sleep(60)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    ("words", "left"),
    [
        (("run",), ""),
        (
            ("compare", "--runs", "2", "--vary", "job.tasks=2,3", "--store", "none"),
            "; with --store none nothing is kept",
        ),
        (
            ("compare", "--runs", "2", "--vary", "job.tasks=2,3", "--store", "store"),
            "; no run has finished yet",
        ),
    ],
)
def test_what_is_interrupted_before_anything_is_written_names_nothing_that_is_left(
    shell: Shell, words: tuple[str, ...], left: str, number: signal.Signals
) -> None:
    """The policy's module is still being loaded."""
    shell.write(SLEEPS, "slow.py")
    file = shell.write(TINY.replace('name = "IE"', 'name = "slow:Policy"'))
    command, *more = words
    process = spawn(command, file, *more)
    until(Path("loaded").exists, process)
    stopped = stop(process, number)
    how = "interrupted" if number == signal.SIGINT else "terminated"
    assert stopped.complaint() == f"holdfast: {how}{left}"
    assert stopped.code == 128 + number
    assert not list(shell.folder.rglob("*.jsonl*"))


def test_a_command_that_is_terminated_leaves_no_folder_behind(shell: Shell) -> None:
    os.mkfifo("pipe.jsonl")
    process = spawn("export", "pipe.jsonl", "--to=chrome", "--output=a.json")
    until(lambda: len(shell.files()) > 1)
    assert stop(process, signal.SIGTERM).code == 143
    assert shell.files() == {"pipe.jsonl"}


@pytest.mark.parametrize(
    ("seconds", "number"),
    [
        *((it, signal.SIGINT) for it in (0.0, 0.05, 0.1, 0.2)),
        (0.0, signal.SIGHUP),
        (0.05, signal.SIGTERM),
    ],
)
def test_a_signal_while_a_command_starts_is_one_line(
    shell: Shell, seconds: float, number: signal.Signals
) -> None:
    words = ["run", str(shell.write(ENDLESS)), "--log", "run.jsonl"]
    begun = "from sims.cli import main; from sims.signals import heard"
    code = f"{begun}\nwith heard():\n    print(flush=True)\n    exit(main({words!r}))"
    process = python("-c", code)
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(seconds)
    said = stop(process, number)
    assert said.code == 128 + number
    how = "interrupted" if number == signal.SIGINT else "terminated"
    assert said.complaint().startswith(f"holdfast: {how}")


INTERRUPTED = """\
import os, signal
try:
    os.kill(os.getpid(), signal.SIGHUP)
except BaseException:
    pass  # as a callback of weak references does
"""


def test_a_signal_while_live_imports_dask_is_one_line(shell: Shell) -> None:
    file = shell.write(ENDLESS)
    shell.write(INTERRUPTED, "distributed.py")
    own = environment(PYTHONPATH=os.pathsep.join((str(shell.folder), str(ROOT))))
    said = ended(spawn("live", file, env=own))
    assert (said.code, said.complaint()) == (129, "holdfast: terminated")


@pytest.mark.parametrize(
    ("number", "error"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGHUP, HungUp)]
)
def test_a_signal_that_comes_as_an_object_is_destroyed_is_not_lost(
    number: signal.Signals, error: type[BaseException]
) -> None:
    class Destroyed:
        def __del__(self) -> None:
            signal.raise_signal(number)

    with heard():
        hear()
        with pytest.raises(error) as raised:
            it = Destroyed()
            del it
            time.sleep(20)
    assert raised.type is error


def test_runs_at_the_same_time_lose_no_log(shell: Shell) -> None:
    file = shell.write(FEW, "few.toml")
    seeds = range(AT_ONCE)
    runs = [spawn("run", file, "--seed", str(it)) for it in seeds]
    assert [ended(run).code for run in runs] == [0] * AT_ONCE
    told = [list(LogFile(path)) for path in Path("logs").glob("few.*jsonl")]
    starts = [it.event for it, *_ in told]
    assert all(isinstance(last.event, ScenarioEnded) for *_, last in told)
    assert sorted(it.seed for it in starts if isinstance(it, ScenarioStarted)) == list(seeds)
