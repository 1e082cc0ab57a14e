"""What a run's processors cost and consume, by what they do."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise

from attrs import define, field

from actors.events import MeasuresDescribed, WorkerChanged, WorkerPriced, WorkerRented
from actors.runtime import Record
from policies.availability import WorkerState
from sims.history import History, Listener
from sims.ledger import UNHELD, Account, Ledger


def summed(told: WorkerPriced) -> Callable[[float], float]:
    """What a price over time comes to: from 0 to any time."""
    ends = (*told.times, *((told.period,) if told.period else ()))
    spans = zip(told.prices, pairwise(ends), strict=False)
    paid = list(accumulate((price * (b - a) for price, (a, b) in spans), initial=0.0))

    def until(time: float) -> float:
        laps, rest = divmod(time, told.period) if told.period else (0, time)
        place = bisect_right(told.times, rest) - 1
        since = rest - told.times[place]
        return float(laps * paid[-1] + paid[place] + since * told.prices[place])

    return until


@define(eq=False)
class Costs(Listener):
    """What a run's processors cost and consume, once the log has ended."""

    history: History
    ledger: Ledger
    measures: MeasuresDescribed | None = None
    """What the scenario says of how it is measured."""
    _own: float = 0.0
    """What workers with prices of their own cost while they were UP."""
    _prices: dict[int, Callable[[float], float]] = field(init=False, factory=dict)
    _rents: dict[int, float] = field(init=False, factory=dict)
    """What a worker costs in a unit of time in which a run holds it."""
    _since: dict[int, float] = field(init=False, factory=dict)
    """Workers with prices of their own that are UP."""

    def __attrs_post_init__(self) -> None:
        self.history.listen(self)
        self.history.on(MeasuresDescribed, self._measure)
        self.history.on(WorkerPriced, self._price)
        self.history.on(WorkerRented, self._rent)
        self.history.on(WorkerChanged, self._turn)

    @property
    def cost(self) -> float | None:
        """At the scenario's prices of an hour, at traces' own while their workers are UP, and at
        rents while runs hold their workers; None where there are none."""
        by, accounts = self.measures, self.ledger.by_worker
        own = self._own + sum(_at((rent, 0, 0, 0), accounts[n]) for n, rent in self._rents.items())
        if by is None or by.hour is None or not by.prices:
            return own if self._prices or self._rents else None
        up = (*by.prices[:2], 0.0, 0.0)
        paid = sum(_at(up, accounts[n]) for n in self._prices)
        paid += sum(_at(by.prices, accounts[n]) for n in self._rents)
        return (_at(by.prices, self.ledger.total) - paid) / by.hour + own

    @property
    def energy(self) -> float | None:
        """kWh, at the scenario's watts; None where it has none."""
        by = self.measures
        if by is None or by.hour is None or not by.watts:
            return None
        return _at(by.watts, self.ledger.total) / by.hour / 1000

    def _measure(self, _: Record, event: MeasuresDescribed) -> None:
        self.measures = event

    def _price(self, record: Record, event: WorkerPriced) -> None:
        self.ledger.workers = True  # the scenario's prices are not this worker's
        self._prices[event.worker] = summed(event)
        self._since[event.worker] = record.t

    def _rent(self, _: Record, event: WorkerRented) -> None:
        self.ledger.workers = True
        self._rents[event.worker] = event.price

    def _turn(self, record: Record, event: WorkerChanged) -> None:
        if event.worker in self._prices:
            self._pay(event.worker, record.t)
            if event.state is WorkerState.UP:
                self._since[event.worker] = record.t

    def log_ended(self, now: float) -> None:
        for worker in list(self._since):
            self._pay(worker, now)

    def _pay(self, worker: int, now: float) -> None:
        since = self._since.pop(worker, None)
        if since is not None:
            paid = self._prices[worker]
            self._own += paid(now) - paid(since)


def _at(rates: Sequence[float], account: Account) -> float:
    """Time of an account, each at its rate: busy (a run holds it), idle, reclaimed, down."""
    away = [account[use] for use in UNHELD]
    times = (sum(account.values()) - sum(away), *away)
    return sum(rate * float(time) for rate, time in zip(rates, times, strict=True))
