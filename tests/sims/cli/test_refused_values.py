"""Values that no run can begin with, and words that no command takes: each is refused in one line,
by file, key and value."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.sims.cli.commands import TINY, Shell, ended, environment, spawn
from tests.sims.kinds import DATA, SCENARIOS

SMALL = DATA / "refused"
"""Scenarios beside those that ship."""


def table(name: str) -> list[tuple[str, str]]:
    """Two lines each: what is asked, and what is said to it: of overrides of a scenario what comes
    after the file's name, or `in OTHER: ` and what is said of another file beside it."""
    lines = Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines()
    return [(one, other.strip()) for one, other in zip(lines[::2], lines[1::2], strict=True)]


@pytest.mark.parametrize(("line", "complaint"), table("refused_commands.txt"))
def test_a_bad_command_is_refused_in_one_line_and_leaves_nothing(
    shell: Shell, line: str, complaint: str
) -> None:
    texts = {"tiny": TINY.encode(), "broken": b"name = ", "empty": b"", "bytes": b"name = '\xff'"}
    for name, text in texts.items():
        (shell.folder / f"{name}.toml").write_bytes(text)
    files = shell.files()
    said = shell(*(() if line == "(nothing)" else shlex.split(line)))
    assert (said.code, said.complaint()) == (2, f"holdfast: {complaint}")
    assert shell.files() == files


@pytest.mark.parametrize(("case", "complaint"), table("refused_values.txt"))
def test_a_value_that_no_run_can_begin_with_is_refused_in_one_line(
    shell: Shell, case: str, complaint: str
) -> None:
    name, _, changes = case.partition(": ")
    folder = SMALL if (SMALL / f"{name}.toml").exists() else SCENARIOS
    file = folder / f"{name}.toml"
    words = [word for change in changes.split(" ; ") for word in ("--set", change)]
    told = f"{folder}/{complaint[3:]}" if complaint.startswith("in ") else f"{file}: {complaint}"
    assert shell.refused("run", file, *words) == f"holdfast: {told}"
    assert shell.files() == set()


@pytest.mark.parametrize("name", ["", "."])
def test_a_scenario_without_a_name_is_refused_as_one(shell: Shell, name: str) -> None:
    line = shell.refused("run", name)
    assert "command line: FILE: no file is named" in line
    assert line.endswith("accepted: a scenario file")


SWF_JOB = "{number} {submit} 0 10 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1\n"


def swf_scenario(shell: Shell, *jobs: tuple[int, int]) -> Path:
    """A scenario of a log of these (job number, submit time)."""
    lines = [SWF_JOB.format(number=number, submit=submit) for number, submit in jobs]
    shell.write("".join(lines), "jobs.swf")
    text = (SCENARIOS / "batch-easy.toml").read_text(encoding="utf-8")
    return shell.write(text.replace("batch-small.swf", "jobs.swf"), "easy.toml")


def test_a_log_with_many_jobs_of_one_number_is_refused_by_its_lines(shell: Shell) -> None:
    numbers = (7, 0), (8, 1), (7, 2), (7, 3)
    line = shell.refused("run", swf_scenario(shell, *numbers), "--log", "none")
    why = "job 7 is also on line 1 (2 of 4 lines left out, more than a tenth)"
    assert f"jobs.swf: line 3: {why}; accepted: a number each" in line


def test_of_a_log_with_few_jobs_of_one_number_the_later_ones_are_left_out(shell: Shell) -> None:
    file = swf_scenario(shell, *((number, number) for number in range(1, 20)), (7, 30))
    said = shell("run", file, "--log", "none")
    assert (said.code, said.err) == (0, "")
    assert "19 completed" in said.out
    assert "left out    1: number of an earlier job (first: line 20)" in said.out


def test_a_log_without_a_usable_job_is_refused_with_why_each_is_left_out(shell: Shell) -> None:
    line = shell.refused("run", swf_scenario(shell, (1, -5), (2, -1)), "--log", "none")
    assert "easy.toml: job: no job is left to schedule" in line
    assert "1 left out: a negative value other than -1" in line
    assert "1 left out: submit time unknown" in line


def test_a_scenario_is_read_as_utf_8_whatever_the_locale(shell: Shell) -> None:
    path = shell.write("", "accent.toml")
    path.write_bytes(("# ann\u00e9e, \u03bc\n" + TINY).encode())
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    said = ended(spawn("run", path, "--log", "none", env=environment(**plain)))
    assert (said.code, said.err) == (0, "")
