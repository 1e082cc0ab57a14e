"""Readers that leave early and disks that are full; in processes of their own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from attrs import frozen

from tests.sims.cli.commands import TINY, Said, Shell, environment

FULL = Path("/dev/full")


@frozen
class Into:
    """Runs commands with their standard output going somewhere."""

    shell: Shell
    buffered: bool

    def start(self, *words: str | Path, out: int) -> subprocess.Popen[str]:
        """A command that prints to this file descriptor."""
        return subprocess.Popen(
            [sys.executable, "-m", "sims.cli", *map(str, words)],
            cwd=self.shell.folder,
            env=environment(PYTHONUNBUFFERED="" if self.buffered else "1"),
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
        )

    def full(self, *words: str | Path) -> Said:
        """What a command answers whose output goes to a full disk."""
        with FULL.open("wb") as out:
            process = self.start(*words, out=out.fileno())
            return Said(process.wait(), "", process.communicate()[1])

    def nobody(self, *words: str | Path) -> Said:
        """What a command answers whose output nobody reads."""
        process = self.start(*words, out=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        err = process.stderr.read()
        return Said(process.wait(), "", err)


@pytest.fixture(params=[True, False], ids=["buffered", "unbuffered"])
def into(request: pytest.FixtureRequest, shell: Shell) -> Into:
    """Beside a scenario and its log."""
    assert shell("run", shell.write(TINY), "--log", "run.jsonl").code == 0
    return Into(shell, request.param)


COMMANDS = (
    ("summary", "run.jsonl"),
    ("trace", "run.jsonl", "--job", "application"),
    ("run", "tiny.toml", "--log", "new.jsonl"),
    ("--help",),
)


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_a_full_disk_under_the_output_is_told_in_one_line(
    into: Into, words: tuple[str, ...]
) -> None:
    said = into.full(*words)
    assert said.code == 2
    told = "holdfast: standard output: cannot be written: No space left on device"
    assert said.complaint() == told


@pytest.mark.parametrize("words", COMMANDS[:3], ids=lambda words: words[0])
def test_a_reader_who_leaves_early_ends_the_command_quietly(
    into: Into, words: tuple[str, ...]
) -> None:
    said = into.nobody(*words)
    assert (said.code, said.err) == (0, "")


def test_a_log_that_nobody_reads_ends_its_run_quietly(into: Into) -> None:
    said = into.nobody("run", "tiny.toml", "--log", "/dev/stdout", "--json")
    assert (said.code, said.err) == (0, "")
