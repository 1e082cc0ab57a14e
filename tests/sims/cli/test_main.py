"""The command line as a whole: help, version, and what a start costs."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from sims.cli.commands import COMMANDS, load
from tests.case_files import listed
from tests.sims.cli.commands import FEW, TINY, Shell, ended, environment, python, spawn

PINNED = Path(__file__).with_name("commands.txt").read_text(encoding="utf-8").splitlines()
"""Each command with its arguments (`?`: may be left out, `*`: any number) and options (`=`: takes a
value, `!`: required)."""


def told_of(command: Any, name: str) -> Iterator[str]:
    """As PINNED has them, of a command and those below it."""
    words, options = [name], []
    for it in command.params:
        if it.param_type_name == "argument":
            many = "*" if it.nargs == -1 else "" if it.required else "?"
            words.append(f"{it.metavar}{many}")
        else:
            value, required = "" if it.is_flag else "=", "!" if it.required else ""
            options.append(f"{'/'.join(it.opts)}{value}{required}")
    yield " ".join([*words, *sorted(options)])
    for below, one in getattr(command, "commands", {}).items():
        yield from told_of(one, f"{name} {below}")


def test_commands_have_the_arguments_and_options_that_scripts_of_users_call_them_with() -> None:
    assert [line for name in COMMANDS for line in told_of(load(name), name)] == PINNED


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_begins_with_its_line_in_the_list_of_commands(
    command: str, shell: Shell
) -> None:
    said = shell(command, "--help")
    usage, _, about = said.out.partition("\n\n")
    assert (said.code, said.err) == (0, "")
    assert usage.startswith(f"Usage: holdfast {command} ")
    assert " ".join(about.split()).startswith(COMMANDS[command]["about"])


def test_the_version_is_that_of_the_installed_package(shell: Shell) -> None:
    said = shell("--version")
    assert (said.code, said.out) == (0, f"holdfast {version('holdfast')}\n")


@pytest.mark.parametrize(("line", "offered"), listed(__file__, "offered"))
def test_a_shell_is_offered_what_a_word_could_become(line: str, offered: list[str]) -> None:
    asked = {"_HOLDFAST_COMPLETE": "complete_bash", "COMP_WORDS": line}
    done = spawn(env=environment(**asked, COMP_CWORD=str(len(line.split()) - 1)))
    assert ended(done).out.split() == offered


def test_a_time_may_name_its_units_where_times_are_in_seconds(shell: Shell) -> None:
    few = shell.write(FEW, "few.toml")
    for until in ("4800", "1 h 20 min"):
        words = ("run", few, "--log", "few.jsonl", "--until", until, "--json")
        assert shell(*words).json()["makespan"] is None
    for at in ("3600", "1 h", "1:00:00"):
        assert shell.told("queue", "few.jsonl", "--at", at)["t"] == 3600


@pytest.mark.parametrize(
    "words",
    listed(__file__, "seconds"),
    ids=lambda words: " ".join(words[::2]),
)
def test_seconds_are_refused_where_times_are_in_slots(shell: Shell, words: tuple[str, ...]) -> None:
    assert shell("run", shell.write(TINY), "--log", "tiny.jsonl").code == 0
    line = shell.refused(*words)
    assert f"command line: {words[-2]}: " in line
    assert line.endswith(" s, but time is in slots; accepted: a number")


@pytest.mark.parametrize(
    "words", [("--version",), ("run", "tiny.toml"), ("summary", "logs/tiny.jsonl")]
)
def test_a_command_loads_no_library_that_only_others_need(
    shell: Shell, words: tuple[str, ...]
) -> None:
    shell("run", shell.write(TINY))
    heavy = ["scipy.stats", "scipy.optimize", "matplotlib", "polars", "bokeh"]
    program = (
        "import sys; from sims.cli import main\n"
        "try: main(sys.argv[1:])\n"
        f"finally: print([it for it in {heavy} if it in sys.modules], file=sys.stderr)"
    )
    ran = ended(python("-c", program, *words))
    assert (ran.code, ran.err) == (0, "[]\n")


def test_what_takes_too_much_memory_is_reported_in_one_line(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hungry(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("sims.cli.running.simulate", hungry)
    said = shell("run", shell.write(TINY), "--log", "none")
    assert said.code == 2
    assert said.err == "holdfast: this takes more memory than there is\n"
