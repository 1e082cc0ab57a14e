"""Studies of several mechanisms: their scenarios, and what their views say of a few runs."""

from __future__ import annotations

from math import inf
from typing import Any

import pytest

from policies.queue.lists import InOrder, Reading, RList
from sims.campaign.plan import Cases
from sims.errors import InputError
from sims.history.summary import Summary
from sims.intervals import Estimate
from sims.metrics.report import Report
from sims.papers import item
from sims.papers.inputs import SpotPlatform, base
from sims.papers.study import flowtime, worth
from sims.papers.study.backfilling import Committed, sequence, unstarted_unicep, unstarted_wfp3
from sims.papers.study.clonelimit import LOAD, WORKERS, break_even, period
from sims.papers.study.reservations import block, hours_waited
from sims.papers.study.survive import jobs_on, protection
from sims.readers.job_logs import read_swf
from sims.scenario import Scenario
from sims.scenario.jobs import RigidJob, RigidSection
from sims.scenario.loader import read
from sims.scenario.workers import PlatformSection
from sims.world import run
from tests.sims.papers.papers import LOG, ZONES, values_of
from tests.sims.schedules import job, schedule

# --- what is measured -----------------------------------------------------------------------------


def test_jobs_left_at_the_end_count_as_ending_there() -> None:
    jobs = (RigidJob(processors=1, time=10), RigidJob(processors=1, time=100, release=20))
    job = RigidSection(kind="rigid", jobs=jobs)
    scenario = Scenario(name="x", platform=PlatformSection(workers=2), job=job)
    for until, expected in ((1000, 55), (60, 25)):
        summary = Summary()
        run(scenario, [summary], until=until)
        assert flowtime(summary) == expected


def test_waits_slowdowns_and_utilisation_are_as_computed_by_hand() -> None:
    """EASY: A on 0..100; B, as wide as the platform, waits until then; C backfills at once."""
    rows = (("A", 1, 100.0, 0.0), ("B", 2, 100.0, 0.0), ("C", 1, 50.0, 10.0))
    jobs = [{"name": n, "processors": p, "time": t, "release": r} for n, p, t, r in rows]
    own = {"platform.workers": 2, "policy.name": "R-LIST-1", "job.jobs": jobs}
    report = Report()
    run(read(base("study/reservations-base", own), "x"), [report])
    report.close()
    assert hours_waited(report) == pytest.approx(100 / 3 / 3600)
    assert report.jobs.bounded_slowdown.mean() == pytest.approx((1 + 2 + 1) / 3)
    assert report.utilisation == pytest.approx((100 + 200 + 50) / 400)


# --- survive --------------------------------------------------------------------------------------


def test_small_platforms_get_jobs_that_fit_them() -> None:
    sizes = {1: 1, 3: 1, 8: 2, 12: 2, 48: 8}
    assert {size: jobs_on(SpotPlatform("p", 5, ("u",) * size)) for size in sizes} == sizes


def test_buddies_pay_for_an_image_without_the_master() -> None:
    buddies = protection("buddies, Young", 50, 3, 5)
    assert (buddies["cost"], buddies["recovery"], buddies["mtbf"]) == (3, 3, 50)


def test_traces_are_platforms_and_a_run_ends_after_ten_days_of_their_ticks() -> None:
    changes = item("study/survive").given(ZONES)
    assert changes["axes"] == {"platform": ["."]}
    assert changes["until"] == 10 * 24 * 60 / 2
    changes["axes"] |= {"image": [4.0]}
    found = values_of("survive", **changes, replications=1)
    assert ". | rigid | 1.0 | 4.0 | images, Young | cut off" in found
    assert ". | iterative | 1.0 | re-execution | mean flowtime, h" in found


def test_all_ways_to_survive_meet_the_same_instances() -> None:
    plan = Cases(item("study/survive").campaign("smoke"))
    bare = [
        it.scenario(1).model_copy(
            update={"protection": plan[0].scenario(1).protection, "master": None}
        )
        for it in next(plan.points())
    ]
    assert all(it == bare[0] for it in bare)
    assert bare[0].workers != plan[0].scenario(2).workers


# --- clonelimit -----------------------------------------------------------------------------------


