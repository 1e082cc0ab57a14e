"""All that a log tells in numbers: the summary, and what only all of its events can tell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np
from attrs import define, field, frozen

from actors.events import Compound, LinkDescribed, ScenarioStarted
from actors.runtime import Record
from sims.ledger import Account, Accountant, Ledger, Use
from sims.metrics.queue import Queue
from sims.metrics.stretch import OwnTimes
from sims.parts import parts
from sims.summary import Summary
from sims.telling import counted, units

AWAY = (Use.IDLE, Use.RECLAIMED, Use.DOWN)
"""What processors do when no run holds them."""
WASTED = (Use.LOST, Use.REDUNDANT)


@frozen
class Spread:
    """Some numbers of a set of numbers."""

    mean: float
    median: float
    p95: float
    """95th percentile, interpolated."""
    p99: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread | None:
        """Of `values`; None where there is none."""
        if not values:
            return None
        median, p95, p99 = np.percentile(values, (50, 95, 99)).tolist()
        return cls(float(np.mean(values)), median, p95, p99)

    def as_json(self) -> dict[str, float]:
        """As data."""
        return {"mean": self.mean, "median": self.median, "p95": self.p95, "p99": self.p99}

    def __str__(self) -> str:
        return (
            f"mean {self.mean:,.6g}, median {self.median:,.6g}, "
            f"95 % {self.p95:,.6g}, 99 % {self.p99:,.6g}"
        )


@define
class Report:
    """Fold over all records of a log; call `close` at its end."""

    workers: bool = False
    """Whether to keep a ledger per worker too."""
    summary: Summary = field(factory=Summary)
    own: OwnTimes = field(factory=OwnTimes)
    queue: Queue = field(factory=Queue)
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
        if kind in self.summary.wants:
            yield self.summary
        if kind is ScenarioStarted:
            yield self._begin
        if kind is LinkDescribed:
            yield self._describe_link
        if issubclass(kind, Compound):
            yield self._take_apart
        yield from (fold for fold in (self.own, self.queue) if kind in fold.wants)
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

    def _take_apart(self, record: Record) -> None:
        for part in parts(record):
            for fold in (self.own, self.queue):
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
        end = self.summary.time
        if self._accountant is not None:
            self.ledger.add(self._accountant.close(end))
        self.ledger.close(end)

    # --- numbers ------------------------------------------------------------------------------

    @property
    def flowtime(self) -> Spread | None:
        """Of the jobs that completed."""
        return Spread.of(self.summary.flowtimes)

    @property
    def stretch(self) -> Spread | None:
        """Flowtime over the job's own error-free time; None for kinds that have none."""
        done, own = self.summary.completed, self.own.times
        pairs = ((job, then) for job, then in self.summary.submitted.items() if job in done)
        return Spread.of([(done[job] - then) / own[job] for job, then in pairs if own.get(job)])

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
        flowtime, stretch = self.flowtime, self.stretch
        more = {
            "flowtime": flowtime.as_json() if flowtime else None,
            "stretch": stretch.as_json() if stretch else None,
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
        yield f"  flowtime    {f'{flowtime} ({units(unit)})' if flowtime else 'no job completed'}"
        yield f"  stretch     {self.stretch or unknown}"
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
                yield f"    {use.value:<16}{amount:>20,.10g}  {self.ledger.share(use):>6.1%}"


def amounts(account: Account) -> dict[str, float]:
    """Use -> processor-time, where there is any."""
    return {use.value: float(amount) for use, amount in account.items() if amount}


def table(accounts: Mapping[str, Account]) -> Iterator[str]:
    """One line per account, one column per use that any of them has."""
    uses = [use for use in Use if any(account[use] for account in accounts.values())]
    width = max(16, *map(len, accounts))
    yield f"{'':<{width}}" + "".join(f"{use.value:>16}" for use in uses)
    for name, account in accounts.items():
        yield f"{name:<{width}}" + "".join(f"{float(account[use]):>16,.8g}" for use in uses)
