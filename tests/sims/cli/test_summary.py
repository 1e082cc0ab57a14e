"""`holdfast summary`: which jobs it lists, and in what order."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from sims.cli import main
from sims.cli.summary import in_order
from sims.ledger import Account, Use
from tests.sims.cli.commands import Shell
from tests.sims.kinds import written


def account(useful: int) -> Account:
    """So much useful processor-time, and none other."""
    return {use: Fraction(useful if use is Use.USEFUL else 0) for use in Use}


def test_jobs_are_in_order_of_submission_whatever_their_order_of_start() -> None:
    started = {"J10": account(1), "J2": account(2), "J1": account(3)}
    assert list(in_order(started, ["J1", "J2", "J3", "J10"])) == ["J1", "J2", "J10"]
    assert in_order(started, ["J1", "J2", "J3", "J10"]) == started


def test_a_job_whose_submission_is_not_told_comes_last() -> None:
    assert list(in_order({"b": account(1), "a": account(1)}, ["a"])) == ["a", "b"]


def test_the_table_by_job_follows_the_submissions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = written("batch-rigid", tmp_path)
    assert main(["summary", str(log), "--by", "job"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[-100:]] == [f"J{k}" for k in range(1, 101)]


def test_names_longer_than_their_column_keep_it_straight(shell: Shell) -> None:
    name = "a-name-longer-than-sixteen-letters"
    text = (
        'name = "long"\n[platform]\nworkers = 2\n[job]\nkind = "rigid"\n'
        f'jobs = [{{name = "{name}", processors = 1, time = 2}}, {{processors = 1, time = 1}}]\n'
        '[policy]\nname = "R-LIST-0"\norder = "LPT"\n'
    )
    Path("long.toml").write_text(text)
    shell("run", "long.toml", "--log", "long.jsonl")
    rows = shell("summary", "long.jsonl", "--by", "job").out.splitlines()[-3:]
    assert len({len(row) for row in rows}) == 1
    assert rows[1].split() == [name, "2"]
