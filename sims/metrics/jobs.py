"""A run's jobs in numbers: how long each waited, and how that compares with what it took."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from attrs import define, field, frozen
from numpy.typing import NDArray

from actors.events import JobSubmitted, RunStarted
from actors.runtime import Record

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

BOUND = 10.0
"""s: bounded slowdown takes no job for shorter (Feitelson et al., JSSPP 1997)."""
UNKNOWN = "unknown"
NOBODY = ("", "", "")


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
    bound: float = BOUND
    """Time units, of bounded slowdown."""

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

    def quantities(self) -> dict[str, Floats]:
        """What each job has of its own, by name."""
        names = ("wait", "flowtime", "stretch", "bounded_slowdown")
        return {name: getattr(self, name) for name in names}

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


@define
class Starts:
    """Fold: whose each job is, and when and on what it first started."""

    wants: frozenset[type] = frozenset((JobSubmitted, RunStarted))
    first: dict[str, tuple[float, str]] = field(factory=dict)
    """Job -> (time, processors)."""
    whose: dict[str, tuple[str, str, str]] = field(factory=dict)
    """Job -> (user, group, queue), where one of them is known."""

    def __call__(self, record: Record) -> None:
        event = record.event
        if isinstance(event, RunStarted):
            if event.job not in self.first:
                self.first[event.job] = record.t, event.processors
        elif isinstance(event, JobSubmitted) and (event.user or event.group or event.queue):
            self.whose[event.job] = event.user, event.group, event.queue

    def jobs(
        self,
        submitted: Mapping[str, float],
        completed: Mapping[str, float],
        own: Mapping[str, float],
        bound: float,
    ) -> Jobs:
        """The completed jobs that started, all told."""
        from sims.ledger.slices import count  # `[measures]` needs no ledger

        names = tuple(job for job in submitted if job in completed and job in self.first)
        starts = [self.first[job] for job in names]
        users, groups, queues = _columns((self.whose.get(job, NOBODY) for job in names), 3)
        return Jobs(
            names,
            np.array([submitted[job] for job in names], dtype=float),
            np.array([start for start, _ in starts], dtype=float),
            np.array([completed[job] for job in names], dtype=float),
            np.array([own.get(job) or np.nan for job in names], dtype=float),
            np.array([count(processors) for _, processors in starts], dtype=np.int64),
            *(users, groups, queues, bound),
        )


def _columns(rows: Iterable[tuple[str, ...]], width: int) -> tuple[tuple[str, ...], ...]:
    return tuple(zip(*rows, strict=True)) or ((),) * width
