"""`holdfast queue`: the queue and the machine at an instant."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sims.cli.commands import FEW, Shell
from tests.sims.kinds import records_of
from tests.sims.worlds import write


@pytest.fixture
def log(shell: Shell) -> Path:
    """J2 waits for J1 from 10 on, and J3 passes it at 20."""
    shell("run", shell.write(FEW), "--log", "run.jsonl")
    return Path("run.jsonl")


def test_it_prints_who_waits_and_who_runs(shell: Shell, log: Path) -> None:
    assert shell("queue", log, "--at", "20").out.splitlines() == [
        "few, seed 0, R-LIST-1 (order=FCFS, reading=easy)",
        "at 20 s",
        "  waiting  1 job for 8 processors",
        "  running  2 runs on 8 processors",
        "  free     0 of 8 processors",
        "",
        "waiting, in the order FCFS",
        "  job  processors  estimate  waited  promised  starts",
        "  J2   8           200 s     10 s    2:30:00   1:23:20",
        "",
        "running",
        "  job  run  processors  since  believed until  until",
        "  J1   0    6           0 s    2:30:00         1:23:20",
        "  J3   0    2           20 s   1:07:00         3,020 s",
    ]


def test_an_instant_may_be_given_as_it_is_reported(shell: Shell, log: Path) -> None:
    at = shell.told("queue", log, "--at", "1:23:20")
    assert at == shell.told("queue", log, "--at", "5000")
    assert [row["job"] for row in at["running"]] == ["J2"]
    assert at["waiting"] == []


def test_what_the_log_is_too_short_to_tell_is_left_open(shell: Shell, log: Path) -> None:
    lines = log.read_text().splitlines(keepends=True)
    start = next(k for k, line in enumerate(lines) if '"RunEnded"' in line)
    log.write_text("".join(lines[:start]))
    said = shell("queue", log, "--at", "20")
    assert "  J2   ?           200 s     10 s    2:30:00   ?" in said.out.splitlines()
    assert "  J1   0    6           0 s    2:30:00         ?" in said.out.splitlines()
    assert "the log stops early" in said.err


@pytest.mark.parametrize("at", ["soon", "-1", "inf", "3 weeks"])
def test_what_is_no_time_is_refused(shell: Shell, log: Path, at: str) -> None:
    line = shell.refused("queue", log, f"--at={at}")
    assert "--at" in line
    assert "; accepted: a time from 0: a number, or such as `90 s`, `7d`, " in line


def test_a_time_after_the_logs_end_is_refused_with_the_end(shell: Shell, log: Path) -> None:
    assert shell.refused("queue", log, "--at", "1e6") == (
        "holdfast: run.jsonl: --at: 11 d 13:46:40 is after the log's end; "
        "accepted: 0 to 5100 (1:25:00)"
    )


def test_what_waits_for_nothing_and_runs_nowhere_has_no_table(shell: Shell) -> None:
    text = FEW.replace("time = 5000", "time = 5000\nrelease = 8")
    text = text.replace("\n", "\nreclaims = [[2, 7, 3], [4, 7, 1]]\n", 1)
    shell("run", shell.write(text), "--log", "run.jsonl")
    assert shell("queue", "run.jsonl", "--at", "5").out.splitlines() == [
        "few, seed 0, R-LIST-1 (order=FCFS, reading=easy)",
        "at 5 s",
        "  waiting  0 jobs for 0 processors",
        "  running  0 runs on 0 processors",
        "  free     6 of 8 processors",
        "  reclaimed 2: 1 3",
    ]


def test_workers_that_a_job_keeps_are_its_until_it_gives_them_back(shell: Shell) -> None:
    write(records_of("promised"), Path("run.jsonl"))
    out = shell("queue", "run.jsonl", "--at", "583000").out
    assert "  down     1: 3, of these members of runs: 3" in out.splitlines()
    [row] = [line.split() for line in out.splitlines() if line.startswith("  T2 ")]
    assert row[1:4] == ["0,", "kept", "6"]
    told = shell.told("queue", "run.jsonl", "--at", "583000")
    [kept] = [it for it in told["running"] if it["kept"]]
    assert (kept["job"], kept["until"]) == ("T2", pytest.approx(693420.6879643346))


def test_a_member_of_a_run_that_is_away_is_told_to_be_both(shell: Shell) -> None:
    """J1 keeps its reclaimed worker 0; worker 2 is reclaimed and nobody's. J2 has 1, and finds no
    other: free 0, held 2, and 1 RECLAIMED are all three."""
    text = """\
name = "away"
platform.workers = 3
reclaims = [[1, 9, 0], [1, 9, 2]]
policy.name = "FCFS"
[job]
kind = "rigid"
jobs = [
  { processors = 1, time = 40 },
  { processors = 1, time = 40, release = 1 },
  { processors = 2, time = 40, release = 2 },
]
"""
    shell("run", shell.write(text), "--log", "run.jsonl")
    shown = shell("queue", "run.jsonl", "--at", "3").out.splitlines()
    assert shown[3:6] == [
        "  running  2 runs on 2 processors",
        "  free     0 of 3 processors",
        "  reclaimed 2: 0 2, of these members of runs: 0",
    ]
    assert "0 of 3 processors are free, 1 is RECLAIMED\n" in shell("trace", "run.jsonl", "J3").out
    [wait] = shell.told("trace", "run.jsonl", "J3")["waits"]
    assert (wait["free"], wait["reclaimed"], wait["down"]) == (0, 1, 0)
    assert [it["processors"] for it in wait["held"]] == [1, 1]


STARTING = """name = "starting"
platform = { workers = 4 }
policy = { name = "EASY" }
job = { kind = "rigid", startup = 50, select = 10, jobs = [
    { processors = 3, time = 100 }, { processors = 4, time = 100, release = 1 },
] }
"""


def test_a_run_is_believed_to_start_up_before_it_computes(shell: Shell) -> None:
    """Choosing workers takes 10, starting up 50, and the work 100: J2 is promised 160."""
    shell("run", shell.write(STARTING), "--log", "run.jsonl")
    told = shell.told("queue", "run.jsonl", "--at", "10")
    assert [it["believed"] for it in told["running"]] == [160]
    assert [it["promised"] for it in told["waiting"]] == [160]


ASIDE = """\
name = "aside"
platform = { workers = 10, spares = 1 }
policy.name = "FCFS"
faults = { kind = "list", strikes = [[5, 7]], downtime = 9 }
[job]
kind = "rigid"
jobs = [
  { processors = 3, time = 40, standbys = 2 },
  { processors = 4, time = 40, replicas = 2, regroup = 1 },
]
"""


def test_workers_that_a_run_holds_without_computing_on_them_have_lines(shell: Shell) -> None:
    """J1 has workers 0 to 2, and 3 and 4 as standbys; of J2's two replicas that of the faulty 7
    has dropped out at 5. The spare is 9: together they are all 10."""
    shell("run", shell.write(ASIDE), "--log", "run.jsonl")
    shown = shell("queue", "run.jsonl", "--at", "10").out.splitlines()
    assert shown[2:9] == [
        "  waiting  0 jobs for 0 processors",
        "  running  2 runs on 5 processors",
        "  free     0 of 10 processors",
        "  spare    1: 9",
        "  standby  2: 3-4",
        "  dropped  2: 7-8",
        "  down     1: 7",
    ]
    told = shell.told("queue", "run.jsonl", "--at", "10")
    assert (told["standby"], told["dropped"]) == ([3, 4], [7, 8])
