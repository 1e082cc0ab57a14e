"""Files of strangers, and folders that they have filled: commands write nothing but their own
output, and nothing there steers them."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from tests.case_files import listed
from tests.sims.cli.commands import FEW, TINY, Said, Shell, begin, ended, python, spawn, until

CAMPAIGN = """\
name = "it"
scenario = "few.toml"
replications = 2
measures = ["wait", "makespan", "flowtime", "stretch"]
"""


def outside(shell: Shell) -> Path:
    """A folder that is not the current one, and empty."""
    folder = shell.folder.parent / f"{shell.folder.name}-outside"
    folder.mkdir()
    return folder


# --- logs -------------------------------------------------------------------------------------


@pytest.mark.parametrize("log", listed(__file__, "logs"))
def test_a_files_log_is_a_name_in_logs_and_nothing_else(shell: Shell, log: str) -> None:
    before = {".bashrc": "mine", "run.jsonl": "mine too"}
    for name, text in before.items():
        shell.write(text, name)
    path = shell.write(f"log = {json.dumps(log)}\n{TINY}")
    said = shell.refused("run", path)
    assert "tiny.toml: log: " in said
    assert "NAME.jsonl, of a file in logs/ (packed: .gz, .xz, .zst)" in said
    assert shell.files() == {"tiny.toml", *before}
    assert {name: Path(name).read_text() for name in before} == before


@pytest.mark.parametrize("log", ["it.jsonl", "it.jsonl.gz", "it.jsonl.xz", "it.x.jsonl.zst"])
def test_a_files_log_lies_in_logs(shell: Shell, log: str) -> None:
    path = shell.write(f'log = "{log}"\n{TINY}')
    assert shell.told("run", path)["log"] == str(Path("logs", log))
    assert shell("audit", Path("logs", log)).code == 0


@pytest.mark.parametrize("command", ["run", "live"])
@pytest.mark.parametrize("link", ["folder", "file", "dangling"])
def test_no_link_leads_a_files_log_elsewhere(shell: Shell, link: str, command: str) -> None:
    where, path = outside(shell), shell.write(FEW)
    if link == "folder":
        Path("logs").symlink_to(where)
    else:
        Path("logs").mkdir()
        Path("logs/few.jsonl").symlink_to(where / "victim")
        if link == "file":
            (where / "victim").touch()
    before = sorted(where.iterdir())
    said = shell.refused(command, path)
    assert "few.jsonl: a link leads from there to " in said
    assert "accepted: --log " in said
    assert sorted(where.iterdir()) == before
    assert all(it.stat().st_size == 0 for it in before)


@pytest.mark.parametrize("victim", ["conftest.py", "notes.jsonl", "data.jsonl.gz"])
def test_what_is_no_log_of_ours_is_not_replaced_by_one(shell: Shell, victim: str) -> None:
    path = shell.write(TINY)
    shell.write('{"of": "another program"}\n', victim)
    told = f"holdfast: {victim}: is there already, and is no log: it is not replaced; accepted: "
    for command in ("run", "live") if victim == "notes.jsonl" else ("run",):
        assert shell.refused(command, path, "--log", victim).startswith(told)
    assert shell.files() == {"tiny.toml", victim}
    assert Path(victim).read_text() == '{"of": "another program"}\n'
    Path("logs").mkdir()
    Path(victim).rename("logs/tiny.jsonl")
    assert "is no log" in shell.refused("run", path)


def test_a_live_run_replaces_no_file_that_it_reads(shell: Shell) -> None:
    path = shell.write(FEW)
    told = "--log: tiny.toml is what is read, and would be lost"
    assert told in shell.refused("live", path, "--log", "tiny.toml")
    assert path.read_text() == FEW


# --- other outputs ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["..", ".", ".hidden", "a/b"])
def test_a_campaigns_results_are_a_folder_of_its_own(shell: Shell, name: str) -> None:
    shell.write(FEW, "few.toml")
    path = shell.write(CAMPAIGN.replace('"it"', f'"{name}"'), "it.toml")
    assert "it.toml: name: " in shell.refused("campaign", "run", path)
    assert shell.files() == {"few.toml", "it.toml"}


def test_no_link_leads_a_campaigns_results_elsewhere(shell: Shell) -> None:
    where = outside(shell)
    shell.write(FEW, "few.toml")
    path = shell.write(CAMPAIGN, "it.toml")
    Path("logs").symlink_to(where)
    line = shell.refused("campaign", "run", path, "--processes", "1")
    assert f"a link leads from there to {where}" in line
    assert "--results" in line
    assert not list(where.iterdir())


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize(
    "words",
    [
        ("plot", "run.jsonl", "-o", "it.png"),
        ("view", "run.jsonl", "-o", "it.html"),
        ("export", "run.jsonl", "--to", "jobs", "-o", "it.csv"),
    ],
)
def test_no_output_follows_a_link_out_of_its_folder(
    log: Path, shell: Shell, words: tuple[str, ...], there: bool
) -> None:
    victim = outside(shell) / "victim"
    if there:
        victim.write_text("precious")
    Path(words[-1]).symlink_to(victim)
    line = shell.refused(*words)
    assert line.endswith(
        f"{words[-1]}: is a link to {victim}; accepted: a new name, or {victim} itself"
    )
    assert victim.exists() is there
    assert not there or victim.read_text() == "precious"


@pytest.mark.parametrize("sort", ["file", "pipe"])
def test_settings_of_pictures_that_lie_in_the_folder_change_none(
    log: Path, shell: Shell, sort: str
) -> None:
    assert shell("plot", log, "-o", "plain.svg").code == 0
    if sort == "file":
        shell.write("figure.facecolor: red\nno.such.key: 3\n", "matplotlibrc")
    else:
        os.mkfifo("matplotlibrc")
    # In a process of its own, since settings are read as the library is imported.
    code = "from sims.cli import main; main(['plot', 'run.jsonl', '-o', 'with.svg'])"
    assert ended(python("-c", code)).code == 0
    assert Path("plain.svg").read_bytes() == Path("with.svg").read_bytes()


def test_exported_runs_have_their_columns_in_the_files_order_in_every_process(
    shell: Shell,
) -> None:
    shell.write(FEW, "few.toml")
    path = shell.write(CAMPAIGN, "it.toml")
    assert shell("campaign", "run", path, "--processes", "1").code == 0
    for seed in ("1", "2"):
        words = ("campaign", "export", path, "-o", "runs.csv")
        assert ended(spawn(*words, env={**os.environ, "PYTHONHASHSEED": seed})).code == 0
        heads = Path("runs.csv").read_text().splitlines()[0].split(",")
        assert heads[-4:] == ["wait", "makespan", "flowtime", "stretch"]


# --- code ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["Hiding", "Failing", "Odd", "odd"])
@pytest.mark.parametrize("command", ["run", "check", "check-policy"])
def test_code_that_cannot_even_be_looked_at_is_one_line(
    shell: Shell, name: str, command: str
) -> None:
    source = Path(__file__).with_name("test_strangers.py.txt").read_text()
    shell.write(source, f"mine_{command.replace('-', '_')}.py")
    named = f"mine_{command.replace('-', '_')}:{name}"
    asked = shell.write(FEW.replace('name = "R-LIST-1"', f'name = "{named}"'), "it.toml")
    words = {"run": (asked, "--log", "none"), "check": (asked, "--load"), "check-policy": (named,)}
    line = shell.refused(command, *words[command])
    assert f": ValueError: {name}" in line


# --- signals, and machines that give little -----------------------------------------------------


@pytest.mark.usefixtures("hears_ctrl_c")
def test_the_end_of_a_terminal_ends_a_run_in_one_line(shell: Shell) -> None:
    endless = TINY.replace("iterations = 3", "iterations = 1_000_000\ncap = inf")
    process = spawn("run", shell.write(endless), "--log", "run.jsonl")
    until(lambda: Path("run.jsonl").exists() and Path("run.jsonl").stat().st_size >= 10_000)
    process.send_signal(signal.SIGHUP)
    said = ended(process)
    told = "holdfast: terminated; what was logged so far is readable"
    assert (said.code, said.complaint()) == (129, told)


@pytest.mark.parametrize("words", [("campaign", "run", "it.toml"), ("chaos", "few.toml")])
def test_too_few_open_files_are_reported_in_one_line(shell: Shell, words: tuple[str, ...]) -> None:
    shell.write(FEW, "few.toml")
    shell.write(CAMPAIGN, "it.toml")
    limited = f'ulimit -n 14; exec "{sys.executable}" -m sims.cli "$@"'
    said: Said = ended(begin("sh", "-c", limited, "sh", *words))
    [line] = said.err.splitlines()
    assert said.code == 2
    assert "Too many open files" in line
