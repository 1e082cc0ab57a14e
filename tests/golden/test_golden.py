"""The golden logs: made again byte for byte, and all that reads logs works on each of them."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from sims.audit.audit import audit
from sims.cli import main
from sims.exports.viewers import write_batsim, write_chrome
from sims.log import LogFile
from tests.golden.regenerate import GOLDEN, path_of

LARGEST = 200_000
"""Bytes of a golden log."""


@pytest.fixture(params=GOLDEN)
def kind(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def test_a_fresh_run_writes_the_golden_log_byte_for_byte(kind: str, tmp_path: Path) -> None:
    GOLDEN[kind].write(tmp_path / "fresh.jsonl")
    assert (tmp_path / "fresh.jsonl").read_bytes() == path_of(kind).read_bytes()


def test_a_golden_log_is_small(kind: str) -> None:
    assert path_of(kind).stat().st_size < LARGEST


def test_a_golden_log_breaks_no_law(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert list(audit(LogFile(path_of(kind)))) == []
    assert main(["audit", str(path_of(kind))]) == 0
    assert capsys.readouterr().out.endswith("events: every law holds\n")


def test_the_life_of_its_job_is_reported_as_text_and_as_data(
    kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["trace", str(path_of(kind)), "--job", GOLDEN[kind].job]
    assert main(words) == 0
    text = capsys.readouterr().out
    assert f"{GOLDEN[kind].job} submitted" in text
    assert "where its " in text
    assert main([*words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    account = told["account"]
    assert account["flowtime"] == pytest.approx(told["end"] - told["start"])
    assert sum(account["parts"].values()) == pytest.approx(account["flowtime"])
    assert told["children"]


def test_its_summary_has_a_ledger_that_adds_up(
    kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["summary", str(path_of(kind)), "--json", "--by", "worker"]) == 0
    told = json.loads(capsys.readouterr().out)
    first = next(iter(LogFile(path_of(kind)))).event
    capacity = first.processors * told["makespan"]
    assert sum(told["ledger"].values()) == pytest.approx(capacity)
    for use, amount in told["ledger"].items():
        workers = sum(account.get(use, 0) for account in told["by"].values())
        assert workers == pytest.approx(amount)


def test_the_causes_of_its_last_event_lead_back_to_the_first(
    kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    last = len(path_of(kind).read_bytes().splitlines()) - 1
    assert main(["why", str(path_of(kind)), str(last), "--json"]) == 0
    chain = json.loads(capsys.readouterr().out)
    assert [chain[0]["seq"], chain[-1]["seq"]] == [last, 0]


def test_it_exports(kind: str) -> None:
    rows, trace = io.StringIO(), io.BytesIO()
    assert write_batsim(LogFile(path_of(kind)), rows) > 0
    assert write_chrome(LogFile(path_of(kind)), trace) > 0
    assert json.loads(trace.getvalue())["traceEvents"]
