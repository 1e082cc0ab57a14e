"""Compute the cost and the energy of a run's processors from what they do over time."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise

from attrs import define, field

from actors.events import ScenarioStarted, WorkerPriced
from actors.runtime import Record
from sims.history.reader import History
from sims.history.rows import StateRow
from sims.ledger import UNHELD, Account, Ledger


def summed(event: WorkerPriced) -> Callable[[float], float]:
    """Return the function that maps a time to the integral of a worker's price from 0 to that time.

    Prices hold from one time of the event to the next. They repeat with its period; without one,
    the last price lasts.
    """
    ends = (*event.times, *((event.period,) if event.period else ()))
    spans = zip(event.prices, pairwise(ends), strict=False)
    paid = list(accumulate((price * (b - a) for price, (a, b) in spans), initial=0.0))

    def until(time: float) -> float:
        laps, rest = divmod(time, event.period) if event.period else (0, time)
        place = bisect_right(event.times, rest) - 1
        since = rest - event.times[place]
        return float(laps * paid[-1] + paid[place] + since * event.prices[place])

    return until


@define(eq=False)
class Costs:
    """Computes the cost and the energy of a run's processors, from the ledger and from workers' own
    prices. Both are known once the log has ended and the ledger is closed."""

    history: History
    ledger: Ledger
    _own: float = 0.0
    """Cost so far of the workers with prices of their own, while they were UP."""
    _prices: dict[int, Callable[[float], float]] = field(init=False, factory=dict)
    """Maps each worker with prices of its own to their integral from 0 to any time."""
    _rents: dict[int, float] = field(init=False, factory=dict)
    """Maps each rented worker to its cost per time unit in which a run holds it."""
    _since: dict[int, float] = field(init=False, factory=dict)
    """Maps each worker with prices of its own that is UP to the time from which it is unpaid."""

    def __attrs_post_init__(self) -> None:
        self.history.on(WorkerPriced, self._price)
        self.history.on(ScenarioStarted, self._begin)

    @property
    def cost(self) -> float | None:
        """Cost of all processors, or None if there are no prices.

        The scenario's prices are for an hour of a processor that is busy, idle, reclaimed or down.
        For a worker whose trace has prices, these replace the first two and apply while it is UP.
        For a rented worker a rent replaces all, and applies while a run holds it.
        """
        measures, accounts = self.history.head.measures, self.ledger.by_worker
        own = self._own + sum(_at((rent, 0, 0, 0), accounts[n]) for n, rent in self._rents.items())
        if measures is None or measures.hour is None or not measures.prices:
            return own if self._prices or self._rents else None
        # The scenario's prices are taken back where a price of the worker replaces them: a trace's
        # price replaces those of a worker that is UP, a rent all of them.
        up = (*measures.prices[:2], 0.0, 0.0)
        paid = sum(_at(up, accounts[n]) for n in self._prices)
        paid += sum(_at(measures.prices, accounts[n]) for n in self._rents)
        return (_at(measures.prices, self.ledger.total) - paid) / measures.hour + own

    @property
    def energy(self) -> float | None:
        """Energy of all processors in kWh at the scenario's watts, or None if it has no watts."""
        measures = self.history.head.measures
        if measures is None or measures.hour is None or not measures.watts:
            return None
        return _at(measures.watts, self.ledger.total) / measures.hour / 1000

    def _price(self, record: Record, event: WorkerPriced) -> None:
        if not self._prices:
            self.history.take(StateRow, self._back, self._away)
        self.ledger.workers = True  # the scenario's prices are not this worker's
        self._prices[event.worker] = summed(event)
        self._since[event.worker] = record.t

    def _begin(self, _: Record, __: ScenarioStarted) -> None:
        self._rents = self.history.head.rents
        if self._rents:
            self.ledger.workers = True  # the scenario's prices are not theirs

    def _away(self, row: StateRow) -> None:
        if row.worker in self._prices:
            self._pay(row.worker, row.start)

    def _back(self, row: StateRow) -> None:
        if row.worker in self._prices and row.end is not None:
            self._since[row.worker] = row.end

    def close(self, now: float) -> None:
        """Add the costs of the workers that are UP as the log ends at `now`."""
        for worker in list(self._since):
            self._pay(worker, now)

    def _pay(self, worker: int, now: float) -> None:
        """Add to the cost what a worker with prices of its own costs from the time up to which it
        is paid to `now`; nothing if it is not UP."""
        since = self._since.pop(worker, None)
        if since is not None:
            paid = self._prices[worker]
            self._own += paid(now) - paid(since)


def _at(rates: Sequence[float], account: Account) -> float:
    """Return the sum of an account's times, each multiplied by its rate. The four rates are for a
    worker that is busy (a run holds it), idle, reclaimed, down."""
    away = [account[use] for use in UNHELD]
    times = (sum(account.values()) - sum(away), *away)
    return sum(rate * float(time) for rate, time in zip(rates, times, strict=True))
