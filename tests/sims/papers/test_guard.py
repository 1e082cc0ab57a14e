"""Tables and figures at smoke size, beside what is stored."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from attrs import evolve

from sims.campaign.executors import local
from sims.campaign.intervals import Estimate
from sims.cli import main
from sims.papers import guard
from sims.papers.catalogue import ITEMS, current, item
from sims.papers.values import Value


def test_all_tables_and_figures_say_what_they_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["papers", "check"]) == 0
    assert "0 differ" in capsys.readouterr().out


def test_each_is_listed_with_its_measured_cost(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["papers"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for one in ITEMS:
        [line] = [line for line in lines if f" {one.name} " in line]
        assert line.count(" s ") >= 1 or not guard.checked(one)


def test_a_table_that_says_something_else_is_told_and_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = json.loads(guard.STORED.read_text())
    key = "LPA | makespan"
    table["moldable21/example"]["intervals"][key] = [9, 10]
    other = tmp_path / "stored.json"
    other.write_text(json.dumps(table))
    monkeypatch.setattr(guard.said, "__defaults__", (other,))
    assert main(["papers", "check", "moldable21/example", "malleable17/example"]) == 1
    out = capsys.readouterr().out
    assert f"moldable21/example: {key}: 13, was 9 to 10" in out
    assert "2 tables and figures, 1 differ" in out


def test_values_that_are_gone_or_new_are_told() -> None:
    value = Value((("p", 2),), "who", "what", Estimate(1.0, 0.9, 1.1, 4))
    assert list(guard.complaints([value], {"x": (0, 1)})) == ["x: gone", f"{value.key}: new"]


def test_what_is_stored_holds_what_was_found(tmp_path: Path) -> None:
    path = tmp_path / "stored.json"
    with local(1) as workers:
        guard.store([item("malleable17/example")], workers, path)
        assert guard.said(item("malleable17/example"), workers, path) == []


def test_the_papers_value_is_covered_to_its_digits() -> None:
    value = Value((), "", "", Estimate(1.0, 0.964, 1.026, 9), "0.96")
    assert value.covered
    assert not evolve(value, paper="0.95").covered
    assert str(evolve(value, paper="1.04")).endswith("(1.04 out)")


def test_an_unknown_table_is_refused_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["papers", "run", "005/table1"]) == 2
    assert "005/table1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "now"),
    [
        ("000/table1", "moldable21/table1"),
        ("001/figure4a", "rigid21/figure4a"),
        ("002/table1", "volatile13/table1"),
        ("003/figure7", "malleable17/figure7"),
        ("004/study-load", "redundancy17/study-load"),
        ("study/survive", "study/survive"),
        ("volatile13/table1", "volatile13/table1"),
    ],
)
def test_a_paper_s_number_stands_for_its_key(old: str, now: str) -> None:
    assert current(old) == item(now).name


@pytest.mark.parametrize("action", ["run", "check"])
def test_an_old_name_works_and_says_what_to_write(
    action: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    old, now = "003/example", "malleable17/example"
    assert main(["papers", action, old]) == 0
    told = [line for line in capsys.readouterr().err.splitlines() if line.startswith("holdfast")]
    assert told == [f"holdfast: {old} is an old name: write {now}"]


def test_a_name_of_today_says_nothing_of_old_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["papers", "check", "malleable17/example"]) == 0
    assert "old name" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--input", "log.swf"], "--input: volatile13/table1 reads nothing"),
        (["--evidence"], "--evidence: volatile13/table1 has none"),
    ],
)
def test_what_reads_nothing_takes_no_input_and_has_no_evidence(
    words: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["papers", "run", "volatile13/table1", *words]) == 2
    assert problem in capsys.readouterr().err
