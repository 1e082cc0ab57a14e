"""Speed processes: unit mean, peak, rising times, stationary from the start."""

from __future__ import annotations

import math
from itertools import islice, pairwise

import numpy as np
import pytest

from policies.maths.gains import service_until
from policies.maths.speeds import (
    ConstantSpeed,
    OnOff,
    SpeedProcess,
    TraceSpeed,
    TwoPoint,
    TwoPointSlots,
    UniformSlots,
)

VARYING: list[SpeedProcess] = [
    TwoPoint(4.0, 0.3),
    TwoPoint(2.0, 1.0, 0.5),
    TwoPointSlots(4.0, 0.3),
    UniformSlots(2.0, 0.7),
    UniformSlots(1.5, 1.0),
    OnOff(3.0, 0.5),
]
PROCESSES: list[SpeedProcess] = [ConstantSpeed(), TraceSpeed(((0, 1), (2, 3))), *VARYING]


@pytest.mark.parametrize("process", PROCESSES, ids=repr)
def test_a_path_begins_at_0_its_times_rise_and_no_speed_exceeds_the_peak(
    process: SpeedProcess,
) -> None:
    path = list(islice(process.path(np.random.default_rng(1)), 500))
    assert path[0][0] == 0
    assert all(before[0] < after[0] for before, after in pairwise(path))
    assert all(0 <= speed <= process.peak for _, speed in path)


@pytest.mark.parametrize("process", VARYING, ids=repr)
@pytest.mark.parametrize("time", [0.1, 1.0, 5.0])
def test_the_mean_service_in_t_is_t_from_the_very_start(process: SpeedProcess, time: float) -> None:
    rng, paths = np.random.default_rng(7), 3000
    served = [service_until(process, time, rng) for _ in range(paths)]
    assert np.mean(served) == pytest.approx(time, abs=4 * float(np.std(served)) / math.sqrt(paths))


def test_service_follows_a_trace_exactly() -> None:
    process = TraceSpeed(((0.0, 1.0), (2.0, 0.0), (3.0, 4.0)))
    assert service_until(process, 3.5, np.random.default_rng(0)) == 2 + 0 + 2


@pytest.mark.parametrize(
    "make",
    [
        lambda: TwoPoint(4.0, 1.0, 1.0),
        lambda: TwoPointSlots(4.0, 1.0, 2.0),
        lambda: TwoPoint(1.0),
        lambda: UniformSlots(2.5),
        lambda: TraceSpeed(()),
        lambda: TraceSpeed(((1.0, 1.0),)),
        lambda: TraceSpeed(((0.0, 1.0), (0.0, 2.0))),
        lambda: TraceSpeed(((0.0, -1.0),)),
    ],
)
def test_a_process_that_cannot_be_is_refused(make: type) -> None:
    with pytest.raises(ValueError):
        make()
