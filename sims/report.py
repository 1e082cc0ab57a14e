"""All that a log tells in numbers: the summary, and what only all of its events can tell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from attrs import define, field, frozen

from actors.events import ScenarioStarted
from actors.runtime import Record
from actors.volatile.events import PlatformDescribed
from sims.ledger import Account, Ledger
from sims.metrics.queue import Queue
from sims.metrics.stretch import OwnTimes
from sims.parts import parts
from sims.summary import Summary
from sims.telling import counted, units
from sims.uses.families import accountant
from sims.uses.slices import Accountant, Use

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

    @classmethod
    def of(cls, records: Iterable[Record], workers: bool = False) -> Report:
        """The report on one run."""
        report = cls(workers)
        for record in records:
            report(record)
        report.close()
        return report

    def __call__(self, record: Record) -> None:
        event = record.event
        if isinstance(event, ScenarioStarted):
            self.ledger = Ledger(event.processors, workers=self.workers)
            self._accountant = accountant(event.kind)
        elif isinstance(event, PlatformDescribed):
            self.channels = event.channels
        self.summary(record)
        self.own(record)
        for part in parts(record):
            self.queue(part)
            if self._accountant is not None:
                self.ledger.add(self._accountant(part))

    def close(self) -> None:
        """The log ends here."""
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
