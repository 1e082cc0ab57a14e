"""All that a log tells in numbers: the summary, and what only all of its events can tell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, partial
from math import inf
from typing import Any

from attrs import define, field

from actors.events import (
    DeadlineDescribed,
    LinkDescribed,
    MeasuresDescribed,
    WorkerPriced,
    WorkerRented,
)
from actors.runtime import Record, rare_collections
from sims.errors import visible
from sims.history import History
from sims.ledger import Account, Ledger, Slices, Use
from sims.metrics.costs import AWAY, Bills, cost, energy
from sims.metrics.goodput import Efficiency, Goodput
from sims.metrics.jobs import BOUND, Jobs, Starts
from sims.metrics.queue import Queue
from sims.metrics.spread import SpreadNumbers, as_json
from sims.summary import Summary
from sims.telling import HOUR, SECOND, amount_of, counted, in_units, units

FAR = 2
"""Times by which recorded and simulated means may differ without a warning."""
WASTED = (Use.LOST, Use.REDUNDANT)
SAME = 1 + 1e-9
"""A time so little after a deadline is that deadline: sums of decimals differ by less."""


@define
class Report:
    """Fold over all records of a log; call `close` at its end."""

    workers: bool = False
    """Whether to keep a ledger per worker too."""
    jobs_apart: bool = True
    """Whether to keep a ledger per job too: they stay where all else grows with what is alive."""
    summary: Summary = field(factory=Summary)
    ledger: Ledger = field(init=False)
    queue: Queue = field(init=False)
    measures: MeasuresDescribed | None = field(init=False, default=None)
    """What the scenario says of how it is measured."""
    channels: int | None = field(init=False, default=None)
    """n_com, where a master has a link."""
    deadlines: dict[str, float] = field(init=False, factory=dict)
    """By job, from its submission."""
    _history: History = field(init=False, factory=History)
    _starts: Starts = field(init=False)
    _bills: Bills = field(init=False)
    _goodput: Goodput = field(init=False)

    def __attrs_post_init__(self) -> None:
        history = self._history
        self.ledger = Ledger(0, workers=self.workers, jobs=self.jobs_apart)
        self.queue, self._starts, self._bills = Queue(history), Starts(history), Bills(history)
        Slices(history, self.ledger.enter)
        self._goodput = Goodput(history, self.ledger)
        for kind in self.summary.wants:
            history.on(kind, lambda record, _: self.summary(record))
        for kind in (
            DeadlineDescribed,
            LinkDescribed,
            MeasuresDescribed,
            WorkerPriced,
            WorkerRented,
        ):
            history.on(kind, self._describe)

    @classmethod
    def of(cls, records: Iterable[Record], workers: bool = False, jobs: bool = False) -> Report:
        """The report on one run; with ledgers per worker and per job, if asked."""
        report = cls(workers, jobs)
        with rare_collections():
            for record in records:
                report(record)
        report.close()
        return report

    def __call__(self, record: Record) -> None:
        self._history.apply(record)

    def _describe(self, _: Record, event: Any) -> None:
        match event:
            case LinkDescribed():
                self.channels = event.channels
            case MeasuresDescribed():
                self.measures = event
            case DeadlineDescribed():
                self.deadlines[event.job] = event.deadline
            case WorkerPriced() | WorkerRented():
                self.ledger.workers = True  # the scenario's prices are not this worker's

    def close(self) -> None:
        """The log ends here."""
        history = self._history
        history.close()
        self.summary.time, self.summary.events = history.now, history.events
        self.ledger.processors = history.processors
        self.ledger.close(history.now)

    # --- numbers ------------------------------------------------------------------------------

    @cached_property
    def jobs(self) -> Jobs:
        """The completed jobs, each in numbers; the report is closed."""
        return self._starts.jobs(self.measures.bound if self.measures else BOUND)

    @cached_property
    def spreads(self) -> dict[str, SpreadNumbers | None]:
        """Of the completed jobs' wait, flowtime, stretch and bounded_slowdown; None where no job
        has one."""
        return {name: SpreadNumbers.of(values) for name, values in self.jobs.quantities().items()}

    @cached_property
    def recorded(self) -> dict[str, SpreadNumbers | None]:
        """The wait and bounded_slowdown that a replayed log has recorded of these jobs."""
        found = self.jobs.recorded_quantities().items()
        return {name: SpreadNumbers.of(values) for name, values in found}

    @property
    def flowtime(self) -> SpreadNumbers | None:
        """Of the jobs that completed."""
        return self.spreads["flowtime"]

    @property
    def stretch(self) -> SpreadNumbers | None:
        """Flowtime over the job's own error-free time; None for kinds that have none."""
        return self.spreads["stretch"]

    @cached_property
    def efficiency(self) -> Efficiency:
        """What all jobs made of the workers that they held, and their mean ETTR; the report is
        closed."""
        return self._goodput.platform()

    @property
    def machine_hours(self) -> float | None:
        """Hours of workers that jobs held; None where an hour's length is not known."""
        started, told = self.summary.started, self.measures and self.measures.hour
        hour = told or (HOUR if started and started.unit == SECOND else None)
        return float(sum(self.efficiency.held.values())) / hour if hour else None

    @property
    def cost(self) -> float | None:
        """At the scenario's prices; None where it has none."""
        return cost(self.ledger, self.measures, self._bills)

    @property
    def late(self) -> int | None:
        """Jobs that were not completed by their deadlines; None where there are none."""
        took = dict(zip(self.jobs.names, self.jobs.flowtime.tolist(), strict=True))
        due = self.deadlines.items()
        return sum(took.get(job, inf) > at * SAME for job, at in due) if due else None

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
            "recorded": as_json(self.recorded),
            "fairness": self.jobs.fairness,
            "goodput": self.efficiency.goodput,
            "overheads": {use.value: part for use, part in self.efficiency.overheads.items()},
            "ettr": self.efficiency.ettr,
            "machine_hours": self.machine_hours,
            "cost": self.cost,
            "energy": self.energy,
            "late": self.late,
            "utilisation": self.utilisation,
            "wasted": self.wasted,
            "bandwidth": self.bandwidth,
            "queue": {"mean": self.queue.mean, "max": self.queue.longest},
            "ledger": amounts(self.ledger.total),
        }
        return self.summary.as_json() | more

    def lines(self) -> list[str]:
        """The report for people."""
        lines = (*self.summary.lines(), *self._numbers(), *self._shares())
        return list(map(visible, lines))

    def _numbers(self) -> Iterator[str]:
        started = self.summary.started
        unit = started.unit if started else ""
        flowtime = self.flowtime
        unknown = "not defined for this kind of job" if flowtime else "no job completed"
        times = partial(in_units, unit=unit, digits=6)
        recorded = self.recorded
        for name in ("wait", "flowtime"):
            spread = self.spreads[name]
            yield f"  {name:<12}{spread.told(times) if spread else 'no job completed'}"
            if was := recorded.get(name):
                yield f"    recorded  {was.told(times)}"
        yield f"  stretch     {self.stretch or unknown}"
        bounded = self.spreads["bounded_slowdown"]
        yield f"  bounded     {f'slowdown: {bounded}' if bounded else unknown}"
        if was := recorded["bounded_slowdown"]:
            yield f"    recorded  slowdown: {was}"
        yield from self._unlike(unit)
        if (fairness := self.jobs.fairness) is not None:
            yield f"  fairness    {fairness:.4f} (Jain's index of users' mean bounded slowdowns)"
        yield from self._made()
        yield from self._paid()
        yield f"  utilisation {self.utilisation:.1%}, of which {self.wasted:.1%} wasted"
        mean = counted(self.queue.mean, "job", digits=6)
        yield f"  queue       mean {mean}, at most {self.queue.longest:,}"
        if self.bandwidth is not None and self.channels is not None:
            yield f"  bandwidth   {self.bandwidth:.1%} of {counted(self.channels, 'channel')} used"

    def _made(self) -> Iterator[str]:
        made, hours = self.efficiency, self.machine_hours
        if made.goodput is not None:
            held = f"{hours:,.6g} machine-hours" if hours else "what jobs held"
            uses = "".join(f", {part:.1%} {use.value}" for use, part in made.overheads.items())
            yield f"  goodput     {made.goodput:.1%} of {held}{uses}"
        if made.ettr is not None:
            yield f"  ETTR        {made.ettr:.4g}, mean of completed jobs"

    def _paid(self) -> Iterator[str]:
        if self.cost is not None:
            yield f"  cost        {self.cost:,.8g}"
        if self.energy is not None:
            yield f"  energy      {self.energy:,.8g} kWh"
        if self.late is not None:
            due = counted(len(self.deadlines), "job")
            yield f"  late        {self.late} of {due} with a deadline"

    def _unlike(self, unit: str) -> Iterator[str]:
        """Warns where what was recorded is far from what is simulated."""
        for name, tell in (("wait", partial(in_units, unit=unit)), ("bounded_slowdown", amount_of)):
            was, simulated = self.recorded[name], self.spreads[name]
            means = [it.mean for it in (was, simulated) if it]
            if len(means) == 2 and max(means) > FAR * min(means):
                told = " recorded, ".join(tell(mean, digits=4) for mean in means)
                about = f"mean {name.replace('_', ' ')} is {told} simulated"
                yield f"  warning     the {about}: compare nothing before the scenario is nearer"

    def _shares(self) -> Iterator[str]:
        started = self.summary.started
        unit = started.unit if started else "time"
        hours = unit == SECOND and self.ledger.end >= HOUR
        yield f"  ledger      {'processor-hours' if hours else f'processors x {units(unit)}'}"
        for use in Use:
            if self.ledger.total[use]:
                spent = float(self.ledger.total[use])
                told = amount_of(spent / HOUR, 7) if hours else amount_of(spent)
                yield f"    {use.value:<16}{told:>20}  {self.ledger.share(use):>6.1%}"


def amounts(account: Account) -> dict[str, float]:
    """Use -> processor-time, where there is any."""
    return {use.value: float(amount) for use, amount in account.items() if amount}


def table(accounts: Mapping[str, Account]) -> Iterator[str]:
    """One line per account, one column per use that any of them has."""
    uses = [use for use in Use if any(account[use] for account in accounts.values())]
    rows = {visible(name): account for name, account in accounts.items()}
    width = max(16, *map(len, rows))
    yield f"{'':<{width}}" + "".join(f"{use.value:>16}" for use in uses)
    for name, account in rows.items():
        yield f"{name:<{width}}" + "".join(
            f"{amount_of(float(account[use]), 8):>16}" for use in uses
        )
