"""Interruptions of Llama 3 405B's training by cause (arXiv 2407.21783, table 5): 54 days on 2,048
nodes of 8 GPUs."""

from __future__ import annotations

from typing import Any

from actors.events import Outcome
from sims.campaign.results import Results
from sims.papers.values import Value, estimated, known
from sims.report import Report

NODES, DAYS, HOUR, DAY = 2048, 54, 3600, 86400
SILENT, ALL = "silent data corruption", "all"
CAUSES = {
    "faulty GPU": 148,
    "HBM3 memory": 72,
    "software bug": 54,
    "switch or cable": 35,
    "host maintenance": 32,
    "SRAM memory": 19,
    "GPU system processor": 17,
    "NIC": 7,
    "NCCL watchdog": 7,
    SILENT: 6,
    "GPU thermal, sensor": 6,
    "SSD": 3,
    "power supply": 3,
    "server chassis": 2,
    "IO board": 2,
    "dependency": 2,
    "CPU": 2,
    "system memory": 2,
}
"""Unplanned interruptions."""


def training(cause: str, period: float, cost: float, recovery: float) -> dict[str, Any]:
    """The job under one cause, or all of them at once: each is a law of faults; silent errors are
    found by the next checkpoint."""
    counts = {it: n for it, n in CAUSES.items() if cause in (it, ALL)}
    silent = counts.pop(SILENT, 0)
    seen = NODES * DAYS * DAY
    laws = [{"kind": "exponential", "mtbf": seen / n, "downtime": 0} for n in counts.values()]
    return {
        "name": "llama",
        "unit": "s",
        "platform": {"workers": NODES},
        "faults": laws,
        "errors": {"rate": silent / seen},
        "job": {"kind": "rigid", "jobs": [{"processors": NODES, "time": DAYS * DAY * 0.9}]},
        "protection": {
            "kind": "images",
            "period": period,
            "cost": cost,
            "recovery": recovery,
            "verified": True,
        },
    }


def interruptions(report: Report) -> float:
    """Measure: in 54 days."""
    ended, end = report.summary.outcomes, report.summary.makespan
    assert end
    return (ended[Outcome.LOST] + ended[Outcome.FAILED]) * DAYS * DAY / end


def view(results: Results) -> list[Value]:
    """View: interruptions in 54 days; of all causes together also hours between two, and ETTR."""
    found: dict[str, list[list[float]]] = {}
    for (case, _), result in results.finished():
        row = known(result.values[name] for name in results.campaign.measures)
        found.setdefault(dict(case.point)["cause"], []).append(row)
    values = list[Value]()
    for cause, rows in found.items():
        told = {"interruptions": [count for count, _ in rows]}
        if cause == ALL:
            told["h between"] = [DAYS * DAY / HOUR / count for count, _ in rows]
            told["ETTR"] = [ettr for _, ettr in rows]
        at = (("cause", cause),)
        values += [Value(at, "as it is", what, estimated(it)) for what, it in told.items()]
    return values
