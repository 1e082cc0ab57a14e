"""A small version of `python -m tests.coverage`: conclusions are right often enough."""

from __future__ import annotations

from math import sqrt

import pytest

from tests.coverage.blocks import covered, false_verdicts
from tests.coverage.lemons import studied
from tests.coverage.means import LAWS, rates
from tests.coverage.tunings import PROBLEMS, claim

STUDIES = 60


def fewest(share: float, studies: int) -> float:
    """Share that is missed in one of 1,000 such tests where `share` is the true one."""
    return share - 3.1 * sqrt(share * (1 - share) / max(studies, 1))


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("size", [10, 30])
def test_printed_intervals_cover_the_truth(name: str, size: int) -> None:
    for kind, found in rates(name, size, STUDIES).items():
        assert not found.printed or found.share >= fewest(LAWS[name].least, found.printed), kind


@pytest.mark.parametrize("alike", [0.0, 0.3, 0.6])
def test_intervals_over_blocks_cover_the_truth_where_neighbours_go_together(alike: float) -> None:
    assert covered(6, alike, 300) >= fewest(0.93, 300)


def test_variants_whose_blocks_do_not_differ_seldom_get_a_verdict() -> None:
    assert false_verdicts(6, 200) <= 0.05 + 3.1 * sqrt(0.05 * 0.95 / 200)


@pytest.mark.parametrize("name", ["rare faults, 3 periods", "two equal words"])
def test_a_search_seldom_claims_what_is_much_worse_than_the_best(name: str) -> None:
    """One in 20 may: four of 20 are more than chance makes of that in 1 of 60 tests."""
    assert sum(claim(PROBLEMS[name], study).wrong for study in range(20)) <= 3


@pytest.mark.parametrize("name", ["late in 3 % of runs", "two valleys"])
def test_a_search_finds_the_narrow_valley_and_the_point_that_is_never_late(name: str) -> None:
    found = [claim(PROBLEMS[name], study) for study in range(3)]
    assert not any(it.wrong for it in found)
    assert min(it.loss for it in found) == pytest.approx(0, abs=1e-3)


def test_intervals_of_rates_and_share_of_lemons_cover_the_truth() -> None:
    found = studied("150 nodes, 10 % fail 7 times as often", 25)
    assert found.pop("two") == 1
    assert min(found.values()) >= fewest(0.93, 25)


def test_lemons_are_seldom_found_where_all_nodes_are_alike() -> None:
    assert studied("150 nodes, all alike", 25)["two"] <= 0.05 + 3.1 * sqrt(0.05 * 0.95 / 25)
