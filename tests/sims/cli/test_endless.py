"""Runs that would never end, and times that cannot be told apart, end in one message."""

from __future__ import annotations

import pytest

from tests.sims.cli.commands import Shell

NEVER = """
name = "never"
[platform]
workers = 4
[faults]
kind = "exponential"
mtbf = 10
downtime = 100
[[job.jobs]]
processors = 4
time = 50
[job]
kind = "rigid"
"""
"""All four workers are hardly ever UP for 50 time units."""
IDLE = """
from attrs import frozen
from policies.interface import Decision


@frozen
class Idle:
    def __call__(self, view):
        return Decision()


@frozen
class Endless:
    def __call__(self, view):
        from itertools import count

        return Decision(starts=count())
"""


def test_a_job_that_never_finishes_ends_the_run_and_is_named_with_the_keys(shell: Shell) -> None:
    said = shell("run", shell.write(NEVER), "--set", "stalled_after=2000", "--log", "run.jsonl")
    assert said.code == 1
    assert said.err.count("\n") == 1
    for words in ("2,000 events", "J1", "R-LIST-0", "stalled_after", "job.cap", "--until"):
        assert words in said.err
    assert shell("summary", "run.jsonl").code == 0


def test_a_policy_that_never_starts_a_job_is_named_while_workers_go_on_failing(
    shell: Shell,
) -> None:
    shell.write(IDLE, "mine.py")
    short = "--set", "stalled_after=2000", "--set", "policy.name=mine:Idle", "--log", "none"
    said = shell("run", shell.write(NEVER), *short, "--set", "job.jobs.0.time=1")
    assert said.code == 1
    assert "J1 waits for workers; mine:Idle decides" in said.err


@pytest.mark.parametrize("end", [("--until", "5000"), ("--set", "job.cap=5000")])
def test_a_run_that_ends_by_itself_may_have_any_number_of_events(
    shell: Shell, end: tuple[str, str]
) -> None:
    short = "--set", "stalled_after=100", "--log", "none"
    said = shell("run", shell.write(NEVER), *short, *end)
    assert (said.code, said.err) == (0, "")


@pytest.mark.parametrize("protection", ["none", "images"])
def test_a_run_under_way_when_time_is_up_is_cancelled(shell: Shell, protection: str) -> None:
    words = "--set", f"protection.kind={protection}", "--set", "job.cap=45", "--log", "run.jsonl"
    said = shell("run", shell.write(NEVER), *words, "--set", "faults.mtbf=1e6")
    assert (said.code, said.err) == (0, "")
    assert "capped" in said.out and "1 cancelled" in said.out
    assert shell("audit", "run.jsonl").code == 0


def test_checkpoints_are_progress_however_many_events_a_job_takes(shell: Shell) -> None:
    saving = "--set", "protection.kind=images", "--set", "protection.period=0.5"
    few = "--set", "stalled_after=200", "--set", "faults.downtime=0.1", "--log", "none"
    said = shell("run", shell.write(NEVER), *saving, *few, "--json")
    assert (said.code, said.err) == (0, "")
    assert said.json()["events"] > 200


def test_more_checkpoints_than_a_run_can_hold_are_refused_by_check_and_run(shell: Shell) -> None:
    path = shell.write(NEVER)
    tiny = "--set", "protection.kind=images", "--set", "protection.period=1e-9"
    for command in (("check", path), ("run", path, "--log", "none")):
        said = shell(*command, *tiny)
        assert said.code == 2
        assert "protection.period: J1 would take 5e+10 checkpoints" in said.err


def test_an_answer_without_an_end_is_refused_before_it_takes_all_memory(shell: Shell) -> None:
    shell.write(IDLE, "mine.py")
    said = shell(
        *("run", shell.write(NEVER), "--log", "none"),
        *("--set", "policy.name=mine:Endless"),
    )
    assert said.code == 2
    assert "more than 1,000,000 items" in said.err
    tried = shell(
        *("check-policy", "mine:Endless", "--point", "strategy", "--within", "1", "--views", "20")
    )
    assert tried.code == 1
    assert "more than 1,000,000 items" in tried.out


def test_a_fast_worker_and_many_workers_make_times_too_short_to_tell_apart(shell: Shell) -> None:
    """2 s at speed 100, and 20 s shared by 1,000 workers, are 0.02 s; at 1e12 s, less than a second
    is nothing."""
    two = TENTH.format("1e12").replace("0.1", "2")
    fast = shell.write(LATE.replace("workers = 2", "workers = 2\nspeed = 100") + two, "fast.toml")
    wide = "[[job.jobs]]\nkind = 'moldable'\nrelease = 1e12\n"
    wide += "speedup = { kind = 'amdahl', work = 20, fraction = 0 }\n"
    many = shell.write(LATE.replace("workers = 2", "workers = 1000") + wide, "many.toml")
    for path, key in ((fast, "time / speed"), (many, "speedup")):
        told = f"job.jobs.0.{key}: 0.02 is below 1e-12 of job.jobs.0.release"
        assert told in shell.refused("check", path)
        assert told in shell.refused("run", path, "--log", "none")
    slower = ("--set", "platform.speed=1.6")
    assert shell.told("run", fast, *slower, "--log", "none")["makespan"] > 1e12 + 1


LATE = """
name = "late"
[platform]
workers = 2
[job]
kind = "rigid"
"""
TENTH = "[[job.jobs]]\nprocessors = 1\ntime = 0.1\nrelease = {}\n"


def test_times_that_double_precision_cannot_tell_apart_are_refused_with_both_keys(
    shell: Shell,
) -> None:
    path = shell.write(LATE + TENTH.format("0") + TENTH.format("1e12"))
    for command in (("check", path), ("run", path, "--log", "none")):
        said = shell(*command)
        assert said.code == 2
        assert "job.jobs.0.time: 0.1 is below 1e-12 of job.jobs.1.release" in said.err


def test_tenths_of_a_second_at_dates_since_1970_are_told_apart(shell: Shell) -> None:
    told = shell.told("run", shell.write(LATE + TENTH.format("1.7e9")), "--log", "none")
    assert told["makespan"] == pytest.approx(1.7e9 + 0.1, abs=1e-6)


def test_a_run_that_lasts_until_its_parts_take_no_time_ends_with_words(shell: Shell) -> None:
    long = LATE + "verification = 0.5\n[[job.jobs]]\nprocessors = 2\ntime = 4e11\nfailures = 3\n"
    said = shell("run", shell.write(long), "--log", "none")
    assert said.code == 1
    assert "no longer resolves job.verification = 0.5" in said.err
