"""Calling the command line from tests, and a scenario file to spoil."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from attrs import frozen

from sims.cli import main
from tests.sims.cli.fork_server import can_fork, fork

ROOT = Path(__file__).parents[3]

STATED = """
name = "stated"
unit = "s"
platform = { workers = 4 }
policy = { name = "EASY" }
job = { kind = "rigid", jobs = [
  { processors = 4, time = 10 },
  { processors = 2, time = 9, release = 1 },
  { processors = 3, time = 3, release = 2 },
  { processors = 1, time = 1, release = 3 },
] }
"""
"""A scenario that states its jobs and draws nothing at random."""
TINY = """\
name = "tiny"

[master]
channels = 1
program = 2
data = 1

[[workers]]
name = "slow"
task_time = 3
availability = "uuuurruuuuuuuuuuuu"

[[workers]]
task_time = 2
availability = { kind = "markov", rows = [[0.9, 0.05, 0.05], [0.5, 0.5, 0.0], [0.5, 0.0, 0.5]] }

[job]
kind = "iterative"
tasks = 2
iterations = 3

[policy]
name = "IE"
"""

FEW = """\
name = "few"

[platform]
workers = 8

[job]
kind = "rigid"
overrun = "finish"

[[job.jobs]]
processors = 6
time = 5000
estimate = 9000

[[job.jobs]]
processors = 8
time = 100
release = 10
estimate = 200

[[job.jobs]]
processors = 2
time = 3000
release = 20
estimate = 4000

[policy]
name = "R-LIST-1"
order = "FCFS"
reading = "easy"
"""
"""J2 waits for J1 from 10 on, and J3 passes it at 20."""


PATIENCE = 120.0
"""Seconds of wall time for what must happen."""


def until(happens: Callable[[], object], process: subprocess.Popen[Any] | None = None) -> None:
    """Wait for it, while the process lives. Fails after PATIENCE."""
    began = time.monotonic()
    while not happens():
        assert process is None or process.poll() is None, process.communicate()
        assert time.monotonic() - began < PATIENCE
        time.sleep(0.02)


@frozen
class Said:
    """What a command answered."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)

    def complaint(self) -> str:
        """The one line on stderr; there is nothing else."""
        [line] = self.err.splitlines()
        assert self.out == ""
        return line

    def refusal(self) -> str:
        """The same of one that cannot be run as asked."""
        assert self.code == 2, self
        return self.complaint()


@frozen
class Shell:
    """The command line in a folder of its own."""

    folder: Path
    capture: pytest.CaptureFixture[str]

    def __call__(self, *words: str | Path | int) -> Said:
        """Run a command in this process."""
        self.capture.readouterr()
        code = main([str(word) for word in words])
        said = self.capture.readouterr()
        return Said(code, said.out, said.err)

    def told(self, *words: str | Path | int) -> Any:
        """What a command answers as data."""
        return self(*words, "--json").json()

    def refused(self, *words: str | Path | int) -> str:
        """The one line with which a command is refused."""
        return self(*words).refusal()

    def write(self, text: str, name: str = "tiny.toml") -> Path:
        """A file in the folder."""
        path = self.folder / name
        path.write_text(text)
        return path

    def files(self) -> set[str]:
        """What lies in the folder."""
        return {str(path.relative_to(self.folder)) for path in self.folder.rglob("*")}


def change(log: Path, number: int, **fields: Any) -> None:
    """Spoil one line of a log, from 1."""
    lines = log.read_text().splitlines()
    lines[number - 1] = json.dumps(json.loads(lines[number - 1]) | fields)
    log.write_text("\n".join(lines) + "\n")


def environment(**more: str) -> dict[str, str]:
    """Return the environment of a process of its own: this checkout is on its path."""
    return {**os.environ, "PYTHONPATH": str(ROOT), **more}


def begin(*words: str | Path, **how: Any) -> subprocess.Popen[str]:
    """Start a process with this checkout on Python's path; `how`: as Popen is told."""
    usual = {"env": environment(), "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([*map(str, words)], text=True, **(usual | how))


def python(*words: str | Path, **how: Any) -> subprocess.Popen[str]:
    """Start Python so; scripts and the commands of ours and Dask's in a forked child, where that is
    the same."""
    program, *rest = map(str, words)
    usual = {"env": environment(), "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    ours = program.endswith(".py") or (program == "-m" and rest[0].startswith(("sims.", "dask")))
    if ours and can_fork((usual | how)["env"]):
        return cast("subprocess.Popen[str]", fork(program, rest, **(usual | how)))
    return begin(sys.executable, *words, **how)


def spawn(*words: str | Path, **how: Any) -> subprocess.Popen[str]:
    """Start a command so."""
    return python("-m", "sims.cli", *words, **how)


SLOW = re.compile(r"^holdfast: \d+ s: .*\n", re.MULTILINE)
"""What a slow machine is told meanwhile."""


def ended(process: subprocess.Popen[str]) -> Said:
    """What a process answers, but for what it says of its own slowness."""
    out, err = process.communicate(timeout=PATIENCE)
    return Said(process.returncode, out or "", SLOW.sub("", err or ""))


def without(package: str, *words: str | Path) -> str:
    """The one line with which a command is refused that lacks a package."""
    code = (
        f"import sys; sys.modules[{package!r}] = None; from sims.cli import main;"
        f"sys.exit(main({[str(word) for word in words]!r}))"
    )
    return ended(python("-c", code)).refusal()
