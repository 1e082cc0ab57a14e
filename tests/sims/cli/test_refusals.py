"""Whatever is wrong with a scenario or a command: one line that says where, what, and what else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.sims.cli.commands import TINY, Shell
from tests.sims.kinds import written


def test_an_unwritable_log_is_refused_in_one_line(shell: Shell) -> None:
    path = shell.write(TINY)
    shell.write("", "file")
    told = "file/inside.jsonl: cannot be written"
    assert told in shell.refused("run", path, "--log", "file/inside.jsonl")
    assert shell.refused("run", path, "--log", "x" * 300).endswith("x: File name too long")


@pytest.mark.parametrize(
    ("words", "accepted"),
    [
        (("--seed", str(10**41)), "seeds of 0 or above, below 2**64"),
        (("--set", f"seed={2**64}"), "a whole number that fits in 64 bits"),
    ],
)
def test_a_seed_that_no_log_can_hold_is_refused_at_once(
    shell: Shell, words: tuple[str, str], accepted: str
) -> None:
    path = shell.write(TINY)
    Path("old.jsonl").write_text("old")
    line = shell.refused("run", path, "--log", "old.jsonl", *words)
    assert line.endswith(f"accepted: {accepted}")
    assert Path("old.jsonl").read_text() == "old"
    assert shell("run", path, "--seed", str(2**64 - 1)).code == 0


@pytest.mark.parametrize("name", ["", "a/b", "../up", "..", ".hidden", "/abs", "a\\u0000b"])
def test_a_name_that_makes_no_file_name_is_refused(shell: Shell, name: str) -> None:
    path = shell.write(TINY.replace("tiny", name, 1))
    assert "tiny.toml: name: '" in shell.refused("run", path)
    assert shell.files() == {"tiny.toml"}


@pytest.mark.parametrize(
    ("log", "accepted"),
    [("", "or `none`"), ("run.jsonl.bz2", ".gz, .xz, .zst"), ("run.zip", ".gz, .xz, .zst")],
)
def test_a_log_that_could_not_be_read_back_is_refused(
    shell: Shell, log: str, accepted: str
) -> None:
    path = shell.write(TINY)
    assert accepted in shell.refused("run", path, "--log", log)
    path.write_text(TINY.replace('"tiny"', f'"tiny"\nlog = "{log}"'))
    assert accepted in shell.refused("run", path)
    assert shell.files() == {"tiny.toml"}


def test_a_policy_that_fails_at_once_leaves_an_older_log_as_it_was(shell: Shell) -> None:
    path = shell.write(TINY.replace('"IE"', '"failing:choose"'))
    shell.write("def choose(view, rng):\n    raise OSError('no such model')\n", "failing.py")
    older = written("figure1", shell.folder).rename("old.jsonl").read_bytes()
    told = "policy failing:choose raised OSError: no such model"
    assert told in shell.refused("run", path, "--log", "old.jsonl")
    assert Path("old.jsonl").read_bytes() == older


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
    assert problem in shell.refused("run", shell.write(text))


def test_a_device_that_never_ends_is_refused(shell: Shell) -> None:
    path = shell.write(
        TINY.replace('"uuuurruuuuuuuuuuuu"', '{ kind = "simgrid", file = "/dev/zero", slot = 1 }')
    )
    for words in (("run", "/dev/zero"), ("run", path), ("summary", "/dev/zero")):
        assert "/dev/zero" in shell.refused(*words)


def test_a_message_shows_only_the_beginning_of_a_long_value(shell: Shell) -> None:
    said = shell("run", shell.write(TINY), "--set", f"job.tasks={list(range(1000))}")
    assert len(said.complaint()) < len(str(shell.folder)) + 200


def test_times_too_large_to_be_added_are_refused(shell: Shell) -> None:
    more = '[[workers]]\ntask_time = 3\ncount = 9\navailability = "always"\n\n[job]'
    crowd = TINY.replace("[job]", more)
    shell("run", shell.write(crowd), "--log", "it.jsonl")
    *lines, last = Path("it.jsonl").read_text().splitlines()
    end = json.dumps(json.loads(last) | {"t": 1.7e308})
    Path("far.jsonl").write_text("\n".join((*lines, end)) + "\n")
    assert shell.refused("summary", "far.jsonl").startswith("holdfast: far.jsonl: ")
