"""Reservations when work fails: the study's blocks, measures and report."""

from __future__ import annotations

from pathlib import Path

import pytest

from sims.errors import InputError
from sims.log_blocks import Block, blocks_of, synthetic
from sims.readers.swf import read_swf
from sims.reservations import Case, Task, key, main, measures
from sims.scenario.jobs.rigid import RigidJob

LOG = Path(__file__).parents[2] / "sims" / "scenarios" / "batch-small.swf"


def test_each_block_of_a_log_offers_the_load_asked_for() -> None:
    blocks = blocks_of(read_swf(LOG), LOG, None, 3, 19, 0.9)
    assert [(it.number, it.processors, len(it.jobs)) for it in blocks] == [
        (k, 64, 19) for k in range(3)
    ]
    for block in (*blocks, synthetic(1, 50, 0.9)):
        area = sum(job.processors * job.time for job in block.jobs)
        assert block.jobs[0].release == 0
        assert area / block.processors / block.jobs[-1].release == pytest.approx(0.9)
        assert all(job.estimate and job.estimate >= job.time for job in block.jobs)


def test_a_log_that_is_too_short_is_refused() -> None:
    with pytest.raises(InputError, match=r"59 jobs for 4 blocks of 20"):
        blocks_of(read_swf(LOG), LOG, None, 4, 20, 0.9)


def test_waits_slowdowns_and_utilisation_are_as_computed_by_hand() -> None:
    """EASY: A on 0..100; B, as wide as the platform, waits until then; C backfills at once."""
    rows = (("A", 1, 100.0, 0.0), ("B", 2, 100.0, 0.0), ("C", 1, 50.0, 10.0))
    jobs = tuple(RigidJob(name=n, processors=p, time=t, release=r) for n, p, t, r in rows)
    found = measures(Task(Block("hand", 0, 1, 2, jobs), Case(0, 0)))
    assert found[key("mean wait", "EASY")][0] == pytest.approx(100 / 3)
    assert found[key("bounded slowdown", "EASY")][0] == pytest.approx((1 + 2 + 1) / 3)
    assert found[key("utilisation", "EASY")][0] == pytest.approx((100 + 200 + 50) / 400)


def test_all_strategies_meet_the_same_errors_and_some_are_met() -> None:
    block = synthetic(1, 60, 0.9)
    calm, spoilt = (measures(Task(block, Case(errors, 0))) for errors in (0, 2000))
    assert spoilt == measures(Task(block, Case(2000, 0)))
    for name in ("EASY", "greedy", "conservative"):
        assert spoilt[key("mean wait", name)][0] > calm[key("mean wait", name)][0]


def test_the_study_prints_a_table_and_a_picture(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--trials", "3", "--jobs", "40", "--rates", "0", "300", "--plot")
    assert main((*words, str(tmp_path / "p.png"))) == 0
    assert "EASY's own mean" in capsys.readouterr().out
    assert (tmp_path / "p.png").stat().st_size > 10_000


def test_the_study_runs_on_a_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--log", str(LOG), "--trials", "2", "--jobs", "25", "--rates", "0")
    assert main((*words, "--plot", str(tmp_path / "p.png"))) == 0
    assert "59 of 60 jobs used" in capsys.readouterr().out
