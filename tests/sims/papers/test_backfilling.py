"""RLScheduler's table, on a small log and by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

import sims
from sims.papers.backfilling import STRATEGIES, main, unstarted_unicep, unstarted_wfp3
from tests.sims.schedules import job, schedule

LOG = Path(sims.__file__).parent / "scenarios" / "batch-small.swf"


def test_the_table_has_each_order_with_and_without_easy_beside_what_was_published(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = [str(LOG), "--sequences", "2", "--length", "20", "--processors", "64"]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert all(word in out for word in ("WFP3", "UNICEP", "19,754", "22,275", "as RLScheduler"))


def test_who_is_chosen_stays_chosen_whoever_comes_meanwhile() -> None:
    jobs = [job(0, 0, 2, 10), job(1, 1, 2, 5), job(2, 2, 2, 1)]
    assert schedule(2, jobs, STRATEGIES["ours", False], "SJF").in_order == [0, 11, 10]
    assert schedule(2, jobs, STRATEGIES["committed", False], "SJF").in_order == [0, 10, 15]


def test_its_backfilling_counts_no_spare_processors_and_goes_by_arrival() -> None:
    # J1 is chosen until 10; the processor that is spare beside it J2 could have. By arrival J3,
    # not J4, is the one that ends before 10.
    jobs = [job(0, 0, 3, 10), job(1, 1, 3, 5), job(2, 2, 1, 20), job(3, 3, 1, 6), job(4, 3, 1, 2)]
    assert schedule(4, jobs, STRATEGIES["ours", True]).in_order == [0, 10, 2, 15, 15]
    assert schedule(4, jobs, STRATEGIES["committed", True], "SJF").in_order == [0, 10, 12, 3, 10]


def test_its_waits_are_counted_from_a_start_of_minus_one() -> None:
    it = job(0, 9, 4, 5)
    assert unstarted_wfp3(it, 4, 5, 8, lambda job: 0) == (-10 / 5) ** 3 * 4
    assert unstarted_unicep(it, 4, 5, 8, lambda job: 0) == pytest.approx(-10 / (5 * 2))
