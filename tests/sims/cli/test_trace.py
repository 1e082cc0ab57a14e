"""`holdfast trace`: the life of one job, for people and as data."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.sims.cli.commands import FEW, TINY, Shell


@pytest.fixture
def log(shell: Shell) -> Path:
    """The log of a run."""
    shell("run", shell.write(TINY), "--log", "run.jsonl")
    return Path("run.jsonl")


def spans(span: dict[str, Any]) -> list[dict[str, Any]]:
    """The span and all within it."""
    return [span, *(it for child in span["children"] for it in spans(child))]


def test_json_and_text_tell_the_same_spans_of_the_whole_run_and_their_causes(
    shell: Shell, log: Path
) -> None:
    events = [json.loads(line) for line in log.read_text().splitlines()]
    told = shell("trace", log, "--job", "application", "--json").json()
    assert (told["start"], told["end"]) == (0, events[-1]["t"])
    parts = [child["title"] for child in told["children"]]
    assert parts[:3] == ["iteration 0", "iteration 1", "iteration 2"]
    lines = shell("trace", log, "--job", "application").out.splitlines()
    for line, span in zip(lines, spans(told), strict=False):
        assert span["title"] in line
        assert events[span["seq"]]["t"] == span["start"]
        if span["cause"] is not None:
            assert f"(#{span['seq']} because of #{span['cause']})" in line
            assert events[span["cause"]]["t"] <= span["start"]


def test_a_cut_log_tells_as_much_as_there_is(shell: Shell, log: Path) -> None:
    content = log.read_bytes()
    log.write_bytes(content[: content.rindex(b"\n", 0, -700) + 20])
    said = shell("trace", log, "--job", "application")
    assert said.code == 0
    assert "the last line is cut" in said.err
    assert "to ?" in said.out.splitlines()[0]


# --- why it waited --------------------------------------------------------------------------------


LAST = "processors = 2\ntime = 3000\nrelease = 20\nestimate = 4000\n"


def reasons(shell: Shell, last: str = LAST, order: str = "FCFS") -> list[str]:
    """What is told of the time that J2 waited, without the times; `last` is J3."""
    shell("run", shell.write(FEW.replace(LAST, last).replace("FCFS", order)), "--log", "few.jsonl")
    lines = shell("trace", "few.jsonl", "J2").out.splitlines()
    first = next(k for k, line in enumerate(lines) if "waits for workers" in line)
    told = []
    for line in lines[first + 1 :]:
        if not line.startswith(4 * " "):
            break
        told.append(line[29:].partition("  (#")[0])
    return told


def test_a_job_that_waited_tells_who_held_the_processors_who_passed_it_and_what_freed_them(
    shell: Shell,
) -> None:
    assert reasons(shell) == [
        "2 of 8 processors are free",
        "held by J1 (6 processors, 0 s to 1:23:20)",
        "promised its start for 2:30:00",
        "1 job that came later started first by backfilling: J3 on 2 at 20 s",
        "possible now: J1 (6 processors, 6 of them now its own) ends; 8 are free, it takes 8",
    ]


def test_a_promise_that_moves_is_told_with_what_moved_it(shell: Shell) -> None:
    told = reasons(shell, "processors = 2\ntime = 6000\nrelease = 5\nestimate = 6000\n")
    assert told[2:] == [
        "promised its start for 2:30:00",
        "promised its start for 1:40:05, 2,995 s earlier: "
        "J1 ended 1 h 6 min 40 s before it was believed to",
        "possible now: J3 (2 processors, 2 of them now its own) ends; 8 are free, it takes 8",
    ]


def test_who_is_first_in_the_order_passes_by_the_order_and_not_by_backfilling(
    shell: Shell,
) -> None:
    last = "processors = 8\ntime = 50\nrelease = 20\nestimate = 100\n"
    assert reasons(shell, last, "SPT")[2:] == [
        "promised its start for 2:30:00",
        "nothing is promised to it any more: J3 is ahead of it now",
        "promised its start for 1:25:00",
        "1 job that came later started first by the order SPT: J3 on 8 at 1:23:20",
        "8 processors were free at 1 earlier instant too, first at 1:23:20: others had them",
        "possible now: J3 (8 processors, 8 of them now its own) ends; 8 are free, it takes 8",
    ]


def test_the_job_may_be_named_with_or_without_the_option(shell: Shell, log: Path) -> None:
    assert shell("trace", log, "application").out == shell("trace", log, "--job", "application").out
    said = shell("trace", log)
    assert said.code == 2
    assert said.complaint() == (
        "holdfast: run.jsonl: JOB: missing; accepted: the name of one of its jobs"
    )


def test_a_job_is_found_by_its_number_too(shell: Shell) -> None:
    shell("run", shell.write(FEW), "--log", "b.jsonl")
    assert shell("trace", "b.jsonl", "2").out == shell("trace", "b.jsonl", "J2").out != ""
    assert shell("trace", "b.jsonl", "99").code == 2


CROWD = """\
name = "crowd"
platform.workers = 8
job.kind = "rigid"
job.jobs = [
  { processors = 1, time = 10 }, { processors = 1, time = 10 }, { processors = 1, time = 10 },
  { processors = 1, time = 10 }, { processors = 2, time = 10 },
  { processors = 8, time = 5, release = 1 }, { processors = 2, time = 2, release = 3 },
]
policy = { name = "EASY", order = "trace_own:come" }
"""


def test_under_an_order_of_ones_own_who_passed_did_so_by_it_or_by_backfilling(
    shell: Shell,
) -> None:
    """And of many who made room only some are named."""
    shell.write("def come(job, *_):\n    return -job.submitted\n", "trace_own.py")
    shell("run", shell.write(CROWD), "--log", "run.jsonl")
    sys.modules.pop("trace_own", None)
    out = shell("trace", "run.jsonl", "--job", "J6").out
    passed = "1 job that came later started first by the order trace_own:come or by backfilling"
    assert f"{passed}: J7 on 2 at 3 s" in out
    [freed] = [line for line in out.splitlines() if "possible now: " in line]
    assert "J5 (2 processors, 2 of them now its own), J1 (1 processor" in freed
    assert freed.endswith(" and 2 other runs (2) end; 8 are free, it takes 8")


def test_a_policy_that_is_no_queues_lets_others_pass_by_its_choice(shell: Shell) -> None:
    text = CROWD.replace("processors = 8, time = 5", "processors = 1, time = 50")
    text = text.replace("processors = 2", "processors = 1").replace("workers = 8", "workers = 2")
    text = text.partition("policy = ")[0] + 'policy.name = "SRPT+R"\n'
    shell("run", shell.write(text), "--log", "run.jsonl")
    out = shell("trace", "run.jsonl", "--job", "J6").out
    assert "1 job that came later started first by the policy's choice: J7 on 1 at 3 s" in out
