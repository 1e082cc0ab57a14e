"""Evaluate moldable21 and rigid21, jobs whose runs fail silently: makespans over their lower
bounds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import chain, product
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from actors.runtime import stream
from policies.interface.queue import BatchJob, Draw
from policies.maths.silent_errors import draw_failures, least, moldable_bound, rigid_bound
from policies.maths.speedup import Rigid
from policies.maths.tolerance import ROUNDING
from sims.campaign.results import Results
from sims.errors import InputError
from sims.papers.inputs import base, log_of
from sims.papers.values import (
    Columns,
    Place,
    Seen,
    Statistic,
    Value,
    estimated,
    exactly,
    gathered,
    largest,
    spread,
    without,
)
from sims.scenario import Scenario
from sims.scenario.faults import ErrorSection
from sims.scenario.jobs import JobSection, MoldableSection, RigidJob, RigidSection

SEEDS = 10_000
"""Number of seeds of failures for each set of jobs."""
LEFT_OUT = 10_000
"""Number of processors of the platform that rigid21's mean gains leave out (section 5.2)."""
DAY = 86_400
"""Seconds of a day."""


# --- jobs -------------------------------------------------------------------------------------


def moldable(number: int) -> dict[str, Any]:
    """Return the scenario of moldable21's set `number` of jobs; each set has failures of its
    own."""
    return base("moldable21/base", {"seed": SEEDS * number, "job.synthetic.seed": number})


def rigid(number: int) -> dict[str, Any]:
    """Return the scenario of rigid21's set `number` of jobs; each set has failures of its own."""
    return base("rigid21/base", {"seed": SEEDS * number, "job.synthetic.seed": number})


def by_index(job: BatchJob, processors: int, time: float, platform: int, draw: Draw) -> float:
    """Return a job's priority in the order of moldable21's example (section 4.7): J1 before J2 and
    so on."""
    return -job.index


def day(number: int, log: str = "") -> dict[str, Any]:
    """Return the scenario of day `number`, counted from 0 over the days with submissions, of the
    log at the path `log`: the jobs submitted on it, as one set (rigid21, Table 1)."""
    days, processors = _days(log)
    own = {
        "name": "rigid21-table1",
        "seed": SEEDS * number,
        "platform.workers": processors,
        "job": {"kind": "rigid", "jobs": days[number]},
    }
    return base("rigid21/base", own)


