"""What is done to a log's jobs before a run: which take part, by which rules they are cleaned, how
the load is changed, and how more of a log that is too short is drawn."""

from __future__ import annotations

import enum
from math import inf
from typing import Annotated

import attrs
import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import Field

from sims.errors import InputError
from sims.scenario.jobs.columns import Changes, JobColumns, Status
from sims.tables.fields import (
    RANGE,
    Accepts,
    Count,
    Duration,
    Positive,
    Timed,
    TimeRange,
    Unacceptable,
)
from sims.tables.section import Section
from sims.telling import apart


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


Names = tuple[Annotated[int | str, Accepts("a whole number, a string")], ...]
Window = Annotated[
    tuple[Annotated[float, Timed()], Annotated[float, Timed()]],
    Accepts("a time from 0 on, and a later one or inf", check=lambda it: 0 <= it[0] < it[1]),
]


class Flurry(Section):
    """`[job.select.flurry]`: what the rule `flurries` takes for one."""

    jobs: Count = 1000
    """The least jobs of one user in a row."""
    gap: Duration = 3600
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


class Selection(Section):
    """`[job.select]`: which jobs of a log take part; default: all. The run's log tells how many
    were left out or changed, and why."""

    window: Window = (0, inf)
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
    processors: Annotated[tuple[int, int], RANGE] | None = None
    """The least and the most that a job has; default: any."""
    time: TimeRange | None = None
    """The least and the most that a run takes; default: any."""
    clean: tuple[Rule, ...] = ()
    """Rules of cleaning."""
    flurry: Flurry = Field(default_factory=Flurry)
    first: Count | None = None
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
        if changes.begins is not None:
            changes.begins += start
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


class ScaledBy(enum.Enum):
    """What of the jobs is scaled."""

    ARRIVALS = "arrivals"
    """The times between submissions are divided by the factor."""
    PROCESSORS = "processors"
    """Sizes are multiplied by it, rounded, at least 1."""
    TIMES = "times"
    """Times of runs, and estimates, are multiplied by it."""


class Scale(Section):
    """`[job.scale]`: a load that is higher or lower than the log's. Load is the jobs' area over
    what the platform could do from the first submission to the last; jobs that are larger than the
    platform, and hence left out, have no part in it."""

    by: ScaledBy = ScaledBy.ARRIVALS
    """arrivals, processors or times."""
    factor: Positive | None = None
    """Above 1: more load. Either this or `load`."""
    load: Positive | None = None
    """The load to reach, 1 being all that the platform can do; sizes, which are rounded
    and may outgrow the platform, come near it."""

    def check(self) -> None:
        if (self.factor is None) == (self.load is None):
            raise Unacceptable("factor", self.factor, "either `factor` or `load`")

    def apply(
        self, jobs: JobColumns, changes: Changes, workers: int, cut: bool = False
    ) -> JobColumns:
        """The jobs, scaled; entered in `changes`. `cut`: those larger than the platform will get
        all of it. Raises InputError where no load is defined."""
        before = jobs.load(workers, cut)
        if self.load is not None and not np.isfinite(before):
            problem = "the jobs that fit the platform are submitted at once: they have no load"
            raise InputError("scenario", "job.scale.load", problem, "`factor`")
        factor = self.factor if self.load is None else self.load / before
        assert factor is not None
        scaled = self._scaled(jobs, factor)
        how = f"{self.by.value} scaled by {factor:.6g}: load {before:.4g} is now"
        changes.change(f"{how} {scaled.load(workers, cut):.4g}", len(jobs))
        return changes.unlike(scaled)

    def _scaled(self, jobs: JobColumns, factor: float) -> JobColumns:
        match self.by:
            case ScaledBy.ARRIVALS:
                return attrs.evolve(jobs, submitted=jobs.submitted / factor)
            case ScaledBy.PROCESSORS:
                sizes = np.maximum(1, np.rint(jobs.processors * factor)).astype(np.int64)
                return attrs.evolve(jobs, processors=sizes)
            case ScaledBy.TIMES:
                times, estimates = jobs.times * factor, jobs.estimates * factor
                return attrs.evolve(jobs, times=times, estimates=estimates)


WEEK = 604_800


class Resample(Section):
    """`[job.resample]`: blocks of the log drawn with replacement, one after the other, as the
    run's seed says: the day of a week and the hour stay, and so does what hangs together within a
    block (a user's session)."""

    blocks: Count
    """How many are drawn."""
    length: Duration = WEEK
    """Of a block: time units; a week of seconds. The log's last block, which it does not fill, is
    never drawn."""

    def apply(self, jobs: JobColumns, changes: Changes, rng: Generator) -> JobColumns:
        """Drawn anew from the whole blocks of `jobs`; entered in `changes`.

        A job that is drawn again is called J7.2, J7.3 and so on. Raises InputError where there is
        no whole block.
        """
        whole = int(jobs.submitted.max() // self.length) if len(jobs) else 0
        if not whole:
            problem = f"the log is shorter than a block of {self.length:g}"
            raise InputError("scenario", "job.resample.length", problem, "less")
        drawn = rng.integers(0, whole, size=self.blocks)
        bounds = np.searchsorted(jobs.submitted, np.arange(whole + 1) * self.length)
        blocks = [np.arange(bounds[block], bounds[block + 1]) for block in drawn]
        shift = np.repeat((np.arange(self.blocks) - drawn) * self.length, list(map(len, blocks)))
        found = jobs.take(np.concatenate(blocks))
        how = f"{self.blocks} blocks of {self.length:g} drawn from {whole}"
        changes.change(f"{how}, which held {bounds[-1]:,} jobs", len(found))
        names = np.array(apart(found.names), dtype=object)
        anew = attrs.evolve(found, submitted=found.submitted + shift, names=names)
        return changes.unlike(anew)
