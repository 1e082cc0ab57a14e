"""Files and arguments that are made to break a command: each is refused in one line, without a
traceback, and leaves nothing behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.sims.cli.commands import FEW, TINY, Said, Shell, ended, environment, spawn

DIGITS = "1" * 5000
"""More digits than Python reads or writes."""

# --- numbers and keys of a file -------------------------------------------------------------------


@pytest.mark.parametrize("number", [DIGITS, "0x" + DIGITS, "0b" + DIGITS * 4])
def test_a_number_of_thousands_of_digits_is_refused_wherever_it_stands(
    shell: Shell, number: str
) -> None:
    shell.write(f"seed = {number}\n{TINY}", "long.toml")
    shell.write(FEW, "few.toml")
    campaign = 'name = "it"\nscenario = "few.toml"\nreplications = {}\nmeasures = ["wait"]\n'
    shell.write(campaign.format(number), "campaign.toml")
    shell.write(campaign.format(2) + f"[axes]\nseed = [{number}]\n", "axes.toml")
    before = shell.files()
    for words in (
        ("run", "long.toml"),
        ("check", "long.toml"),
        ("run", "few.toml", "--set", f"seed={number}"),
        ("run", "few.toml", "--set", f"job.jobs.{number}.time=1"),
        ("compare", "few.toml", "--vary", f"seed={number},2"),
        ("campaign", "run", "campaign.toml"),
        ("campaign", "run", "axes.toml"),
        ("check-policy", "few:Few", "--set", f"x={number}"),
        ("run", "few.toml", "--seed", number),
        ("compare", "few.toml", "--vary", f"seed=0..{number}"),
        ("tune", "few.toml", "--over", f"seed=0..{number}", "--minimise", "wait"),
        ("tune", "few.toml", "--over", f"seed={number}..2", "--minimise", "wait"),
        ("tune", "few.toml", "--over", f"seed=1,{number}", "--minimise", "wait"),
    ):
        assert len(shell.refused(*words)) < 600, words
    assert "long.toml: line 1: a number of" in shell.refused("run", "long.toml")
    said = "command line: --set: seed: a number of more than 4,300 digits"
    assert said in shell.refused("run", "few.toml", "--set", f"seed={number}")
    said = "command line: --vary: seed: a number of more than 4,300 digits"
    assert said in shell.refused("compare", "few.toml", "--vary", f"seed={number},2")
    assert shell.files() == before


@pytest.mark.parametrize("digit", ["²", "٣", "-1", "01"])
def test_only_the_number_of_an_element_selects_one(shell: Shell, digit: str) -> None:
    shell.write(FEW, "few.toml")
    assert "there is no" in shell.refused("run", "few.toml", "--set", f"job.jobs.{digit}.time=1")


@pytest.mark.parametrize("begin", ["", FEW])
def test_of_a_million_unknown_keys_the_first_is_named_before_the_rest_is_read(
    shell: Shell, begin: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = "".join(f"k{number} = 1\n" for number in range(200_000))
    shell.write(f"{begin}\n[link]\n{keys}", "many.toml")
    shell.write(f"{keys}", "campaign.toml")
    read: list[int] = []
    loads = __import__("tomllib").loads
    monkeypatch.setattr("tomllib.loads", lambda text: read.append(len(text)) or loads(text))
    assert "many.toml: link.k0: unknown key" in shell.refused("run", "many.toml")
    assert "campaign.toml: k0: unknown key" in shell.refused("campaign", "run", "campaign.toml")
    assert max(read) < 20_000


# --- what a log of a million jobs costs -----------------------------------------------------------


def _peak(folder: Path, jobs: int) -> int:
    """Largest memory, in bytes, that the check of a log of so many jobs takes."""
    lines = (
        f"{k} {90 * k} 5 {60 + 7 * k % 40_000} 4 -1 -1 4 {k % 9000} -1 1 {k % 500} 7 -1 1 1 -1 -1"
        for k in range(1, jobs + 1)
    )
    (folder / "log.swf").write_text("; MaxProcs: 64\n" + "\n".join(lines))
    (folder / "log.toml").write_text(
        'name = "log"\njob = { kind = "rigid", swf.file = "log.swf" }\n'
    )
    code = "from sims.cli import main; import resource, sys; main(sys.argv[1:]); "
    code += "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    words = [sys.executable, "-c", code, "check", str(folder / "log.toml")]
    said = subprocess.run(words, capture_output=True, text=True, check=True)
    assert f"jobs        {jobs:,}" in said.stdout
    return 1024 * int(said.stdout.split()[-1])


def test_a_job_of_a_log_takes_half_a_kilobyte_to_check(tmp_path: Path) -> None:
    few, many = (_peak(tmp_path, jobs) for jobs in (1000, 101_000))
    assert (many - few) / 100_000 < 550  # before: 900


# --- what a policy can do to the process ----------------------------------------------------------

OWN = """\
import os, sys, threading, time
done = []
def key(job, processors, time_, platform, draw):
    if not done:
        done.append(1)
        {}
    return 0.0
