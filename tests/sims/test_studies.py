"""What the studies share: runs cut off, paired ratios, and how they are told."""

from __future__ import annotations

import pytest

from sims.scenario.jobs.rigid import RigidJob
from sims.scenario.jobs.section import RigidSection
from sims.scenario.platform import PlatformSection
from sims.scenario.scenario import Scenario
from sims.statistics import Interval
from sims.studies import Ratio, mean_flowtime, pays, ratios


def test_jobs_left_at_the_cap_count_as_ending_there() -> None:
    jobs = (RigidJob(processors=1, time=10), RigidJob(processors=1, time=100, release=20))
    job = RigidSection(kind="rigid", jobs=jobs)
    scenario = Scenario(name="x", platform=PlatformSection(workers=2), job=job)
    assert mean_flowtime(scenario, 1000) == (55, False)
    assert mean_flowtime(scenario, 60) == (25, True)


def test_ratios_are_paired_within_each_case() -> None:
    found = [
        ((1, 0), {"base": (10.0, False), "new": (5.0, True)}),
        ((1, 1), {"base": (20.0, False), "new": (10.0, False)}),
        ((2, 0), {"base": (10.0, False), "new": (30.0, False)}),
    ]
    cells = ratios(found, lambda task: task[0], "base")
    assert cells[1]["new"].value.mean == pytest.approx(0.5)
    assert cells[1]["new"].value.half == pytest.approx(0)
    assert cells[1]["new"].late == 1
    assert cells[2]["new"].value.mean == 3


def test_what_covers_1_and_what_was_cut_off_is_marked() -> None:
    assert str(Ratio(Interval(0.9, 0.2, 9))) == "0.90 ± 0.20 ="
    assert str(Ratio(Interval(0.9, 0.05, 9), 3)) == "0.90 ± 0.05  (3)"


def test_a_protection_pays_up_to_the_last_place_that_is_surely_below_1() -> None:
    good, unsure, bad = Interval(0.5, 0.1, 9), Interval(1, 0.1, 9), Interval(2, 0.1, 9)
    assert pays({1: good, 2: good, 4: unsure, 8: bad}) == "pays up to 2, costs from 8 on"
    assert pays({1: unsure, 2: good}) == "never surely pays"
