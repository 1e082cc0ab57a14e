"""Whatever is wrong with a scenario or a command: one line that says where, what, and what else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.sims.cli.commands import TINY, Shell

SPOT = '{"metadata": {"gap_seconds": 60}, "data": [1, 1, 2, 0]}'

SPOILT = {
    # name: (text to replace, by what, key, words of the problem, words of what is accepted)
    "missing key": ("channels = 1\n", "", "master.channels", "missing", "a value"),
    "missing section": ("[policy]\nname", "[other]\nname", "other", "unknown key", "policy"),
    "unknown key": ("data = 1", "date = 1", "master.date", "did you mean data?", "channels, "),
    "unknown key of a worker": ("task_time = 2", "sped = 2", "workers.1.sped", "unknown", "speed"),
    "wrong type": ("program = 2", 'program = "2"', "master.program", "'2'", "a finite number"),
    "fraction": ("tasks = 2", "tasks = 2.0", "job.tasks", "2.0", "a whole number"),
    "boolean": ("tasks = 2", "tasks = true", "job.tasks", "True", "a whole number"),
    "name that is a number": ('"tiny"', "7", "name", "7", "a word or more"),
    "list for a table": ("[master]", "[[master]]", "master", "[{'channels': 1", "a table"),
    "table for a list": ("[job]", "[master.timetable]\n[job]", "master.timetable", "{}", "a list"),
    "word for a list": (
        "data = 1",
        'data = 1\ntimetable = "slow"',
        "master.timetable",
        "'slow'",
        "a list",
    ),
    "word in a list of lists": (
        "data = 1",
        'data = 1\ntimetable = [["slow"], "slow"]',
        "master.timetable.1",
        "'slow'",
        "a list",
    ),
    "list of parameters": ('"IE"', '"IE"\nparameters = [1]', "policy.parameters", "[1]", "a table"),
    "negative time": ("program = 2", "program = -2", "master.program", "-2", "0 or above"),
    "no channel": ("channels = 1", "channels = 0", "master.channels", "0", "above 0"),
    "no task": ("tasks = 2", "tasks = 0", "job.tasks", "0", "1 to 1,000,000,000"),
    "too many tasks": ("tasks = 2", "tasks = 3000000000", "job.tasks", "3000000000", "1 to 1,0"),
    "not a number": ("iterations = 3", "iterations = 3\ncap = nan", "job.cap", "nan", "above 0"),
    "infinite seed": ('"tiny"', '"tiny"\nseed = inf', "seed", "inf", "a whole number"),
    "negative seed": ('"tiny"', '"tiny"\nseed = -1', "seed", "-1", "0 or above"),
    "order of service": (
        "data = 1",
        'data = 1\norder = "last"',
        "master.order",
        "'last'",
        "longest",
    ),
    "negative memory": (
        "task_time = 2",
        "task_time = 2\nmemory = -1",
        "workers.1.memory",
        "-1",
        "0 or above",
    ),
    "memory below m": (
        "task_time = ",
        "memory = 0\ntask_time = ",
        "workers.memory",
        "0 tasks",
        "job.tasks",
    ),
    "unknown policy": ('"IE"', '"XE"', "policy.name", "'XE'", "IAY"),
    "parameter of a paper's policy": (
        '"IE"',
        '"IE"\nparameters = { alpha = 1 }',
        "policy.parameters",
        "IE takes none, not alpha",
        "",
    ),
    "unknown job kind": ('"iterative"', '"batch"', "job.kind", "'batch'", "iterative"),
    "job kind that is no word": ('"iterative"', "[1]", "job.kind", "[1]", "iterative"),
    "no such state": (
        '"uuuurr',
        '"uuxurr',
        "workers.0.availability",
        "'x' for slot 2",
        "RECLAIMED",
    ),
    "availability of no kind": ("{ kind", "{ kin", "workers.1.availability", "kin", "markov"),
    "row that sums to less": ("0.9, ", "0.8, ", "workers.1.availability", "0.8", "sums to 1"),
    "row of two": (
        "[0.9, 0.05, 0.05]",
        "[0.9, 0.1]",
        "workers.1.availability.rows.0",
        "[0.9, 0.1]",
        "a list of 3",
    ),
    "twins": ("task_time = 2", 'name = "slow"\ntask_time = 2', "workers.name", "'slow'", "other"),
    "a worker called master": ('"slow"', '"master"', "workers.name", "'master'", "other"),
    "a job called like a worker": ("tasks = 2", 'name = "slow"\ntasks = 2', "", "'slow'", "other"),
    "unknown worker in a timetable": (
        "data = 1",
        'data = 1\ntimetable = [["slow"], ["fast"]]',
        "master.timetable",
        "'fast'",
        "slow, P2",
    ),
    "probability above 1": (
        "[job]",
        "[random_workers]\ncount = 2\nstay = [0.5, 1.5]\n[job]",
        "random_workers.stay",
        "1.5",
        "from 0 to 1",
    ),
    "probabilities upside down": (
        "[job]",
        "[random_workers]\ncount = 2\nstay = [0.9, 0.5]\n[job]",
        "random_workers.stay",
        "0.9",
        "the lower first",
    ),
    "unreadable trace": (
        '"uuuurruuuuuuuuuuuu"',
        '{ kind = "spot", file = "none.json", slot = 60, states = { 1 = "u" } }',
        "",
        "none.json",
        "a readable file",
    ),
    "trace state without a mapping": (
        '"uuuurruuuuuuuuuuuu"',
        '{ kind = "spot", file = "zone.json", slot = 60, states = { 1 = "u", 0 = "d" } }',
        "data[2]",
        "trace state 2",
        "0, 1, 2",
    ),
    "state of a mapping that is no number": (
        '"uuuurruuuuuuuuuuuu"',
        '{ kind = "spot", file = "zone.json", slot = 60, states = { one = "u" } }',
        "workers.0.availability.states",
        "'one'",
        "a whole number",
    ),
    "state of a mapping that is no state": (
        '"uuuurruuuuuuuuuuuu"',
        '{ kind = "spot", file = "zone.json", slot = 60, states = { 1 = "x" } }',
        "workers.0.availability.states.1",
        "'x'",
        "u, r, d",
    ),
    "mapping that is no table": (
        '"uuuurruuuuuuuuuuuu"',
        '{ kind = "spot", file = "zone.json", slot = 60, states = ["d", "u"] }',
        "workers.0.availability.states",
        "['d', 'u']",
        "a table",
    ),
    "slot of no length": (
        '"uuuurruuuuuuuuuuuu"',
        '{ kind = "spot", file = "zone.json", slot = 0, states = { 1 = "u" } }',
        "workers.0.availability.slot",
        "0",
        "above 0",
    ),
    "never UP": ('"uuuurruuuuuuuuuuuu"', '"rrrdd"', "workers.availability", "slow: ", "belief"),
    "period that does not fit the slots": (
        '"uuuurruuuuuuuuuuuu"',
        '{ kind = "simgrid", file = "host.state", slot = 0.7182818284590451 }',
        "slot",
        "does not repeat",
        "divides",
    ),
}

FILES = {
    "unreadable trace": "none.json",
    "trace state without a mapping": "zone.json",
    "period that does not fit the slots": "host.state",
}
"""Where the fault is not in the scenario's own file."""


