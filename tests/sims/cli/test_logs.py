"""What commands that read logs do with bad ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from actors.events import SCHEMA
from tests.sims.cli.commands import TINY, Shell

COMMANDS = (["summary"], ["trace", "--job", "application"], ["why", "0"])
FOLDS = (
    ["summary"],
    ["plot", "-o", "picture.svg"],
    ["export", "--to", "events", "-o", "events.csv"],
    ["export", "--to", "jobs", "-o", "jobs.csv"],
    ["export", "--to", "batsim", "-o", "runs.csv"],
    ["export", "--to", "chrome", "-o", "run.json"],
    ["view", "-o", "page.html"],
)
"""Commands that fold the whole log."""
CHANGED = 18
"""Line of the first WorkerChanged."""
EVERY = (*FOLDS, ["trace", "--job", "application"], ["why", "9"], ["audit"])


@pytest.fixture
def log(shell: Shell) -> Path:
    """The log of a run."""
    shell("run", shell.write(TINY), "--log", "run.jsonl")
    return Path("run.jsonl")


def read(command: list[str], path: Path | str) -> list[str]:
    """The command's words, the log in its place."""
    return [command[0], str(path), *command[1:]]


def change(log: Path, number: int, **fields: Any) -> None:
    """Spoil one line, from 1."""
    lines = log.read_text().splitlines()
    lines[number - 1] = json.dumps(json.loads(lines[number - 1]) | fields)
    log.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_log_that_is_not_there_is_refused_in_one_line(shell: Shell, command: list[str]) -> None:
    said = shell(*read(command, "none.jsonl"))
    assert said.code == 2
    assert said.complaint().startswith("holdfast: none.jsonl: ")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("empty.jsonl", b"", "empty"),
        ("text.jsonl", b"hello\nworld\n", "line 1: no record"),
        ("list.jsonl", b"[1]\n", "line 1: no record"),
        ("number.jsonl", b"7\n", "line 1: no record"),
        ("other.jsonl", b'{"a": 1}\n', "line 1: event: missing; accepted: ApplicationDescribed, "),
        ("bytes.jsonl", b"\xff\xfe\n", "line 1: no record"),
        ("not.jsonl.gz", b"hello\n", "cannot be read"),
        ("not.jsonl.xz", b"hello\n", "cannot be read"),
    ],
)
def test_what_is_no_log_is_refused_in_one_line(
    shell: Shell, command: list[str], name: str, content: bytes, problem: str
) -> None:
    Path(name).write_bytes(content)
    said = shell(*read(command, name))
    assert said.code == 2
    line = said.complaint()
    assert line.startswith(f"holdfast: {name}: ")
    assert problem in line


