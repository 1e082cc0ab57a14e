"""A run in one number: what comparisons of runs go by, computed from the run's events."""

from __future__ import annotations

import enum

from sims.report import Report, Spread
from sims.summary import Summary


class Measure(enum.Enum):
    """What a run is measured by."""

    MAKESPAN = "makespan"
    """When the last job was completed."""
    FLOWTIME = "flowtime"
    """Mean over the jobs, completion minus submission."""
    STRETCH = "stretch"
    """Mean over the jobs, flowtime over the job's own error-free time; iterative jobs have none."""
    UTILISATION = "utilisation"
    """Share of all processor-time that runs held."""
    WASTED = "wasted"
    """Share of what runs held that was lost, or redundant."""
    QUEUE = "queue"
    """Jobs that wait, mean over time."""

    @property
    def higher_is_better(self) -> bool:
        """Whether more is better, not less."""
        return self is Measure.UTILISATION

    @property
    def wants_all_done(self) -> bool:
        """Whether it is only known where all jobs were completed; others are means over time."""
        return self in (Measure.MAKESPAN, Measure.FLOWTIME, Measure.STRETCH)

    @property
    def wants_report(self) -> bool:
        """Whether only all events of a run can tell, which takes about three times as long."""
        return self not in (Measure.MAKESPAN, Measure.FLOWTIME)

    @property
    def timed(self) -> bool:
        """Whether its unit is the scenario's unit of time; others have none."""
        return self in (Measure.MAKESPAN, Measure.FLOWTIME)


Measured = dict[Measure, float | None]
"""None: not defined for that run."""


def of_summary(summary: Summary) -> Measured:
    """What few events of a run tell."""
    return {
        Measure.MAKESPAN: _plain(summary.makespan),
        Measure.FLOWTIME: _mean(Spread.of(summary.flowtimes)),
    }


def of_report(report: Report) -> Measured:
    """All measures, once the report is closed."""
    return of_summary(report.summary) | {
        Measure.STRETCH: _mean(report.stretch),
        Measure.UTILISATION: float(report.utilisation),
        Measure.WASTED: report.wasted,
        Measure.QUEUE: float(report.queue.mean),
    }


def _mean(spread: Spread | None) -> float | None:
    return None if spread is None else float(spread.mean)


def _plain(value: float | None) -> float | None:
    return None if value is None else float(value)
