"""Published measurements and formulas of checkpointing, each as a scenario, beside what comes out
here.

The published values stand in the catalogue, their sources in each campaign file. A constant that
the source does not give is one that was chosen here: it has a comment there.
"""

from __future__ import annotations

from math import exp, expm1
from typing import Any

from scipy.special import lambertw

from actors.events import Outcome
from policies.maths.checkpoint import daly_work, young_work
from sims.campaign.results import Results
from sims.papers.values import Value, estimated, exactly, known, runs
from sims.report import Report


def time_per_work(mtbf: float, restart: float, write: float, period: float) -> float:
    """Expected time per unit of work under exponential failures, `mtbf` of all nodes together, with
    `period` of work between two checkpoints of `write` each (Daly 2006, eq. 20)."""
    return mtbf * exp(restart / mtbf) * expm1((period + write) / mtbf) / period


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
    return {
        "name": "published",
        "seed": seed,
        "unit": "s",
        "platform": {"workers": nodes},
        "faults": {"kind": "exponential", "mtbf": 60 * mtbf * nodes, "downtime": 0},
        "job": {"kind": "rigid", "jobs": [{"processors": nodes, "time": 60 * work}]},
        "protection": {
            "kind": "images",
            "period": 60 * period,
            "cost": 60 * write,
            "recovery": 60 * restart,
        },
    }


# --- views ------------------------------------------------------------------------------------


def periods(results: Results) -> list[Value]:
    """View: the period of each formula, and the time per unit of work with it."""
    values = list[Value]()
    fixed = results.campaign.set
    for place, made in runs(results).items():
        mtbf = dict(place)["mtbf"]
        for who, ends in made.items():
            period = FORMULAS[who](mtbf, fixed["write"])
            ours = estimated([it / 60 / fixed["work"] for it in known(ends)])
            right = time_per_work(mtbf, fixed["restart"], fixed["write"], period)
            values += [
                Value(place, who, "period, min", exactly(period)),
                Value(place, who, "time per work", ours),
                Value(place, who, "exact expectation", exactly(right)),
            ]
    return values


def ettr(results: Results) -> list[Value]:
    """View: effective training time ratio (work over the time from start to completion), and its
    exact expectation."""
    values = list[Value]()
    work = results.campaign.set["work"]
    for place, made in runs(results).items():
        for who, ends in made.items():
            at = results.campaign.variants[who]
            ratio = estimated([work * 60 / it for it in known(ends)])
            expected = time_per_work(at["mtbf"], at["restart"], at["write"], at["period"])
            values += [
                Value(place, who, "ETTR", ratio),
                Value(place, who, "exact expectation", exactly(1 / expected)),
            ]
    return values


def losses(report: Report) -> float:
    """Measure: runs that failures ended."""
    return float(report.summary.outcomes[Outcome.LOST])


def terms(results: Results) -> list[Value]:
    """View: what a failure costs (time beyond that without failures, over failures), and what it
    should: time to load, half of the time from one checkpoint's begin to the next, and, where work
    goes on meanwhile, the time to save."""
    values, found = list[Value](), dict[tuple[Any, str], list[float]]()
    fixed = results.campaign.set
    save, load, work = (fixed[it] for it in ("write", "restart", "work"))
    for (case, _), result in results.finished():
        end, lost = known(result.values.values())
        period, stops = dict(case.point)["period"], case.variant == "blocking"
        free = work * (1 + stops * save / period)
        found.setdefault((case.point, case.variant), []).append((end / 60 - free) / lost)
    for (place, who), costs in found.items():
        period = dict(place)["period"]
        right = (period + save) / 2 if who == "blocking" else save + period / 2
        values += [
            Value(place, who, "loss per failure, min", estimated(costs)),
            Value(place, who, "exact expectation", exactly(right + load)),
        ]
    return values