@pytest.mark.parametrize("command", COMMANDS)
def test_a_version_that_is_not_known_is_refused_by_name(
    shell: Shell, log: Path, command: list[str]
) -> None:
    """Whatever else that version may have changed."""
    lines = log.read_text().splitlines()
    first = {"event": "ScenarioStarted", "seq": 0, "t": 0, "schema": 99}
    log.write_text("\n".join([json.dumps(first), *lines[1:]]) + "\n")
    said = shell(*read(command, log))
    assert said.code == 2
    assert (
        "line 1: schema: 99 is another version's format; run the scenario again" in said.complaint()
    )
    assert said.err.endswith(f"accepted: {SCHEMA}\n")


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"event": "Bogus"}, "event: 'Bogus' is not known; accepted: ApplicationDescribed, "),
        ({"event": ["RunEnded"]}, "event: ['RunEnded'] is not known; accepted: "),
        ({"event": "RunEnded"}, "job: missing in this RunEnded; accepted: a string"),
        ({"state": "x"}, "state: 'x' is nothing that WorkerChanged holds; accepted: u, r, d"),
        ({"state": ["u"]}, "state: ['u'] is nothing that WorkerChanged holds; accepted: u, r, d"),
        ({"was": 1}, "was: 1 is nothing that WorkerChanged holds; accepted: u, r, d or null"),
        (
            {"worker": "P1"},
            "worker: 'P1' is nothing that WorkerChanged holds; accepted: a whole number",
        ),
        (
            {"until": "0"},
            "until: '0' is nothing that WorkerChanged holds; accepted: a number or null",
        ),
        (
            {"until": True},
            "until: True is nothing that WorkerChanged holds; accepted: a number or null",
        ),
        ({"t": "0"}, "t: '0' is nothing that WorkerChanged holds; accepted: a number"),
        ({"t": None}, "t: None is nothing that WorkerChanged holds; accepted: a number"),
        ({"t": float("nan")}, "no record of a log: unexpected character"),
        ({"t": -1}, "t: -1 is before 3; accepted: 3 or later"),
        ({"seq": 4}, "seq: 4 is not the line's number, counted from 0; accepted: 17"),
        ({"seq": "3"}, "seq: '3' is nothing that WorkerChanged holds; accepted: a whole number"),
        ({"cause": 17}, "cause: 17 is not an event before #17; accepted: 0 to 16"),
        ({"cause": -1}, "cause: -1 is not an event before #17; accepted: 0 to 16"),
        ({"cause": None}, "cause: missing; accepted: 0 to 16"),
        (
            {"cause": "2"},
            "cause: '2' is nothing that WorkerChanged holds; accepted: a whole number",
        ),
    ],
)
def test_a_spoilt_line_in_the_middle_is_refused_with_its_number(
    shell: Shell, log: Path, fields: dict[str, Any], problem: str
) -> None:
    change(log, CHANGED, **fields)
    said = shell("summary", log)
    assert said.code == 2
    assert f"holdfast: run.jsonl: line {CHANGED}: {problem}" in said.complaint()


def test_a_log_without_its_beginning_is_refused(shell: Shell, log: Path) -> None:
    lines = log.read_text().splitlines()
    log.write_text("\n".join(lines[1:]) + "\n")
    said = shell("summary", log)
    assert said.code == 2
    assert "the first record is ChainsBelieved" in said.complaint()


@pytest.mark.parametrize("kept", [0.3, 0.9])
def test_a_log_whose_last_line_is_cut_is_read_up_to_it(
    shell: Shell, log: Path, kept: float
) -> None:
    content = log.read_bytes()
    end = content.index(b"\n", int(kept * len(content)))
    whole = content[:end].count(b"\n") + 1
    log.write_bytes(content[: end + 10])
    said = shell("summary", log, "--json")
    assert said.code == 0
    assert said.err == f"holdfast: run.jsonl: the last line is cut; read up to event {whole - 1}\n"
    told = said.json()
    assert (told["end"], told["completed"], told["makespan"]) == (None, False, None)
    assert told["events"] == whole
    assert "interrupted" in shell("summary", log).out


@pytest.mark.parametrize("command", EVERY)
def test_of_a_log_that_stops_between_two_lines_every_command_says_so_and_of_no_other(
    shell: Shell, log: Path, command: list[str]
) -> None:
    said = shell(*read(command, log))
    assert (said.code, said.err) == (0, "")
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join(lines[:-5]))
    said = shell(*read(command, log))
    assert said.code == (1 if command == ["audit"] else 0)
    note = f"the log stops early; read up to event {len(lines) - 6}"
    assert said.err == f"holdfast: run.jsonl: {note}\n"


def test_a_log_that_stops_early_counts_as_interrupted(shell: Shell, log: Path) -> None:
    log.write_text("".join(log.read_text().splitlines(keepends=True)[:-5]))
    assert "interrupted" in shell("summary", log).out


def test_a_job_that_is_not_in_the_log_is_refused_with_those_that_are(
    shell: Shell, log: Path
) -> None:
    said = shell("trace", log, "--job", "nobody")
    assert said.code == 2
    assert said.complaint() == (
        "holdfast: run.jsonl: --job: there is no job 'nobody' in this log; accepted: application"
    )
