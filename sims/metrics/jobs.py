"""Compute the numbers of a run's jobs: waiting times, flowtimes, slowdowns, and their means,
medians and tails."""

from __future__ import annotations

import enum
from array import array
from collections.abc import Callable, Mapping
from math import nan
from statistics import fmean
from sys import intern

import numpy as np
from attrs import define, field, frozen
from numpy.typing import NDArray

from sims.blocks import Floats
from sims.history.rows import JobRow, QueueRow, bounded
from sims.history.storage import StorageRow
from sims.history.transfers import TransferRow

Mask = NDArray[np.bool_]
Words = NDArray[np.object_]

BOUND = 10.0
"""Shortest own time, in seconds, by which bounded slowdown divides (Feitelson et al., JSSPP
1997)."""
UNKNOWN = "unknown"
"""Name of the class of jobs whose user, group, queue or own time is unknown."""
QUANTITIES = ("wait", "flowtime", "stretch", "bounded_slowdown")
"""Names of the properties of `Jobs` that have a value for each job."""


class By(enum.Enum):
    """Facts by which the jobs of a run can be divided into classes."""

    SIZE = "size"
    """Largest number of processors held at one time: 1, 2, 3 to 4, 5 to 8, ..."""
    TIME = "time"
    """The job's own error-free time: up to 1, 10, 100, ..."""
    USER = "user"
    GROUP = "group"
    QUEUE = "queue"
    PARTITION = "partition"


OWNED = By.USER, By.GROUP, By.QUEUE, By.PARTITION
"""Facts that are names, which the log has for each job, in the order in which they are kept."""


@frozen(eq=False)
class Jobs:
    """The completed jobs of a run, in order of submission. Each field but `bound` is an array with
    an element for each job, or has one for each fact; times are in the scenario's unit."""

    names: Words
    submitted: Floats
    started: Floats
    """Time of the first start."""
    completed: Floats
    own: Floats
    """Error-free time of the job by itself; nan where it has none."""
    processors: NDArray[np.int64]
    """Largest number of processors that the job held at one time."""
    whose: Mapping[By, Words]
    """Maps each way of `OWNED` to the name that each job has by it; empty if unknown."""
    bound: float
    """Smallest own time of bounded slowdown, in time units."""
    work: Floats
    """Work of the job, as time at speed 1 on the workers that computed it."""
    recorded: Floats
    """Waiting time in the log that is replayed; nan if unknown."""

    def __len__(self) -> int:
        return len(self.names)

    @property
    def wait(self) -> Floats:
        """Time from submission to the first start."""
        return self.started - self.submitted

    @property
    def flowtime(self) -> Floats:
        """Time from submission to completion, also called response time."""
        return self.completed - self.submitted

    @property
    def stretch(self) -> Floats:
        """Flowtime divided by the job's own time, also called slowdown."""
        return self.flowtime / self.own

    @property
    def bounded_slowdown(self) -> Floats:
        """Flowtime divided by the job's own time or by `bound`, whichever is longer; at least 1."""
        slowdowns: Floats = bounded(self.flowtime, self.own, self.bound)
        return slowdowns

    @property
    def ettr(self) -> float | None:
        """Effective training time ratio, averaged over the jobs: work at speed 1 divided by the
        time from the first start to completion. Jobs that took no time are left out; None if there
        are no others."""
        took = self.completed - self.started
        each = self.work[took > 0] / took[took > 0]
        return fmean(each.tolist()) if len(each) else None

    def quantities(self) -> dict[str, Floats]:
        """Map the name of each quantity (QUANTITIES) to its values, an element for each job."""
        return {name: getattr(self, name) for name in QUANTITIES}

    def recorded_quantities(self) -> dict[str, Floats]:
        """Return the waiting times and bounded slowdowns that the replayed log recorded, by name,
        with an element for each job; nan where the log does not tell."""
        slowdowns = bounded(self.recorded + self.own, self.own, self.bound)
        return {"wait": self.recorded, "bounded_slowdown": slowdowns}

    @property
    def fairness(self) -> float | None:
        """Jain's index of the users' mean bounded slowdowns, or None if fewer than two users have a
        known name and slowdown.

        It is 1 if all users have the same mean, and 1/n if one of n users has all of the slowdown.
        """
        slowdowns, users = self.bounded_slowdown, self.classes(By.USER)
        means = np.array([slowdowns[which].mean() for user, which in users if user != UNKNOWN])
        means = means[np.isfinite(means)]
        return float(means.sum() ** 2 / (len(means) * (means**2).sum())) if len(means) > 1 else None

    def classes(self, by: By) -> list[tuple[str, Mask]]:
        """Return (name, mask of its jobs) for each class that has jobs: sizes and times from the
        smallest, others by name. A mask has an element for each job.

        Jobs of which the fact is unknown form the class `unknown`, with those of a user, say, of
        that name.
        """
        match by:
            case By.SIZE:
                return _ranked(np.ceil(np.log2(self.processors)), _size)
            case By.TIME:
                return _ranked(np.ceil(np.log10(self.own)), _time)
        words = np.where(self.whose[by] == "", UNKNOWN, self.whose[by])
        return [(word, words == word) for word in sorted(set(words), key=_in_order)]


