"""The numbers of a run: its summary, and the measures that need all events of its log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property, partial
from math import inf
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from attrs import define, field

from actors.events import VOCABULARY
from actors.runtime import Event, Record, rare_collections
from policies.maths.tolerance import SAME
from sims.errors import visible
from sims.history.head import Measures
from sims.history.reader import History
from sims.history.rows import JobRow, QueueRow, SpanRow, Use
from sims.history.spares import SpareRow
from sims.history.storage import StorageRow
from sims.history.summary import Summary
from sims.history.transfers import TransferRow
from sims.ledger import UNHELD, Account, Ledger
from sims.metrics.costs import Costs
from sims.metrics.jobs import (
    BOUND,
    ChannelUse,
    Completions,
    Jobs,
    Queue,
    Spreads,
    StorageUse,
    spread_text,
    spreads_of,
)
from sims.summary import line_of, summary_json, summary_rows, summary_title
from sims.telling import HOUR, SECOND, amount_of, counted, in_units, units

if TYPE_CHECKING:
    from sims.scenario import Scenario

FAR = 2
"""Ratio by which recorded and simulated means may differ without a warning."""


@define
class Report:
    """Collects the numbers of a run: call it with each record, and `close` after the last one; then
    read the numbers."""

    wants: ClassVar[frozenset[type[Event]]] = frozenset(VOCABULARY)
    """Names of all event classes. As the report names what it wants, a run whose log is not kept
    need not write the scenario's text into its first event."""

    workers: bool = False
    """Whether to keep a ledger for each worker too."""
    jobs_apart: bool = True
    """Whether to keep a ledger for each job too; these are the only part whose memory grows with
    the log."""
    summary: Summary = field(factory=Summary)
    ledger: Ledger = field(init=False)
    queue: Queue = field(init=False)
    _history: History = field(init=False, factory=History)
    _completions: Completions = field(init=False)
    _stored: StorageUse = field(init=False)
    _sent: ChannelUse = field(init=False)
    costs: Costs = field(init=False)
    _spared: float = field(init=False, default=0.0)
    """Processor-time for which spares have waited so far, time units."""

    def __attrs_post_init__(self) -> None:
        history = self._history
        self.ledger = Ledger(0, workers=self.workers, jobs=self.jobs_apart)
        self.queue, self._completions = Queue(), Completions()
        self._stored, self._sent = StorageUse(), ChannelUse()
        self.costs = Costs(history, self.ledger)
        history.take(QueueRow, self.queue.take)
        history.take(JobRow, self._completions.take)
        history.take(StorageRow, self._stored.take)
        history.take(TransferRow, lambda row: self._sent.take(row, history.now))
        history.take(SpanRow, self.ledger.enter)
        history.take(SpareRow, self._wait)
        history.sum_up(self.summary)

    @classmethod
    def of(cls, records: Iterable[Record], workers: bool = False, jobs: bool = False) -> Report:
        """Return the closed report of one run from its records; `workers` and `jobs` ask for a
        ledger of each worker and of each job."""
        report = cls(workers, jobs)
        with rare_collections():
            for record in records:
                report(record)
        report.close()
        return report

    def __call__(self, record: Record) -> None:
        self._history.apply(record)

    def use_scenario(self, scenario: Scenario) -> None:
        """Use the scenario itself in place of its text in the log's first line: a sink that wants
        only some events gets this line without the text."""
        self._history.use_scenario(scenario)
        self.summary.use_scenario(scenario)

    def _wait(self, row: SpareRow) -> None:
        self._spared += row.waiting * (row.end - row.start)

    def close(self) -> None:
        """End the report: the log has no further record."""
        history = self._history
        history.close()
        for it in (self.queue, self._stored, self.costs):
            it.close(history.now)
        self.summary.time, self.summary.events = history.now, history.events
        self.ledger.processors = history.processors
        self.ledger.close(history.now)

    # --- numbers ------------------------------------------------------------------------------

    @property
    def measures(self) -> Measures | None:
        """The scenario's settings for its measures; None: it has none."""
        return self._history.head.measures

    @property
    def deadlines(self) -> dict[str, float]:
        """Maps each submitted job with a deadline to the deadline, as time after its submission."""
        submitted, due = self.summary.submitted, self._history.head.deadlines()
        return {job: at for job, at in due.items() if job in submitted}

    @cached_property
    def jobs(self) -> Jobs:
        """The numbers of each completed job; the report must be closed."""
        return self._completions.jobs(self.measures.bound if self.measures else BOUND)

    @cached_property
    def spreads(self) -> Spreads:
        """Statistics (mean, median, 90th, 95th and 99th percentile) of the completed jobs' wait,
        flowtime, stretch and bounded_slowdown; None for a quantity that no job has.

        Stretch is the flowtime over the job's own error-free time, which iterative jobs lack.
        """
        return spreads_of(self.jobs.quantities())

    @cached_property
    def recorded(self) -> Spreads:
        """Statistics of the wait and bounded_slowdown of these jobs as the log that the scenario
        replays recorded them; None for a quantity that it does not tell."""
        return spreads_of(self.jobs.recorded_quantities())

    @cached_property
    def shares(self) -> dict[Use, float]:
        """Share of each use in the processor-time for which jobs held workers. The shares sum to 1;
        uses without time are left out, and without any time there are none."""
        held = self.ledger.held()
        whole = sum(held.values())
        return {use: float(part / whole) for use, part in held.items() if part}

    @property
    def goodput(self) -> float | None:
        """Useful share of the processor-time that jobs held; None where they held none."""
        return self.shares.get(Use.USEFUL, 0.0) if self.shares else None

    @property
    def overheads(self) -> dict[str, float]:
        """Shares of the uses other than useful work, by name, in the processor-time for which jobs
        held workers. Uses without time are left out."""
        return {use.value: part for use, part in self.shares.items() if use is not Use.USEFUL}

    @property
    def machine_hours(self) -> float | None:
        """Processor-hours for which jobs held workers and spares waited; None where an hour's
        length in the scenario's unit is not known."""
        return self._hours(float(sum(self.ledger.held().values())) + self._spared)

    def _hours(self, time: float) -> float | None:
        """Return a time as hours; None where an hour's length in the scenario's unit is not
        known."""
        length = self.measures and self.measures.hour
        hour = length or (HOUR if self.summary.unit == SECOND else None)
        return time / hour if hour else None

    @property
    def late(self) -> int | None:
        """Number of jobs that were not completed by their deadlines, as far as these had passed at
        the log's end; None where no job has one."""
        took = {job: self.summary.time - at for job, at in self.summary.submitted.items()}
        took |= zip(self.jobs.names, self.jobs.flowtime.tolist(), strict=True)
        took |= dict.fromkeys(self.summary.killed, inf)
        due = self.deadlines.items()
        return sum(took.get(job, 0) > at * (1 + SAME) for job, at in due) if due else None

    @property
    def utilisation(self) -> float:
        """Share of processors x makespan for which jobs held workers that were UP."""
        return 1 - sum(map(self.ledger.share, UNHELD)) if self.ledger.capacity else 0.0

    @property
    def wasted(self) -> float:
        """Share that was lost or redundant, of the processor-time for which jobs held workers that
        were UP; 0 if there is no such time."""
        total = self.ledger.total
        held = self.ledger.capacity - sum(total[use] for use in UNHELD)
        return float((total[Use.LOST] + total[Use.REDUNDANT]) / held) if held else 0.0

    @property
    def bandwidth(self) -> float | None:
        """Mean share of the master's channels that were busy over the whole run; None where there
        is no master, or the run took no time."""
        link = self._history.head.link
        if link is None or not self.ledger.end:
            return None
        return self._sent.busy / self.ledger.end / link.channels

    @property
    def storage(self) -> float | None:
        """Mean share of the shared storage's bandwidth that was used over the whole run; None where
        there is no storage, or the run took no time."""
        storage = self._history.head.storage
        if storage is None or not self.ledger.end:
            return None
        return self._stored.bytes / self.ledger.end / storage.bandwidth

    # --- output -------------------------------------------------------------------------------

    def as_json(self) -> dict[str, object]:
        """Return the report as data, with the keys that `holdfast summary --json` prints."""
        return summary_json(self.summary) | {
            **self.spreads,
            "recorded": self.recorded,
            "fairness": self.jobs.fairness,
            "goodput": self.goodput,
            "overheads": self.overheads,
            "ettr": self.jobs.ettr,
            "machine_hours": self.machine_hours,
            "cost": self.costs.cost,
            "energy": self.costs.energy,
            "late": self.late,
            "utilisation": self.utilisation,
            "wasted": self.wasted,
            "bandwidth": self.bandwidth,
            "storage": self.storage,
            "queue": {"mean": self.queue.mean, "max": self.queue.longest},
            "ledger": amounts(self.ledger.total),
        }

    def lines(self) -> list[str]:
        """Return the report as lines for people."""
        return [visible(it) for it in (summary_title(self.summary), *map(line_of, self.rows()))]

    def rows(self) -> Iterator[tuple[str, str]]:
        """Yield the report for people as pairs of a name and a text; an indented name is a part of
        the name above."""
        yield from summary_rows(self.summary)
        yield from self._spread_rows()
        if (index := self.jobs.fairness) is not None:
            yield "fairness", f"{index:.4f} (Jain's index of users' mean bounded slowdowns)"
        yield from self._goodput_rows()
        ended = len(self.summary.completed) + len(self.summary.killed)
        if (left := len(self.summary.submitted) - ended) and self.ledger.total[Use.LOST]:
            yield "  lost", f"with what {counted(left, 'unfinished job')} had computed at the end"
        if (ratio := self.jobs.ettr) is not None:
            yield "ETTR", f"{ratio:.4g}, mean of completed jobs"
        if (cost := self.costs.cost) is not None:
            yield "cost", f"{cost:,.8g}"
        if (energy := self.costs.energy) is not None:
            yield "energy", f"{energy:,.8g} kWh"
        if self.late is not None:
            yield "late", f"{self.late} of {counted(len(self.deadlines), 'job')} with a deadline"
        used = f"{self.utilisation:.1%} held and UP, of which {self.wasted:.1%} wasted"
        if idle := self.ledger.held_idle:
            rest = float(idle / self.ledger.capacity)
            used += f"; {rest:.1%} more held idle, as the rest of whole nodes"
        yield "utilisation", used
        mean = counted(self.queue.mean, "job", digits=6)
        yield "queue", f"mean {mean}, at most {self.queue.longest:,}"
        yield from self._bandwidth_rows()
        yield from self._ledger_rows()

    def _goodput_rows(self) -> Iterator[tuple[str, str]]:
        if self.goodput is not None:
            hours = self._hours(float(sum(self.ledger.held().values())))
            held = f"{hours:,.6g} machine-hours" if hours else "what jobs held"
            uses = "".join(f", {part:.1%} {use}" for use, part in self.overheads.items())
            yield "goodput", f"{self.goodput:.1%} of {held}{uses}"
        if waited := self._hours(self._spared):
            yield "spares", f"waited for {waited:,.6g} machine-hours"

    def _bandwidth_rows(self) -> Iterator[tuple[str, str]]:
        if (busy := self.bandwidth) is not None and (link := self._history.head.link):
            yield "bandwidth", f"{busy:.1%} of {counted(link.channels, 'channel')} used"
        if (busy := self.storage) is not None:
            passed = f"{amount_of(self._stored.bytes, 6)} bytes saved and loaded"
            yield "storage", f"{busy:.1%} of its bandwidth used: {passed}"

    def _spread_rows(self) -> Iterator[tuple[str, str]]:
        times = partial(in_units, unit=self.summary.unit, digits=6)
        missing = "not defined for this kind of job" if len(self.jobs) else "no job completed"
        some = len(self.jobs) < len(self.summary.submitted)
        for name, spread in self.spreads.items():
            number = times if name in ("wait", "flowtime") else partial(amount_of, digits=6)
            head, of = ("bounded", "slowdown: ") if name == "bounded_slowdown" else (name, "")
            of += "of completed jobs, " if some else ""
            yield head, of + spread_text(spread, number) if spread else missing
            if was := self.recorded.get(name):
                known = int(np.isfinite(self.jobs.recorded).sum())
                of += "" if known == len(self.jobs) else f"known of {counted(known, 'job')}, "
                yield "  recorded", of + spread_text(was, number)
        yield from self._warnings()

    def _warnings(self) -> Iterator[tuple[str, str]]:
        """Yield a warning where the mean wait, or bounded slowdown, of the replayed log and the
        simulated one of the same jobs differ by a ratio above FAR."""
        times = partial(in_units, unit=self.summary.unit)
        known = np.isfinite(self.jobs.recorded)
        simulated, was = self.jobs.quantities(), self.jobs.recorded_quantities()
        for name, tell in (("wait", times), ("bounded_slowdown", amount_of)):
            both = (it[name][known] for it in (was, simulated))
            means = [float(np.nanmean(it)) for it in both if np.isfinite(it).any()]
            if len(means) == 2 and max(means) > FAR * min(means):
                told = " recorded, ".join(tell(mean, digits=4) for mean in means)
                text = f"the mean {name.replace('_', ' ')} is {told} simulated"
                yield "warning", f"{text}: compare nothing before the scenario is nearer"

    def _ledger_rows(self) -> Iterator[tuple[str, str]]:
        unit = self.summary.unit or "time"
        hours = unit == SECOND and self.ledger.end >= HOUR
        yield "ledger", "processor-hours" if hours else f"processors x {units(unit)}"
        for use in Use:
            if self.ledger.total[use]:
                spent = float(self.ledger.total[use])
                amount = amount_of(spent / HOUR, 7) if hours else amount_of(spent)
                yield f"  {use.value:<16}", f"{amount:>20}  {self.ledger.share(use):>6.1%}"


def amounts(account: Account) -> dict[str, float]:
    """Map the name of each use that has processor-time in the account to its amount, in the log's
    unit."""
    return {use.value: float(amount) for use, amount in account.items() if amount}
