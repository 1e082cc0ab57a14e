"""How often an interval covers the truth where runs were added until it was narrow."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.random import Generator, default_rng

from sims.campaign.batches import RunStatus
from sims.campaign.comparing import compare, widths
from sims.campaign.observations import Compared
from sims.campaign.sections import Precision
from sims.intervals import LEVEL
from sims.metrics.measures import Measure

Pairs = tuple[list[float], list[float]]
GAUGE = Measure.COST


def normal(rng: Generator, count: int) -> Pairs:
    """Pairs whose parts share a half of their variance; means 10 and 11."""
    shared = rng.normal(0, 1, count)
    base, ours = (mean + shared + rng.normal(0, 1, count) for mean in (10, 11))
    return base.tolist(), ours.tolist()


def skewed(rng: Generator, count: int) -> Pairs:
    """Log-normal numbers with a coefficient of variation of 0.5; means 10 and 11."""
    spread = np.sqrt(np.log(1.25))
    shared = rng.normal(0, spread / np.sqrt(2), count)
    base, ours = (
        mean * np.exp(shared + rng.normal(0, spread / np.sqrt(2), count) - spread**2 / 2)
        for mean in (10, 11)
    )
    return base.tolist(), ours.tolist()


def few_valued(rng: Generator, count: int) -> Pairs:
    """Numbers of losses of 1 each beside 8 of work: Poisson with means 2 and 3."""
    return (8.0 + rng.poisson(2, count)).tolist(), (8.0 + rng.poisson(3, count)).tolist()


LAWS: dict[str, tuple[Callable[[Generator, int], Pairs], float]] = {
    "normal": (normal, 1.1),
    "skewed": (skewed, 1.1),
    "few-valued": (few_valued, 1.1),
}
"""Maps a law to the function that draws from it, and to the true ratio."""


def covered(law: str, study: int, precision: Precision) -> bool:
    """Draw one study: look again and again, until the interval is narrow; return whether it then
    covers the true ratio."""
    draw, truth = LAWS[law]
    looks = precision.looks()
    base, ours = draw(default_rng([study, *law.encode()]), precision.most)
    level = 1 - (1 - LEVEL) / len(looks)
    for count in looks:
        runs = {
            name: [Compared(k, RunStatus.COMPLETED, value) for k, value in enumerate(row[:count])]
            for name, row in (("base", base), ("ours", ours))
        }
        found = compare((), GAUGE, runs, "base", "ratio", level)
        if all(precision.reached(scale, half) for scale, half in widths(found)):
            break
    effect = found.lines[1].effect
    assert effect is not None
    return effect.low <= truth <= effect.high


def share(law: str, studies: int, relative: float = 0.04, growth: float = 1.5) -> float:
    """Return the share of studies that cover the truth."""
    precision = Precision(of="effect", relative=relative, first=10, most=400, growth=growth)
    return sum(covered(law, study, precision) for study in range(studies)) / studies


def rows(studies: int) -> Iterator[str]:
    """Yield a line for each law: how often the interval at the end covers the true ratio."""
    for name in LAWS:
        yield f"{name:12}{share(name, studies):8.2%} of {studies:,} studies"
