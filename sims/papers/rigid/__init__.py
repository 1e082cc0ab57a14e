"""rigid21: rigid jobs whose runs fail silently: figures 4 to 6, and proposition 3's ratios."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from actors.runtime import stream
from policies.maths.makespan_bounds import rigid_bound
from policies.maths.silent_errors import draw_failures, failure_probabilities
from policies.maths.speedup import Rigid
from sims.campaign.results import Results
from sims.papers.values import Place, Value, estimated, over_sets, runs, without
from sims.scenario.jobs.drawn import UniformJobs
from sims.scenario.jobs.entries import RigidJob
from sims.scenario.jobs.section import RigidSection
from sims.scenario.scenario import Scenario

SEEDS = 10_000
"""Of failures, for each set of jobs."""
LEFT_OUT = 10_000
"""The platform that the paper's mean gains leave out (section 5.2)."""
GAINS = {"R-SHELF-B": "4.8", "R-SHELF-NB": "4.9"}
"""Per cent by which filling improves shelves, P = 10,000 left out (section 5.2)."""


def jobs(number: int) -> dict[str, Any]:
    """Set `number` of section 5.1's jobs at the default parameters; each has failures of its own.

    R-LIST's reservations are `kept`: what the paper's curves fit."""
    return {
        "name": "rigid21",
        "seed": SEEDS * number,
        "platform": {"workers": 10_000},
        "job": {"kind": "rigid", "synthetic": {"seed": number}},
        "errors": {"average": 0.3},
        "policy": {"name": "R-LIST-0", "order": "LPT", "reading": "kept"},
    }


# --- views ------------------------------------------------------------------------------------


@cache
def _drawn(jobs: UniformJobs) -> tuple[Rigid, ...]:
    return tuple(jobs.draw())


@cache
def _bound(jobs: tuple[Rigid, ...], processors: int, average: float, seed: int) -> float:
    chances = failure_probabilities([job.work for job in jobs], average)
    return rigid_bound(jobs, draw_failures(chances, stream(seed, "failures")), processors)


def bound(scenario: Scenario) -> float:
    """L(f) of the very failures that a run of `scenario` meets (equations 5 and 6)."""
    section = scenario.job
    assert isinstance(section, RigidSection)
    if section.synthetic is not None:
        jobs = _drawn(section.synthetic)
    else:
        rigid = (job for job in section.jobs if isinstance(job, RigidJob))
        jobs = tuple(Rigid(job.processors, job.time) for job in rigid)
    return _bound(jobs, scenario.full_platform.size, scenario.errors.average or 0.0, scenario.seed)


def ratios(results: Results) -> Iterator[tuple[Place, str, float]]:
    """Of each run to its L(f), by place and variant."""
    for ran in runs(results):
        if ran.value is not None:
            scenario = ran.case.scenario(ran.replication)
            yield ran.place, ran.variant, ran.value / bound(scenario)


def figure(results: Results) -> list[Value]:
    """Mean ratios to L(f), over sets of jobs."""
    means = over_sets(ratios(results), "number").items()
    return [Value(*key, "makespan / L(f)", estimated(values)) for key, values in means]


def figure4b(results: Results) -> list[Value]:
    """The same, and what filling gains over all platforms, in per cent."""
    found = figure(results)
    at = {(it.place, it.who): it.ours.mean for it in found}
    return found + [_gain(at, plain, printed) for plain, printed in GAINS.items()]


def _gain(at: dict[Any, float], plain: str, printed: str) -> Value:
    filled = plain.replace("SHELF", "SHELFFILL")
    gains = [
        100 * (1 - at[place, filled] / ratio)
        for (place, who), ratio in at.items()
        if who == plain and without(place) != (("platform.workers", LEFT_OUT),)
    ]
    return Value((), filled, f"gain on {plain}, %", estimated(gains), printed)
