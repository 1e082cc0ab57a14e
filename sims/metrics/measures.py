"""A run in one number: what comparisons of runs go by, computed from the run's events."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from sims.metrics.jobs import QUANTITIES, STATISTICS, Floats
from sims.report import Report
from sims.summary import Summary

WORDS = {
    "utilisation": "utilisation, share of processor-time",
    "wasted": "lost or redundant, share of held processor-time",
    "queue": "mean number of waiting jobs",
    "queue-max": "largest number of waiting jobs",
    "fairness": "fairness, Jain's index of users' slowdowns",
    "goodput": "goodput, share of held processor-time",
    "ettr": "effective training time ratio",
    "machine-hours": "processor-time held, h",
    "cost": "cost, in the unit of the prices",
    "late": "jobs completed after their deadlines",
    "energy": "energy, kWh",
}
"""What axes call the measures whose names are not words enough."""
OVERHEADS = {"lost": "lost work", "reclaimed": "reclaimed processors", "down": "failed processors"}
STATED = {"p90": "90th percentile of", "p95": "95th percentile of", "p99": "99th percentile of"}


class Measure(enum.Enum):
    """What a run is measured by."""

    MAKESPAN = "makespan"
    """When the last job was completed."""
    FLOWTIME = "flowtime"
    """Mean over the jobs, completion minus submission; also called `response`."""
    STRETCH = "stretch"
    """Mean over the jobs, flowtime over the job's own error-free time; also called `slowdown`;
    iterative jobs have none."""
    WAIT = "wait"
    """Mean over the jobs, from submission to the first start."""
    BOUNDED = "bounded-slowdown"
    """Stretch, with own times below 10 s (`measures.bound`) counted as that, and at least 1."""
    UTILISATION = "utilisation"
    """Share of all processor-time that runs held."""
    WASTED = "wasted"
    """Share of what runs held that was lost, or redundant."""
    QUEUE = "queue"
    """Jobs that wait, mean over time."""
    LONGEST_QUEUE = "queue-max"
    """Jobs that wait, at most."""
    FAIRNESS = "fairness"
    """Jain's index of users' mean bounded slowdowns: 1 where all fare alike."""
    GOODPUT = "goodput"
    """Useful share of the processor-time that jobs held; it sums to 1 with the next ten."""
    LOST = "overhead-lost"
    """Share of the same that was lost: redone later."""
    CHECKPOINT = "overhead-checkpoint"
    """Share of the same that went to checkpoints; so for the following."""
    RECOVERY = "overhead-recovery"
    REDISTRIBUTION = "overhead-redistribution"
    TRANSFER = "overhead-transfer"
    WAITING = "overhead-waiting"
    REDUNDANT = "overhead-redundant"
    VERIFICATION = "overhead-verification"
    RECLAIMED = "overhead-reclaimed"
    DOWN = "overhead-down"
    ETTR = "ettr"
    """Effective training time ratio: mean over the jobs, work over the time from the first start to
    completion."""
    MACHINE_HOURS = "machine-hours"
    """Hours of workers that jobs held."""
    COST = "cost"
    """Of all processors, at `measures.prices`, at their traces' prices, or at their own."""
    LATE = "late"
    """Jobs that were not completed by their deadlines."""
    ENERGY = "energy"
    """kWh of all processors, at `measures.watts`."""
    WAIT_MEDIAN = "wait-median"
    WAIT_P90 = "wait-p90"
    """The 90th percentile, interpolated; so for all -p90, -p95 and -p99."""
    WAIT_P95 = "wait-p95"
    WAIT_P99 = "wait-p99"
    FLOWTIME_MEDIAN = "flowtime-median"
    FLOWTIME_P90 = "flowtime-p90"
    FLOWTIME_P95 = "flowtime-p95"
    FLOWTIME_P99 = "flowtime-p99"
    STRETCH_MEDIAN = "stretch-median"
    STRETCH_P90 = "stretch-p90"
    STRETCH_P95 = "stretch-p95"
    STRETCH_P99 = "stretch-p99"
    BOUNDED_MEDIAN = "bounded-slowdown-median"
    BOUNDED_P90 = "bounded-slowdown-p90"
    BOUNDED_P95 = "bounded-slowdown-p95"
    BOUNDED_P99 = "bounded-slowdown-p99"

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        word = str(value)
        for name, ours in (("response", "flowtime"), ("slowdown", "stretch")):
            if word == name or word.startswith(f"{name}-"):
                return cls(ours + word.removeprefix(name))
        return None

    @property
    def quantity(self) -> str | None:
        """What of its jobs it sums up, by the name that `Jobs` has for it; None: of none."""
        name = self.value.removesuffix(f"-{self.statistic}").replace("-", "_")
        return name if name in QUANTITIES else None

    @property
    def statistic(self) -> str:
        """How it sums them up: mean, median, p90, p95 or p99."""
        last = self.value.rpartition("-")[2]
        return last if last in STATISTICS else "mean"

    def summed(self, values: Floats) -> float:
        """Its statistic of jobs' values, all of which are numbers."""
        percent = STATISTICS[self.statistic]
        return float(values.mean() if percent is None else np.percentile(values, percent))

    def found_in(self, report: Mapping[str, Any]) -> Any:
        """Its value among the numbers of a `Report` as data; None: not defined for that run."""
        if self.quantity:
            return (report[self.quantity] or {}).get(self.statistic)
        of, _, part = self.value.partition("-")
        if of == "overhead":
            return report["overheads"].get(part, None if report["goodput"] is None else 0.0)
        if of == "queue":
            return report["queue"][part or "mean"]
        return report[self.value.replace("-", "_")]

    @property
    def words(self) -> str:
        """What an axis of a picture calls it, with its unit unless that is the scenario's."""
        of, _, part = self.value.partition("-")
        if of == "overhead":
            return f"{OVERHEADS.get(part, part)}, share of held processor-time"
        if self.quantity:
            statistic = STATED.get(self.statistic, self.statistic)
            return f"{statistic} {self.quantity.replace('_', ' ')}"
        return WORDS.get(self.value, self.value)

    @property
    def higher_is_better(self) -> bool:
        """Whether more is better, not less."""
        return self in (Measure.UTILISATION, Measure.FAIRNESS, Measure.GOODPUT, Measure.ETTR)

    @property
    def wants_all_done(self) -> bool:
        """Whether it is only known where all jobs were completed; others are means over time."""
        whole = (Measure.MAKESPAN, Measure.FAIRNESS, Measure.ETTR)
        return self in whole or self.quantity is not None

    @property
    def wants_report(self) -> bool:
        """Whether only all events of a run can tell, which takes about three times as long."""
        return self not in (Measure.MAKESPAN, Measure.FLOWTIME)

    @property
    def timed(self) -> bool:
        """Whether its unit is the scenario's unit of time; others have none."""
        return self is Measure.MAKESPAN or self.quantity in ("wait", "flowtime")


Measured = dict[Measure, float | None]
"""None: not defined for that run."""


def of_summary(summary: Summary) -> Measured:
    """What few events of a run tell."""
    flowtimes = summary.flowtimes
    mean = float(np.mean(flowtimes)) if flowtimes else None
    return {Measure.MAKESPAN: _plain(summary.makespan), Measure.FLOWTIME: mean}


def of_report(report: Report) -> Measured:
    """All measures, once the report is closed."""
    told = report.as_json()
    return {it: _plain(it.found_in(told)) for it in Measure}


def _plain(value: float | None) -> float | None:
    return None if value is None else float(value)