def _ranked(ranks: Floats, name: Callable[[int], str]) -> list[tuple[str, Mask]]:
    """Return (name, mask of its jobs) of the class of each rank that occurs, in increasing order,
    and last that of the jobs whose rank is not finite. `ranks` has a rank for each job, and `name`
    gives the name of a class by its rank."""
    known = np.unique(ranks[np.isfinite(ranks)])
    classes = [(name(int(rank)), ranks == rank) for rank in known]
    lacking = ~np.isfinite(ranks)
    return [*classes, (UNKNOWN, lacking)] if lacking.any() else classes


def _size(rank: int) -> str:
    """Return the name of the class of jobs whose size is above 2**(rank - 1) and at most
    2**rank."""
    low, high = 2**rank // 2 + 1, 2**rank
    return str(high) if low >= high else f"{low:,}-{high:,}"


def _time(rank: int) -> str:
    """Return the name of the class of jobs whose own time is above 10**(rank - 1) and at most
    10**rank."""
    return f"to {10.0**rank:,.15g}"


def _in_order(word: str) -> tuple[bool, int, str]:
    """Return a sort key that puts words of digits, by their value, before UNKNOWN, and that before
    other words."""
    other = "" if word == UNKNOWN else word
    return (False, int(word), "") if word.isdecimal() else (True, 0, other)


@define(eq=False)
class Completions:
    """Collects the rows of the jobs that completed, from which `Jobs` is made."""

    _numbers: array[float] = field(init=False, factory=lambda: array("d"))
    """Eight numbers for each job, one job after the other."""
    _words: list[tuple[str, ...]] = field(init=False, factory=list)
    """Name, user, group, queue and partition of each job."""

    def take(self, row: JobRow) -> None:
        """Keep the numbers of a job that completed."""
        if row.completed and row.started is not None and row.ended is not None:
            event = row.event
            recorded = nan if event.recorded_wait is None else event.recorded_wait
            times = row.submitted, row.ended, row.started
            self._numbers.extend((row.seq, *times, row.processors, row.own, row.work, recorded))
            # Interned: a million jobs share few users, groups and queues.
            self._words.append(
                (
                    *(row.name, intern(event.user), intern(event.group), intern(event.queue)),
                    intern(row.partition),
                )
            )

    def jobs(self, bound: float) -> Jobs:
        """Return the jobs that completed so far, in order of submission; `bound` is the smallest
        own time by which their bounded slowdown divides, in time units."""
        rows = np.array(self._numbers).reshape(-1, 8)
        order = np.argsort(rows[:, 0], kind="stable")
        _, submitted, completed, started, processors, own, work, recorded = rows[order].T
        words = np.array(self._words, object).reshape(-1, 5)[order].T
        names, *owners = words
        # A job without work has no slowdown; dividing by 0 would make means infinite.
        own[own == 0] = nan
        times, whose = (submitted, started, completed, own), dict(zip(OWNED, owners, strict=True))
        return Jobs(names, *times, processors.astype(np.int64), whose, bound, work, recorded)


