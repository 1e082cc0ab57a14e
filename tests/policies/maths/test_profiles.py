"""Array arithmetic on profiles, against a scan of all processor counts."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from policies.maths.profiles import Formulas, Listed, ratio, split
from policies.maths.speedup import (
    Rigid,
    Speedup,
    Table,
    amdahl,
    communication,
    mix,
    power,
    roofline,
)
from policies.maths.tolerance import ROUNDING

WORK = st.floats(1, 1000)
FORMULAS = st.one_of(
    st.builds(roofline, WORK, st.integers(1, 60)),
    st.builds(communication, WORK, st.floats(0.001, 10)),
    st.builds(amdahl, WORK, st.floats(0, 1)),
    st.builds(mix, WORK, st.integers(1, 60), st.floats(0, 1), st.floats(0.001, 10)),
    st.builds(power, WORK, st.floats(0, 1)),
)
PROCESSORS = st.integers(1, 50)


def scan(profile: Speedup, processors: int) -> Listed:
    times = tuple(profile.time(p) for p in range(1, processors + 1))
    return Listed.of(Table(times), processors)


@given(FORMULAS, PROCESSORS)
@settings(max_examples=300)
def test_least_time_area_and_ratio_and_their_counts_are_those_of_a_scan(
    profile: Speedup, processors: int
) -> None:
    arrays, listed = Formulas.of([profile], processors), scan(profile, processors)
    assert arrays.least_time[0] == pytest.approx(listed.times.min(), rel=ROUNDING)
    assert arrays.least_area[0] == pytest.approx(listed.areas.min(), rel=ROUNDING)
    assert int(arrays.min_time()[0]) == listed.min_time()
    ratios = listed.ratios()
    assert ratios[int(arrays.local()[0]) - 1] == pytest.approx(ratios.min(), rel=1e-11)


@given(FORMULAS, PROCESSORS, st.floats(0.3, 30))
@example(power(1.0, 1e-14), 2, 1.0)
@settings(max_examples=300)
def test_the_thrifty_count_is_the_cheapest_that_is_fast_enough(
    profile: Speedup, processors: int, factor: float
) -> None:
    arrays, listed = Formulas.of([profile], processors), scan(profile, processors)
    limit = factor * float(listed.times.min())
    found = int(arrays.thrifty(np.array([limit]))[0])
    # What is slower by no more than rounding is fast enough to the arrays: it may cost less.
    spare = max(limit, float(listed.times.min())) * (1 + 4 * ROUNDING)
    least, most = (listed.areas[listed.thrifty(it) - 1] for it in (spare, limit))
    assert least * (1 - 1e-9) <= listed.areas[found - 1] <= most * (1 + 1e-9)
    if listed.times.min() <= limit:
        assert listed.times[found - 1] <= limit * (1 + 2 * ROUNDING)


@given(FORMULAS, PROCESSORS, st.floats(1, 30))
def test_the_needed_count_is_the_smallest_that_is_fast_enough(
    profile: Speedup, processors: int, factor: float
) -> None:
    times = scan(profile, processors).times
    limit = factor * float(times.min())
    found = int(Formulas.of([profile], processors).needed(np.array([limit]))[0])
    assert times[found - 1] <= limit * (1 + 2 * ROUNDING)
    assert (times[: found - 1] > limit).all()


def test_the_ratio_is_equation_10() -> None:
    alpha, beta = np.array([2.0, 1.0]), np.array([1.0, 2.0])
    assert ratio(alpha, beta, 4).tolist() == pytest.approx([4.0, 4 / 3 + 2 / 3 * 2])
    assert ratio(alpha, beta, 1).tolist() == [4.0, 2.0]


def test_a_table_may_be_shorter_than_the_platform() -> None:
    assert Listed.of(Table((5, 4)), 100).min_time() == 2


def test_rigid_jobs_cannot_be_allotted() -> None:
    with pytest.raises(ValueError, match="only moldable"):
        split([Rigid(2, 3)])
