"""A run's jobs in numbers: how long each waited, how many did at a time, how that compares with
what they took by themselves; means, medians and tails of that."""

from __future__ import annotations

import enum
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isnan, nan
from statistics import fmean
from sys import intern
from typing import Any

import numpy as np
from attrs import asdict, astuple, define, field, frozen
from numpy.typing import NDArray

from actors.events import Outcome
from actors.intervals import count_in
from actors.runtime import Record
from sims.history import Job, Listener, Run

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

BOUND = 10.0
"""s: bounded slowdown takes no job for shorter (Feitelson et al., JSSPP 1997)."""
UNKNOWN = "unknown"
QUANTITIES = ("wait", "flowtime", "stretch", "bounded_slowdown")
"""What each job has of its own: properties of `Jobs`."""


class By(enum.Enum):
    """What jobs are told apart by."""

    SIZE = "size"
    """Processors of the first run: 1, 2, 3 to 4, 5 to 8, ..."""
    TIME = "time"
    """Its own time: up to 1, 10, 100, ..."""
    USER = "user"
    GROUP = "group"
    QUEUE = "queue"


@frozen(eq=False)
class Jobs:
    """The completed jobs of a run, in order of submission: an array for each fact."""

    names: tuple[str, ...]
    submitted: Floats
    started: Floats
    """First."""
    completed: Floats
    own: Floats
    """Error-free time of the job by itself; not a number where it has none."""
    processors: NDArray[np.int64]
    """Of the first run."""
    users: tuple[str, ...]
    """Empty words: not known; as of groups and queues."""
    groups: tuple[str, ...]
    queues: tuple[str, ...]
    bound: float
    """Time units, of bounded slowdown."""
    work: Floats
    """Done by the runs that completed, in time at speed 1."""
    recorded: Floats
    """How long each waited where the log that is replayed was kept; not a number: not known."""

    def __len__(self) -> int:
        return len(self.names)

    @property
    def wait(self) -> Floats:
        """From submission to the first start."""
        return self.started - self.submitted

    @property
    def flowtime(self) -> Floats:
        """From submission to completion, also called response time."""
        return self.completed - self.submitted

    @property
    def stretch(self) -> Floats:
        """Flowtime over the job's own time, also called slowdown."""
        return self.flowtime / self.own

    @property
    def bounded_slowdown(self) -> Floats:
        """The same where own times below `bound` count as that; never below 1."""
        slowdowns: Floats = bounded(self.flowtime, self.own, self.bound)
        return slowdowns

    @property
    def ettr(self) -> float | None:
        """Effective training time ratio (WORLD.md, M1), mean over the jobs: work over the time from
        the first start to completion."""
        took = self.completed - self.started
        each = self.work[took > 0] / took[took > 0]
        return fmean(each.tolist()) if len(each) else None

    def quantities(self) -> dict[str, Floats]:
        """What each job has of its own, by name."""
        return {name: getattr(self, name) for name in QUANTITIES}

    def recorded_quantities(self) -> dict[str, Floats]:
        """Wait and bounded slowdown as the log that is replayed has them."""
        slowdowns = bounded(self.recorded + self.own, self.own, self.bound)
        return {"wait": self.recorded, "bounded_slowdown": slowdowns}

    @property
    def fairness(self) -> float | None:
        """Jain's index of users' mean bounded slowdowns: 1 where all fare alike, 1/n where one of n
        bears it all. None where no user is known."""
        slowdowns, users = self.bounded_slowdown, self.classes(By.USER)
        means = np.array([slowdowns[which].mean() for user, which in users if user != UNKNOWN])
        means = means[np.isfinite(means)]
        return float(means.sum() ** 2 / (len(means) * (means**2).sum())) if len(means) else None

    def classes(self, by: By) -> list[tuple[str, Mask]]:
        """(name, which jobs) of each class that has some, in order."""
        match by:
            case By.SIZE:
                return _ranked(np.ceil(np.log2(self.processors)), _size)
            case By.TIME:
                return _ranked(np.ceil(np.log10(self.own)), _time)
        words = {By.USER: self.users, By.GROUP: self.groups, By.QUEUE: self.queues}[by]
        array = np.array(words, dtype=object)
        return [(word or UNKNOWN, array == word) for word in sorted(set(words), key=_in_order)]


def bounded(flowtime: Any, own: Any, bound: float) -> Any:
    """Bounded slowdown, of one job or of many."""
    return np.maximum(1.0, flowtime / np.maximum(own, bound))


def _ranked(ranks: Floats, name: Callable[[int], str]) -> list[tuple[str, Mask]]:
    known = np.unique(ranks[np.isfinite(ranks)])
    classes = [(name(int(rank)), ranks == rank) for rank in known]
    lacking = ~np.isfinite(ranks)
    return [*classes, (UNKNOWN, lacking)] if lacking.any() else classes


def _size(rank: int) -> str:
    low, high = 2**rank // 2 + 1, 2**rank
    return str(high) if low >= high else f"{low:,}-{high:,}"


def _time(rank: int) -> str:
    return f"to {10.0**rank:,.15g}"