@pytest.mark.parametrize("name", SPOILT)
def test_a_bad_scenario_is_refused_in_one_line_and_leaves_nothing(shell: Shell, name: str) -> None:
    before, after, key, problem, accepted = SPOILT[name]
    assert before in TINY
    path = shell.write(TINY.replace(before, after))
    shell.write(SPOT, "zone.json")
    shell.write("0 1\n5 0\nLOOPAFTER 3\n", "host.state")
    files = shell.files()
    said = shell("run", path)
    line = said.complaint()
    assert said.code == 2, line
    file = FILES.get(name, str(path))
    assert line.startswith("holdfast: ")
    assert file in line
    assert f"{key}: " in line
    assert problem in line
    if accepted:
        assert accepted in line.partition(problem)[2] or accepted in line
    assert shell.files() == files


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["run", "none.toml"], ["none.toml", "No such file", "a scenario file"]),
        (["run", "."], ["a directory", "a scenario file"]),
        (["run", "broken.toml"], ["broken.toml", "not TOML", "Invalid value"]),
        (["run", "bytes.toml"], ["bytes.toml", "not TOML"]),
        (["run", "empty.toml"], ["empty.toml", "job.kind", "missing", "iterative"]),
        (["run", "tiny.toml", "--seed", "x"], ["--seed", "'x'"]),
        (["run", "tiny.toml", "--seed", "-3"], ["--seed", "-3", "a whole number from 0"]),
        (["run", "tiny.toml", "--set", "master"], ["--set", "'master'", "key=value"]),
        (["run", "tiny.toml", "--set", "=1"], ["--set", "'=1'", "key=value"]),
        (["run", "tiny.toml", "--set", "name.x=1"], ["--set", "name.x", "existing"]),
        (["run", "tiny.toml", "--set", "workers.9.speed=1"], ["--set", "workers.9.speed"]),
        (["run", "tiny.toml", "--set", "workers.-1.speed=1"], ["--set", "workers.-1.speed"]),
        (["run", "tiny.toml", "--set", "master.width=2"], ["master.width", "unknown key"]),
        (["run", "tiny.toml", "--set", "master.data=x"], ["master.data", "'x'", "a finite number"]),
        (["run", "tiny.toml", "--set", "seed=1e999"], ["seed", "inf", "whole number"]),
        (
            ["run", "tiny.toml", "--set", 'master.timetable=[["slow"]]', "--set", "job.cap=inf"],
            ["tiny.toml: job.cap: inf, with a timetable", "a number of slots"],
        ),
        (["run", "tiny.toml", "--loud"], ["--loud"]),
        (["plot", "x.jsonl", "-o", "x.png", "--size", "8"], ["--size", "'8'", "1 to 100 inches"]),
        (["plot", "x.jsonl", "-o", "x.png", "--size", "0x9"], ["--size", "'0x9'", "WxH"]),
        (["plot", "x.jsonl", "-o", "x.png", "--dpi", "5"], ["--dpi", "'5'", "10 to 1200 pixels"]),
        (["optimum", "tiny.toml", "--slots", "0"], ["--slots", "'0'", "a whole number from 1"]),
        (["optimum", "tiny.toml", "--time-limit", "0"], ["--time-limit", "'0'"]),
        (["run"], ["FILE", "--help"]),
        (["walk"], ["walk", "run"]),
        ([], ["COMMAND"]),
    ],
)
def test_a_bad_command_is_refused_in_one_line_and_leaves_nothing(
    shell: Shell, words: list[str], parts: list[str]
) -> None:
    shell.write(TINY)
    shell.write("name = ", "broken.toml")
    shell.write("", "empty.toml")
    (shell.folder / "bytes.toml").write_bytes(b"name = '\xff'")
    files = shell.files()
    said = shell(*words)
    line = said.complaint()
    assert said.code == 2
    assert line.startswith("holdfast: ")
    for part in parts:
        assert part in line
    assert shell.files() == files


