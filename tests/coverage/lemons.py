"""How often the intervals of `holdfast lemons` cover the truth, and how often it finds lemons."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen
from numpy.random import default_rng

from sims.readers.lemons import fit_lemons

DRAWN = 19
"""Number of drawn logs of each test: the fewest with which it has a level of 5 %."""


@frozen
class Fleet:
    """A fleet with a known answer: nodes watched for a time of 1."""

    nodes: int
    well: float
    """Failures of a well node that are expected."""
    lemon: float
    share: float


FLEETS = {
    "150 nodes, 10 % fail 7 times as often": Fleet(150, 1.5, 10.5, 0.1),
    "1,000 nodes, 8 % fail 20 times as often": Fleet(1000, 0.3, 6.0, 0.08),
    "64 nodes, 15 % fail 5 times as often": Fleet(64, 2.0, 10.0, 0.15),
    "150 nodes, all alike": Fleet(150, 1.5, 1.5, 0.0),
}


def studied(name: str, studies: int) -> dict[str, float]:
    """Return the share of logs in which each interval covers, and in which two rates are found."""
    fleet, rng = FLEETS[name], default_rng([57, *name.encode()])
    truths = {"well": fleet.well, "lemon": fleet.lemon, "share": fleet.share}
    covered = dict.fromkeys((*truths, "two"), 0)
    for _ in range(studies):
        bad = rng.random(fleet.nodes) < fleet.share
        failures = rng.poisson(fleet.well + bad * (fleet.lemon - fleet.well))
        seed = int(rng.integers(2**31))
        found = fit_lemons(failures.tolist(), [1.0] * fleet.nodes, seed=seed, drawn=DRAWN)
        covered["two"] += found.two
        for key, truth in truths.items():
            bounds = getattr(found, key)
            covered[key] += bounds.low <= truth <= bounds.high
    return {key: count / studies for key, count in covered.items()}


def rows(studies: int) -> Iterator[str]:
    """Yield the table; of a fleet without lemons only how often some are found has a meaning."""
    yield "| fleet | well nodes' rate | lemons' rate | share | two rates found |"
    yield "| --- | --- | --- | --- | --- |"
    for name, fleet in FLEETS.items():
        found = studied(name, studies)
        cells = [f"{100 * it:.1f} %" for it in found.values()]
        if not fleet.share:
            cells[:3] = ["-"] * 3
        yield f"| {name} | {' | '.join(cells)} |"
