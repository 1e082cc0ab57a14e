"""The time ledger: every processor-second to exactly one use, summed exactly."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from attrs import define, field

from actors.intervals import numbers_in
from actors.runtime import Record
from sims.history import History
from sims.ledger.accountant import Slices
from sims.ledger.slices import Exact, Slice, Use, length

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
    workers: bool = False
    """Whether to keep accounts per worker too (one per processor that worked)."""
    jobs: bool = True
    """Whether to keep accounts per job; if not, asking for one raises KeyError."""

    def __attrs_post_init__(self) -> None:
        if not self.jobs:
            self.by_job = {}

    def enter(self, it: Slice) -> None:
        """Enter one."""
        amount = it.amount()
        self.total[it.use] += amount
        if self.jobs and it.job is not None:
            self.by_job[it.job][it.use] += amount
        if self.workers:
            self._add_to_workers(it)

    def _add_to_workers(self, it: Slice) -> None:
        each = it.each
        for number in numbers_in(it.processors):
            self.by_worker[number][it.use] += each

    def close(self, end: float) -> None:
        """Fix the makespan; the rest of all processors' time was idle."""
        self.end = end
        whole = length(0, end)
        self.total[Use.IDLE] = self.processors * whole - _sum(self.total)
        for number in range(self.processors if self.workers else 0):
            own = self.by_worker[number]
            own[Use.IDLE] = whole - _sum(own)

    @property
    def capacity(self) -> Exact:
        """processors x makespan."""
        return self.processors * length(0, self.end)

    def share(self, use: Use) -> float:
        """Part of the capacity that went to `use`."""
        return float(self.total[use] / self.capacity) if self.capacity else 0.0


def account(records: Iterable[Record], processors: int, workers: bool = False) -> Ledger:
    """The closed ledger of one run, up to its last record."""
    ledger, history = Ledger(processors, workers=workers), History(processors)
    Slices(history, ledger.enter)
    for record in records:
        history.apply(record)
    history.close()
    ledger.close(history.now)
    return ledger


def _sum(account: Mapping[Use, Exact]) -> Exact:
    return sum(amount for use, amount in account.items() if use is not Use.IDLE)
