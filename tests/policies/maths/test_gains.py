"""g(r, t): integration, simulation and what redundancy17's lemmas say of it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.maths.gains import (
    ConstantGain,
    FrozenTwoPoint,
    Gain,
    GainFunction,
    SimulatedService,
    tabulated_gain,
    two_state_gain,
)
from policies.maths.speeds import ConstantSpeed, OnOff, TwoPoint, UniformSlots

TIMES = st.floats(0.01, 5)
COPIES = st.integers(1, 30)


@pytest.mark.parametrize("process", [TwoPoint(4.0, 0.3), TwoPoint(2.0, 1.0, 0.25), OnOff(3.0, 0.5)])
@pytest.mark.parametrize(("copies", "time"), [(1, 0.5), (2, 0.5), (5, 2.0), (20, 1.0)])
def test_integration_and_simulation_agree(
    process: TwoPoint | OnOff, copies: int, time: float
) -> None:
    exact = two_state_gain(copies, time, process)
    simulated = SimulatedService.of(process, time, 4000, np.random.default_rng(3)).gain(copies)
    assert simulated.value == pytest.approx(exact.value, abs=4 * simulated.error)
    assert exact.error < 1e-7


def test_one_copy_gains_nothing() -> None:
    assert two_state_gain(1, 2.0, TwoPoint(4.0, 0.3)).value == pytest.approx(2.0, rel=1e-9)


def test_g_of_speeds_that_never_change_is_the_frozen_one() -> None:
    slow = two_state_gain(3, 1.0, TwoPoint(4.0, 1e7))
    assert slow.value == pytest.approx(FrozenTwoPoint(4.0).work(3, 1.0), rel=1e-6)


@settings(max_examples=30)
@given(copies=st.integers(2, 12), time=TIMES)
def test_g_is_concave_in_the_copies_and_bounded(copies: int, time: float) -> None:
    process = TwoPoint(4.0, 0.5)
    g = [0.0, *(two_state_gain(r, time, process).value for r in range(1, copies + 1))]
    steps = np.diff(g)
    assert (np.diff(steps) <= 1e-9).all()
    assert all(value <= min(4 * time, r * time) * (1 + 1e-9) for r, value in enumerate(g))


@pytest.mark.parametrize(
    "gain",
    [
        ConstantGain(),
        FrozenTwoPoint(4.0),
        GainFunction(lambda r, t: t + (1 - 1 / r) * (1 - np.exp(-t)), peak=2.0),
        tabulated_gain(TwoPoint(4.0, 0.3), 100, np.random.default_rng(0)),
    ],
    ids=["constant", "frozen", "function", "tabulated"],
)
@settings(max_examples=40)
@given(copies=COPIES, time=TIMES)
def test_the_time_for_a_work_undoes_the_work_in_a_time(
    gain: Gain, copies: int, time: float
) -> None:
    assert gain.time(copies, gain.work(copies, time)) == pytest.approx(time, rel=1e-9)


def test_the_table_interpolates_g_closely() -> None:
    process = TwoPoint(4.0, 0.3)
    table = tabulated_gain(process, 100, np.random.default_rng(0))
    for copies in (2, 10, 50):
        for time in (0.013, 0.17, 0.9, 3.3):
            exact = two_state_gain(copies, time, process).value
            assert table.work(copies, time) == pytest.approx(exact, rel=1e-3)


def test_a_simulated_table_does_not_depend_on_what_is_asked_first() -> None:
    process = UniformSlots(2.0, 0.5)
    one, other = (tabulated_gain(process, 200, np.random.default_rng(4)) for _ in range(2))
    asked = [(3, 0.7), (5, 2.0), (2, 0.1)]
    forwards = [one.work(*question) for question in asked]
    assert forwards == [other.work(*question) for question in reversed(asked)][::-1]


def test_constant_speeds_gain_nothing() -> None:
    gain = tabulated_gain(ConstantSpeed(), 10, np.random.default_rng(0))
    assert gain.work(7, 3.0) == 3.0


def test_more_copies_than_half_of_the_sample_are_refused() -> None:
    sample = SimulatedService(np.arange(10.0))
    with pytest.raises(ValueError, match="6 copies"):
        sample.gain(6)


def test_no_work_takes_no_time() -> None:
    gain = GainFunction(lambda copies, time: 2 * time, 2.0)
    assert gain.time(3, 0.0) == gain.work(3, 0.0) == 0.0
    assert gain.time(3, 5.0) == pytest.approx(2.5)
