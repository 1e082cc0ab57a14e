"""Platforms of spot instances."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.runtime import stream
from policies.availability import WorkerState
from sims.errors import InputError
from sims.papers.inputs import SpotPlatform, platforms
from sims.scenario.availability import Letters, Markov

ZONES = Path(__file__).parents[1] / "data" / "zones"


def test_a_folder_of_traces_is_a_platform_and_each_instance_a_worker() -> None:
    [platform] = platforms(str(ZONES)).values()
    assert platform.size == 3
    assert platform.tick == 2
    lives = platform.lives(0, 2, 10)
    states = [life.states for life in lives if isinstance(life, Letters)]
    assert [len(letters) for letters in states] == [10, 10, 10]
    assert sum(letters[0] == "u" for letters in states) >= 2


def test_a_trial_draws_the_same_start_each_time_and_enough_instances_are_up_then() -> None:
    fitted = platforms("")["fitted chains"]
    for trial in range(20):
        lives = fitted.lives(trial, 4, 100)
        assert lives == fitted.lives(trial, 4, 100)
        firsts = [life.first for life in lives if isinstance(life, Markov)]
        assert len(firsts) == 12
        assert firsts.count(WorkerState.UP) >= 4


def test_traces_in_which_too_few_are_ever_up_are_refused() -> None:
    with pytest.raises(InputError, match="3 of 2 instances are hardly ever UP at once"):
        SpotPlatform("two", 5, ("uuud", "uduu")).lives(0, 3, 4)


def test_the_mtbf_is_the_mean_time_up_until_an_instance_is_lost() -> None:
    assert SpotPlatform("two", 5, ("uuududdd", "uuuuuudd")).mtbf == pytest.approx(10 / 3)
    platform, rng = SpotPlatform("one", 5, chains=((0.02, 0.1),)), stream(1, "x")
    [life] = platform.lives(1, 1, 1)
    ups, lost, since = 0.0, 0, 0.0
    for (at_, state), _ in zip(life.changes(rng), range(4000), strict=False):
        ups, lost = (ups + at_ - since, lost + 1) if state is WorkerState.DOWN else (ups, lost)
        since = at_
    assert platform.mtbf == pytest.approx(50)
    assert ups / lost == pytest.approx(50, rel=0.1)
