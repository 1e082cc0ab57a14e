"""Numbers that no float is: what coincides on paper coincides (rules.md, One instant)."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from typing import Any

import pytest

from tests.sims.oneworld import Told, play

PERIODS = [Decimal(tenths) / 10 for tenths in range(1, 31)]
PAIRS = [(period, count) for period in PERIODS for count in range(2, 21)]


def job(period: Decimal, work: Decimal, protection: str) -> dict[str, Any]:
    times = {"t": float(work), "period": float(period), "cost": 1}
    return {"p": 2, "protection": protection, **times}


def told(jobs: list[dict[str, Any]]) -> Told:
    """Of jobs that run side by side."""
    return Told.of(play({"workers": 2 * len(jobs), "jobs": jobs}))


@pytest.mark.parametrize("protection", ["buddies", "images"])
def test_work_of_so_many_periods_takes_one_checkpoint_less(protection: str) -> None:
    """None is begun when no work would be left after it (P7): 3.6 is three periods of 1.2."""
    found = told([job(period, count * period, protection) for period, count in PAIRS])
    taken = Counter(index for index, *_ in found.checkpoints)
    assert [taken[index] for index in range(570)] == [count - 1 for _, count in PAIRS]
    due = [float(count * period + (count - 1)) for period, count in PAIRS]
    assert [found.completions[index] for index in range(570)] == pytest.approx(due, rel=1e-9)


@pytest.mark.parametrize(("more", "checkpoints"), [("0.000000001", 3), ("0.0000000000001", 2)])
def test_a_checkpoint_is_taken_where_more_work_is_left_than_rounding(
    more: str, checkpoints: int
) -> None:
    work = Decimal("3.6") + Decimal(more)
    assert len(told([job(Decimal("1.2"), work, "images")]).checkpoints) == checkpoints
