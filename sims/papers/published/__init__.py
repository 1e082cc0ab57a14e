"""Published measurements and formulas of checkpointing, each as a scenario, beside what comes out
here.

The published values stand in the catalogue, their sources in each campaign file. A constant that
the source does not give is one that was chosen here: it has a comment there.
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
from sims.papers.inputs import base
from sims.papers.values import Columns, Seen, Value, observed, same
from sims.report import Report

EXACT = "exact expectation"


def time_per_work(mtbf: float, restart: float, write: float, period: float) -> float:
    """Expected time per unit of work under exponential failures, `mtbf` of all nodes together, with
    `period` of work between two checkpoints of `write` each (Daly 2006, eq. 20)."""
    return mtbf * exp(restart / mtbf) * expm1((period + write) / mtbf) / period


def loss_per_failure(
    mtbf: float, restart: float, write: float, period: float, work: float
) -> float:
    """Expected time that failures add, over the expected number of failures, for checkpoints that
    stop the job (Daly 2006, eq. 20; failures come at rate 1 / `mtbf` until the job ends)."""
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
    """The period with the least `time_per_work`."""
    return float(mtbf * (1 + lambertw(-exp(-write / mtbf - 1)).real))


FORMULAS = {"Young": young_work, "Daly": daly_work, "exact": best_period}


def job(
    seed: int,
    nodes: int,
    mtbf: float,
    restart: float,
    write: float,
    period: float | str,
    work: float,
) -> dict[str, Any]:
    """One job on all nodes; times in minutes, `mtbf` of all nodes together. `period`: work between
    two checkpoints, or one of `FORMULAS`."""
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
    """View: the period of each formula, and the time per unit of work with it."""

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
    """View: effective training time ratio (work over the time from start to completion), and its
    exact expectation."""

    def row(run: Seen) -> Columns:
        at = run.at
        expected = time_per_work(at["mtbf"], at["restart"], at["write"], at["period"])
        return {"ETTR": at["work"] * 60 / run.measured[0], EXACT: 1 / expected}

    return observed(results, row, {EXACT: same})


def losses(report: Report) -> float:
    """Measure: runs that failures ended."""
    return float(report.summary.outcomes[Outcome.LOST])


def terms(results: Results) -> list[Value]:
    """View: what a failure costs (time beyond that without failures, over failures) in minutes, and
    what it should cost.

    To first order that is the time to load, half of the time from the beginning of one checkpoint
    to that of the next and, where work goes on meanwhile, the time to save. Where a checkpoint
    stops the job, its exact expectation is known too.
    """

    def row(run: Seen) -> Columns:
        at, (end, lost) = run.at, run.measured
        save, period, stops = at["write"], at["period"], at["protection.blocking"]
        taken = ceil(at["work"] / period) - 1  # none at the end, where no work is left
        free = at["work"] + stops * save * taken
        first = (period + save) / 2 if stops else save + period / 2
        told = {"loss per failure, min": (end / 60 - free) / lost}
        told["first order"] = first + at["restart"]
        if stops:
            told[EXACT] = loss_per_failure(at["mtbf"], at["restart"], save, period, at["work"])
        return told

    return observed(results, row, {"first order": same, EXACT: same})


# --- Llama 3 405B's interruptions ---------------------------------------------------------------

SILENT, DAY = "silent data corruption", 86400


def training(period: float, cost: float, recovery: float) -> dict[str, Any]:
    """The job under all causes of interruptions at once: each is a law of faults; silent errors are
    found by the next checkpoint. Times in seconds."""
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
    """View: effective training time ratio, and its exact expectation under exponential failures."""
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
    """One arm of a job of eight workers and 1,600 steps that loses a worker four times; a start is
    what a worker that has lost its memory fetches. It goes on from a checkpoint each 400 steps, or,
    with a notice, from one taken just in time.

    `step`: seconds; `saved`: steps that were saved at each preemption; `wasted`: steps from there
    to the preemption; `restart`: seconds of a start, for the first of which a worker is DOWN.
    """
    states, now = "d", 0.0
    for before, after in pairwise((0, *saved)):
        now += restart + (after + wasted - before) * step
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
    """View: wall time. The steps executed are inputs of both arms, so they are not shown."""
    return observed(results, lambda run: {"wall time, s": run.measured[0]}, {"wall time, s": same})
