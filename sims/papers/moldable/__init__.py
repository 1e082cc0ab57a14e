"""moldable21: moldable jobs whose runs fail silently: the example, Table 1, figures 4 and 5."""

from __future__ import annotations

from functools import cache
from typing import Any

from actors.runtime import stream
from policies.interface.queue import BatchJob, Draw
from policies.maths.makespan_bounds import least, moldable_bound
from policies.maths.silent_errors import draw_failures, rate_probabilities
from sims.campaign.results import Results
from sims.papers.values import (
    Value,
    drawn,
    estimated,
    exactly,
    grouped,
    over_sets,
    runs,
    without,
)
from sims.scenario.jobs.drawn import SyntheticJobs
from sims.scenario.jobs.section import MoldableSection
from sims.scenario.scenario import Scenario

SEEDS = 10_000
"""Of failures, for each set of jobs."""
MODELS = ("roofline", "communication", "amdahl", "mix-low-com", "mix", "power")
TABLE_1 = {
    "LPA": (
        ("1.057", "1.312", "1.961", "1.896", "1.867", "1.861"),
        ("1.219", "2.241", "2.349", "1.987", "1.995", "9.655"),
    ),
    "BATCH": (
        ("1.158", "1.434", "1.529", "1.548", "1.571", "1.549"),
        ("1.999", "2.449", "2.874", "3.674", "4.164", "3.975"),
    ),
    "MINTIME": (
        ("1.057", "2.044", "15.567", "2.810", "2.704", "20.386"),
        ("1.219", "2.666", "49.795", "12.611", "27.174", "61.726"),
    ),
    "MINAREA": (
        ("114.079", "122.199", "23.594", "16.875", "9.686", "2.571"),
        ("1217.13", "871.38", "199.572", "259.163", "120.9", "27.109"),
    ),
}
"""Expected and maximum ratios by model, over sweeps whose grid is not stated."""


def jobs(number: int) -> dict[str, Any]:
    """Set `number` of section 5.1's jobs at the default parameters, with failures of its own."""
    return {
        "name": "moldable21",
        "seed": SEEDS * number,
        "platform": {"workers": 7500},
        "job": {"kind": "moldable", "synthetic": {"count": 500, "seed": number}},
        "errors": {"per_work": 1e-7},
        "policy": {"name": "R-LIST-0"},
    }


def by_index(job: BatchJob, processors: int, time: float, platform: int, draw: Draw) -> float:
    """The order of section 4.7's example: from J1 to J4."""
    return -job.index


# --- views ------------------------------------------------------------------------------------


@cache
def _least(drawn: SyntheticJobs, processors: int) -> tuple[list[float], list[float], list[float]]:
    profiles = drawn.draw()
    return ([profile.work for profile in profiles], *least(profiles, processors))


@cache
def _bound(drawn: SyntheticJobs, processors: int, rate: float, seed: int) -> float:
    works, times, areas = _least(drawn, processors)
    failures = draw_failures(rate_probabilities(works, rate), stream(seed, "failures"))
    return moldable_bound(times, areas, failures, processors)


def bound(scenario: Scenario) -> float:
    """L'(J, f) of the very failures that a run of `scenario` meets (section 5.1)."""
    section = scenario.job
    assert isinstance(section, MoldableSection)
    assert section.synthetic is not None
    rate = scenario.errors.per_work or 0.0
    return _bound(section.synthetic, scenario.full_platform.size, rate, scenario.seed)


def figure(results: Results) -> list[Value]:
    """Expected ratios to L', over sets of jobs, and the largest ones."""
    found = [
        (ran.place, ran.variant, ran.value / bound(ran.case.scenario(ran.replication)))
        for ran in runs(results)
        if ran.value is not None
    ]
    worst = grouped((without(place, "number"), who, it) for place, who, it in found)
    return [
        Value(*key, what, ours)
        for key, means in over_sets(found, "number").items()
        for what, ours in (("expected", estimated(means)), ("maximum", drawn(max(worst[key]))))
    ]


def table1(results: Results) -> list[Value]:
    """The same, beside Table 1."""
    return [Value(it.place, it.who, it.what, it.ours, _of_table_1(it)) for it in figure(results)]


def _of_table_1(it: Value) -> str:
    model = dict(it.place)["job.synthetic.model"]
    return TABLE_1[it.who][("expected", "maximum").index(it.what)][MODELS.index(model)]


def example(results: Results) -> list[Value]:
    """Both makespans of section 4.7 (figure 3)."""
    return [
        Value(cell.point, line.variant, "makespan", exactly(line.mean.mean), "13")
        for cell in results.comparisons()
        for line in cell.lines
    ]
