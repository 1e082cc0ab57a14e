"""Measure a run by one number, computed from its events, so that runs can be compared."""

from __future__ import annotations

import enum
from operator import attrgetter
from typing import Self

import numpy as np

from sims.blocks import Floats
from sims.history.rows import Use
from sims.history.summary import Summary
from sims.metrics.jobs import QUANTITIES, STATISTICS, statistic
from sims.metrics.report import Report

WORDS = {
    "utilisation": "utilisation, share of processor-time held and UP",
    "wasted": "lost or redundant, share of processor-time held and UP",
    "queue": "mean number of waiting jobs",
    "queue-max": "largest number of waiting jobs",
    "fairness": "fairness, Jain's index of users' slowdowns",
    "goodput": "goodput, share of held processor-time",
    "ettr": "effective training time ratio",
    "machine-hours": "processor-time held, and of spares that wait, h",
    "cost": "cost, in the unit of the prices",
    "late": "jobs completed after their deadlines",
    "energy": "energy, kWh",
    "faults": "faults",
    "lemon-faults": "faults by laws of some units only",
    "retired": "units retired",
    "selections": "selections of workers after the first",
    "reserve-called": "workers of the reserve called",
    "depleted": "share of runs that ran out of workers",
}
"""Labels on axes for the measures whose names do not say enough."""
OF_SUMMARY = {
    "makespan": "makespan",
    "faults": "came",
    "lemon-faults": "lemon_faults",
    "retired": "repairs.retired",
    "selections": "selections",
    "reserve-called": "repairs.called",
    "depleted": "depleted",
}
"""Maps each measure that a summary has to its place there."""
PLACES = {
    "fairness": "jobs.fairness",
    "ettr": "jobs.ettr",
    "cost": "costs.cost",
    "energy": "costs.energy",
    "queue": "queue.mean",
    "queue-max": "queue.longest",
}
"""Maps each measure that a part of the report computes to its place there."""
OVERHEADS = {"lost": "lost work", "reclaimed": "reclaimed processors", "down": "failed processors"}
STATED = {"p90": "90th percentile of", "p95": "95th percentile of", "p99": "99th percentile of"}


