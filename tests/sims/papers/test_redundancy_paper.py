"""redundancy17's experiments, small: they run, and print what they promise."""

from __future__ import annotations

import numpy as np
import pytest

from policies.maths.gains import gain_at
from policies.maths.speeds import TwoPoint, UniformSlots
from sims.campaign.engine import execute
from sims.papers import item
from sims.papers.redundancy17 import bounded, concave, drain, guarantee

SET = {"platform": {"workers": 4}, "job": {"stream": {"count": 100}}}


def over_bounds(policies: tuple[str, ...], speeds: list[float]) -> dict[tuple[str, float], float]:
    """Flowtime over its bound by policy and speed, the worst and best of both semantics."""
    one = item("redundancy17/bounds")
    variants = {name: {"policy": {"name": name}} for name in policies}
    changes = {"set": SET, "axes": {"speed": speeds}, "variants": variants, "replications": 1}
    found = one.values(execute(one.campaign("default", changes)))
    assert len({dict(it.place)["semantics"] for it in found}) == 2
    return {
        (f"{it.who} {dict(it.place)['semantics']}", dict(it.place)["speed"]): it.ours.mean
        for it in found
        if it.what == "flowtime / bound"
    }


def test_srpt_r_stays_within_theorem_1() -> None:
    for (who, speed), ratio in over_bounds(("SRPT+R",), [1.5, 3.0]).items():
        if who.startswith("SRPT+R "):
            most = guarantee("SRPT+R", speed)
            assert most is not None
            assert 0 < ratio < most


def test_no_policy_beats_the_bound_at_unit_speed() -> None:
    found = over_bounds(("SRPT+R", "SRPT+R-even", "LAPS+R(1/2)", "FCFS"), [1.0])
    assert len(found) == 8
    assert min(found.values()) >= 1


@pytest.mark.parametrize("process", [TwoPoint(4.0, 0.3), UniformSlots(2.0, 0.5)])
def test_lemmas_1_and_2_hold(process: TwoPoint | UniformSlots) -> None:
    at = gain_at(process, 500, np.random.default_rng(1))
    gains = [at(copies, 0.7) for copies in range(1, 9)]
    assert concave(gains)
    assert bounded(gains, process.peak, 0.7)


def test_lemma_5_holds() -> None:
    simulated, formula = drain(20, 3, 0.5, np.random.default_rng(1))
    assert simulated == pytest.approx(formula, rel=1e-12)