@cache
def _days(log: str) -> tuple[list[list[dict[str, Any]]], int]:
    """Return the jobs of each day with a submission, as entries of a scenario, and the log's number
    of processors.

    Days are counted from the log's start. Jobs that need more processors than the log's machine has
    are left out. Raises InputError where the log does not state its number of processors.
    """
    found = log_of(log)
    processors = found.machine
    if not processors:
        raise InputError(log, "MaxProcs", "missing", "a log that says how many there are")
    days = defaultdict[int, list[dict[str, Any]]](list)
    for job in found.jobs:
        if job.processors <= processors:
            days[int(job.submitted // DAY)].append({"processors": job.processors, "time": job.run})
    return [days[day] for day in sorted(days)], processors


def given(log: str) -> dict[str, Any]:
    """Return the changes that make the campaign of rigid21's Table 1 use another log: its axis
    `number` has the log's days.

    Raises InputError where the log cannot be read.
    """
    return {"axes": {"number": list(range(len(_days(log)[0])))}}


# --- views ------------------------------------------------------------------------------------


def moldable_ratios(results: Results) -> list[Value]:
    """Return, for each policy, the mean ratio of makespans to the lower bound L' (moldable21,
    section 5.1), and the largest ratio."""
    return list(_over_bounds(results, "expected", {"maximum": largest}))


def rigid_ratios(results: Results) -> list[Value]:
    """Return, for each policy, the mean ratio of makespans to the lower bound L(f) (rigid21,
    equations 5 and 6)."""
    return list(_over_bounds(results, "makespan / L(f)", {}))


def days(results: Results) -> list[Value]:
    """Return, for each policy, the mean, the standard deviation and the largest of the ratios of
    makespans to the lower bound L(f) for the days of a log (rigid21, Table 1, for Mira)."""
    others = {"standard deviation": spread, "maximum": largest}
    return list(_over_bounds(results, "mean (Mira's)", others))


def gains(results: Results) -> list[Value]:
    """Return the values of `rigid_ratios`, and by how many per cent filling shelves (R-SHELFFILL)
    lowers the mean ratio of R-SHELF-B and of R-SHELF-NB.

    A gain is the mean over the sizes of the platform in figure 4b but LEFT_OUT processors (rigid21,
    section 5.2).
    """
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


def _over_bounds(results: Results, mean: str, others: Mapping[str, Statistic]) -> Iterator[Value]:
    """Yield, for each place and policy, the mean ratio of makespans to their lower bounds in the
    column `mean`, and further statistics of all ratios in columns named by the keys of `others`.

    Each set of jobs, numbered by the axis `number`, is one observation of the mean, since its runs
    are not independent.
    """

    def row(run: Seen) -> Columns:
        return {mean: run.measured[0] / bound(run.scenario)}

    sets = defaultdict[tuple[Place, str], list[list[float]]](list)
    for (place, who), own in gathered(results, row).items():
        sets[without(place, "number"), who].append(own[mean])
    for at, several in sets.items():
        yield Value(*at, mean, estimated([*map(fmean, several)]))
        for what, of in others.items():
            yield Value(*at, what, of([*chain(*several)]))


def bound(scenario: Scenario) -> float:
    """Return the lower bound of the makespan under the very failures that a run of `scenario`
    meets.

    It is L(f) for rigid jobs (rigid21, equations 5 and 6), and L'(J, f) for moldable ones
    (moldable21, section 5.1).
    """
    return _bound(scenario.job, scenario.errors, scenario.full_platform.size, scenario.seed)


@cache
def _bound(job: JobSection, errors: ErrorSection, processors: int, seed: int) -> float:
    """Return the lower bound of the makespan for the jobs of a section; it is cached, as the runs
    of all policies have the same."""
    profiles = _profiles(job)
    chances = errors.probabilities(np.array([it.work for it in profiles]))
    failures = draw_failures(chances, stream(seed, "failures"))
    if isinstance(job, RigidSection):
        return rigid_bound(profiles, failures, processors)
    return moldable_bound(*_least(job, processors), failures, processors)


@cache
def _profiles(job: JobSection) -> list[Any]:
    """Return the speedup profile of each job of a section, in order."""
    assert isinstance(job, MoldableSection | RigidSection)
    if job.synthetic is not None:
        return job.synthetic.draw()
    return [Rigid(it.processors, it.time) for it in job.jobs if isinstance(it, RigidJob)]


@cache
def _least(job: JobSection, processors: int) -> tuple[list[float], list[float]]:
    """Return the two arguments of `moldable_bound` for the jobs of a section, computed by `least`
    and cached."""
    return least(_profiles(job), processors)


# --- proposition 3 ------------------------------------------------------------------------------

Floats = NDArray[np.float64]
NEGLIGIBLE = 1e-18
"""Probability of more failures than are summed over."""


def expected_ratio(processors: int, rate: float, scale: float) -> float:
    """Return E[T] / E[T_opt], the expected makespan of R-SHELF over the optimal one, for P
    uniprocessor jobs on P processors (rigid21, proposition 3).

    Job j takes t_j = scale/j and fails with probability q_j = 1 - exp(-rate t_j). The failures are
    drawn, unlike in the proposition. Shelf k lasts as long as the longest job that fails at least k
    times; the optimum repeats every job on a processor of its own until it succeeds.
    """
    times = scale / np.arange(1, processors + 1)
    fails = -np.expm1(-rate * times)
    most = int(np.ceil(np.log(NEGLIGIBLE) / np.log(fails.max()))) + 1
    return _shelves(times, fails, most) / _chains(times, fails, most)


def _shelves(times: Floats, fails: Floats, most: int) -> float:
    """Return R-SHELF's expected makespan: the sum over k, from 0 to `most` - 1, of the expected
    time of the longest job that fails at least k times.

    `times` has the jobs' times in decreasing order, and `fails` their probabilities to fail.
    """
    reaches = fails ** np.arange(most)[:, None]
    shorter = np.cumprod(1 - reaches, axis=1)
    none_longer = np.hstack([np.ones((most, 1)), shorter[:, :-1]])
    return float((none_longer * reaches * times).sum())


def _chains(times: Floats, fails: Floats, most: int) -> float:
    """Return the optimal expected makespan, E[max_j (f_j + 1) t_j], where job j takes t_j and fails
    f_j times.

    `times` has the t_j and `fails` the jobs' probabilities to fail; up to `most` attempts are
    counted. The result is the integral of the tail over all lengths that (f_j + 1) t_j can have.
    """
    lengths = np.unique(np.outer(np.arange(1, most + 1), times))
    # A chain's length is at most x with floor(x / t_j) attempts; the tolerance is for x = k t_j.
    attempts = np.floor(lengths[:, None] / times * (1 + ROUNDING))
    below = np.prod(1 - fails**attempts, axis=1)
    return float(lengths[0] + ((1 - below[:-1]) * np.diff(lengths)).sum())


def proposition3() -> list[Value]:
    """Return the ratio E[T] / E[T_opt] of the proposition for several readings of t_j, with P =
    10."""
    return [
        Value(
            (("lambda", rate), ("t_j", f"{scale}/j")),
            "R-SHELF",
            "E[T] / E[T_opt]",
            exactly(expected_ratio(10, rate, scale)),
        )
        for rate, scale in product((1e-7, 1e-3), (1, 100, 1000))
    ]
