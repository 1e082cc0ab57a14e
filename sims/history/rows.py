"""Defines the row of a job: every fact that a log gives of a job that is over.

Waits, flowtimes, slowdowns, sizes and processor-time are defined here alone. Summaries of jobs,
tables, exports and pictures read these rows, and match on no event for themselves.
"""

from __future__ import annotations

from math import isnan, nan
from typing import Any

import numpy as np
from attrs import frozen

from actors.events import JobDescribed, JobSubmitted, Outcome, RunStarted
from policies.interface.kinds import JobKind


@frozen(eq=False)
class JobRow:
    """The facts of one job of a log, from its submission until it is over or the log ends."""

    event: JobSubmitted
    """Event of the job's submission; it names the job, its user, group and queue."""
    described: JobDescribed | None
    """Description of the job in the log's head; None in logs that do not describe jobs."""
    seq: int
    """Sequence number of the submission, by which jobs are ordered."""
    submitted: float
    started: float | None
    """Time of the job's first start; None if the job never started."""
    ended: float | None
    """Time at which the job was completed or killed; None if the log ends before."""
    killed: bool
    """Whether the job was cancelled because it had reached its limit."""
    outcomes: dict[Outcome, int]
    """Number of the job's runs that ended in each way."""
    runs: int
    """Number of runs that the job began."""
    processors: int
    """Largest number of processors that the job held at one time, over all of its copies."""
    processor_time: float
    """Integral of the number of processors held over time, those kept between two runs included."""
    work: float
    """Work of the completed job, or of its iterations, as time at speed 1 on the workers that
    computed it."""
    own: float
    """Error-free time of the job by itself; nan where the job has none."""

    @property
    def name(self) -> str:
        """Name of the job."""
        return self.event.job

    @property
    def completed(self) -> bool:
        """Whether the job has ended by completing its work, not by being killed."""
        return self.ended is not None and not self.killed

    @property
    def wait(self) -> float | None:
        """Time from submission to the first start; None if the job never started."""
        return None if self.started is None else self.started - self.submitted

    @property
    def flowtime(self) -> float | None:
        """Time from submission to the job's end, also called response time; None before the
        end."""
        return None if self.ended is None else self.ended - self.submitted

    @property
    def stretch(self) -> float | None:
        """Flowtime divided by the job's error-free time by itself, also called slowdown; None
        before the job's end, and where that time is unknown or 0."""
        flowtime = self.flowtime
        return flowtime / self.own if flowtime is not None and self.own > 0 else None

    def bounded_slowdown(self, bound: float) -> float | None:
        """Return the flowtime divided by the job's own time or by `bound`, whichever is longer; at
        least 1; None where `stretch` is."""
        return None if self.stretch is None else float(bounded(self.flowtime, self.own, bound))


def bounded(flowtime: Any, own: Any, bound: float) -> Any:
    """Return the bounded slowdown of one job or of an array of jobs: max(1, flowtime / max(own,
    bound)), where `own` is the error-free time of the job by itself."""
    return np.maximum(1.0, flowtime / np.maximum(own, bound))


def own_time(described: JobDescribed | None, run: RunStarted, before: float) -> float:
    """Return a job's own error-free time once `run` has started, in time at speed 1; `before` is
    the value from earlier runs, or nan.

    The own time is that of one run from scratch at speed 1, with verification and without
    checkpoints, on the workers of the job's last run, or of its first run if the job is malleable,
    since it changes their number while it runs. It is nan without a description of the job, and for
    iterative jobs: it would depend on which workers stay UP.
    """
    if described is None or described.kind is JobKind.ITERATIVE:
        return nan
    if described.kind is JobKind.MALLEABLE and not isnan(before):
        return before
    return run.work + described.verification
