"""`holdfast run` and what else reads its log: the same numbers wherever one looks."""

from __future__ import annotations

from pathlib import Path

from policies.enrolment import CATALOGUE, named
from sims.log import LogFile
from tests.sims.cli.commands import TINY, Shell

KEYS = {"scenario", "seed", "makespan", "iterations", "completed", "events", "policy"}


def test_json_and_text_give_the_same_numbers_of_a_run(shell: Shell) -> None:
    said = shell("run", shell.write(TINY), "--json")
    told = said.json()
    assert (said.code, said.err) == (0, "")
    assert set(told) >= KEYS
    assert (told["scenario"], told["seed"], told["policy"]) == ("tiny", 0, "IE")
    assert (told["iterations"], told["completed"]) == (3, True)
    assert told["events"] == len(Path(told["log"]).read_text().splitlines())
    people = shell("run", "tiny.toml").out
    for line in ("tiny, seed 0, IE", f"makespan    {told['makespan']}", "iterations  3"):
        assert line in people


def test_the_scenario_may_say_where_the_log_goes_and_the_command_line_overrides_it(
    shell: Shell,
) -> None:
    path = shell.write(TINY.replace('"tiny"', '"tiny"\nlog = "here.jsonl"'))
    assert shell.told("run", path)["log"] == str(Path("logs/here.jsonl"))
    assert shell.told("run", path, "--log", "there/it.jsonl")["log"] == "there/it.jsonl"
    assert {"logs/here.jsonl", "there/it.jsonl"} <= shell.files()


def test_without_a_log_nothing_is_written_and_the_numbers_are_the_same(shell: Shell) -> None:
    path = shell.write(TINY)
    without = shell.told("run", path, "--log", "none")
    assert shell.files() == {"tiny.toml"}
    logged = shell.told("run", path)
    assert without.pop("log") is None
    assert logged.pop("log") is not None
    assert without == logged


def test_the_seed_of_the_command_line_is_the_runs(shell: Shell) -> None:
    path = shell.write(TINY)
    told = [shell.told("run", path, "--seed", seed) for seed in ("0", "1", "2")]
    assert [it["seed"] for it in told] == [0, 1, 2]
    assert shell.told("run", path) == told[0]
    assert len({it["events"] for it in told}) > 1


def test_values_set_on_the_command_line_replace_the_files(shell: Shell) -> None:
    words = "--set job.iterations=1 --set policy.name=RANDOM --set workers.0.availability=always"
    more = ("--set", "workers.1.memory=0", "--set", "name = other")
    told = shell.told("run", shell.write(TINY), *words.split(), *more)
    assert (told["scenario"], told["policy"], told["iterations"]) == ("other", "RANDOM", 1)
    assert told["makespan"] == 2 + 2 + 6
    assert told["log"] == str(Path("logs") / "other.jsonl")


def test_a_summary_of_the_log_is_the_runs_own(shell: Shell) -> None:
    told = shell.told("run", shell.write(TINY))
    log = told.pop("log")
    assert shell.told("summary", log).items() >= told.items()
    spoken = shell("run", "tiny.toml").out.splitlines()[:-1]
    assert shell("summary", log).out.splitlines()[: len(spoken)] == spoken


def test_a_capped_run_says_so(shell: Shell) -> None:
    path = shell.write(TINY)
    told = shell.told("run", path, "--set", "job.cap=5")
    assert (told["completed"], told["end"], told["makespan"]) == (False, "capped", None)
    assert "not reached" in shell("run", path, "--set", "job.cap=5").out


ENDS = '{ kind = "letters", states = "uuud", after = "hold" }'
"""A worker that never comes back: a trace that has ended says UP where it is not told to hold."""


def test_a_deadlock_says_who_waits_for_what_and_leaves_its_log(shell: Shell) -> None:
    path = shell.write(TINY)
    words = "--set job.cap=inf --set workers.1.memory=0 --set workers.1.availability=always"
    said = shell("run", path, *words.split(), "--set", f"workers.0.availability={ENDS}")
    assert said.code == 1
    line = said.complaint()
    assert "deadlock at 3" in line
    assert "application waits for workers for iteration 0" in line
    assert [record.t for record in LogFile(Path("logs/tiny.jsonl"))][-1] == 3


def test_debug_events_are_logged_only_when_asked_for(shell: Shell) -> None:
    path = shell.write(TINY)
    plain = shell.told("run", path, "--log", "plain.jsonl")
    debug = shell.told("run", path, "--log", "debug.jsonl", "--debug")
    assert plain["makespan"] == debug["makespan"]
    assert plain["events"] <= debug["events"]


def test_all_policies_of_the_paper_are_listed_with_their_source(shell: Shell) -> None:
    said = shell("policies")
    assert said.code == 0
    assert len(CATALOGUE) == 17
    for name in CATALOGUE:
        named(name)
        lines = [line for line in said.out.splitlines() if line.split()[:1] == [name]]
        assert len([line for line in lines if "volatile13, section VI" in line]) == 1
    assert "package.module:Name" in said.out


def test_an_earlier_log_is_kept_under_a_number_unless_the_new_one_says_the_same(
    shell: Shell,
) -> None:
    path = shell.write(TINY)
    shell("run", path)
    first = Path("logs/tiny.jsonl").read_bytes()
    assert shell("run", path).err == ""
    assert shell.files() == {"tiny.toml", "logs", "logs/tiny.jsonl"}
    said = shell("run", path, "--seed", "5")
    told = f"holdfast: the earlier {Path('logs/tiny.jsonl')} is now {Path('logs/tiny.1.jsonl')}"
    assert said.err.splitlines() == [told]
    assert Path("logs/tiny.1.jsonl").read_bytes() == first
    shell("run", path, "--seed", "6")
    assert {"logs/tiny.jsonl", "logs/tiny.1.jsonl", "logs/tiny.2.jsonl"} <= shell.files()
    assert Path("logs/tiny.1.jsonl").read_bytes() == first


def test_what_is_read_is_never_written(shell: Shell) -> None:
    trace = TINY.replace(
        '"uuuurruuuuuuuuuuuu"', '{ kind = "simgrid", file = "states.txt", slot = 1 }'
    )
    shell.write("0 1\n", "states.txt")
    path = shell.write(trace)
    for victim in (path, Path("states.txt")):
        before = victim.read_bytes()
        line = shell("run", path, "--log", victim).complaint()
        assert line == (
            f"holdfast: command line: --log: {victim} is what is read, and would be lost; "
            "accepted: another name"
        )
        assert victim.read_bytes() == before
    assert shell("run", shell.write(TINY), "--log", "tiny.json").code == 0
    assert (
        "is what is read" in shell("export", "tiny.json", "--to", "chrome", "-o", "tiny.json").err
    )


def test_a_mark_of_utf_8_at_a_files_start_is_no_letter_of_it(shell: Shell) -> None:
    path = shell.write("\N{BOM}" + TINY)
    assert shell("run", path, "--log", "none").code == 0
