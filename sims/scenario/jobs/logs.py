"""Changes that are made to the jobs of a log before a run: selection, cleaning, scaling of the
load, and resampling of a log that is too short."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from math import inf
from typing import Annotated, Any, Literal, Self

import numpy as np
from attrs import evolve, field, frozen
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import Field, GetJsonSchemaHandler, model_validator
from pydantic_core import core_schema as core

from sims.errors import unfit
from sims.readers import JobLog, Preceding
from sims.scenario.dates import DATE, Calendar, Moment, is_dated, undated
from sims.scenario.dependencies import drawn_anew
from sims.scenario.jobs.sources import JobFile, JobOrigin, WorkloadFile
from sims.tables import Section
from sims.tables.fields import (
    RANGE,
    Accepts,
    Count,
    Duration,
    Json,
    Positive,
    Time,
    TimeRange,
    Unacceptable,
)
from sims.telling import apart

Status = Literal["completed", "failed", "cancelled", "unknown"]
"""How a job ended when the log was recorded."""


@frozen(eq=False)
class Replay:
    """The jobs of a log in order of submission, with counts of the jobs left out or changed before
    a run, so that no change is silent."""

    rows: NDArray[np.void]
    """The jobs, with the columns of COLUMNS."""
    left_out: tuple[tuple[str, int], ...] = ()
    """Pairs of a reason and the number of jobs left out for that reason."""
    changed: tuple[tuple[str, int], ...] = ()
    """Pairs of a kind of change and the number of jobs changed."""
    begins: float | None = None
    """Seconds from 1970 to time 0; None: not known, or the times are no longer those of the log."""
    preceding: Mapping[str, Preceding] = field(factory=dict)
    """Maps the name of each job that follows another to that one, which need not take part."""
    zone: str = "UTC"
    """Time zone of the log's dates, as an IANA name."""
    doubts: tuple[str, ...] = ()
    """Signs that the log, or what is said of its machine, is not what it seems."""

    @classmethod
    def of(cls, log: JobLog) -> Self:
        """Return all jobs of a log, in its order and unchanged, with the log's own counts."""
        counts = tuple(log.left_out.items()), tuple(log.changed.items())
        return cls(log.rows, *counts, log.begins, log.preceding, log.zone)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, column: str) -> NDArray[Any]:
        return self.rows[column]

    def without_rows(self) -> Self:
        """Return the same without its rows, which need much memory."""
        return evolve(self, rows=self.rows[:0].copy())

    def from_first(self) -> Self:
        """Return the jobs with the first submission as time 0; `begins` moves with it."""
        first = float(self["submitted"].min()) if len(self) else 0.0
        if not first:
            return self
        begins = None if self.begins is None else self.begins + first
        return evolve(self.change("", 0, submitted=self["submitted"] - first), begins=begins)

    def zeroed(self, file: JobFile) -> Self:
        """Return the jobs with time 0 where the `origin` of their file's section puts it."""
        first = isinstance(file, WorkloadFile) and file.origin is JobOrigin.FIRST
        return self.from_first() if first else self

    def keep(self, kept: NDArray[np.bool_], reason: str) -> Self:
        """Return only the jobs for which `kept`, a mask with an entry for each job, is true; the
        others are counted as left out for `reason`."""
        if kept.all():
            return self
        entry = reason, len(kept) - int(np.count_nonzero(kept))
        return evolve(self, rows=self.rows[kept], left_out=(*self.left_out, entry))

    def change(self, how: str, jobs: int, **columns: NDArray[Any]) -> Self:
        """Return the jobs with the given values in the columns named by `columns`, an entry for
        each job; `jobs` of them are counted as changed, as the text `how` says. With 0 nothing is
        counted."""
        rows, entries = self.rows.copy(), ((how, jobs),) if jobs else ()
        for column, values in columns.items():
            rows[column] = values
        return evolve(self, rows=rows, changed=(*self.changed, *entries))

    def unlike(self) -> Self:
        """Return the jobs with the log's waits unknown and without its date, both of which are
        meaningless once load or times have changed."""
        waits = np.full(len(self), np.nan)
        return evolve(self.change("", 0, waits=waits), begins=None)

    def load(self, workers: int) -> float:
        """Return the load: the jobs' area over the capacity of `workers` workers from the first
        submission to the last; inf where all are submitted at once, or there are none."""
        submitted, area = self["submitted"], float(np.dot(self["times"], self["processors"]))
        span = float(np.ptp(submitted)) if len(submitted) else 0.0
        return area / (workers * span) if span else np.inf


