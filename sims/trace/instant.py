"""`queue --at`: the queue and the machine at an instant of a log, in words and as data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

from attrs import asdict, frozen

from actors.events import ScenarioStarted
from actors.intervals import intervals_of, text
from sims.errors import InputError, visible
from sims.history import History
from sims.history.lines import Lines, skim
from sims.log import LogFile
from sims.telling import counted, in_units, moment, title_of
from sims.trace.look import Held, Look, Ranking, estimate_of, wanted

TIME = re.compile(rb'"t": ?(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)')
UNKNOWN = "?"
"""What the log ends too early to tell."""
WAITING = ("job", "processors", "estimate", "waited", "promised", "starts")
RUNNING = ("job", "run", "processors", "since", "believed until", "until")


@frozen
class Instant:
    """All is as it is once everything of time `at` has happened."""

    at: float
    started: ScenarioStarted
    look: Look

    @property
    def ranking(self) -> Ranking:
        """The queue's order."""
        return Ranking.of(self.started)

    @property
    def waiting(self) -> list[dict[str, Any]]:
        """Who waits, in the queue's order, and what each gets; None where the log does not tell."""
        pairs = [(job, self.look.starts.get(job.name)) for job in self.look.waiting]
        return [
            {
                "job": job.name,
                "processors": wanted(run) if run else None,
                "estimate": estimate_of(job),
                "since": job.since,
                "promised": job.promised,
                "starts": run.start if run else None,
            }
            for job, run in sorted(pairs, key=lambda pair: self.ranking.rank(*pair))
        ]

    @property
    def running(self) -> list[Held]:
        """Who holds processors, the earliest first."""
        return sorted(self.look.held, key=lambda it: (it.since, it.job, it.run))

    # --- as data --------------------------------------------------------------------------------

    def as_json(self) -> dict[str, object]:
        """The instant as data."""
        return {
            "t": self.at,
            "unit": self.started.unit,
            "free": self.look.free,
            "away": {state.name: numbers for state, numbers in self.look.away.items()},
            "order": self.ranking.name if self.ranking.order is not None else None,
            "waiting": self.waiting,
            "running": [asdict(it) | {"until": self.look.ends.get(it.key)} for it in self.running],
        }

    # --- for people -----------------------------------------------------------------------------

    def lines(self) -> Iterator[str]:
        """The instant in words and two tables."""
        order = self.ranking.name if self.ranking.order is not None else "of arrival"
        queue = _table(WAITING, list(map(self._row_waiting, self.waiting)))
        machine = _table(RUNNING, list(map(self._row_running, self.running)))
        tables = ((f"waiting, in the order {order}", queue), ("running", machine))
        told = (("", title, *rows) for title, rows in tables if rows)
        return chain(self._head(), *told)

    def _head(self) -> Iterator[str]:
        started, look = self.started, self.look
        wanting = sum(map(wanted, look.starts.values()))
        held = sum(it.width for it in look.held)
        yield title_of(started)
        yield f"at {self._moment(self.at)}"
        yield f"  waiting  {counted(len(look.waiting), 'job')} for {counted(wanting, 'processor')}"
        yield f"  running  {counted(len(look.held), 'run')} on {counted(held, 'processor')}"
        yield f"  free     {look.free:,} of {counted(started.processors, 'processor')}"
        for state, workers in look.away.items():
            if workers:
                them = text(intervals_of(workers))
                yield f"  {state.name.lower():<8} {len(workers):,}: {them}"

    def _row_waiting(self, it: dict[str, Any]) -> tuple[str, ...]:
        job, processors, estimate, since, promised, starts = it.values()
        unit = self.started.unit
        return (
            job,
            UNKNOWN if processors is None else f"{processors:,}",
            "" if estimate is None else in_units(estimate, unit),
            in_units(self.at - since, unit),
            "" if promised is None else self._moment(promised),
            self._moment(starts),
        )

    def _row_running(self, held: Held) -> tuple[str, ...]:
        return (
            held.job,
            f"{held.run}, kept" if held.kept else str(held.run),
            f"{held.width:,}",
            self._moment(held.since),
            self._moment(held.believed),
            self._moment(self.look.ends.get(held.key)),
        )

    def _moment(self, t: float | None) -> str:
        return UNKNOWN if t is None else moment(t, self.started.unit)


def _table(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    """Empty where there is no row."""
    rows = [tuple(map(visible, row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    told = (
        "  ".join(it.ljust(width) for it, width in zip(row, widths, strict=True))
        for row in (heads, *rows)
    )
    return [f"  {line}".rstrip() for line in told] if rows else []


def read_instant(log: LogFile, at: float) -> Instant:
    """The log at time `at`; it is read on until all who were there have started, or ended.

    Raises InputError as LogFile, or for a time after its end, and ValueError or LookupError where a
    line contradicts those before.
    """
    history, look = History(), None
    lines = Lines(log, history, history.apply)
    with log.skimmed():
        for number, line in skim(log, lines.catch_up):
            if look is None:
                time = TIME.search(line)
                if time is None or float(time[1]) <= at:
                    lines.put(number, line)
                    continue
                lines.catch_up()
                look = history.listen(Look.at(history))
            if not look.settled:
                lines.tell(number, line)
    started, last = history.header, log.last
    assert started is not None and last is not None
    if look is None and at > last.t:
        problem = f"{moment(at, started.unit)} is after the log's end"
        end = f"0 to {last.t:.17g} ({moment(last.t, started.unit)})"
        raise InputError(str(log.path), "--at", problem, end)
    return Instant(at, started, look or Look.at(history))
