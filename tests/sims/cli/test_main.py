"""The command line as a whole: help, version, and what a start costs."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

import pytest

from sims.cli.main import COMMANDS
from tests.sims.cli.commands import TINY, Shell


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_tells_its_arguments(
    capsys: pytest.CaptureFixture[str], command: str, shell: Shell
) -> None:
    with pytest.raises(SystemExit) as left:
        shell(command, "--help")
    assert left.value.code == 0
    told = capsys.readouterr().out
    assert told.startswith(f"usage: holdfast {command} ")
    assert COMMANDS[command].split()[0] in told


def test_the_version_is_that_of_the_installed_package(
    capsys: pytest.CaptureFixture[str], shell: Shell
) -> None:
    with pytest.raises(SystemExit) as left:
        shell("--version")
    assert left.value.code == 0
    assert capsys.readouterr().out == f"holdfast {version('holdfast')}\n"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("foo",), "argument COMMAND: 'foo' is not accepted; accepted: "),
        (
            ("plot", "run.jsonl", "--what", "pie"),
            "argument --what: 'pie' is not accepted; accepted: ",
        ),
        (("run", "x.toml", "--seed", "-1"), "argument --seed: '-1' is not accepted; accepted: "),
        (
            ("run", "x.toml", "--until", "soon"),
            "argument --until: 'soon' is not accepted; accepted: ",
        ),
        ((), "the following arguments are required: COMMAND; accepted: see `holdfast --help`"),
    ],
    ids=["command", "choice", "seed", "time", "nothing"],
)
def test_a_word_that_does_not_fit_is_refused_with_what_would(
    shell: Shell, words: tuple[str, ...], told: str
) -> None:
    said = shell(*words)
    assert said.code == 2
    assert told in said.complaint()


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
    ran = subprocess.run(
        [sys.executable, "-c", program, *words], cwd=shell.folder, capture_output=True, text=True
    )
    assert ran.returncode == 0
    assert ran.stderr == "[]\n"


def test_what_takes_too_much_memory_is_told_in_one_line(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hungry(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("sims.cli.run.run", hungry)
    said = shell("run", shell.write(TINY), "--log", "none")
    assert said.code == 2
    assert said.err == "holdfast: this takes more memory than there is\n"
