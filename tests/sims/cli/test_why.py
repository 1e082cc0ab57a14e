"""The chain of causes behind one event, and logs that it refuses to explain."""

from __future__ import annotations

import gzip
import json
from itertools import pairwise
from pathlib import Path

import pytest

from sims.cli.logs import folded
from tests.sims.cli.commands import Shell, change


def lines_of(log: Path) -> list[str]:
    return log.read_text().splitlines(keepends=True)


def test_a_chain_goes_from_the_event_by_its_causes_to_the_first(shell: Shell, log: Path) -> None:
    events = [json.loads(line) for line in lines_of(log)]
    chain = shell.told("why", log, str(len(events) - 1))
    assert chain[0]["event"] == "ScenarioEnded"
    assert chain[-1]["event"] == "ScenarioStarted"
    for effect, cause in pairwise(chain):
        assert cause["seq"] == effect["cause"] == events[effect["seq"]]["cause"]


def test_a_long_chain_is_folded_to_a_screen_and_told_whole_where_asked(
    shell: Shell, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    monkeypatch.setenv("LINES", "10")
    last = len(lines_of(log)) - 1
    chain = shell.told("why", log, last)
    assert len(chain) > 10
    said = shell("why", log, last).out.splitlines()
    whole = shell("why", log, last, "--all").out.splitlines()
    assert len(whole) == len(chain)
    assert said[:7] == whole[:7]
    assert said[7] == f"... {len(chain) - 8} causes in between: --all tells them"
    assert said[8:] == whole[-1:]
    monkeypatch.setenv("LINES", "1000")
    assert shell("why", log, last).out.splitlines() == whole


def test_lines_that_take_several_rows_of_the_screen_count_as_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LINES", "24")
    shown = list(folded(["x" * 200, *("y" * 100 for _ in range(40)), "z"]))
    assert shown[0] == "x" * 200
    rows = sum(-(-len(line) // 80) for line in shown)
    assert rows <= 23
    assert shown[-1] == "z"


@pytest.mark.parametrize("seq", [-1, 1000000])
def test_a_number_that_is_not_in_the_log_is_refused_with_the_range_of_those_that_are(
    shell: Shell, log: Path, seq: int
) -> None:
    said = shell("why", log, "--", seq)
    last = len(lines_of(log)) - 1
    assert said.code == 2
    assert said.complaint() == (
        f"holdfast: run.jsonl: SEQ: {seq} is not in the log; accepted: 0 to {last}"
    )


def test_a_cut_log_is_explained_up_to_its_last_whole_line(shell: Shell, log: Path) -> None:
    lines = lines_of(log)
    log.write_text("".join(lines[:30]) + lines[30][:20])
    said = shell("why", log, "29")
    assert (said.code, said.out[:4]) == (0, "#29 ")
    assert said.err == "holdfast: run.jsonl: the last line is cut; read up to event 29\n"
    refused = shell.refused("why", log, "30")
    assert refused.endswith("accepted: 0 to 29, where the log stops early")


@pytest.mark.parametrize("seq", ["5", "20", "40"])
def test_a_log_with_a_line_missing_is_refused_at_the_first_line_that_is_wrong(
    shell: Shell, log: Path, seq: str
) -> None:
    lines = lines_of(log)
    log.write_text("".join(lines[:10] + lines[11:]))
    line = shell.refused("why", log, seq)
    assert line == (
        "holdfast: run.jsonl: line 11: seq: 11 is not the line's number, counted from 0; "
        "accepted: 10"
    )


@pytest.mark.parametrize("cause", [20, 9999, -1])
def test_a_cause_that_does_not_come_before_its_event_is_refused(
    shell: Shell, log: Path, cause: int
) -> None:
    change(log, 21, cause=cause)
    line = shell.refused("why", log, "20")
    assert line == (
        f"holdfast: run.jsonl: line 21: cause: {cause} is not an event before #20; "
        "accepted: 0 to 19"
    )


def test_a_packed_log_cut_before_its_first_event_is_refused_with_the_reason(
    shell: Shell, log: Path
) -> None:
    Path("cut.jsonl.gz").write_bytes(gzip.compress(log.read_bytes())[:20])
    for words in (("why", "0"), ("trace", "--job", "application"), ("summary",)):
        line = shell.refused(words[0], "cut.jsonl.gz", *words[1:])
        assert "cut.jsonl.gz: it is cut within its first records" in line


SPARES = """\
name = "spares"
platform = { workers = 7, spares = 1 }
faults = { kind = "list", strikes = [[5, 6], [20, 0], [21, 1]], downtime = 300 }
job.kind = "rigid"
job.jobs = [
  { name = "a", processors = 4, time = 200 },
  { name = "b", processors = 2, time = 40 },
]
protection = { kind = "buddies", period = 5, cost = 1, recovery = 2, replace_after = 3 }
policy.name = "EASY"
"""
"""The only spare is DOWN: a's members 0 and 1 are replaced when b's end frees 4 and 5."""


def test_a_member_is_replaced_because_of_the_end_that_freed_the_other_worker(shell: Shell) -> None:
    assert shell("run", shell.write(SPARES), "--log", "run.jsonl").code == 0
    events = [json.loads(line) for line in Path("run.jsonl").read_text().splitlines()]
    replaced = [it for it in events if it["event"] == "MemberReplaced"]
    assert [it["worker"] for it in replaced] == [0, 1]
    for it in replaced:
        cause = events[it["cause"]]
        assert (cause["event"], cause["job"], cause["t"]) == ("RunEnded", "b", it["t"])
    assert shell("audit", "run.jsonl").code == 0


def test_a_member_is_replaced_because_it_went_down_where_the_other_worker_was_free(
    shell: Shell,
) -> None:
    shell("run", shell.write(SPARES.replace("[5, 6], ", "")), "--log", "run.jsonl")
    events = [json.loads(line) for line in Path("run.jsonl").read_text().splitlines()]
    first = next(it for it in events if it["event"] == "MemberReplaced")
    cause = events[first["cause"]]
    assert (cause["event"], cause["worker"], cause["t"]) == ("WorkerChanged", 0, 20)
    assert shell("audit", "run.jsonl").code == 0
