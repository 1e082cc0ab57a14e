"""The jobs of a log before a run: which take part, by which rules they are cleaned, how the load is
changed, and how more of a log that is too short is drawn."""

from __future__ import annotations

import enum
from math import inf
from typing import Annotated, Any, Literal, Self

import numpy as np
from attrs import evolve, frozen
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import Field

from sims.errors import unfit
from sims.readers import JobLog
from sims.tables import Section
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
from sims.telling import apart

Status = Literal["completed", "failed", "cancelled", "unknown"]
"""How a job ended where the log was kept."""

COLUMNS = np.dtype(
    [
        *(("names", object), ("submitted", float), ("times", float), ("processors", np.int64)),
        *(("estimates", float), ("statuses", object), ("users", object), ("groups", object)),
        *(("queues", object), ("priorities", float), ("waits", float)),
    ]
)
"""What is known of each job, as `LoggedJob` has it; a number that is not known is nan."""


@frozen(eq=False)
class Replay:
    """Jobs of a log by time of submission, and what is done to them before a run, and to how many:
    nothing is done silently."""

    rows: NDArray[np.void]
    """Of COLUMNS."""
    left_out: tuple[tuple[str, int], ...] = ()
    """(reason, jobs)."""
    changed: tuple[tuple[str, int], ...] = ()
    """(how, jobs)."""
    begins: float | None = None
    """Seconds since 1970 at time 0; None: not known, or another time than the log's."""

    @classmethod
    def of(cls, log: JobLog) -> Self:
        """All jobs. Raises OverflowError where processors have no 64 bits."""
        told = tuple(log.left_out.items()), tuple(log.changed.items())
        return cls(np.array(list(log.jobs), dtype=COLUMNS), *told, log.begins)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, column: str) -> NDArray[Any]:
        return self.rows[column]

    def keep(self, kept: NDArray[np.bool_], reason: str) -> Self:
        """The jobs of a mask; the others are left out for `reason`."""
        if kept.all():
            return self
        told = reason, len(kept) - int(np.count_nonzero(kept))
        return evolve(self, rows=self.rows[kept], left_out=(*self.left_out, told))

    def change(self, how: str, jobs: int, **columns: NDArray[Any]) -> Self:
        """With other values in some columns: so many jobs were changed, if any."""
        rows, told = self.rows.copy(), ((how, jobs),) if jobs else ()
        for column, values in columns.items():
            rows[column] = values
        return evolve(self, rows=rows, changed=(*self.changed, *told))

    def unlike(self) -> Self:
        """Where load or times are no longer those that the log's waits came of."""
        waits = np.full(len(self), np.nan)
        return evolve(self.change("", 0, waits=waits), begins=None)

    def load(self, workers: int, cut: bool = False) -> float:
        """Their area over what `workers` could do from the first submission to the last; those
        that need more are cut to `workers`, or have no part in it."""
        sizes = np.minimum(self["processors"], workers) if cut else self["processors"]
        fit = sizes <= workers
        submitted = self["submitted"][fit]
        span = float(np.ptp(submitted)) if len(submitted) else 0.0
        return float(np.dot(self["times"][fit], sizes[fit])) / (workers * span) if span else np.inf


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

    def rows(self, log: Replay) -> NDArray[np.bool_]:
        """Which jobs are in one; a job whose user is unknown is in none."""
        _, users = np.unique(log["users"].astype(str), return_inverse=True)
        order = np.lexsort((log["submitted"], users))
        other = np.diff(users[order], prepend=-1) != 0
        late = np.diff(log["submitted"][order], prepend=0.0) > self.gap
        row = np.empty(len(log), dtype=np.intp)
        row[order] = np.cumsum(other | late)
        long: NDArray[np.bool_] = np.bincount(row)[row] >= self.jobs
        known: NDArray[np.bool_] = np.not_equal(log["users"], "").astype(np.bool_)
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

    def apply(self, log: Replay) -> Replay:
        """The jobs that take part, cleaned."""
        for key in ("statuses", "users", "groups", "queues"):
            if asked := [str(it) for it in getattr(self, key)]:
                kept = np.isin(log[key].astype(str), asked)
                log = log.keep(kept, f"not of the {key} asked for")
        for key, column in (("processors", "processors"), ("time", "times")):
            if bounds := getattr(self, key):
                low, high = bounds
                kept = (low <= log[column]) & (log[column] <= high)
                log = log.keep(kept, f"{key} not from {low:g} to {high:g}")
        log = self._cleaned(self._within(log))
        if self.first is None:
            return log
        return log.keep(np.arange(len(log)) < self.first, f"after the first {self.first:,}")

    def _within(self, log: Replay) -> Replay:
        start, end = self.window
        kept = (start <= log["submitted"]) & (log["submitted"] < end)
        log = log.keep(kept, f"not submitted from {start:g} to {end:g}")
        begins = None if log.begins is None else log.begins + start
        return evolve(log.change("", 0, submitted=log["submitted"] - start), begins=begins)

    def _cleaned(self, log: Replay) -> Replay:
        if Rule.FLURRIES in self.clean and len(log):
            log = log.keep(~self.flurry.rows(log), "part of a flurry")
        times, estimates = log["times"], log["estimates"]
        over = int((times > estimates).sum())
        if Rule.CUT_RUNS in self.clean:
            return log.change("run cut to its estimate", over, times=np.fmin(times, estimates))
        if Rule.RAISE_ESTIMATES in self.clean:
            raised = np.maximum(times, estimates)
            return log.change("estimate raised to its run", over, estimates=raised)
        return log

    def cut(self, log: Replay, workers: int) -> Replay:
        """Jobs larger than `workers`, where a rule cuts them: what is scaled may become so."""
        if Rule.CUT_WIDE not in self.clean:
            return log
        sizes = log["processors"]
        how, wide = f"cut to the platform's {workers} workers", int((sizes > workers).sum())
        return log.change(how, wide, processors=np.minimum(sizes, workers))


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

    def apply(self, log: Replay, workers: int, cut: bool = False) -> Replay:
        """The jobs, scaled. `cut`: those larger than the platform will get all of it. Raises
        InputError where no load is defined."""
        before = log.load(workers, cut)
        if self.load is not None and not np.isfinite(before):
            raise unfit(
                "job.scale.load",
                "the jobs that fit the platform are submitted at once: they have no load",
                "`factor`",
            )
        factor = self.factor if self.load is None else self.load / before
        assert factor is not None
        scaled = log.change("", 0, **self._scaled(log, factor))
        how = f"{self.by.value} scaled by {factor:.6g}: load {before:.4g} is now"
        return scaled.change(f"{how} {scaled.load(workers, cut):.4g}", len(log)).unlike()

    def _scaled(self, log: Replay, factor: float) -> dict[str, NDArray[Any]]:
        match self.by:
            case ScaledBy.ARRIVALS:
                return {"submitted": log["submitted"] / factor}
            case ScaledBy.PROCESSORS:
                return {"processors": np.maximum(1, np.rint(log["processors"] * factor))}
            case ScaledBy.TIMES:
                return {key: log[key] * factor for key in ("times", "estimates")}