@define(eq=False)
class StorageUse:
    """Sums up the bytes that runs save to the shared storage and load from it."""

    bytes: float = 0
    _used: float = 0
    """Bandwidth of all runs together since `_since`."""
    _since: float = 0

    def take(self, row: StorageRow) -> None:
        """Count the bytes until the time of a row, from which on another bandwidth is used."""
        self.close(row.t)
        self._used = row.used

    def close(self, now: float) -> None:
        """Count the bytes until `now`, where the log ends."""
        self.bytes += self._used * (now - self._since)
        self._since = now


@define(eq=False)
class ChannelUse:
    """Sums up the time for which messages use the master's channels, also those of members whose
    run computes meanwhile."""

    busy: float = 0

    def take(self, row: TransferRow, end: float) -> None:
        """Count a message's time; `end` is the present time, at which it leaves its channel or the
        log ends."""
        self.busy += end - row.start


@define(eq=False)
class Queue:
    """Follows the number of waiting jobs over time. A job that starts at the instant of its
    submission never waits."""

    longest: int = 0
    """Largest number of jobs that waited at one time; lengths that lasted no time do not count."""
    area: float = 0.0
    """Integral of the length over time, jobs x time."""
    _since: float = 0.0
    """Time of the last change of the length."""
    _length: int = field(init=False, default=0)
    """Number of waiting jobs since the last change."""

    def take(self, row: QueueRow) -> None:
        """Note another length of the queue, from the time of the row on."""
        self.close(row.t)
        self._length = row.waiting

    def close(self, now: float) -> None:
        """Count the length until `now`, where the log ends."""
        # Lengths that last no time, between two events of one instant, do not count.
        if now > self._since:
            self.longest = max(self.longest, self._length)
            self.area += self._length * (now - self._since)
            self._since = now

    @property
    def mean(self) -> float:
        """Average number of waiting jobs over the time from 0 to the last change, or to the log's
        end; 0 if no time has passed."""
        return self.area / self._since if self._since else 0.0


# --- summed up -----------------------------------------------------------------------------------

STATISTICS = {"mean": None, "median": 50, "p90": 90, "p95": 95, "p99": 99}
"""Maps the name of each statistic to its percentile, interpolated; the mean has none."""
Spread = dict[str, float] | None
"""Maps each statistic to its value; None if no job has a value."""
Spreads = dict[str, Spread]
"""Maps each quantity to its statistics."""


def statistic(name: str, values: Floats) -> float:
    """Return the statistic of that name (a key of STATISTICS) of one or more values, none of which
    is nan."""
    percentile = STATISTICS[name]
    return float(values.mean() if percentile is None else np.percentile(values, percentile))


def spread_of(values: Floats) -> Spread:
    """Map each statistic of STATISTICS to its value over the values that are not nan; None if there
    are none."""
    known = values[~np.isnan(values)]
    if not known.size:
        return None
    # All percentiles at once: the values are ordered only once.
    percentiles = np.percentile(known, [it for it in STATISTICS.values() if it is not None])
    return dict(zip(STATISTICS, [float(known.mean()), *percentiles.tolist()], strict=True))


def spreads_of(quantities: Mapping[str, Floats]) -> Spreads:
    """Map each quantity to its statistics; `quantities` has an array with an element for each
    job."""
    return {name: spread_of(values) for name, values in quantities.items()}


def spread_text(spread: Mapping[str, float], number: Callable[[float], str]) -> str:
    """Return the statistics of one quantity as a text for people, such as `mean 3, median 2, 90 %
    7`. `number` turns a value into text."""
    heads = ("mean", "median", "90 %", "95 %", "99 %")
    figures = zip(heads, spread.values(), strict=True)
    return ", ".join(f"{head} {number(value)}" for head, value in figures)
