"""A log's load made higher or lower: more often, larger or longer jobs."""

from __future__ import annotations

import enum

import attrs
import numpy as np
from attrs import field, frozen
from attrs.validators import optional

from sims.errors import InputError
from sims.scenario.fields import Unacceptable, positive
from sims.scenario.jobs.columns import Changes, JobColumns


class ScaledBy(enum.Enum):
    """What of the jobs is scaled."""

    ARRIVALS = "arrivals"
    """The times between submissions are divided by the factor."""
    PROCESSORS = "processors"
    """Sizes are multiplied by it, rounded, at least 1."""
    TIMES = "times"
    """Times of runs, and estimates, are multiplied by it."""


@frozen(kw_only=True)
class Scale:
    """`[job.scale]`: a load that is higher or lower than the log's. Load is the jobs' area over
    what the platform could do from the first submission to the last; jobs that are larger than the
    platform, and hence left out, have no part in it."""

    by: ScaledBy = ScaledBy.ARRIVALS
    """arrivals, processors or times."""
    factor: float | None = field(default=None, validator=optional(positive))
    """Above 1: more load. Either this or `load`."""
    load: float | None = field(default=None, validator=optional(positive))
    """The load to reach, 1 being all that the platform can do; sizes, which are rounded
    and may outgrow the platform, come near it."""

    def __attrs_post_init__(self) -> None:
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
        return scaled

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