class Rule(enum.Enum):
    """A rule for cleaning a log before its jobs are simulated."""

    FLURRIES = "flurries"
    """Leaves out flurries: long rows of one user's jobs, each submitted soon after the one before.
    """
    CUT_WIDE = "cut-wide"
    """Gives jobs that are larger than the machine all of its processors; otherwise they are left
    out."""
    CUT_RUNS = "cut-runs"
    """Ends runs at their users' estimates, as the log's machine should have done."""
    RAISE_ESTIMATES = "raise-estimates"
    """Raises an estimate to the run time where the run took longer than its estimate."""


WINDOW = "job.select.window"
Names = tuple[Annotated[int | str, Accepts("a whole number, a string")], ...]
Window = Annotated[
    tuple[Moment, Moment],
    Accepts(
        f"a time from 0 on, and a later one or inf; each may be {DATE}",
        check=lambda it: is_dated(*it) or it[0] < it[1],
    ),
]


class Flurry(Section):
    """`[job.select.flurry]`: the definition of a flurry for the rule `flurries`."""

    jobs: Count = 1000
    """Least number of one user's jobs in a row."""
    gap: Duration = 3600
    """Largest time between two successive submissions of a row, time units."""

    def rows(self, log: Replay) -> NDArray[np.bool_]:
        """Return a boolean mask of the log's jobs that are in a flurry: a row of at least `jobs`
        jobs of one user, each submitted at most `gap` after the one before. Jobs whose user is
        unknown are in none."""
        # Rows of one user: sort by user, then by submission; a new row begins with another user or
        # a long gap.
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
    """`[job.select]`: the jobs of a log that take part; default: all. The run's log gives the
    number of jobs left out or changed for each reason. A time alone, as in `select = "3 min"`, is
    that of `choosing`."""

    choosing: Time = 0
    """c: time in which workers are chosen for a run, before it starts up, time units; of jobs from
    any source."""
    window: Window = (0, inf)
    """Start and end of the submissions that take part, seconds since the log's time 0 (`origin`) or
    dates, in the log's time zone if they name none; the run begins at the window's start."""
    users: Names = ()
    """Users whose jobs take part, as the log numbers or names them; default: all."""
    groups: Names = ()
    """Groups whose jobs take part; default: all."""
    queues: Names = ()
    """Queues whose jobs take part; default: all."""
    statuses: tuple[Status, ...] = ()
    """Statuses of the jobs that take part; default: all."""
    processors: Annotated[tuple[int, int], RANGE] | None = None
    """Least and largest number of processors of a job that takes part; default: any."""
    time: TimeRange | None = None
    """Shortest and longest run time of a job that takes part; default: any."""
    clean: tuple[Rule, ...] = ()
    """Rules for cleaning the log; default: none."""
    flurry: Flurry = Field(default_factory=Flurry)
    first: Count | None = None
    """Number of jobs taken from the start of what is left; default: all."""

    @model_validator(mode="before")
    @classmethod
    def _time_alone(cls, value: Any) -> Any:
        """Turn `select = TIME` into the table that it stands for; leave any other value as it
        is."""
        alone = isinstance(value, int | float | str) and not isinstance(value, bool)
        return {"choosing": value} if alone else value

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: core.CoreSchema, handler: GetJsonSchemaHandler
    ) -> Json:
        table = super().__get_pydantic_json_schema__(schema, handler)
        return {"anyOf": [table, {"type": ["number", "string"]}]}

    def apply(self, log: Replay) -> Replay:
        """Return the log's jobs that take part, with those left out and those changed by the rules
        of cleaning counted. Jobs larger than the platform are cut later, by `cut`."""
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

    def span(self, log: Replay) -> tuple[float, float]:
        """Return the window in times of the log. Raises InputError for dates that it does not
        have."""
        start, end = self.window
        if isinstance(start, str) or isinstance(end, str):
            if log.begins is None:
                raise undated(WINDOW)
            return Calendar(log.begins, log.zone).span(start, end, WINDOW)
        return start, end

    def _within(self, log: Replay) -> Replay:
        start, end = self.span(log)
        kept = (start <= log["submitted"]) & (log["submitted"] < end)
        log = log.keep(kept, f"not submitted from {start:g} to {end:g}")
        if not start:
            return log
        begins = None if log.begins is None else log.begins + start
        return evolve(log.change("", 0, submitted=log["submitted"] - start), begins=begins)

    def _cleaned(self, log: Replay) -> Replay:
        if Rule.FLURRIES in self.clean and len(log):
            log = log.keep(~self.flurry.rows(log), "part of a flurry")
        times, estimates = log["times"], log["estimates"]
        over = int((times > estimates).sum())
        # An unknown estimate is nan: fmin then keeps the run time.
        if Rule.CUT_RUNS in self.clean:
            return log.change("run cut to its estimate", over, times=np.fmin(times, estimates))
        if Rule.RAISE_ESTIMATES in self.clean:
            raised = np.maximum(times, estimates)
            return log.change("estimate raised to its run", over, estimates=raised)
        return log

    def cut(self, log: Replay, workers: int) -> Replay:
        """Return the jobs with those that are larger than the platform cut to `workers` processors,
        if the rule `cut-wide` is set; otherwise all as they are.

        This follows scaling, which may make jobs larger than the platform.
        """
        if Rule.CUT_WIDE not in self.clean:
            return log
        sizes = log["processors"]
        how, wide = f"cut to the platform's {workers} workers", int((sizes > workers).sum())
        return log.change(how, wide, processors=np.minimum(sizes, workers))