def test_a_period_aware_of_the_link_is_longer_the_fewer_channels_there_are() -> None:
    assert period(1, 2, aware=False) == period(100, 2, aware=False)
    assert period(100, 2, aware=True) == period(100, 2, aware=False)
    longer = period(1, 2, aware=True) / period(1, 2, aware=False)
    assert longer == pytest.approx((LOAD * WORKERS) ** 0.5)


def test_images_help_where_there_are_channels_and_harm_where_there_are_none_to_spare() -> None:
    axes = {"channels": [1, 4], "image": [2.0]}
    found = values_of("clonelimit", axes=axes, replications=1)
    ratios = [found[f"{n} | 2.0 | images, Young | mean flowtime / none's"] for n in (1, 4)]
    assert ratios[1].ours.mean < 0.8
    assert ratios[0].ours.mean > 2
    assert "4 | 2 copies, not cloned | cut off" in found
    assert "4 | 2.0 | 2 copies, not cloned | cut off" not in found


def test_a_protection_pays_up_to_the_last_place_that_is_surely_below_1() -> None:
    good, unsure, bad = (Estimate(m, m - h, m + h, 9) for m, h in ((0.5, 0.1), (1, 0.1), (2, 0.1)))
    assert break_even({1: good, 2: good, 4: unsure, 8: bad}) == (2, 8)
    assert break_even({1: unsure, 2: good}) == (None, None)
    assert break_even({1: Estimate(0.5, -inf, inf, 1)}) == (None, None)


# --- reservations ---------------------------------------------------------------------------------


def test_all_strategies_meet_the_same_errors_and_some_are_met() -> None:
    found = values_of("reservations", axes={"rate": [0, 2000]}, set={"jobs": 60})
    for spoilt in ("errors", "faults"):
        calm, met = (
            found[f"{spoilt} | {rate} | EASY | hours_waited"].ours.mean for rate in (0, 2000)
        )
        assert met > calm
        ratio = found[f"{spoilt} | 2000 | greedy | hours_waited, over EASY's"]
        assert ratio.ours.size == 3


@pytest.mark.parametrize("source", [{"log": str(LOG), "blocks": 3, "jobs": 19}, {"jobs": 50}])
def test_each_block_offers_the_load_asked_for(source: dict[str, Any]) -> None:
    first, last = (block(k, "errors", 0, "R-LIST-1", **source, load=0.9) for k in (0, 2))
    assert first["platform"] == last["platform"] == {"workers": 64 if "log" in source else 256}
    assert first["job"] != last["job"]
    for table in (first, last):
        jobs = table["job"]["jobs"]
        area = sum(job["processors"] * job["time"] for job in jobs)
        assert len(jobs) == source["jobs"]
        assert jobs[0]["release"] == 0
        offered = area / table["platform"]["workers"] / jobs[-1]["release"]
        assert offered == pytest.approx(0.9)
        assert all(job["estimate"] >= job["time"] for job in jobs)


def test_a_log_that_is_too_short_is_refused() -> None:
    with pytest.raises(InputError, match="59 jobs for 3 blocks of 25"):
        block(0, "errors", 0, "R-LIST-1", log=str(LOG), blocks=3, jobs=25)


# --- enrolment ------------------------------------------------------------------------------------


def test_the_fewest_workers_within_5_percent_of_the_best_are_worth_it() -> None:
    assert worth({1: 100, 2: 62, 5: 60, 10: 90}) == 2
    assert worth({1: 100, 10: 20}) == 10


def test_where_a_run_was_capped_the_mean_is_not_known() -> None:
    cells = {"axes": {"policy.parameters.workers": [1, 5], "master.channels": [5]}}
    sure = values_of("enrolment", **cells)
    assert sure["5 | 1 |  | worth enrolling"].ours.mean == 5
    capped = values_of("enrolment", **cells, set={"job": {"cap": 1500}})
    assert "1 | 5 | 1 | as it is | makespan" in sure
    assert "1 | 5 | 1 | as it is | makespan" not in capped


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


def test_a_log_that_is_shorter_than_a_sequence_is_refused() -> None:
    with pytest.raises(InputError, match="59 jobs; accepted: 1024"):
        sequence(0, "FCFS", easy=True, whose="ours", processors=64, length=1024)
