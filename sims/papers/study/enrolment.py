"""How many workers is it worth enrolling behind a master of limited bandwidth?

An application of m tasks runs on k of its workers, for every k and every n_com and T_data, on the
same realised availability. A worker more shortens the computation (fewer tasks each), but costs
transfers through the master and is one more that can go DOWN.

The platform was chosen so that the answer lies within the range of k. It is no law: with programs
of 10 slots, tasks of 20 and steadier workers (stay = 0.998) enrolling all 20 was best in 14 of 15
cells.
"""

from __future__ import annotations

from collections.abc import Mapping

from sims.campaign.results import Results
from sims.papers.values import Place, Value, exactly, means, without

WITHIN = 1.05
"""A number of workers is worth it up to so many times the least mean."""
ENROLLED = "policy.parameters.workers"


def view(results: Results) -> list[Value]:
    """Mean makespans, slots; and how many workers are worth enrolling."""
    found = [it for it in means(results) if it.ours.size == results.campaign.replications]
    curves: dict[Place, dict[int, float]] = {}
    for it in found:
        curve = curves.setdefault(without(it.place, ENROLLED), {})
        curve[dict(it.place)[ENROLLED]] = it.ours.mean
    return found + [
        Value(place, "", "worth enrolling", exactly(worth(curve)))
        for place, curve in curves.items()
    ]


def worth(means: Mapping[int, float]) -> int:
    """The fewest workers whose mean is within 5 % of the least over all k."""
    return min(k for k, mean in means.items() if mean <= WITHIN * min(means.values()))
