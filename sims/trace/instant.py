"""The queue and the machine at an instant of a log, and what became of those who were there."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from attrs import define, field

from actors.events import ScenarioStarted
from policies.availability import WorkerState
from sims.errors import InputError
from sims.ledger.slices import text
from sims.log import LogFile
from sims.telling import counted, in_units, moment, title_of
from sims.trace.lines import watch
from sims.trace.ranking import Asked, LaterStarts, Ranking
from sims.trace.scene import Arrived, Fields, HeldWorkers, Holdings, Key
from sims.trace.waits import ENDS, STARTS, given_back

AWAY = (WorkerState.RECLAIMED, WorkerState.DOWN)
UNKNOWN = "?"
"""What the log ends too early to tell."""
WAITING = ("job", "processors", "estimate", "waited", "promised", "starts")
RUNNING = ("job", "run", "processors", "since", "believed until", "until")


@define
class Instant:
    """Fold over a log's lines: all is as it is once everything of time `at` has happened."""

    at: float
    scene: Holdings
    ranking: Ranking
    starts: LaterStarts = field(factory=LaterStarts)
    """When who waits starts, and on how many processors."""
    ends: dict[Key, float] = field(factory=dict)
    """When who holds processors gives them back."""
    _holding: set[Key] = field(factory=set)
    passed: bool = False
    """Whether a later line was seen: what is found from there on is what became of them."""

    @classmethod
    def of(cls, at: float, started: ScenarioStarted) -> Instant:
        """Of the log that begins so."""
        return cls(at, Holdings(started), Ranking.of(started))

    @property
    def over(self) -> bool:
        """Whether no line can tell more."""
        return self.passed and not self._holding and not self.starts.awaited

    def __call__(self, kind: bytes, line: Fields) -> None:
        if not self.passed and line["t"] > self.at:
            self.passed = True
            self.starts.awaited |= self.scene.waiting.keys()
            self._holding |= self.scene.held.keys()
        if not self.passed:
            self.scene(kind, line)
        elif kind in STARTS:
            self.starts.hear(kind, line)
            self._give_up(line)
        elif kind in ENDS:
            self._end(given_back(kind, line), line["t"])

    def _give_up(self, line: Fields) -> None:
        """A job's next run takes what it had kept."""
        if line.get("keeps") is not None:
            self._end([(line["job"], line["keeps"])], line["t"])

    def _end(self, keys: list[Key], now: float) -> None:
        if not isinstance(now, int | float):
            raise TypeError("no time")  # the line is read again, and refused by its number
        for key in self._holding.intersection(keys):
            self._holding.discard(key)
            self.ends[key] = now

    # --- as data --------------------------------------------------------------------------------

    @property
    def waiting(self) -> list[tuple[str, Arrived, Asked | None]]:
        """Who waits, in the queue's order."""
        scene, asked = self.scene, self.starts.of
        rows = [(it, scene.jobs[it], asked.get(it)) for it in scene.waiting]
        return sorted(rows, key=lambda row: self.ranking.rank(*row))

    @property
    def running(self) -> list[HeldWorkers]:
        """Who holds processors, the earliest first."""
        return sorted(self.scene.held.values(), key=lambda it: (it.since, it.job, it.run))

    def as_json(self) -> dict[str, object]:
        """The instant as data."""
        scene = self.scene
        return {
            "t": self.at,
            "unit": scene.started.unit,
            "free": scene.free,
            "away": {it.name: [n for n, s in scene.away.items() if s is it] for it in AWAY},
            "order": self.ranking.name if self.ranking.order is not None else None,
            "waiting": [self._waiting_as_json(*row) for row in self.waiting],
            "running": [self._running_as_json(held) for held in self.running],
        }

    def _waiting_as_json(self, job: str, about: Arrived, asked: Asked | None) -> dict[str, object]:
        return {
            "job": job,
            "processors": asked.processors if asked else None,
            "estimate": about.estimate,
            "since": self.scene.waiting[job],
            "promised": self.scene.promised.get(job),
            "starts": asked.at if asked else None,
        }

    def _running_as_json(self, held: HeldWorkers) -> dict[str, object]:
        return {
            "job": held.job,
            "run": held.run,
            "kept": held.kept,
            "processors": held.processors,
            "since": held.since,
            "believed": held.believed,
            "until": self.ends.get((held.job, held.run)),
        }

    # --- for people -----------------------------------------------------------------------------

    def lines(self) -> Iterator[str]:
        """The instant in words and two tables."""
        return chain(self._head(), self._queue(), self._machine())

    def _head(self) -> Iterator[str]:
        scene, waiting = self.scene, self.waiting
        wanted = sum(asked.processors for _, _, asked in waiting if asked)
        held = sum(it.width for it in scene.held.values())
        yield title_of(scene.started)
        yield f"at {self._moment(self.at)}"
        yield f"  waiting  {counted(len(waiting), 'job')} for {counted(wanted, 'processor')}"
        yield f"  running  {counted(len(scene.held), 'run')} on {counted(held, 'processor')}"
        yield f"  free     {scene.free:,} of {counted(scene.started.processors, 'processor')}"
        for state in AWAY:
            workers = sorted(n for n, it in scene.away.items() if it is state)
            if workers:
                yield f"  {state.name.lower():<8} {len(workers):,}: {text(workers)}"

    def _queue(self) -> Iterator[str]:
        rows = [self._row_waiting(*row) for row in self.waiting]
        if rows:
            order = self.ranking.name if self.ranking.order is not None else "of arrival"
            yield from ("", f"waiting, in the order {order}", *_table(WAITING, rows))

    def _row_waiting(self, job: str, about: Arrived, asked: Asked | None) -> tuple[str, ...]:
        scene, unit = self.scene, self.scene.started.unit
        promised = scene.promised.get(job)
        return (
            job,
            f"{asked.processors:,}" if asked else UNKNOWN,
            "" if about.estimate is None else in_units(about.estimate, unit),
            in_units(self.at - scene.waiting[job], unit),
            "" if promised is None else self._moment(promised),
            self._moment(asked.at) if asked else UNKNOWN,
        )

    def _machine(self) -> Iterator[str]:
        rows = [self._row_running(held) for held in self.running]
        if rows:
            yield from ("", "running", *_table(RUNNING, rows))

    def _row_running(self, held: HeldWorkers) -> tuple[str, ...]:
        until = self.ends.get((held.job, held.run))
        return (
            held.job,
            f"{held.run}, kept" if held.kept else str(held.run),
            f"{held.width:,}",
            self._moment(held.since),
            self._moment(held.believed),
            UNKNOWN if until is None else self._moment(until),
        )

    def _moment(self, t: float) -> str:
        return moment(t, self.scene.started.unit)


def _table(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    for row in (heads, *rows):
        told = "  ".join(it.ljust(width) for it, width in zip(row, widths, strict=True))
        yield f"  {told}".rstrip()


def read_instant(log: LogFile, at: float) -> Instant:
    """The log at time `at`; it is read on until all who were there have started, or ended.

    Raises InputError as LogFile, or for a time after its end, and ValueError or LookupError where a
    line contradicts those before.
    """
    lines = log.lines()
    first = log.decoded(1, next(lines, b""))
    assert first is not None and isinstance(first.event, ScenarioStarted)
    instant, last, number, line = Instant.of(at, first.event), first, 1, b""
    with log.skimmed():
        for number, line in enumerate(lines, start=2):
            if not instant.over:
                watch(log, number, line, instant)
        if line and number > log.read:
            last = log.decoded(number, line) or last
    if not instant.passed and at > last.t:
        unit = first.event.unit
        problem = f"{moment(at, unit)} is after the log's end"
        raise InputError(
            str(log.path), "--at", problem, f"0 to {last.t:.17g} ({moment(last.t, unit)})"
        )
    return instant