def test_an_unwritable_log_is_refused_in_one_line(shell: Shell) -> None:
    path = shell.write(TINY)
    shell.write("", "file")
    said = shell("run", path, "--log", "file/inside.jsonl")
    assert said.code == 2
    assert "file/inside.jsonl: cannot be written" in said.complaint()
    said = shell("run", path, "--log", "x" * 300)
    assert said.code == 2
    assert said.complaint().endswith("x: File name too long")


def test_a_refused_run_leaves_an_older_log_as_it_was(shell: Shell) -> None:
    path = shell.write(TINY)
    assert shell("run", path, "--log", "old.jsonl").code == 0
    old = Path("old.jsonl").read_bytes()
    path.write_text(TINY.replace('"IE"', '"XE"'))
    assert shell("run", path, "--log", "old.jsonl").code == 2
    assert Path("old.jsonl").read_bytes() == old


@pytest.mark.parametrize(
    ("words", "accepted"),
    [
        (("--seed", str(10**41)), "0 or above, below 2**64"),
        (("--set", f"seed={2**64}"), "a whole number that fits in 64 bits"),
    ],
)
def test_a_seed_that_no_log_can_hold_is_refused_at_once(
    shell: Shell, words: tuple[str, str], accepted: str
) -> None:
    path = shell.write(TINY)
    Path("old.jsonl").write_text("old")
    said = shell("run", path, "--log", "old.jsonl", *words)
    assert said.code == 2
    assert said.complaint().endswith(f"accepted: {accepted}")
    assert Path("old.jsonl").read_text() == "old"
    assert shell("run", path, "--seed", str(2**64 - 1)).code == 0


