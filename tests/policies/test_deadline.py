"""When spot, when on-demand: the rules of Wu et al. (2024), by hand."""

from __future__ import annotations

import pytest

from policies.deadline import NAMED, ON_DEMAND
from policies.interface import DueJob, Offer

SPOT, DEAR, DEMAND = Offer("b", 1.0), Offer("a", 2.0), Offer(ON_DEMAND, 3.0)


@pytest.mark.parametrize(
    ("policy", "elapsed", "saved", "kind", "offers", "goes"),
    [
        ("on-demand", 0, 0, "", (SPOT, DEMAND), ON_DEMAND),
        ("spot", 59, 0, "", (SPOT, DEAR, DEMAND), "b"),
        ("spot", 59, 0, "a", (SPOT, DEAR, DEMAND), "a"),
        ("spot", 59, 0, ON_DEMAND, (DEMAND,), ""),
        # 60 - 10 - 48 are two changeovers of 1.
        ("greedy", 10, 0, "", (DEMAND,), ""),
        ("greedy", 10, 0, ON_DEMAND, (SPOT, DEMAND), "b"),
        ("greedy", 10.1, 0, "b", (SPOT, DEMAND), ON_DEMAND),
        # The line is at 0.8 of the time: 20 in 25.
        ("uniform-progress", 25, 20, "", (DEMAND,), ""),
        ("uniform-progress", 25, 19.9, "", (DEMAND,), ON_DEMAND),
        ("uniform-progress", 25, 19.9, "", (SPOT, DEMAND), "b"),
        ("uniform-progress", 25, 21.5, ON_DEMAND, (SPOT, DEMAND), ON_DEMAND),
        ("uniform-progress", 25, 21.6, ON_DEMAND, (SPOT, DEMAND), "b"),
        ("uniform-progress", 25, 27, ON_DEMAND, (DEMAND,), ON_DEMAND),
        ("uniform-progress", 25, 20, "b", (SPOT, DEMAND), "b"),
    ],
)
def test_a_job_goes_on_where_its_policy_says(
    policy: str, elapsed: float, saved: float, kind: str, offers: tuple[Offer, ...], goes: str
) -> None:
    job = DueJob(elapsed, 60, 48, saved, 1, 1, kind, offers)
    assert NAMED[policy](job) == goes


def test_a_policy_that_is_seldom_asked_leaves_in_time() -> None:
    """Asked again in 5, it would come too late."""
    job = DueJob(9, 60, 48, 2, 1, 5, "", (DEMAND,))
    assert NAMED["greedy"](job) == ON_DEMAND
