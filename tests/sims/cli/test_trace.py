"""`holdfast trace`: the life of one job, for people and as data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.sims.cli.commands import FEW, Shell


def spans(span: dict[str, Any]) -> list[dict[str, Any]]:
    """The span and all within it."""
    return [span, *(it for child in span["children"] for it in spans(child))]


def test_json_and_text_tell_the_same_spans_of_the_whole_run_and_their_causes(
    shell: Shell, log: Path
) -> None:
    events = [json.loads(line) for line in log.read_text().splitlines()]
    told = shell.told("trace", log, "--job", "application")
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


def test_the_job_may_be_named_with_or_without_the_option(shell: Shell, log: Path) -> None:
    assert shell("trace", log, "application").out == shell("trace", log, "--job", "application").out
    assert shell.refused("trace", log) == (
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
    out = shell("trace", "run.jsonl", "--job", "J6").out
    passed = "1 job that came later started first by the order trace_own:come or by backfilling"
    assert f"{passed}: J7 on 2 at 3 s" in out
    [freed] = [line for line in out.splitlines() if "possible now: " in line]
    assert "J5 (2 processors, 2 of them now its own), J1 (1 processor" in freed
    assert freed.endswith(" and 2 other runs (2) end; 8 are free, it takes 8")
