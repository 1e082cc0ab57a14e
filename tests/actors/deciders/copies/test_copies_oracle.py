"""The simulator against an independent model, exactly, on instances that hypothesis makes up."""

from __future__ import annotations

from fractions import Fraction
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.copies import Laps, LapsR, ProcessorSharing, SrptR
from policies.interface.copies import RedundancyPolicy
from tests.actors.deciders.copies.oracle import (
    Instance,
    Planner,
    Steps,
    completions,
    laps,
    laps_r,
    sharing,
    srpt_r,
)
from tests.actors.deciders.copies.worlds import Trace, columns, run

EIGHTHS = st.integers(0, 24).map(lambda k: Fraction(k, 8))
SIZES = st.integers(1, 24).map(lambda k: Fraction(k, 8))
RATES = st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(1), Fraction(2), Fraction(4)])


@st.composite
def traces(draw: st.DrawFn) -> Steps:
    """A server's speed: rising times, any of a few rates, and in the end one that goes on."""
    times = sorted(draw(st.sets(st.integers(1, 40), max_size=4)))
    steps = [(Fraction(time, 4), draw(RATES)) for time in (0, *times)]
    return (*steps, (Fraction(11), Fraction(1)))


@st.composite
def instances(draw: st.DrawFn) -> Instance:
    arrivals = sorted(draw(st.lists(EIGHTHS, min_size=1, max_size=7)))
    return Instance(
        tuple(arrivals),
        tuple(draw(SIZES) for _ in arrivals),
        tuple(draw(traces()) for _ in range(draw(st.integers(1, 4)))),
        draw(st.sampled_from([Fraction(1, 5), Fraction(1, 2), Fraction(9, 10)])),
        draw(st.sampled_from([Fraction(1), Fraction(3, 2)])),
    )


def simulated(instance: Instance, policy: RedundancyPolicy) -> list[float]:
    jobs = zip(instance.arrivals, instance.sizes, strict=True)
    paths = [[(time, instance.speed * v) for time, v in trace] for trace in instance.traces]
    decider = columns(policy, exact=True)
    known = cast(list[tuple[float, float]], list(jobs))
    where = {"workers": len(instance.traces), "start": Fraction(0)}
    result = run(decider, known, cast(list[Trace], paths), **cast(dict[str, int], where))
    ended = dict(zip(result.jobs, result.completed.tolist(), strict=True))
    return [ended[f"{k}"] for k in range(len(known))]


@pytest.mark.parametrize("name", ["srpt+r", "laps+r", "laps", "ps"])
@settings(max_examples=60, deadline=None)
@given(instance=instances())
def test_every_completion_is_the_independent_model_s(name: str, instance: Instance) -> None:
    pairs: dict[str, tuple[RedundancyPolicy, Planner]] = {
        "srpt+r": (SrptR(), srpt_r),
        "laps+r": (LapsR(instance.beta), laps_r),
        "laps": (Laps(instance.beta), laps),
        "ps": (ProcessorSharing(), sharing),
    }
    policy, planner = pairs[name]
    assert simulated(instance, policy) == completions(instance, planner)
