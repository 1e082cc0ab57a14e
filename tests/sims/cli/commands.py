"""Calling the command line from tests, and a scenario file to spoil."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from sims.cli import main

ROOT = Path(__file__).parents[3]

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

    def write(self, text: str, name: str = "tiny.toml") -> Path:
        """A file in the folder."""
        path = self.folder / name
        path.write_text(text)
        return path

    def files(self) -> set[str]:
        """What lies in the folder."""
        return {str(path.relative_to(self.folder)) for path in self.folder.rglob("*")}


def environment(**more: str) -> dict[str, str]:
    """For a process of its own: this checkout on the path."""
    return {**os.environ, "PYTHONPATH": str(ROOT), **more}


def spawn(*words: str | Path, cwd: Path, **more: str) -> subprocess.Popen[str]:
    """Start a command in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "sims.cli", *map(str, words)],
        cwd=cwd,
        env=environment(**more),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def without(package: str, *words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own in which `package` is not installed."""
    code = (
        f"import sys; sys.modules[{package!r}] = None; from sims.cli import main;"
        f"sys.exit(main({[str(word) for word in words]!r}))"
    )
    return subprocess.run(
        [sys.executable, "-c", code],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
