"""Compare published measurements and formulas of checkpointing with simulations of each.

The published values stand in the catalogue, their sources in each campaign file. A constant that
the source does not give was chosen here, and has a comment.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import ceil, exp, expm1
from typing import Any

from scipy.special import lambertw

from actors.events import Outcome
from policies.maths.checkpoint import daly_work, young_work
from sims.campaign.results import Results
from sims.metrics.report import Report
from sims.papers.inputs import base
from sims.papers.values import Columns, Seen, Value, observed, same

EXACT = "exact expectation"
"""Column of values computed by a formula for the exact expectation."""


def time_per_work(mtbf: float, restart: float, write: float, period: float) -> float:
    """Return the expected time per unit of work under exponential failures (Daly 2006, eq. 20).

    `mtbf` is that of all nodes together, `restart` the time from a failure until work goes on from
    the last checkpoint, `write` that of writing a checkpoint, and `period` the work between two
    checkpoints.
    """
    return mtbf * exp(restart / mtbf) * expm1((period + write) / mtbf) / period


def loss_per_failure(
    mtbf: float, restart: float, write: float, period: float, work: float
) -> float:
    """Return the expected time that a failure costs a job: the expected time that failures add to
    the job, over their expected number (from Daly 2006, eq. 20).

    The job has so much `work` and stops for each checkpoint, which takes `write`, after each
    `period` of work; a restart from a checkpoint takes `restart`, one from scratch nothing.
    Failures come at rate 1 / `mtbf` until the job ends.
    """
    segments = ceil(work / period)
    rest = work - (segments - 1) * period
    # A restart before the first checkpoint is from scratch, and loads nothing.
    lengths = [period + write] * (segments - 1) + [rest]
    loads = [0.0] + [restart] * (segments - 1)
    time = sum(
        mtbf * exp(load / mtbf) * expm1(length / mtbf)
        for load, length in zip(loads, lengths, strict=True)
    )
    return (time - sum(lengths)) * mtbf / time


def best_period(mtbf: float, write: float) -> float:
    """Return the work between two checkpoints for which `time_per_work` is least, where a
    checkpoint takes `write` and `mtbf` is that of all nodes together."""
    return float(mtbf * (1 + lambertw(-exp(-write / mtbf - 1)).real))


FORMULAS = {"Young": young_work, "Daly": daly_work, "exact": best_period}
"""Maps each name of a period to its formula."""


def job(
    seed: int,
    nodes: int,
    mtbf: float,
    restart: float,
    write: float,
    period: float | str,
    work: float,
) -> dict[str, Any]:
    """Return the scenario of one job of so much `work` on all nodes.

    Times are in minutes: `mtbf` is that of all nodes together, `restart` the time to recover from a
    failure, and `write` that of a checkpoint. `period` is the work between two checkpoints, or the
    name of one of `FORMULAS`.
    """
    if isinstance(period, str):
        period = FORMULAS[period](mtbf, write)
    own = {
        "seed": seed,
        "platform.workers": nodes,
        "faults.mtbf": 60 * mtbf * nodes,
        "job.jobs": [{"processors": nodes, "time": 60 * work}],
        "protection.period": 60 * period,
        "protection.cost": 60 * write,
        "protection.recovery": 60 * restart,
    }
    return base("published/job", own)


# --- views of it ------------------------------------------------------------------------------


def periods(results: Results) -> list[Value]:
    """Return, for each formula of a period, the period in minutes, the simulated time per unit of
    work with it, and its exact expectation."""

    def row(run: Seen) -> Columns:
        at = run.at
        period = FORMULAS[at["period"]](at["mtbf"], at["write"])
        return {
            "period, min": period,
            "time per work": run.measured[0] / 60 / at["work"],
            EXACT: time_per_work(at["mtbf"], at["restart"], at["write"], period),
        }

    return observed(results, row, {"period, min": same, EXACT: same})


def ettr(results: Results) -> list[Value]:
    """Return the effective training time ratio (work over the time from start to completion), and
    its exact expectation."""

    def row(run: Seen) -> Columns:
        at = run.at
        expected = time_per_work(at["mtbf"], at["restart"], at["write"], at["period"])
        return {"ETTR": at["work"] * 60 / run.measured[0], EXACT: 1 / expected}

    return observed(results, row, {EXACT: same})


def losses(report: Report) -> float:
    """Return, as a measure of a run of the simulation, the number of the job's runs that failures
    ended."""
    return float(report.summary.outcomes[Outcome.LOST])


def terms(results: Results) -> list[Value]:
    """Return the cost of a failure (time beyond that without failures, over failures) in minutes,
    and its expectation.

    To first order the expectation is the time to load, half of the time from the beginning of one
    checkpoint to that of the next and, where work goes on meanwhile, the time to save. Where a
    checkpoint stops the job, the exact expectation is known too.
    """

    def row(run: Seen) -> Columns:
        at, (end, lost) = run.at, run.measured
        save, period, stops = at["write"], at["period"], at["protection.blocking"]
        taken = ceil(at["work"] / period) - 1  # none at the end, where no work is left
        free = at["work"] + stops * save * taken
        first = (period + save) / 2 if stops else save + period / 2
        columns = {"loss per failure, min": (end / 60 - free) / lost}
        columns["first order"] = first + at["restart"]
        if stops:
            columns[EXACT] = loss_per_failure(at["mtbf"], at["restart"], save, period, at["work"])
        return columns

    return observed(results, row, {"first order": same, EXACT: same})


# --- Llama 3 405B's interruptions ---------------------------------------------------------------

SILENT, DAY = "silent data corruption", 86400


def training(period: float, cost: float, recovery: float) -> dict[str, Any]:
    """Return the scenario of Llama 3 405B's training under all causes of interruptions at once.

    `period` is the work between two checkpoints, `cost` the time of one, and `recovery` that to
    recover, in seconds. Each cause is a law of faults; silent errors are found by the next
    checkpoint.
    """
    seen = base("published/llama-interruptions")
    counts = dict(seen["causes"])
    silent, time = counts.pop(SILENT), seen["nodes"] * seen["days"] * DAY
    own = {
        "faults": [
            {"kind": "exponential", "mtbf": time / n, "downtime": 0} for n in counts.values()
        ],
        "errors.rate": silent / time,
        "protection.period": period,
        "protection.cost": cost,
        "protection.recovery": recovery,
    }
    return base("published/llama-base", own)


def left(results: Results) -> list[Value]:
    """Return the effective training time ratio of Llama 3 405B's training, and its exact
    expectation under exponential failures."""
    seen = base("published/llama-interruptions")
    mtbf = seen["days"] * DAY / sum(seen["causes"].values())

    def row(run: Seen) -> Columns:
        at = run.at
        expected = time_per_work(mtbf, at["recovery"], at["cost"], at["period"])
        return {"ETTR": run.measured[0], EXACT: 1 / expected}

    return observed(results, row, {EXACT: same})


# --- Ray Train's preemptions ----------------------------------------------------------------------


def benchmark(
    seed: int, step: float, saved: Sequence[int], wasted: float, restart: float, notice: bool
) -> dict[str, Any]:
    """Return the scenario of one arm of Ray Train's benchmark: a job of eight workers and 1,600
    steps that loses a worker four times.

    A start takes `restart` seconds: for the first of them the worker is DOWN, then it fetches the
    program that it has lost. The job goes on from a checkpoint each 400 steps, or, with a notice,
    from one taken just in time. `step`: seconds of a step; `saved`: steps that were saved at each
    preemption; `wasted`: steps from there to the preemption.
    """
    states, now = "d", 0.0
    for before, after in pairwise((0, *saved)):
        now += restart + (after + wasted - before) * step
        # A slot is a second: UP until the preemption, then DOWN for one.
        states += "u" * (round(now) - len(states)) + "d"
    own = {
        "workers.0.availability.states": states,
        "workers.0.availability.notice": wasted * step if notice else 0,
        "master.program": restart - 1,
        "job.jobs.0.time": 1600 * step,
        "protection.period": 400 * step,
        "protection.on_notice": "save" if notice else "nothing",
    }
    return base("published/ray-base", own)


def preemptions(results: Results) -> list[Value]:
    """Return the wall time of each arm of the benchmark. The steps executed are inputs of both
    arms, so they are not shown."""
    return observed(results, lambda run: {"wall time, s": run.measured[0]}, {"wall time, s": same})
