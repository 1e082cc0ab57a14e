"""Which jobs of a log take part, and by which rules they are cleaned."""

from __future__ import annotations

import enum
from math import inf

import attrs
import numpy as np
from attrs import Factory, field, frozen
from attrs.validators import optional
from numpy.typing import NDArray

from sims.scenario.fields import Unacceptable, positive, range_of_positives
from sims.scenario.jobs.columns import Changes, JobColumns, Status

Names = tuple[int | str, ...]


class Rule(enum.Enum):
    """A rule of cleaning."""

    FLURRIES = "flurries"
    """Leaves out flurries: long rows of one user's jobs, each soon after the one before."""
    CUT_WIDE = "cut-wide"
    """Gives jobs larger than the machine the whole of it, which else are left out."""
    CUT_RUNS = "cut-runs"
    """Ends runs at their users' estimates, as the machine of the log was to do."""
    RAISE_ESTIMATES = "raise-estimates"
    """Raises an estimate that its run outlived to what it took."""


def _window(_: object, attribute: object, value: tuple[float, float]) -> None:
    """attrs validator: a time from 0 on, and a later one or inf."""
    if not 0 <= value[0] < value[1]:
        raise Unacceptable("window", value, "a time from 0 on, and a later one or inf")


@frozen(kw_only=True)
class Flurry:
    """`[job.select.flurry]`: what the rule `flurries` takes for one."""

    jobs: int = field(default=1000, validator=positive)
    """The least jobs of one user in a row."""
    gap: float = field(default=3600, validator=positive)
    """The most time units between two submissions of a row."""

    def rows(self, jobs: JobColumns) -> NDArray[np.bool_]:
        """Which jobs are in one; a job whose user is unknown is in none."""
        _, users = np.unique(jobs.users.astype(str), return_inverse=True)
        order = np.lexsort((jobs.submitted, users))
        apart = np.diff(users[order], prepend=-1) != 0
        late = np.diff(jobs.submitted[order], prepend=0.0) > self.gap
        row = np.empty(len(jobs), dtype=np.intp)
        row[order] = np.cumsum(apart | late)
        known = np.not_equal(jobs.users, "").astype(np.bool_)
        long: NDArray[np.bool_] = np.bincount(row)[row] >= self.jobs
        return long & known


@frozen(kw_only=True)
class Selection:
    """`[job.select]`: which jobs of a log take part; default: all. The run's log tells how many
    were left out or changed, and why."""

    window: tuple[float, float] = field(default=(0, inf), validator=_window)
    """Submitted from here, and before there: seconds since the log's start. The run begins at the
    window's start."""
    users: Names = ()
    """Of these users only, as the log numbers or names them."""
    groups: Names = ()
    """Of these groups only."""
    queues: Names = ()
    """Of these queues only."""
    statuses: tuple[Status, ...] = ()
    """Of these statuses only."""
    processors: tuple[int, int] | None = field(default=None, validator=optional(range_of_positives))
    """The least and the most that a job has; default: any."""
    time: tuple[float, float] | None = field(default=None, validator=optional(range_of_positives))
    """The least and the most that a run takes; default: any."""
    clean: tuple[Rule, ...] = ()
    """Rules of cleaning."""
    flurry: Flurry = Factory(Flurry)
    first: int | None = field(default=None, validator=optional(positive))
    """So many of what is left; default: all."""

    def apply(self, jobs: JobColumns, changes: Changes) -> JobColumns:
        """The jobs that take part, cleaned; what is done is entered in `changes`."""
        for key in ("statuses", "users", "groups", "queues"):
            if asked := [str(it) for it in getattr(self, key)]:
                kept = np.isin(getattr(jobs, key).astype(str), asked)
                jobs = changes.keep(jobs, kept, f"not of the {key} asked for")
        for key, column in (("processors", "processors"), ("time", "times")):
            if bounds := getattr(self, key):
                low, high = bounds
                kept = (low <= getattr(jobs, column)) & (getattr(jobs, column) <= high)
                jobs = changes.keep(jobs, kept, f"{key} not from {low:g} to {high:g}")
        jobs = self._cleaned(self._within(jobs, changes), changes)
        if self.first is None:
            return jobs
        kept = np.arange(len(jobs)) < self.first
        return changes.keep(jobs, kept, f"after the first {self.first:,}")

    def _within(self, jobs: JobColumns, changes: Changes) -> JobColumns:
        start, end = self.window
        kept = (start <= jobs.submitted) & (jobs.submitted < end)
        jobs = changes.keep(jobs, kept, f"not submitted from {start:g} to {end:g}")
        return attrs.evolve(jobs, submitted=jobs.submitted - start) if start else jobs

    def _cleaned(self, jobs: JobColumns, changes: Changes) -> JobColumns:
        if Rule.FLURRIES in self.clean and len(jobs):
            jobs = changes.keep(jobs, ~self.flurry.rows(jobs), "part of a flurry")
        over = jobs.times > jobs.estimates
        if Rule.CUT_RUNS in self.clean:
            changes.change("run cut to its estimate", int(over.sum()))
            return attrs.evolve(jobs, times=np.fmin(jobs.times, jobs.estimates))
        if Rule.RAISE_ESTIMATES in self.clean:
            changes.change("estimate raised to its run", int(over.sum()))
            return attrs.evolve(jobs, estimates=np.maximum(jobs.times, jobs.estimates))
        return jobs

    def cut(self, jobs: JobColumns, changes: Changes, workers: int) -> JobColumns:
        """Jobs larger than `workers`, where a rule cuts them: what is scaled may become so."""
        if Rule.CUT_WIDE not in self.clean:
            return jobs
        wide = int((jobs.processors > workers).sum())
        changes.change(f"cut to the platform's {workers} workers", wide)
        return attrs.evolve(jobs, processors=np.minimum(jobs.processors, workers))
