"""moldable21 and rigid21: jobs whose runs fail silently; makespans over their lower bounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from actors.runtime import stream
from policies.interface.queue import BatchJob, Draw
from policies.maths.makespan_bounds import least, moldable_bound
from policies.maths.silent_errors import draw_failures
from policies.maths.speedup import Rigid
from sims.campaign.cells import RunStatus
from sims.campaign.intervals import Estimate
from sims.campaign.results import Results
from sims.errors import InputError
from sims.papers.inputs import base, log_of
from sims.papers.values import Place, Value, estimated, exactly, largest, spread, without
from sims.scenario.faults import ErrorSection
from sims.scenario.jobs.entries import RigidJob
from sims.scenario.jobs.section import JobSection, MoldableSection, RigidSection
from sims.scenario.scenario import Scenario

SEEDS = 10_000
"""Of failures, for each set of jobs."""
LEFT_OUT = 10_000
"""The platform that rigid21's mean gains leave out (section 5.2)."""
DAY = 86_400


# --- jobs -------------------------------------------------------------------------------------


def moldable(number: int) -> dict[str, Any]:
    """Set `number` of moldable21's jobs, each time with failures of its own."""
    return _drawn("moldable21/base", number)


def rigid(number: int) -> dict[str, Any]:
    """The same of rigid21."""
    return _drawn("rigid21/base", number)


def _drawn(name: str, number: int) -> dict[str, Any]:
    table = base(name) | {"seed": SEEDS * number}
    table["job"]["synthetic"]["seed"] = number
    return table


def by_index(job: BatchJob, processors: int, time: float, platform: int, draw: Draw) -> float:
    """The order of moldable21's example (section 4.7): from J1 to J4."""
    return -job.index


def day(number: int, log: str = "") -> dict[str, Any]:
    """The same of a day of a log: the jobs submitted on it, as one set (rigid21, Table 1)."""
    days, processors = _days(log)
    return rigid(number) | {
        "name": "rigid21-table1",
        "platform": {"workers": processors},
        "job": {"kind": "rigid", "jobs": days[number]},
    }


