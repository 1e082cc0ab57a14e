"""RLScheduler's table, on a small log and by hand."""

from __future__ import annotations

import pytest

from policies.queue.lists import InOrder, Reading, RList
from sims.errors import InputError
from sims.papers import item
from sims.papers.study.backfilling import Committed, sequence, unstarted_unicep, unstarted_wfp3
from sims.readers.job_logs import read_swf
from tests.sims.papers.papers import LOG, values_of
from tests.sims.schedules import job, schedule


def test_each_order_stands_with_and_without_easy_beside_what_was_published() -> None:
    changes = item("study/backfilling").given(LOG)
    assert (changes["set"]["processors"], changes["set"]["length"]) == (256, 1024)
    changes["set"] |= {"processors": 64, "length": 20}
    found = values_of("backfilling", **changes)
    assert len(found) == 10 * (2 + 3)
    published = {key: it.paper for key, it in found.items() if it.paper}
    assert len(published) == 10
    assert published["WFP3 | false | as RLScheduler | bounded slowdown"] == "19754"
    assert published["F1 | true | as RLScheduler | bounded slowdown"] == "75"


def test_without_a_log_of_ones_own_nothing_published_stands_beside() -> None:
    assert not any(it.paper for it in values_of("backfilling", replications=1).values())


def test_who_is_chosen_stays_chosen_whoever_comes_meanwhile() -> None:
    jobs = [job(0, 0, 2, 10), job(1, 1, 2, 5), job(2, 2, 2, 1)]
    assert schedule(2, jobs, InOrder(), "SJF").in_order == [0, 11, 10]
    assert schedule(2, jobs, Committed(False), "SJF").in_order == [0, 10, 15]


def test_its_backfilling_counts_no_spare_processors_and_goes_by_arrival() -> None:
    # J1 is chosen until 10; the processor that is spare beside it J2 could have. By arrival J3,
    # not J4, is the one that ends before 10.
    jobs = [job(0, 0, 3, 10), job(1, 1, 3, 5), job(2, 2, 1, 20), job(3, 3, 1, 6), job(4, 3, 1, 2)]
    assert schedule(4, jobs, RList(1, Reading.EASY)).in_order == [0, 10, 2, 15, 15]
    assert schedule(4, jobs, Committed(), "SJF").in_order == [0, 10, 12, 3, 10]


def test_its_waits_are_counted_from_a_start_of_minus_one() -> None:
    it = read_swf(LOG).jobs[3]
    wait, asked = -1 - it.submitted, it.estimate
    assert unstarted_wfp3(it) == (wait / asked) ** 3 * it.processors
    words = {"order": "WFP3", "easy": True, "whose": "as RLScheduler", "processors": 64}
    table = sequence(0, **words, length=59)  # type: ignore[arg-type]
    assert table["policy"]["order"] == "PRIORITY"
    assert table["job"]["jobs"][3]["priority"] == unstarted_wfp3(it)
    assert unstarted_unicep(it) < 0


def test_a_log_that_is_too_short_is_refused() -> None:
    with pytest.raises(InputError, match="59 jobs; accepted: 1024"):
        sequence(0, "FCFS", easy=True, whose="ours", processors=64, length=1024)