@pytest.mark.parametrize("name", ["", "a/b", "../up", "/abs", "a\\u0000b"])
def test_a_name_that_makes_no_file_name_is_refused(shell: Shell, name: str) -> None:
    path = shell.write(TINY.replace("tiny", name, 1))
    said = shell("run", path)
    assert said.code == 2
    assert "tiny.toml: name: '" in said.complaint()
    assert shell.files() == {"tiny.toml"}


@pytest.mark.parametrize(
    ("log", "accepted"),
    [("", "a path, or `none`"), ("run.jsonl.bz2", ".gz, .xz, .zst"), ("run.zip", ".gz, .xz, .zst")],
)
def test_a_log_that_could_not_be_read_back_is_refused(
    shell: Shell, log: str, accepted: str
) -> None:
    path = shell.write(TINY)
    said = shell("run", path, "--log", log)
    assert said.code == 2
    assert accepted in said.complaint()
    path.write_text(TINY.replace('"tiny"', f'"tiny"\nlog = "{log}"'))
    said = shell("run", path)
    assert said.code == 2
    assert accepted in said.complaint()
    assert shell.files() == {"tiny.toml"}


def test_a_policy_that_fails_at_once_leaves_an_older_log_as_it_was(shell: Shell) -> None:
    path = shell.write(TINY.replace('"IE"', '"failing:choose"'))
    shell.write("def choose(view, rng):\n    raise OSError('no such model')\n", "failing.py")
    Path("old.jsonl").write_text("old")
    said = shell("run", path, "--log", "old.jsonl")
    assert said.code == 2
    assert "policy failing:choose raised OSError: no such model" in said.complaint()
    assert Path("old.jsonl").read_text() == "old"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a = " + "[" * 3000 + "]" * 3000, "nested hundreds deep"),
        (f"{'.'.join('a' * 200_000)} = 1", "nested hundreds deep"),
        ("['a b'" + '."c d"' * 200_000 + "]", "nested hundreds deep"),
        ("job = 3", "job: 3 is not accepted; accepted: a table"),
        ("#" * (16 * 2**20 + 1), "more than 16,777,216 bytes"),
    ],
)
def test_what_no_scenario_can_be_is_refused_in_a_line(
    shell: Shell, text: str, problem: str
) -> None:
    said = shell("run", shell.write(text))
    assert said.code == 2
    assert problem in said.complaint()


def test_a_device_that_never_ends_is_refused(shell: Shell) -> None:
    path = shell.write(
        TINY.replace('"uuuurruuuuuuuuuuuu"', '{ kind = "simgrid", file = "/dev/zero", slot = 1 }')
    )
    for words in (("run", "/dev/zero"), ("run", path), ("summary", "/dev/zero")):
        said = shell(*words)
        assert said.code == 2
        assert "/dev/zero" in said.complaint()


def test_of_a_long_value_a_message_tells_how_it_begins(shell: Shell) -> None:
    said = shell("run", shell.write(TINY), "--set", f"job.tasks={list(range(1000))}")
    assert len(said.complaint()) < len(str(shell.folder)) + 200


def test_times_too_large_to_be_added_are_refused(shell: Shell) -> None:
    more = '[[workers]]\ntask_time = 3\ncount = 9\navailability = "always"\n\n[job]'
    crowd = TINY.replace("[job]", more)
    shell("run", shell.write(crowd), "--log", "it.jsonl")
    *lines, last = Path("it.jsonl").read_text().splitlines()
    end = json.dumps(json.loads(last) | {"t": 1.7e308})
    Path("far.jsonl").write_text("\n".join((*lines, end)) + "\n")
    said = shell("summary", "far.jsonl")
    assert said.code == 2
    assert said.complaint().startswith("holdfast: far.jsonl: ")
