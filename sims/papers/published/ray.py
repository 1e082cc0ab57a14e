"""Ray Train's preemption benchmark (ray-project/ray, pull request 65047; one run an arm).

A job of eight workers and 1,600 steps loses a worker four times. It goes on from a checkpoint each
400 steps, or, with a notice, from one taken just in time.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from sims.campaign.results import Results
from sims.ledger import Use
from sims.papers.values import Value, exactly
from sims.report import Report

WORKERS, STEPS, EVERY = 8, 1600, 400
STEP = {"baseline": 1.1256, "just in time": 1.1338}
"""Seconds of a step, checkpoints included: the means measured."""
SAVED = {"baseline": (400, 400, 800, 1200), "just in time": (695, 866, 1395, 1547)}
"""Steps that were saved at each preemption: "resumed from", less one."""
WASTED = {"baseline": 517 / 4, "just in time": 91 / 4}
"""Steps from what was saved to the preemption: the mean, as only the sum is published. For just in
time it is the grace less detection and saving."""
RESTART = (3128.7 - 2117 * STEP["baseline"]) / 5
"""Seconds of a start, fitted on the baseline, whose five starts are all of its wall time that no
step took; used for both arms."""
AWAY = 1
"""Seconds for which a worker is DOWN before each start."""


def benchmark(seed: int, arm: str) -> dict[str, Any]:
    """One arm; a start is what a worker that has lost its memory fetches."""
    step, wasted, states, now = STEP[arm], WASTED[arm], "d" * AWAY, 0.0
    for before, saved in pairwise((0, *SAVED[arm])):
        now += RESTART + (saved + wasted - before) * step
        states += "u" * (round(now) - len(states)) + "d" * AWAY
    notice = wasted * step if arm == "just in time" else 0
    preempted = {"kind": "letters", "states": states, "notice": notice}
    return {
        "name": "ray",
        "unit": "s",
        "workers": [{"availability": preempted}, {"count": WORKERS - 1}],
        "master": {"channels": WORKERS, "program": RESTART - AWAY},
        "job": {"kind": "rigid", "jobs": [{"processors": WORKERS, "time": STEPS * step}]},
        "protection": {
            "kind": "images",
            "period": EVERY * step,
            "on_notice": "save" if notice else "nothing",
        },
    }


def computed(report: Report) -> float:
    """Time for which all workers computed."""
    ledger = report.ledger.total
    return float(ledger[Use.USEFUL] + ledger[Use.LOST]) / WORKERS


def view(results: Results) -> list[Value]:
    """Wall time and steps executed."""
    values = list[Value]()
    for (case, _), result in results.finished():
        wall, time = (result.values[name] or 0.0 for name in results.campaign.measures)
        values += [
            Value(case.point, case.variant, "wall time, s", exactly(wall)),
            Value(case.point, case.variant, "steps executed", exactly(time / STEP[case.variant])),
        ]
    return values