class ScaledBy(enum.Enum):
    """The property of the jobs that is scaled."""

    ARRIVALS = "arrivals"
    """Divides the times between submissions by the factor, and the times to think of jobs that
    follow others."""
    PROCESSORS = "processors"
    """Multiplies numbers of processors by the factor, rounded, at least 1."""
    TIMES = "times"
    """Multiplies run times and estimates by the factor."""


class Scale(Section):
    """`[job.scale]`: a higher or lower load than the log's. Load is the jobs' area over the
    platform's capacity from the first submission to the last; jobs that the platform, a partition
    or a limit leaves out do not count."""

    by: ScaledBy = ScaledBy.ARRIVALS
    """Quantity that is scaled: `arrivals`, `processors` or `times`."""
    factor: Positive | None = None
    """Factor of the scaling, above 1 for more load. Either this or `load`."""
    load: Positive | None = None
    """Load to reach, where 1 is the platform's whole capacity. Scaled numbers of processors, which
    are rounded and may exceed the platform, only come close to the load."""

    def check(self) -> None:
        if (self.factor is None) == (self.load is None):
            raise Unacceptable("factor", self.factor, "either `factor` or `load`")

    def apply(self, log: Replay, load: Callable[[Replay], float]) -> Replay:
        """Return the jobs with their submissions, processors or times scaled, by `factor` or to the
        load that is asked for; `load` returns that of the jobs that take part.

        Raises InputError where a load is asked for and there is none, as all jobs are submitted at
        once.
        """
        before = load(log)
        if self.load is not None and not np.isfinite(before):
            raise unfit(
                "job.scale.load",
                "the jobs that take part are submitted at once: they have no load",
                "`factor`",
            )
        factor = self.factor if self.load is None else self.load / before
        assert factor is not None
        scaled = log.change("", 0, **self._scaled(log, factor))
        if self.by is ScaledBy.ARRIVALS:
            chains = log.preceding.items()
            sooner = {name: Preceding(it.name, it.think / factor) for name, it in chains}
            scaled = evolve(scaled, preceding=sooner)
        how = f"{self.by.value} scaled by {factor:.6g}: load {before:.4g} is now"
        return scaled.change(f"{how} {load(scaled):.4g}", len(log)).unlike()

    def _scaled(self, log: Replay, factor: float) -> dict[str, NDArray[Any]]:
        match self.by:
            case ScaledBy.ARRIVALS:
                return {"submitted": log["submitted"] / factor}
            case ScaledBy.PROCESSORS:
                return {"processors": np.maximum(1, np.rint(log["processors"] * factor))}
            case ScaledBy.TIMES:
                return {key: log[key] * factor for key in ("times", "estimates")}


class Resample(Section):
    """`[job.resample]`: blocks of the log, drawn with replacement with the run's seed and put one
    after the other. The day of the week and the hour stay, and so do dependences within a block (a
    user's session); a job that follows one of another block is submitted as the log says."""

    blocks: Count
    """Number of blocks to draw."""
    length: Duration = 604_800
    """Length of a block, time units; default: a week of seconds. The log's last block is never
    drawn where it is incomplete."""

    def apply(self, log: Replay, rng: Generator) -> Replay:
        """Return jobs made of `blocks` whole blocks of the log, drawn with replacement with `rng`
        and put one after the other from time 0 on.

        A job that is drawn again is called J7.2, J7.3 and so on. Raises InputError where the log
        has no whole block.
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
        rows, before = np.concatenate(blocks), [block["names"].tolist() for block in blocks]
        names = apart(rows["names"])
        chains = drawn_anew(log.preceding, before, names) if log.preceding else {}
        found = evolve(log, rows=rows, preceding=chains)
        how = f"{self.blocks} blocks of {self.length:g} drawn from {whole}"
        return found.change(
            f"{how}, which held {bounds[-1]:,} jobs",
            len(found),
            submitted=found["submitted"] + shift,
            names=np.array(names, dtype=object),
        ).unlike()