class Resample(Section):
    """`[job.resample]`: blocks of the log drawn with replacement, one after the other, as the
    run's seed says: the day of a week and the hour stay, and so does what hangs together within a
    block (a user's session)."""

    blocks: Count
    """How many are drawn."""
    length: Duration = 604_800
    """Of a block: time units; a week of seconds. The log's last block, which it does not fill, is
    never drawn."""

    def apply(self, log: Replay, rng: Generator) -> Replay:
        """Drawn anew from the whole blocks of a log.

        A job that is drawn again is called J7.2, J7.3 and so on. Raises InputError where there is
        no whole block.
        """
        whole = int(log["submitted"].max() // self.length) if len(log) else 0
        if not whole:
            raise unfit(
                "job.resample.length", f"the log is shorter than a block of {self.length:g}", "less"
            )
        drawn = rng.integers(0, whole, size=self.blocks)
        bounds = np.searchsorted(log["submitted"], np.arange(whole + 1) * self.length)
        blocks = [log.rows[bounds[block] : bounds[block + 1]] for block in drawn]
        shift = np.repeat((np.arange(self.blocks) - drawn) * self.length, list(map(len, blocks)))
        found = evolve(log, rows=np.concatenate(blocks))
        how = f"{self.blocks} blocks of {self.length:g} drawn from {whole}"
        return found.change(
            f"{how}, which held {bounds[-1]:,} jobs",
            len(found),
            submitted=found["submitted"] + shift,
            names=np.array(apart(found["names"]), dtype=object),
        ).unlike()
