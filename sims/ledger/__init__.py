"""The time ledger: every processor-second to exactly one use, summed exactly."""

from __future__ import annotations

import enum
from collections import defaultdict
from collections.abc import Mapping
from fractions import Fraction

from attrs import define, field, frozen

from actors.intervals import count_in, numbers_in
from policies.availability import WorkerState

Exact = Fraction | int
"""A sum of times without rounding: whole seconds and slots stay whole, which adds up faster."""


class Use(enum.Enum):
    """What a processor-second went to; each goes to exactly one."""

    USEFUL = "useful"
    """Computing whose result is in the state that completed the job (its iteration): all of the
    completing run's; that of the run that it began from up to `saved`; and so on back."""
    LOST = "lost"
    """Computing that has to be done again, of a run that was not cancelled: a member went DOWN, or
    a verification failed; at the log's end, what is saved or under way."""
    CHECKPOINT = "checkpoint"
    """Its run spends a checkpoint's `cost`."""
    RECOVERY = "recovery"
    """Its run spends `recovery`, a clone's `delay`, or a changeover to other workers."""
    REDISTRIBUTION = "redistribution"
    """Its run moves data to another number of members."""
    TRANSFER = "transfer"
    """The worker is UP and held, a message of its is under way, whatever it carries, and its run
    does nothing else."""
    WAITING = "waiting"
    """Its run does not advance: for the link, for others, without speed, with kept members not all
    UP."""
    REDUNDANT = "redundant"
    """Computing of a run that was cancelled, as far as it is not useful: another copy was first,
    the job was preempted, or its policy moved it to other workers."""
    VERIFICATION = "verification"
    """Its run's detector advances."""
    IDLE = "idle"
    """The worker is UP and nobody holds it."""
    RECLAIMED = "reclaimed"
    """Its owner has the worker, whether a run holds it or not."""
    DOWN = "down"
    """The worker is DOWN."""


AWAY = {WorkerState.DOWN: Use.DOWN, WorkerState.RECLAIMED: Use.RECLAIMED}
UNHELD = (Use.IDLE, Use.RECLAIMED, Use.DOWN)
"""What processors do when no run holds them."""


@frozen
class Slice:
    """`processors` were put to one use over [start, end)."""

    processors: str
    """Interval set of numbers, such as `0-3 5`."""
    use: Use
    start: float
    end: float
    seq: int
    """The event that began it."""
    job: str | None = None
    run: int | None = None
    share: Fraction | float = 1
    """Part of each processor that this use had: below 1 only where workers multitask."""
    note: str = ""
    """What a picture or an export may add, such as `program`."""
    holder: str | None = None
    """Of a worker that is DOWN: the job that holds it. That time is not the job's, but the
    platform's loss."""

    @property
    def each(self) -> Exact:
        """Time of each of its processors, exactly (floats are rationals)."""
        time = length(self.start, self.end)
        return time if self.share == 1 else Fraction(self.share) * time


def length(start: float, end: float) -> Exact:
    """end - start, exactly."""
    first, last = int(start), int(end)
    if first == start and last == end:
        return last - first
    return Fraction(end) - Fraction(start)


Account = dict[Use, Exact]


EMPTY: Account = dict.fromkeys(Use, 0)
"""Copied, not made anew: an enum's hash is a call, twelve times for each job."""


@define
class Ledger:
    """Fold over slices. Sums are exact rationals: what is idle is what is left of
    processors x makespan, never a rounding."""

    processors: int
    """Size of the platform."""
    end: float = 0
    """Makespan; slices beyond it do not exist."""
    total: Account = field(factory=EMPTY.copy)
    by_job: dict[str, Account] = field(factory=lambda: defaultdict(EMPTY.copy))
    by_worker: dict[int, Account] = field(factory=lambda: defaultdict(EMPTY.copy))
    down: defaultdict[str, Exact] = field(init=False, factory=lambda: defaultdict(int))
    """By job, if there are such accounts: time for which it held workers that were DOWN."""
    _unheld: Account = field(init=False, factory=EMPTY.copy)
    """When workers were away, and no job held them."""
    workers: bool = False
    """Whether to keep accounts per worker too (one per processor that worked)."""
    jobs: bool = True
    """Whether to keep accounts per job; if not, asking for one raises KeyError."""

    def __attrs_post_init__(self) -> None:
        if not self.jobs:
            self.by_job = {}

    def enter(self, it: Slice) -> None:
        """Enter one."""
        each = it.each
        amount = count_in(it.processors) * each
        self.total[it.use] += amount
        if self.jobs and it.job is not None:
            self.by_job[it.job][it.use] += amount
        elif self.jobs and it.holder is not None:
            self.down[it.holder] += amount
        if it.use in UNHELD and it.job is it.holder is None:
            self._unheld[it.use] += amount
        for number in numbers_in(it.processors) if self.workers else ():
            self.by_worker[number][it.use] += each

    def close(self, end: float) -> None:
        """Fix the makespan; the rest of all processors' time was idle."""
        self.end = end
        whole = length(0, end)
        self.total[Use.IDLE] = self.processors * whole - _sum(self.total)
        for number in range(self.processors if self.workers else 0):
            own = self.by_worker[number]
            own[Use.IDLE] = whole - _sum(own)

    def held(self, job: str | None = None) -> Account:
        """Time for which the job (or all jobs) held workers, by what it went to (WORLD.md, M1); the
        ledger is closed."""
        if job is not None:
            return self.by_job[job] | {Use.DOWN: self.down[job]}
        away = {use: self.total[use] - self._unheld[use] for use in AWAY.values()}
        return self.total | {Use.IDLE: 0} | away

    @property
    def capacity(self) -> Exact:
        """processors x makespan."""
        return self.processors * length(0, self.end)

    def share(self, use: Use) -> float:
        """Part of the capacity that went to `use`."""
        return float(self.total[use] / self.capacity) if self.capacity else 0.0


def _sum(account: Mapping[Use, Exact]) -> Exact:
    return sum(amount for use, amount in account.items() if use is not Use.IDLE)