@cache
def _days(log: str) -> tuple[list[list[dict[str, Any]]], int]:
    """The jobs of each day with a submission, counted from the log's first, and how many processors
    it is of. Raises InputError."""
    found = log_of(log)
    processors = found.machine
    if not processors:
        raise InputError(log, "MaxProcs", "missing", "a log that says how many there are")
    by_day: dict[int, list[dict[str, Any]]] = {}
    for job in found.jobs:
        if job.processors <= processors:
            listed = {"processors": job.processors, "time": job.run}
            by_day.setdefault(int(job.submitted // DAY), []).append(listed)
    return [by_day[day] for day in sorted(by_day)], processors


def given(log: str) -> dict[str, Any]:
    """What another log changes in the campaign. Raises InputError."""
    return {"axes": {"number": list(range(len(_days(log)[0])))}}


# --- views ------------------------------------------------------------------------------------

Statistic = Callable[[Sequence[float]], Estimate]


def moldable_ratios(results: Results) -> list[Value]:
    """Expected ratios to L', and the largest ones."""
    return _over_bounds(results, "expected", {"maximum": largest})


def rigid_ratios(results: Results) -> list[Value]:
    """Mean ratios to L(f)."""
    return _over_bounds(results, "makespan / L(f)", {})


def days(results: Results) -> list[Value]:
    """Ratios to L(f) of the days of a log, beside Mira's."""
    return _over_bounds(
        results, "mean (Mira's)", {"standard deviation": spread, "maximum": largest}
    )


def gains(results: Results) -> list[Value]:
    """Mean ratios to L(f), and what filling shelves gains over all platforms but one, in per
    cent."""
    found = rigid_ratios(results)
    at = {(it.place, it.who): it.ours.mean for it in found}
    for plain in ("R-SHELF-B", "R-SHELF-NB"):
        filled = plain.replace("SHELF", "SHELFFILL")
        gained = [
            100 * (1 - at[place, filled] / ratio)
            for (place, who), ratio in at.items()
            if who == plain and place != (("platform.workers", LEFT_OUT),)
        ]
        found.append(Value((), filled, f"gain on {plain}, %", estimated(gained)))
    return found


def _over_bounds(results: Results, mean: str, others: dict[str, Statistic]) -> list[Value]:
    """Mean makespans over their bounds, and other statistics of all of them. Each set of jobs,
    which the axis `number` numbers, is one observation: its runs are not independent."""
    found: dict[tuple[Place, str], dict[Place, list[float]]] = {}
    for (case, k), result in results.finished():
        makespan = result.values.get("makespan")
        if result.end is RunStatus.COMPLETED and makespan is not None:
            sets = found.setdefault((without(case.point, "number"), case.variant), {})
            sets.setdefault(case.point, []).append(makespan / bound(case.scenario(k)))
    values = []
    for at, sets in found.items():
        values.append(Value(*at, mean, estimated([*map(fmean, sets.values())])))
        whole = [it for own in sets.values() for it in own]
        values += [Value(*at, what, of(whole)) for what, of in others.items()]
    return values


def bound(scenario: Scenario) -> float:
    """L(f) (rigid21, equations 5 and 6), or L'(J, f) (moldable21, section 5.1), of the very
    failures that a run of `scenario` meets."""
    return _bound(scenario.job, scenario.errors, scenario.full_platform.size, scenario.seed)


@cache
def _bound(job: JobSection, errors: ErrorSection, processors: int, seed: int) -> float:
    works, times, areas = _least(job, processors)
    failures = draw_failures(errors.probabilities(works), stream(seed, "failures"))
    return moldable_bound(times, areas, failures, processors)


@cache
def _least(job: JobSection, processors: int) -> tuple[list[float], list[float], list[float]]:
    """Each job's work, least time and least area."""
    if isinstance(job, MoldableSection):
        assert job.synthetic is not None
        profiles = job.synthetic.draw()
        return ([it.work for it in profiles], *least(profiles, processors))
    assert isinstance(job, RigidSection)
    listed = (Rigid(it.processors, it.time) for it in job.jobs if isinstance(it, RigidJob))
    rigid = list(job.synthetic.draw() if job.synthetic else listed)
    works = [it.work for it in rigid]
    return works, [it.length for it in rigid], works


# --- proposition 3 ------------------------------------------------------------------------------

Floats = NDArray[np.float64]
NEGLIGIBLE = 1e-18
"""Probability of more failures than are summed over."""


def expected_ratio(processors: int, rate: float, scale: float) -> float:
    """E[T] / E[T_opt] of P uniprocessor jobs with t_j = scale/j and q_j = 1 - exp(-rate t_j).

    The failures are drawn, unlike in the proposition. Shelf k lasts as long as the longest job that
    fails at least k times; the optimum runs every chain on a processor of its own.
    """
    times = scale / np.arange(1, processors + 1)
    fails = -np.expm1(-rate * times)
    most = int(np.ceil(np.log(NEGLIGIBLE) / np.log(fails.max()))) + 1
    return _shelves(times, fails, most) / _chains(times, fails, most)


def _shelves(times: Floats, fails: Floats, most: int) -> float:
    """Sum over k of E[longest job with at least k failures]; times are decreasing."""
    reaches = fails ** np.arange(most)[:, None]
    shorter = np.cumprod(1 - reaches, axis=1)
    none_longer = np.hstack([np.ones((most, 1)), shorter[:, :-1]])
    return float((none_longer * reaches * times).sum())


def _chains(times: Floats, fails: Floats, most: int) -> float:
    """E[max_j (f_j + 1) t_j], as the integral of the tail over the lengths that chains can have."""
    lengths = np.unique(np.outer(np.arange(1, most + 1), times))
    # A chain's length is at most x with floor(x / t_j) attempts; the tolerance is for x = k t_j.
    attempts = np.floor(lengths[:, None] / times * (1 + 1e-12))
    below = np.prod(1 - fails**attempts, axis=1)
    return float(lengths[0] + ((1 - below[:-1]) * np.diff(lengths)).sum())


RATES, SCALES = (1e-7, 1e-3), (1, 100, 1000)


def proposition3(processors: int = 10) -> list[Value]:
    """The ratios for several readings of t_j, P = 10."""
    return [
        Value(
            (("lambda", rate), ("t_j", f"{scale}/j")),
            "R-SHELF",
            "E[T] / E[T_opt]",
            exactly(expected_ratio(processors, rate, scale)),
        )
        for rate in RATES
        for scale in SCALES
    ]