def _in_order(word: str) -> tuple[bool, int, str]:
    """Numbers as numbers, before words."""
    return (False, int(word), "") if word.isdecimal() else (True, 0, word)


def own_time(run: Run, before: float) -> float:
    """A job's own error-free time, once `run` has started; `before`: as it was known from earlier
    runs, not a number where there was none.

    It is that of one run from scratch at speed 1, verification included and without checkpoints, on
    the workers of its last run (its first one where it is malleable: it changes their number while
    it runs). Not a number for iterative jobs: it would depend on which workers stay UP.
    """
    described = run.job.described
    if described is None or described.kind == "iterative":
        return nan
    if described.kind == "malleable" and not isnan(before):
        return before
    return run.event.work + described.verification


@define(eq=False)
class Starts(Listener):
    """Collects what `Jobs` are made of: of each job that started and completed, a row."""

    _open: dict[Job, tuple[float, int, float]] = field(init=False, factory=dict)
    """When it started, on how many processors, and its own time, of jobs that are not over."""
    _work: defaultdict[Job, float] = field(init=False, factory=lambda: defaultdict(float))
    _numbers: array[float] = field(init=False, factory=lambda: array("d"))
    _words: list[tuple[str, ...]] = field(init=False, factory=list)

    def run_started(self, run: Run, record: Record) -> None:
        begun = self._open.get(run.job) or (record.t, count_in(run.processors), nan)
        self._open[run.job] = *begun[:2], own_time(run, begun[2])

    def run_ended(self, run: Run, record: Record, done: float) -> None:
        if run.outcome is Outcome.COMPLETED:
            self._work[run.job] += done

    def job_ended(self, job: Job, record: Record) -> None:
        started, work = self._open.pop(job, None), self._work.pop(job, 0.0)
        if started is not None and not job.killed:
            it = job.event
            recorded = nan if it.recorded_wait is None else it.recorded_wait
            self._numbers.extend((job.seq, job.submitted, record.t, *started, work, recorded))
            self._words.append((it.job, intern(it.user), intern(it.group), intern(it.queue)))

    def jobs(self, bound: float) -> Jobs:
        """The completed jobs that started; `bound`: of bounded slowdown."""
        rows = np.array(self._numbers).reshape(-1, 8)
        order = np.argsort(rows[:, 0], kind="stable")
        _, submitted, completed, started, processors, own, work, recorded = rows[order].T
        names, users, groups, queues = _columns((self._words[k] for k in order), 4)
        own[own == 0] = nan
        times, whose = (submitted, started, completed, own), (users, groups, queues)
        return Jobs(names, *times, processors.astype(np.int64), *whose, bound, work, recorded)


def _columns(rows: Iterable[tuple[str, ...]], width: int) -> tuple[tuple[str, ...], ...]:
    return tuple(zip(*rows, strict=True)) or ((),) * width


@define(eq=False)
class Queue(Listener):
    """The queue's length over time; a job that starts as soon as it is submitted never waits."""

    longest: int = 0
    area: float = 0.0
    """Jobs x time waited."""
    _since: float = 0.0
    _length: int = field(init=False, default=0)
    """From then on."""

    def queue_changed(self, now: float) -> None:
        if now > self._since:
            self.longest = max(self.longest, self._length)
            self.area += self._length * (now - self._since)
            self._since = now
        self._length = self.history.waiting

    def log_ended(self, now: float) -> None:
        self.queue_changed(now)

    @property
    def mean(self) -> float:
        """Time average of its length."""
        return self.area / self._since if self._since else 0.0


# --- summed up -----------------------------------------------------------------------------------

STATISTICS = {"mean": None, "median": 50, "p90": 90, "p95": 95, "p99": 99}
"""Of a Spread, by name: the percentile that each is, interpolated."""


@frozen
class SpreadNumbers:
    """Some numbers of a set of numbers."""

    mean: float
    median: float
    p90: float
    """90th percentile, interpolated."""
    p95: float
    p99: float

    @classmethod
    def of(cls, values: Floats | Sequence[float]) -> SpreadNumbers | None:
        """Of the `values` that are numbers; None where there is none."""
        array = np.asarray(values, dtype=float)
        known = array[~np.isnan(array)]
        if not known.size:
            return None
        return cls(float(known.mean()), *np.percentile(known, (50, 90, 95, 99)).tolist())

    def told(self, number: Callable[[float], str]) -> str:
        """For people; `number` says how each is told."""
        mean, median, *tail = map(number, astuple(self))
        return f"mean {mean}, median {median}, 90 % {tail[0]}, 95 % {tail[1]}, 99 % {tail[2]}"


Spreads = dict[str, SpreadNumbers | None]
"""By what they are of; None: no job has one."""


def spreads_of(quantities: Mapping[str, Floats]) -> Spreads:
    """Of each quantity of some jobs."""
    return {name: SpreadNumbers.of(values) for name, values in quantities.items()}


def as_data(spreads: Spreads) -> dict[str, dict[str, float] | None]:
    """As data, by name."""
    return {name: asdict(spread) if spread else None for name, spread in spreads.items()}
