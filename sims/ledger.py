"""The time ledger: assigns every processor-second to exactly one use, in exact sums."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TypeVar

from attrs import define, field

from actors.intervals import count_in, numbers_in
from actors.runtime import Record
from sims.history.reader import History
from sims.history.rows import AWAY, SpanRow, Use

K = TypeVar("K")

Exact = Fraction | int
"""A sum of times without rounding."""
FINEST = 1074
"""Times are added up as multiples of 2^-FINEST s, which every double is: integers have no rounding,
and add up ten times as fast as fractions."""


UNHELD = (Use.IDLE, Use.RECLAIMED, Use.DOWN)
"""Uses of processors that no run holds, or that are not UP."""


def _multiple(time: float) -> int:
    """Return a time in seconds as a multiple of 2^-FINEST s, which is exact."""
    above, below = time.as_integer_ratio()  # below is a power of two
    return above << FINEST + 1 - below.bit_length()


def _to_seconds(account: dict[K, Exact]) -> None:
    """Turn the account's amounts, multiples of 2^-FINEST s, into exact seconds, in place: an int
    where that is whole, else a fraction."""
    for key, multiple in account.items():
        if multiple:
            time = Fraction(multiple, 1 << FINEST)
            account[key] = time.numerator if time.denominator == 1 else time


Account = dict[Use, Exact]


EMPTY: Account = dict.fromkeys(Use, 0)
"""An account of zeros, copied for each job: the hash of an enum member is a Python call, and a new
dictionary would take twelve."""


@define
class Ledger:
    """Exact sums of processor time by use, for the platform, each job and each worker. They are in
    seconds once the ledger is closed.

    Idle time is what the other uses leave of processors x makespan; as sums are exact, it has no
    rounding error.
    """

    processors: int
    """Number of processors of the platform."""
    end: float = 0
    """End of the accounts, the makespan; no span ends later."""
    total: Account = field(factory=EMPTY.copy)
    by_job: dict[str, Account] = field(factory=lambda: defaultdict(EMPTY.copy))
    by_worker: dict[int, Account] = field(factory=lambda: defaultdict(EMPTY.copy))
    down: defaultdict[str, Exact] = field(init=False, factory=lambda: defaultdict(int))
    """Maps jobs to the time for which they held workers that were DOWN; empty without accounts per
    job."""
    held_idle: Exact = field(init=False, default=0)
    """Time of workers that were idle while a job held them, as the rest of its nodes."""
    _unheld: Account = field(init=False, factory=EMPTY.copy)
    """Time of workers that were away while no job held them."""
    workers: bool = False
    """Whether to keep an account for each worker too (one per processor that worked)."""
    jobs: bool = True
    """Whether to keep an account for each job; if not, asking for one raises KeyError."""

    def __attrs_post_init__(self) -> None:
        if not self.jobs:
            self.by_job = {}

    def enter(self, it: SpanRow) -> None:
        """Add one span to the accounts of the platform, of its job and of its workers, as far as
        these are kept.

        The time of a DOWN worker that a job held is added to that job's `down`, and not to its
        account.
        """
        time = _multiple(it.end) - _multiple(it.start)
        each = time if it.share == 1 else Fraction(it.share) * time
        amount = count_in(it.processors) * each
        self.total[it.use] += amount
        if self.jobs and it.job is not None:
            self.by_job[it.job][it.use] += amount
        elif self.jobs and it.holder is not None:
            self.down[it.holder] += amount
        if it.use in UNHELD and it.job is it.holder is None:
            self._unheld[it.use] += amount
        elif it.use is Use.IDLE:
            self.held_idle += amount
        for number in numbers_in(it.processors) if self.workers else ():
            self.by_worker[number][it.use] += each

    def close(self, end: float) -> None:
        """End the accounts at the makespan `end`, and count the rest of all processors' time as
        idle."""
        self.end, whole = end, _multiple(end)
        self.total[Use.IDLE] = self.processors * whole - _sum(self.total)
        for number in range(self.processors if self.workers else 0):
            own = self.by_worker[number]
            own[Use.IDLE] = whole - _sum(own)
        for account in (self.total, self._unheld, *self.by_job.values(), *self.by_worker.values()):
            _to_seconds(account)
        _to_seconds(self.down)
        idle = {Use.IDLE: self.held_idle}
        _to_seconds(idle)
        self.held_idle = idle[Use.IDLE]

    def held(self, job: str | None = None) -> Account:
        """Return, by use, the processor-seconds for which the job held workers, or for None all
        jobs; call it after `close` (rules.md, M1).

        Time for which a held worker is RECLAIMED or DOWN is included. Idle time is that of the rest
        of nodes that jobs hold whole.
        """
        if job is not None:
            return self.by_job[job] | {Use.DOWN: self.down[job]}
        away = {use: self.total[use] - self._unheld[use] for use in AWAY.values()}
        return self.total | {Use.IDLE: self.held_idle} | away

    @property
    def capacity(self) -> Exact:
        """Processors x makespan, in processor-seconds."""
        return self.processors * Fraction(self.end)

    def share(self, use: Use) -> float:
        """Return the part of processors x makespan, from 0 to 1, that went to `use`."""
        return float(self.total[use] / self.capacity) if self.capacity else 0.0


def _sum(account: Mapping[Use, Exact]) -> Exact:
    return sum(amount for use, amount in account.items() if use is not Use.IDLE)


def account(records: Iterable[Record], processors: int, workers: bool = False) -> Ledger:
    """Compute the ledger of one simulation from its records, up to the last one's time. With
    `workers` it has an account for each worker, too."""
    ledger, history = Ledger(processors, workers=workers), History(processors)
    history.take(SpanRow, ledger.enter)
    history.read(records)
    ledger.close(history.now)
    return ledger