"""


def _with(shell: Shell, body: str, *words: str) -> tuple[Said, int]:
    """What `run` says, in a process of its own, with a policy that does this at its first answer;
    and the exit code of `audit` of the log."""
    shell.write(FEW.replace('order = "FCFS"', 'order = "own:key"'), "own.toml")
    shell.write(OWN.format(body), "own.py")
    said = ended(spawn("run", "own.toml", "--log", "own.jsonl", *words))
    return said, shell("audit", "own.jsonl").code


@pytest.mark.parametrize(
    "body", ["os.fork()", "os.fork() or time.sleep(0.2)", "os.fork() and time.sleep(0.2)"]
)
def test_only_the_process_that_began_a_run_writes_its_log_and_tells_of_it(
    shell: Shell, body: str
) -> None:
    said, audited = _with(shell, body)
    assert (said.code, said.err, audited) == (0, "", 0)
    assert said.out.count("makespan") == 1


@pytest.mark.parametrize("body", ["os._exit(0)", "os.fork() and os._exit(0)"])
def test_a_policy_that_ends_the_process_gives_no_exit_code_of_success(
    shell: Shell, body: str
) -> None:
    said, _ = _with(shell, body)
    assert said.code == 1
    assert "the run failed: its code called os._exit(0)" in said.complaint()


def test_a_policy_that_leaves_by_sys_exit_gives_no_exit_code_of_success(shell: Shell) -> None:
    said, _ = _with(shell, "sys.exit(0)")
    assert said.code in (1, 2)
    said.complaint()


@pytest.mark.parametrize("body", ["sys.stdout = None", "sys.stdout = sys.stderr = None"])
def test_streams_that_a_policy_takes_away_are_put_back_in_one_line(shell: Shell, body: str) -> None:
    said, audited = _with(shell, body)
    assert (said.code, audited) == (0, 0)
    assert "makespan" in said.out
    assert said.err == "holdfast: code of the run's replaced sys.stdout or sys.stderr\n"


def test_a_thread_of_a_policy_does_not_hold_the_command(shell: Shell) -> None:
    body = 'threading.Thread(target=time.sleep, args=(600,), name="sleeper").start()'
    said, audited = _with(shell, body)
    assert (said.code, audited) == (0, 0)
    assert "makespan" in said.out
    assert said.err == "holdfast: left running: sleeper, of the run's code\n"


# --- arguments that are not UTF-8 -----------------------------------------------------------------

BYTES = "u\udcff"
"""How Python has an argument whose bytes are not UTF-8."""


@pytest.mark.parametrize(
    "words",
    [
        ("run", "few.toml", "--set", f"name={BYTES}"),
        ("run", f"{BYTES}.toml"),
        ("export", "run.jsonl", "-o", f"{BYTES}.csv"),
        ("plot", "run.jsonl", "-o", f"{BYTES}.svg"),
        ("trace", "run.jsonl", BYTES),
        ("audit", BYTES),
        ("campaign", "run", BYTES),
        (BYTES,),
    ],
)
def test_an_argument_that_is_not_utf_8_is_refused_as_one(
    shell: Shell, words: tuple[str, ...]
) -> None:
    shell("run", shell.write(FEW, "few.toml"), "--log", "run.jsonl")
    before = shell.files()
    line = shell.refused(*words)
    assert "command line: " in line
    assert "udcff" in line
    assert line.endswith("is not UTF-8; accepted: words in UTF-8")
    assert shell.files() == before


# --- logs without an end --------------------------------------------------------------------------


@pytest.mark.parametrize("cut", [1, 3])
def test_a_log_without_an_end_is_told_from_one_that_breaks_a_law(shell: Shell, cut: int) -> None:
    shell("run", shell.write(FEW, "few.toml"), "--log", "run.jsonl")
    lines = Path("run.jsonl").read_text().splitlines(keepends=True)
    Path("cut.jsonl").write_text("".join(lines[:-cut]))
    said = shell("audit", "cut.jsonl")
    assert said.code == 4
    held = f"{len(lines) - cut} events: every law holds so far; the log has no end"
    assert said.out.startswith(held)
    assert "the log stops early" in said.err
    assert [it["law"] for it in shell.told("audit", "cut.jsonl")] == ["END"]
    assert shell("summary", "cut.jsonl").code == 0
    wrong = [*lines[: -cut - 2], lines[-cut - 1]]
    Path("wrong.jsonl").write_text("".join(wrong))
    assert shell("audit", "wrong.jsonl").code == 1


# --- outputs --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ("plot", "run.jsonl", "-o", "out.svg"),
        ("view", "run.jsonl", "-o", "out.html"),
        ("export", "run.jsonl", "--to", "jobs", "-o", "out.csv"),
        ("compare", "few.toml", "--vary", "platform.workers=8,9", "--runs", "1", "-o", "out.csv"),
        ("run", "few.toml", "--log", "out.jsonl"),
    ],
)
@pytest.mark.parametrize("there", [True, False])
def test_no_output_is_written_through_a_link(
    shell: Shell, words: tuple[str, ...], there: bool
) -> None:
    shell("run", shell.write(FEW, "few.toml"), "--log", "run.jsonl")
    target, link = shell.folder / "target", Path(words[-1])
    if there:
        target.write_text("mine")
    link.symlink_to(target)
    said = shell(*words)
    assert said.code == 2
    told = f"{link}: is a link to {target}; accepted: a new name, or {target} itself"
    assert said.err.endswith(f"{told}\n")
    assert link.is_symlink()
    assert (target.read_text() if there else target.exists()) == ("mine" if there else False)


def test_a_table_shows_control_characters_as_the_terminal_does(shell: Shell) -> None:
    odd = "\x1b[31m\N{RIGHT-TO-LEFT OVERRIDE}gnp\n=1"
    jobs = '{"nb_res": 4, "profiles": {"d": {"type": "delay", "delay": 5}}, "jobs": [%s]}'
    one = {"id": odd, "subtime": 0, "res": 1, "profile": "d", "user": odd}
    shell.write(jobs % json.dumps(one), "load.json")
    text = (
        'name = "it"\nplatform.workers = 4\njob = { kind = "rigid", batsim.file = "load.json" }\n'
    )
    assert shell("run", shell.write(text, "it.toml"), "--log", "it.jsonl").code == 0
    for to in ("jobs", "events", "batsim"):
        assert shell("export", "it.jsonl", "--to", to, "-o", f"{to}.csv").code == 0
        table = Path(f"{to}.csv").read_text()
        assert r"\x1b[31m\u202egnp\n=1" in table
        assert all(it.isprintable() or it == "\n" for it in table)


def test_what_a_killed_command_leaves_is_swept_after_a_day(shell: Shell) -> None:
    shell("run", shell.write(FEW, "few.toml"), "--log", "run.jsonl")
    for name, age in ((".holdfast-old", 90_000), (".holdfast-new", 80_000), ("mine", 90_000)):
        Path(name).mkdir()
        (Path(name) / "part").write_text("x")
        os.utime(name, (time.time() - age,) * 2)
    assert shell("export", "run.jsonl", "--to", "jobs", "-o", "out.csv").code == 0
    assert not Path(".holdfast-old").exists()
    assert Path(".holdfast-new/part").exists()
    assert Path("mine/part").exists()


def test_a_picture_is_drawn_without_a_word_where_home_cannot_be_written(shell: Shell) -> None:
    shell("run", shell.write(FEW, "few.toml"), "--log", "run.jsonl")
    home = {"HOME": "/proc/none", "XDG_CONFIG_HOME": "", "XDG_CACHE_HOME": "", "MPLCONFIGDIR": ""}
    words = ("plot", "run.jsonl", "-o", "out.svg")
    said = ended(spawn(*words, env=environment() | home))
    assert (said.code, said.err) == (0, "")


# --- names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["", "a\nb", "\x1b[31m", "\N{RIGHT-TO-LEFT OVERRIDE}x", "master"])
def test_a_name_that_is_empty_or_has_control_characters_is_refused_where_it_is_written(
    shell: Shell, name: str
) -> None:
    text = FEW.replace("processors = 6", f"processors = 6\nname = {json.dumps(name)}")
    line = shell.refused("run", shell.write(text, "few.toml"))
    assert "few.toml: job.jobs.0.name: " in line
    assert "a name that is not empty and has no control characters" in line
    assert line.isprintable()
    tiny = TINY.replace('"slow"', json.dumps(f"{name}\t"))
    assert "workers.0.name: " in shell.refused("run", shell.write(tiny))
    tiny = TINY.replace('"tiny"', json.dumps(f"{name}\t"))
    assert "tiny.toml: name: " in shell.refused("run", shell.write(tiny))
