"""Scenario files of malleable applications (malleable17)."""

from __future__ import annotations

import tomllib
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from actors.decisions import BadDecision
from actors.events import RestartedFromScratch
from actors.hazards import exponential_faults, weibull_faults
from policies.interface.pack import RedistributionView, Resize
from sims.durations import YEAR
from sims.errors import InputError
from sims.scenario.loader import load, read
from sims.world import run
from tests.case_files import listed
from tests.sims.kinds import SCENARIOS, recorded
from tests.sims.malleable_story import Story
from tests.sims.schedules import Makespan

TABLE = tomllib.loads("""
name = "small"
platform.workers = 12
job = { kind = "malleable", footprints = [20000, 30000] }
protection = { kind = "buddies", period = "young" }
policy.name = "EndLocal"
""")


def scenario(**sections: Any) -> Any:
    return read(TABLE | sections, "small.toml")


def makespan(**sections: Any) -> float:
    fold = Makespan()
    run(scenario(**sections), [fold])
    return fold.value


def test_the_shipped_fatal_failure_is_fatal() -> None:
    records = recorded(load(SCENARIOS / "malleable-fatal.toml"))
    assert [it.t for it in records if isinstance(it.event, RestartedFromScratch)] == [50600]


SPEEDUPS = listed(__file__, "speedups")


@pytest.mark.parametrize("speedup", SPEEDUPS, ids=lambda speedup: str(speedup["kind"]))
def test_every_speedup_model_drives_a_run(speedup: dict[str, Any]) -> None:
    assert makespan(job=TABLE["job"] | {"speedup": speedup}) > 0


FORMULAS = [it for it in SPEEDUPS if it["kind"] not in ("synthetic", "table")]


@pytest.mark.parametrize("speedup", FORMULAS, ids=lambda speedup: str(speedup["kind"]))
def test_a_malleable_job_that_is_never_resized_takes_the_time_of_a_moldable_one(
    speedup: dict[str, Any],
) -> None:
    own = {"work": 900, **speedup}
    alone = {"platform": {"workers": 4}, "protection": {}}
    moldable = {"kind": "moldable", "processors": 4, "speedup": own}
    malleable = {"kind": "malleable", "footprint": 0, "speedup": own}
    found = [
        makespan(**alone, job={"kind": "malleable", "jobs": [job]}, policy=policy)
        for job, policy in (
            (moldable, {"name": "R-LIST-0", "order": "LPT"}),
            (malleable, {"name": "none"}),
        )
    ]
    assert found[0] == found[1] > 0


def test_a_formula_scales_what_it_says_or_else_its_footprints_work() -> None:
    """2 m log2 m is 2 * 1024 * 10."""
    for own, expected in (({}, 20480), ({"work": 1000}, 1000)):
        speedup = {"kind": "power", "delta": 1, **own}
        job = {"kind": "malleable", "footprints": [1024], "speedup": speedup}
        assert makespan(job=job, platform={"workers": 2}, protection={}) == expected / 2


def test_a_moldable_job_without_work_is_refused() -> None:
    jobs = [{"kind": "moldable", "speedup": {"kind": "amdahl", "fraction": 0.1}}]
    with pytest.raises(InputError, match=r"job\.jobs\.0\.speedup\.work: missing"):
        scenario(job={"kind": "malleable", "jobs": jobs})


def test_redistribution_at_ends_does_no_harm_without_faults() -> None:
    assert makespan() <= makespan(policy={"name": "none"})


def test_the_same_seed_meets_the_same_faults_whatever_the_policy() -> None:
    faults = {"kind": "exponential", "mtbf": 0.05 * YEAR}
    found = []
    for policy in ("none", "IteratedGreedy-EndGreedy"):
        story = Story()
        run(scenario(faults=faults, seed=5, policy={"name": policy}), [story])
        found.append([(fault.time, fault.processor) for fault in story.faults])
    shorter = min(map(len, found))
    assert shorter > 3
    assert found[0][:shorter] == found[1][:shorter]


def test_weibull_faults_cost_time_and_come_at_their_rate() -> None:
    weibull = {"kind": "weibull", "mtbf": 0.02 * YEAR, "shape": 0.7}
    assert makespan(faults=weibull, seed=2) > makespan()


@pytest.mark.parametrize("shape", [0.5, 1.0, 2.0])
def test_weibull_processors_fail_at_the_rate_of_their_mean(shape: float) -> None:
    faults = list(islice(weibull_faults(np.random.default_rng(1), 20, 100.0, shape), 20000))
    times = [time for time, _ in faults]
    assert times == sorted(times)
    # A renewal process: rate 20/100; at shape 0.5 the variance of a gap is 5 times its square.
    assert len(faults) / times[-1] == pytest.approx(0.2, rel=4 * (5 / 20000) ** 0.5)


def test_exponential_faults_strike_processors_evenly_at_their_rate() -> None:
    faults = list(islice(exponential_faults(np.random.default_rng(2), 10, 50.0), 20000))
    assert faults[-1][0] == pytest.approx(20000 * 5, rel=4 / 20000**0.5)
    struck = np.bincount([processor for _, processor in faults], minlength=10)
    assert np.all(abs(struck - 2000) < 4 * (20000 * 0.1 * 0.9) ** 0.5)


def take_all(view: RedistributionView) -> list[Resize]:
    """More processors than there are."""
    return [Resize(view.candidates[0].index, 100)]


def stranger(view: RedistributionView) -> list[Resize]:
    """An application that there is not."""
    return [Resize(7, 2)]


def odd(view: RedistributionView) -> list[Resize]:
    """Half a pair."""
    return [Resize(view.candidates[0].index, 3)]


@pytest.mark.parametrize("bad", ["take_all", "stranger", "odd"])
def test_a_bad_decision_is_refused_with_the_policy_and_what_it_saw(bad: str) -> None:
    user = scenario(policy={"name": f"{Path(__file__).stem}:{bad}"})
    with pytest.raises(BadDecision, match=rf":{bad} answered .*it saw now = .*candidates"):
        run(user, folder=Path(__file__).parent)


def test_applications_that_find_no_group_of_workers_wait_for_one() -> None:
    story = Story()
    run(scenario(platform={"workers": 3}), [story])
    assert list(story.ends) == ["T1", "T2"]
    alone = Story()
    job = {"kind": "malleable", "footprints": [20000]}
    run(scenario(platform={"workers": 3}, job=job), [alone])
    assert story.ends["T1"] == alone.ends["T1"] < story.ends["T2"]


def test_a_worker_without_a_buddy_is_warned_of_where_every_fault_counts() -> None:
    job = TABLE["job"] | {"pair": 1}
    protection = TABLE["protection"] | {"fatal": "possible"}
    with pytest.warns(UserWarning, match="no buddy"):
        run(scenario(job=job, protection=protection))


def test_drawn_footprints_hang_on_their_own_seed_only() -> None:
    draw = {"count": 3, "smallest": 1500, "largest": 2500}
    one = scenario(job={"kind": "malleable", "synthetic": draw})
    other = one.model_copy(update={"seed": 9})
    drawn = [[it.footprint for it in each.job.drawn(1)] for each in (one, other)]
    assert drawn[0] == drawn[1]
    assert all(1500 <= footprint <= 2500 for footprint in drawn[0])
