"""All that a log tells in numbers: the summary, and what only all of its events can tell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, partial
from typing import Protocol

from attrs import define, field

from actors.events import (
    Compound,
    LinkDescribed,
    MeasuresDescribed,
    ScenarioStarted,
    WorkerPriced,
)
from actors.runtime import Record
from sims.ledger import Account, Accountant, Ledger, Use
from sims.metrics.costs import AWAY, Bills, cost, energy
from sims.metrics.jobs import BOUND, Jobs, Starts
from sims.metrics.queue import Queue
from sims.metrics.spread import SpreadNumbers, as_json
from sims.metrics.stretch import OwnTimes
from sims.parts import parts
from sims.summary import Summary
from sims.telling import amount_of, counted, in_units, units

WASTED = (Use.LOST, Use.REDUNDANT)


class Fold(Protocol):
    """Takes the events that it wants."""

    @property
    def wants(self) -> frozenset[type]: ...

    def __call__(self, record: Record) -> None: ...


@define
class Report:
    """Fold over all records of a log; call `close` at its end."""

    workers: bool = False
    """Whether to keep a ledger per worker too."""
    summary: Summary = field(factory=Summary)
    own: OwnTimes = field(factory=OwnTimes)
    queue: Queue = field(factory=Queue)
    starts: Starts = field(factory=Starts)
    bills: Bills = field(factory=Bills)
    measures: MeasuresDescribed | None = None
    """What the scenario says of how it is measured."""
    ledger: Ledger = field(factory=lambda: Ledger(0))
    channels: int | None = None
    """n_com, where a master has a link."""
    _accountant: Accountant | None = None
    _folds: dict[type, tuple[Callable[[Record], None], ...]] = field(factory=dict)
    """What takes events of a class: most classes are wanted by few."""
    _last: Record | None = None

    @classmethod
    def of(cls, records: Iterable[Record], workers: bool = False) -> Report:
        """The report on one run."""
        report = cls(workers)
        for record in records:
            report(record)
        report.close()
        return report

    def __call__(self, record: Record) -> None:
        self._last = record
        kind = type(record.event)
        folds = self._folds.get(kind)
        if folds is None:
            folds = self._folds[kind] = tuple(self._wanting(kind))
        for fold in folds:
            fold(record)

    def _wanting(self, kind: type) -> Iterator[Callable[[Record], None]]:
        heard = {
            ScenarioStarted: self._begin,
            LinkDescribed: self._describe_link,
            MeasuresDescribed: self._describe_measures,
            WorkerPriced: self._price,
        }
        if kind in heard:
            yield heard[kind]
        if issubclass(kind, Compound):
            yield self._take_apart
        folds: tuple[Fold, ...] = (self.summary, self.bills, *self._of_jobs)
        yield from (fold for fold in folds if kind in fold.wants)
        if self._accountant is not None and kind in self._accountant.wants:
            yield self._account

    def _begin(self, record: Record) -> None:
        event = record.event
        assert isinstance(event, ScenarioStarted)
        self.ledger = Ledger(event.processors, workers=self.workers)
        self._accountant = Accountant(event.processors)

    def _describe_link(self, record: Record) -> None:
        assert isinstance(record.event, LinkDescribed)
        self.channels = record.event.channels

    def _describe_measures(self, record: Record) -> None:
        assert isinstance(record.event, MeasuresDescribed)
        self.measures = record.event

    def _price(self, _: Record) -> None:
        self.ledger.workers = True  # the scenario's prices are not this worker's

    @property
    def _of_jobs(self) -> tuple[OwnTimes, Queue, Starts]:
        return self.own, self.queue, self.starts

    def _take_apart(self, record: Record) -> None:
        for part in parts(record):
            for fold in self._of_jobs:
                if type(part.event) in fold.wants:
                    fold(part)
            self._account(part)

    def _account(self, record: Record) -> None:
        assert self._accountant is not None
        self.ledger.add(self._accountant(record))

    def close(self) -> None:
        """The log ends here."""
        last = self._last
        if last is not None:
            self.summary.time, self.summary.events = last.t, last.seq + 1
            self.queue.close(last.t)
            self.bills.close(last.t)
        end = self.summary.time
        if self._accountant is not None:
            self.ledger.add(self._accountant.close(end))
        self.ledger.close(end)

    # --- numbers ------------------------------------------------------------------------------

    @cached_property
    def jobs(self) -> Jobs:
        """The completed jobs, each in numbers; the report is closed."""
        bound = self.measures.bound if self.measures else BOUND
        return self.starts.jobs(
            self.summary.submitted, self.summary.completed, self.own.times, bound
        )

    @cached_property
    def spreads(self) -> dict[str, SpreadNumbers | None]:
        """Of the completed jobs' wait, flowtime, stretch and bounded_slowdown; None where no job
        has one."""
        return {name: SpreadNumbers.of(values) for name, values in self.jobs.quantities().items()}

    @property
    def flowtime(self) -> SpreadNumbers | None:
        """Of the jobs that completed."""
        return self.spreads["flowtime"]

    @property
    def stretch(self) -> SpreadNumbers | None:
        """Flowtime over the job's own error-free time; None for kinds that have none."""
        return self.spreads["stretch"]

    @property
    def cost(self) -> float | None:
        """At the scenario's prices; None where it has none."""
        return cost(self.ledger, self.measures, self.bills)

    @property
    def energy(self) -> float | None:
        """kWh, at the scenario's watts; None where it has none."""
        return energy(self.ledger, self.measures)

    @property
    def utilisation(self) -> float:
        """Share of all processor-time that runs held."""
        return 1 - sum(map(self.ledger.share, AWAY)) if self.ledger.capacity else 0.0

    @property
    def wasted(self) -> float:
        """Share of what runs held that was lost, or redundant."""
        total = self.ledger.total
        held = self.ledger.capacity - sum(total[use] for use in AWAY)
        return float(sum(total[use] for use in WASTED) / held) if held else 0.0

    @property
    def bandwidth(self) -> float | None:
        """Mean part of the master's channels that were busy; None where there is no master."""
        if self.channels is None or not self.ledger.end:
            return None
        return float(self.ledger.total[Use.TRANSFER]) / self.ledger.end / self.channels

    # --- telling ------------------------------------------------------------------------------

    def as_json(self) -> dict[str, object]:
        """The report as data; the keys that `holdfast summary --json` prints."""
        more = {
            **as_json(self.spreads),
            "fairness": self.jobs.fairness,
            "cost": self.cost,
            "energy": self.energy,
            "utilisation": self.utilisation,
            "wasted": self.wasted,
            "bandwidth": self.bandwidth,
            "queue": {"mean": self.queue.mean, "max": self.queue.longest},
            "ledger": amounts(self.ledger.total),
        }
        return self.summary.as_json() | more

    def lines(self) -> list[str]:
        """The report for people."""
        return [*self.summary.lines(), *self._numbers(), *self._shares()]

    def _numbers(self) -> Iterator[str]:
        started = self.summary.started
        unit = started.unit if started else ""
        flowtime = self.flowtime
        unknown = "not defined for this kind of job" if flowtime else "no job completed"
        for name in ("wait", "flowtime"):
            spread = self.spreads[name]
            told = spread.told(partial(in_units, unit=unit, digits=6)) if spread else None
            yield f"  {name:<12}{told or 'no job completed'}"
        yield f"  stretch     {self.stretch or unknown}"
        bounded = self.spreads["bounded_slowdown"]
        yield f"  bounded     {f'slowdown: {bounded}' if bounded else unknown}"
        if (fairness := self.jobs.fairness) is not None:
            yield f"  fairness    {fairness:.4f} (Jain's index of users' mean bounded slowdowns)"
        if self.cost is not None:
            yield f"  cost        {self.cost:,.8g}"
        if self.energy is not None:
            yield f"  energy      {self.energy:,.8g} kWh"
        yield f"  utilisation {self.utilisation:.1%}, of which {self.wasted:.1%} wasted"
        mean = counted(self.queue.mean, "job", digits=6)
        yield f"  queue       mean {mean}, at most {self.queue.longest:,}"
        if self.bandwidth is not None and self.channels is not None:
            yield f"  bandwidth   {self.bandwidth:.1%} of {counted(self.channels, 'channel')} used"

    def _shares(self) -> Iterator[str]:
        started = self.summary.started
        yield f"  ledger      processors x {units(started.unit) if started else 'time'}"
        for use in Use:
            if self.ledger.total[use]:
                amount = float(self.ledger.total[use])
                yield f"    {use.value:<16}{amount_of(amount):>20}  {self.ledger.share(use):>6.1%}"


def amounts(account: Account) -> dict[str, float]:
    """Use -> processor-time, where there is any."""
    return {use.value: float(amount) for use, amount in account.items() if amount}


def table(accounts: Mapping[str, Account]) -> Iterator[str]:
    """One line per account, one column per use that any of them has."""
    uses = [use for use in Use if any(account[use] for account in accounts.values())]
    width = max(16, *map(len, accounts))
    yield f"{'':<{width}}" + "".join(f"{use.value:>16}" for use in uses)
    for name, account in accounts.items():
        yield f"{name:<{width}}" + "".join(
            f"{amount_of(float(account[use]), 8):>16}" for use in uses
        )
