"""What a run's processors cost and consume, by what they do."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, pairwise

from attrs import define, field, frozen

from actors.events import MeasuresDescribed, WorkerChanged, WorkerPriced, WorkerRented
from actors.runtime import Record
from policies.availability import WorkerState
from sims.history import History, Listener
from sims.ledger import Account, Ledger, Use

AWAY = (Use.IDLE, Use.RECLAIMED, Use.DOWN)
"""What processors do when no run holds them."""


def cost(ledger: Ledger, by: MeasuresDescribed | None, bills: Bills) -> float | None:
    """At the scenario's prices of an hour, at traces' own while their workers are UP, and at rents
    while runs hold their workers; None where there are none. The log has ended."""
    rents, accounts = bills.rents, ledger.by_worker
    own = bills.total + sum(_at((rent, 0, 0, 0), accounts[n]) for n, rent in rents.items())
    if by is None or by.hour is None or not by.prices:
        return own if bills.workers or rents else None
    up = (*by.prices[:2], 0.0, 0.0)
    paid = sum(_at(up, accounts[n]) for n in bills.workers)
    paid += sum(_at(by.prices, accounts[n]) for n in rents)
    return (_at(by.prices, ledger.total) - paid) / by.hour + own


def energy(ledger: Ledger, by: MeasuresDescribed | None) -> float | None:
    """kWh, at the scenario's watts; None where it has none. The log has ended."""
    if by is None or by.hour is None or not by.watts:
        return None
    return _at(by.watts, ledger.total) / by.hour / 1000


def _at(rates: Sequence[float], account: Account) -> float:
    """Time of an account, each at its rate: busy (a run holds it), idle, reclaimed, down."""
    away = [account[use] for use in AWAY]
    times = (sum(account.values()) - sum(away), *away)
    return sum(rate * float(time) for rate, time in zip(rates, times, strict=True))


@frozen
class Prices:
    """A price over time: of a unit of time."""

    told: WorkerPriced
    paid: tuple[float, ...]
    """For all time from 0 to each of the times told; then to the period's end, if there is one."""

    @classmethod
    def of(cls, told: WorkerPriced) -> Prices:
        """Summed up."""
        ends = (*told.times, *((told.period,) if told.period else ()))
        parts = (
            price * (end - start)
            for price, (start, end) in zip(told.prices, pairwise(ends), strict=False)
        )
        return cls(told, tuple(accumulate(parts, initial=0.0)))

    def until(self, time: float) -> float:
        """For all time from 0 to `time`."""
        laps, rest = divmod(time, self.told.period) if self.told.period else (0, time)
        place = bisect_right(self.told.times, rest) - 1
        since = rest - self.told.times[place]
        return laps * self.paid[-1] + self.paid[place] + since * self.told.prices[place]


@define(eq=False)
class Bills(Listener):
    """What workers with prices of their own cost while they are UP, once the log has ended."""

    history: History
    total: float = 0.0
    workers: dict[int, Prices] = field(init=False, factory=dict)
    rents: dict[int, float] = field(init=False, factory=dict)
    """What a worker costs in a unit of time in which a run holds it."""
    _since: dict[int, float] = field(init=False, factory=dict)
    """Workers that are UP."""

    def __attrs_post_init__(self) -> None:
        self.history.listen(self)
        self.history.on(WorkerPriced, self._price)
        self.history.on(WorkerRented, self._rent)
        self.history.on(WorkerChanged, self._turn)

    def _price(self, record: Record, event: WorkerPriced) -> None:
        self.workers[event.worker] = Prices.of(event)
        self._since[event.worker] = record.t

    def _rent(self, _: Record, event: WorkerRented) -> None:
        self.rents[event.worker] = event.price

    def _turn(self, record: Record, event: WorkerChanged) -> None:
        if event.worker in self.workers:
            self._pay(event.worker, record.t)
            if event.state is WorkerState.UP:
                self._since[event.worker] = record.t

    def log_ended(self, now: float) -> None:
        for worker in list(self._since):
            self._pay(worker, now)

    def _pay(self, worker: int, now: float) -> None:
        since = self._since.pop(worker, None)
        if since is not None:
            prices = self.workers[worker]
            self.total += prices.until(now) - prices.until(since)