class Measure(enum.Enum):
    """Numbers by which a run is measured; the value is the name under which scenarios and commands
    know the measure."""

    MAKESPAN = "makespan"
    """Time at which the last job was completed."""
    FLOWTIME = "flowtime"
    """Mean over the jobs of completion minus submission; also called `response`."""
    STRETCH = "stretch"
    """Mean over the jobs of flowtime over the job's own error-free time; also called `slowdown`;
    iterative jobs have none."""
    WAIT = "wait"
    """Mean over the jobs of the time from submission to the first start."""
    BOUNDED = "bounded-slowdown"
    """Stretch, with own times below 10 s (`measures.bound`) counted as 10 s, and at least 1."""
    UTILISATION = "utilisation"
    """Share of all processor-time for which jobs held workers that were UP."""
    WASTED = "wasted"
    """Share that was lost, or redundant, of the processor-time for which jobs held workers that
    were UP."""
    QUEUE = "queue"
    """Number of waiting jobs, averaged over time."""
    LONGEST_QUEUE = "queue-max"
    """Largest number of waiting jobs."""
    FAIRNESS = "fairness"
    """Jain's index of users' mean bounded slowdowns: 1 if all are equal."""
    GOODPUT = "goodput"
    """Useful share of the processor-time that jobs held; it sums to 1 with the next eleven."""
    LOST = f"overhead-{Use.LOST.value}"
    """Share of the processor-time that jobs held that was lost, and redone later."""
    CHECKPOINT = f"overhead-{Use.CHECKPOINT.value}"
    """Share of the processor-time that jobs held that went to checkpoints; the following measures
    are such shares, too."""
    STARTUP = f"overhead-{Use.STARTUP.value}"
    RECOVERY = f"overhead-{Use.RECOVERY.value}"
    REDISTRIBUTION = f"overhead-{Use.REDISTRIBUTION.value}"
    TRANSFER = f"overhead-{Use.TRANSFER.value}"
    WAITING = f"overhead-{Use.WAITING.value}"
    REDUNDANT = f"overhead-{Use.REDUNDANT.value}"
    VERIFICATION = f"overhead-{Use.VERIFICATION.value}"
    RECLAIMED = f"overhead-{Use.RECLAIMED.value}"
    DOWN = f"overhead-{Use.DOWN.value}"
    ETTR = "ettr"
    """Effective training time ratio: mean over the jobs of work over the time from the first start
    to completion."""
    MACHINE_HOURS = "machine-hours"
    """Hours of workers that jobs held, and of spares that waited: of workers that no job held, as
    many as the platform has spares."""
    COST = "cost"
    """Cost of all processors, at `measures.prices`, at their traces' prices, or at their own."""
    LATE = "late"
    """Number of jobs that were not completed by their deadlines."""
    ENERGY = "energy"
    """Energy of all processors, at `measures.watts`, in kWh."""
    FAULTS = "faults"
    """Number of faults: of units (workers, nodes, racks) where they are repaired, else of workers
    that they took DOWN."""
    LEMON_FAULTS = "lemon-faults"
    """Number of faults by laws of some units only (`share`, `units`), where faults are repaired."""
    RETIRED = "retired"
    """Number of units that retired."""
    SELECTIONS = "selections"
    """Number of times that workers were chosen anew: starts of all copies of all jobs, less one for
    each job. A run on the workers that its job kept is no new choice."""
    CALLED = "reserve-called"
    """Number of workers of the reserve that were called."""
    DEPLETED = "depleted"
    """1 if the run ended because too few workers were left that had not retired, else 0."""
    WAIT_MEDIAN = "wait-median"
    WAIT_P90 = "wait-p90"
    """The 90th percentile, interpolated; likewise for all -p90, -p95 and -p99."""
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
        """Return the measure for an alternative name, `response` or `slowdown`, with or without a
        statistic; None for any other value."""
        word = str(value)
        for name, ours in (("response", "flowtime"), ("slowdown", "stretch")):
            if word == name or word.startswith(f"{name}-"):
                return cls(ours + word.removeprefix(name))
        return None

    @property
    def quantity(self) -> str | None:
        """Name of the property of `Jobs`, such as `wait`, whose values of all jobs the measure sums
        up in one statistic; None if it is no statistic of jobs."""
        name = self.value.removesuffix(f"-{self.statistic}").replace("-", "_")
        return name if name in QUANTITIES else None

    @property
    def least(self) -> int:
        """Smallest value that a job can have of the measure's quantity: 1 for slowdowns, else 0."""
        return int(self.quantity in ("stretch", "bounded_slowdown"))

    @property
    def statistic(self) -> str:
        """Statistic that the measure is of the jobs' values: median, p90, p95 or p99 if its name
        ends so, else mean."""
        last = self.value.rpartition("-")[2]
        return last if last in STATISTICS else "mean"

    def summed(self, values: Floats) -> float:
        """Return the measure's statistic (its mean, say) of the jobs' values, one or more, none of
        which is nan."""
        return statistic(self.statistic, values)

    def found_in(self, report: Report | Summary) -> float | None:
        """Return the measure's value from an object of the class `fold`, a report being closed;
        None if it is undefined for the run."""
        of, _, part = self.value.partition("-")
        found: float | None
        if self.value in OF_SUMMARY:
            summary = report if isinstance(report, Summary) else report.summary
            found = attrgetter(OF_SUMMARY[self.value])(summary)
        elif isinstance(report, Summary):
            found = float(np.mean(report.flowtimes)) if report.flowtimes else None
        elif self.quantity:
            found = (report.spreads[self.quantity] or {}).get(self.statistic)
        elif of == "overhead":
            # A share that does not occur is 0, unless jobs held no processor-time at all.
            found = report.overheads.get(part, None if report.goodput is None else 0.0)
        else:
            found = attrgetter(PLACES.get(self.value, self.value.replace("-", "_")))(report)
        return None if found is None else float(found)

    @property
    def words(self) -> str:
        """Label of the measure on an axis, with its unit unless that is the scenario's."""
        of, _, part = self.value.partition("-")
        if of == "overhead":
            return f"{OVERHEADS.get(part, part)}, share of held processor-time"
        if self.quantity:
            statistic = STATED.get(self.statistic, self.statistic)
            return f"{statistic} {self.quantity.replace('_', ' ')}"
        return WORDS.get(self.value, self.value)

    @property
    def higher_is_better(self) -> bool:
        """Whether a higher value is better: utilisation, fairness, goodput and the effective
        training time ratio."""
        return self in (Measure.UTILISATION, Measure.FAIRNESS, Measure.GOODPUT, Measure.ETTR)

    @property
    def wants_all_done(self) -> bool:
        """Whether the measure is known only if all jobs were completed. Others, such as
        utilisation, are also known of a run that was cut off or in which jobs were killed."""
        whole = (Measure.MAKESPAN, Measure.FAIRNESS, Measure.ETTR)
        return self in whole or self.quantity is not None

    @property
    def share(self) -> bool:
        """Whether the measure is a share of a whole, from 0 to 1."""
        of = self.value.partition("-")[0]
        shares = (Measure.UTILISATION, Measure.WASTED, Measure.FAIRNESS, Measure.ETTR)
        return self in shares or of in ("goodput", "overhead")

    @property
    def counts_jobs(self) -> bool:
        """Whether the measure is a number of jobs, from none to all."""
        return self is Measure.LATE

    @property
    def event(self) -> bool:
        """Whether the measure is 1 for a run in which something happened, and 0 for another."""
        return self is Measure.DEPLETED

    @property
    def counts_lost(self) -> bool:
        """Whether lost computation makes a difference to the measure. What a job that is unfinished
        at the run's end has computed counts as lost."""
        return self in (Measure.GOODPUT, Measure.WASTED, Measure.LOST)

    @property
    def fold(self) -> type[Report | Summary]:
        """Class whose objects receive a run's events and sum them up for this measure: `Summary`
        where it has what is needed, and else `Report`, which takes about three times as long."""
        return Summary if self is Measure.FLOWTIME or self.value in OF_SUMMARY else Report

    @property
    def timed(self) -> bool:
        """Whether the measure is in the scenario's unit of time; others have no unit."""
        return self is Measure.MAKESPAN or self.quantity in ("wait", "flowtime")
