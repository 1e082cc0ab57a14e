"""Shows the queue and the machine at one instant of a log, for `queue --at`, in words and as data.

A `Look` records who waits and who holds processors at that instant, and then follows the log to
learn when those jobs start and when those processors are released.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from copy import copy
from math import inf
from typing import Any

from attrs import asdict, define, evolve, field, frozen

from actors.events import ScenarioStarted
from actors.intervals import count_in, intervals_of, meet, numbers_in, spans_in, text
from actors.runtime import Record
from policies.availability import WorkerState
from policies.interface.queue import Moment
from policies.queue.orders import Multifactor
from sims.errors import InputError, visible
from sims.history.lines import Lines, skim
from sims.history.reader import History, Job, Key, Listener, Run
from sims.log import LogFile
from sims.telling import Clock, counted, in_units, title_of
from sims.trace.dependencies import HeldBack
from sims.trace.limits import LimitsTold, Room
from sims.trace.multifactor import HEADS, Number, Shares, number_of, order_of
from sims.trace.ranking import Ranking

AWAY = (WorkerState.RECLAIMED, WorkerState.DOWN)


@frozen
class Held:
    """The processors that a job holds at one instant, for a run or between two of its runs.

    Copies that start together count as one run.
    """

    job: str
    run: int
    kept: bool
    """Whether the run is over and the job keeps the processors for its next run."""
    processors: str
    since: float
    """When the job began to hold these processors, over several runs without a gap perhaps."""
    start: float
    """Start of the run."""
    believed: float
    """Believed end of the run if nothing changes its speed."""

    @classmethod
    def of(cls, runs: list[Run]) -> Held:
        """Return the record of the processors that these runs hold together; one line of the log
        started all of them."""
        first, processors = runs[0], runs[0].processors
        if len(runs) > 1 or first.rest:
            sets = (its for it in runs for its in (it.processors, it.rest))
            processors = text(intervals_of(sorted({n for its in sets for n in numbers_in(its)})))
        time, job = first.job.estimate, first.job
        if time is None:
            # Without a user's estimate, the run's own remaining work is the best guess.
            time = 0 if first.copied else first.event.work - first.event.begun
        begins = job.before(first.event.keeps is None)
        believed = first.start + begins + time + job.verification
        since = min(it.holding for it in runs)
        return cls(job.name, first.number, first.kept, processors, since, first.start, believed)

    @property
    def width(self) -> int:
        """Number of processors held."""
        return count_in(self.processors)

    def as_json(self) -> dict[str, object]:
        """Return the job, the run and the number of processors as plain data for JSON."""
        return {"job": self.job, "run": self.run, "processors": self.width}

    @property
    def key(self) -> Key:
        """Key of the run: its job's name and its number."""
        return self.job, self.run


def held(runs: Iterable[Run]) -> list[Held]:
    """Return a record of the processors that each of these runs holds, the largest first; copies
    that one line started share a record."""
    together: dict[tuple[str, int], list[Run]] = {}
    for run in runs:
        together.setdefault((run.job.name, run.record.seq), []).append(run)
    found = map(Held.of, together.values())
    return sorted(found, key=lambda it: (-it.width, it.since, it.job))


@define
class Look(Listener):
    """A snapshot of the queue and the machine at one instant, which then listens to the history to
    learn when those that waited start, and when those that held processors release them."""

    free: int
    """Number of workers on which a job could start."""
    spare: list[int]
    """Numbers of the free spares, on which no job starts."""
    aside: dict[str, list[int]]
    """Numbers of the workers that runs hold and do not compute on: those that are held ready to
    replace members (`standby`), members that have dropped out (`dropped`), and, where there are
    any, the rest of nodes that jobs hold whole (`rest`)."""
    away: dict[WorkerState, list[int]]
    away_members: set[int]
    """Numbers of the workers in `away` that are members of runs, whose processors they count as."""
    waiting: list[Job]
    """Jobs that wait, as they were at the instant, in order of submission."""
    held: list[Held]
    """Holders of processors, the largest first."""
    rooms: dict[str, Room] = field(factory=dict)
    """Maps the names of waiting jobs to what limits leave to them; empty where there are none."""
    starts: dict[str, Run] = field(init=False, factory=dict)
    """Maps the name of each waiting job to the run that starts it."""
    ends: dict[Key, float] = field(init=False, factory=dict)
    """Maps each holder's run to the time at which its job releases the workers; next runs of the
    same job that take the workers over without a gap are included."""
    _waiting_names: frozenset[str] = field(init=False)
    _successors: dict[Key, Key] = field(init=False)
    """Maps each run that now holds the workers of one of `held` to the run that held them at the
    instant."""

    @classmethod
    def at(cls, history: History, excluded: str | None = None) -> Look:
        """Return a snapshot of the present state of `history`; the job named `excluded`, if given,
        is left out of `waiting`."""
        workers = sorted(history.workers.items())
        away = {state: [n for n, it in workers if it.state is state] for state in AWAY}
        # Copies, as the history changes its jobs while the log is read on.
        others = [copy(job) for job in history.queue if job.name != excluded]
        runs = history.runs.values()
        dropped = {n for run in runs for n in numbers_in(run.dropped)}
        rest = {n for run in runs for n in numbers_in(run.rest)}
        ready = {n for run in runs for n in numbers_in(run.aside)} - dropped - rest
        aside = {"standby": sorted(ready), "dropped": sorted(dropped)}
        if rest:
            aside["rest"] = sorted(rest)
        away_members = set[int]().union(*(run.away for run in runs))
        told = LimitsTold.of(history.header) if history.header is not None else LimitsTold()
        rooms = {job.name: told.room(job, runs) for job in others} if told.rows else {}
        machine = history.free, history.spare, aside, away, away_members
        return cls(*machine, others, held(runs), rooms)

    def concerning(self, me: Job) -> Look:
        """Return what of this concerns a job: of its partition's workers, who holds them and which
        are away, and the jobs that wait for them."""
        mine = me.partition
        if mine is None:
            return self
        away = {state: [*filter(me.may_have, them)] for state, them in self.away.items()}
        held = [it for it in self.held if meet(mine.workers, spans_in(it.processors))]
        waiting = [it for it in self.waiting if me.meets(it)]
        return evolve(self, away=away, held=held, waiting=waiting)

    @property
    def away_others(self) -> dict[WorkerState, int]:
        """Number of the workers in each state of `away` that are not members of runs."""
        return {state: len({*numbers} - self.away_members) for state, numbers in self.away.items()}

    def __attrs_post_init__(self) -> None:
        self._waiting_names = frozenset(job.name for job in self.waiting)
        self._successors = {it.key: it.key for it in self.held}

    def run_started(self, run: Run, record: Record) -> None:
        name = run.job.name
        if name in self._waiting_names:
            self.starts.setdefault(name, run)
        if run.follows is not None and (name, run.follows) in self._successors:
            found = self._successors[run.key] = self._successors.pop((name, run.follows))
            self.ends.pop(found, None)

    def run_released(self, run: Run, record: Record) -> None:
        found = self._successors.get(run.key)
        if found is not None:
            self.ends[found] = record.t

    def settled(self, now: float) -> bool:
        """Return whether it is known, at time `now`, when each job that waited at the instant
        starts and when all processors held at the instant are released.

        At the instant at which workers are released the job's next run may still take them over, so
        `now` has to be later than the last release.
        """
        over = len(self.starts) == len(self.waiting) and len(self.ends) == len(self.held)
        return over and max(self.ends.values(), default=-inf) < now


TIME = re.compile(rb'"t": ?(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)')
UNKNOWN = "?"
"""Shown for a time or a number that the log ends too early to know."""
PARTITION = ("partition",)
"""Column of a waiting job that is in a partition."""
WAITING = ("job", "processors", "estimate", "waited", "promised", "starts")
HELD_BACK = ("job", "until the ends of", "and then", "not before")
RUNNING = ("job", "run", "processors", "since", "believed until", "until")


@frozen
class Instant:
    """The queue and the machine once everything of time `at` has happened."""

    at: float
    started: ScenarioStarted
    look: Look
    clock: Clock
    held_back: list[dict[str, Any]]
    """Jobs that follow others and are not submitted, each as a row with the keys job, think,
    release and after (the jobs that are not over)."""
    moment: Moment | None = None
    """Users' usage at that time, if the order of the queue is MULTIFACTOR."""
    multifactor: Multifactor | None = None
    """The order of the queue, if it is MULTIFACTOR; else None."""

    @property
    def order(self) -> str | None:
        """Name of the queue's order; None if the log does not determine the order."""
        ranking = Ranking.of(self.started)
        known = ranking.order is not None or self.moment is not None
        return ranking.name if known else None

    @property
    def waiting(self) -> list[dict[str, Any]]:
        """Waiting jobs in the queue's order, each as a row with the keys job, processors, estimate,
        since, promised, starts, and, where the scenario has limits, above (words for the limit that
        holds it back), and under MULTIFACTOR number and factors.

        A value is None where the log does not say it; the number of processors is known once the
        job starts.
        """
        pairs = [(job, self.look.starts.get(job.name)) for job in self.look.waiting]
        rooms, numbers = self.look.rooms, self._numbers
        rank = Ranking.of(self.started).rank

        def place(pair: tuple[Job, Run | None]) -> tuple[float, float, float, int]:
            (tier, *_), found = rank(*pair), numbers.get(pair[0].name)
            if found is not None:
                return tier, -found.number, pair[0].submitted, pair[0].seq
            return tier, inf if numbers else 0.0, *rank(*pair)[1:]

        return [
            {
                "job": job.name,
                "processors": run.asked if run else None,
                "estimate": job.estimate,
                "since": job.since,
                "promised": job.promised,
                "starts": run.start if run else None,
                **({"partition": job.partition.name} if job.partition else {}),
                **({"above": rooms[job.name].exceeded(run.asked if run else 1)} if rooms else {}),
                **(numbers[job.name].as_json() if job.name in numbers else {}),
            }
            for job, run in sorted(pairs, key=place)
        ]

    @property
    def _numbers(self) -> dict[str, Number]:
        """Numbers and factors of the waiting jobs under MULTIFACTOR, by name; those of jobs that
        the log never starts are not known."""
        starts, moment, order = self.look.starts, self.moment, self.multifactor
        if order is None or moment is None:
            return {}
        size, known = self.started.processors, [it for it in self.look.waiting if it.name in starts]
        return {it.name: number_of(order, moment, it, starts[it.name], size) for it in known}

    @property
    def running(self) -> list[Held]:
        """Runs, or jobs between two runs, that hold processors at that time, the earliest first."""
        return sorted(self.look.held, key=lambda it: (it.since, it.job, it.run))

    def as_json(self) -> dict[str, object]:
        """Return the instant as plain data for JSON."""
        return {
            "t": self.at,
            "unit": self.started.unit,
            **({} if (begins := self.clock.begins) is None else {"begins": begins}),
            "free": self.look.free,
            "spare": self.look.spare,
            **self.look.aside,
            "away": {state.name: numbers for state, numbers in self.look.away.items()},
            "order": self.order,
            "waiting": self.waiting,
            **({"held_back": self.held_back} if self.held_back else {}),
            "running": [_row(it) | {"until": self.look.ends.get(it.key)} for it in self.running],
        }

    def lines(self) -> Iterator[str]:
        """Yield the instant as text: a summary and two tables."""
        started, look = self.started, self.look
        wanting = sum(run.asked for run in look.starts.values())
        held = sum(it.width for it in look.held)
        yield title_of(started)
        yield f"at {self._moment(self.at)}{'' if self.clock.begins is None else ', UTC'}"
        yield f"  waiting  {counted(len(look.waiting), 'job')} for {counted(wanting, 'processor')}"
        yield f"  running  {counted(len(look.held), 'run')} on {counted(held, 'processor')}"
        yield f"  free     {look.free:,} of {counted(started.processors, 'processor')}"
        others = {state.name.lower(): workers for state, workers in look.away.items()}
        for name, workers in {"spare": look.spare, **look.aside, **others}.items():
            if workers:
                both = text(intervals_of(sorted(look.away_members.intersection(workers))))
                note = f", of these members of runs: {both}" if both else ""
                yield f"  {name:<8} {len(workers):,}: {text(intervals_of(workers))}{note}"
        if look.waiting:
            yield from ("", f"waiting, in the order {self.order or 'of arrival'}")
            heads = WAITING + (PARTITION if any(it.partition for it in look.waiting) else ())
            heads += ("held back",) if look.rooms else ()
            heads += HEADS if self.moment is not None else ()
            yield from _table(heads, map(self._row_waiting, self.waiting))
        if self.held_back:
            yield from ("", "held back, not submitted yet")
            yield from _table(HELD_BACK, map(self._row_held_back, self.held_back))
        if look.held:
            yield from ("", "running", *_table(RUNNING, map(self._row_running, self.running)))

    def _row_waiting(self, it: dict[str, Any]) -> tuple[str, ...]:
        """Return the cells of one waiting job, in the order of `WAITING`, then its partition,
        the limit that holds it back, and its number and factors."""
        job, processors, estimate, since, promised, starts, *_ = it.values()
        more = [it[key] for key in ("partition", "above") if key in it]
        if self.moment is not None:
            unknown = (UNKNOWN,) * len(HEADS)
            more += Number(it["number"], it["factors"]).cells if "number" in it else unknown
        asked = UNKNOWN if processors is None else f"{processors:,}"
        known = "" if estimate is None else in_units(estimate, self.started.unit)
        waited = in_units(self.at - since, self.started.unit)
        reserved = "" if promised is None else self._moment(promised)
        return job, asked, known, waited, reserved, self._moment(starts), *more

    def _row_held_back(self, it: dict[str, Any]) -> tuple[str, ...]:
        """Return the cells of one job that follows others, in the order of `HELD_BACK`."""
        think = in_units(it["think"], self.started.unit) if it["think"] else ""
        late = it["release"] > self.at
        return it["job"], ", ".join(it["after"]), think, self._moment(it["release"]) if late else ""

    def _row_running(self, held: Held) -> tuple[str, ...]:
        """Return the cells of one holder, in the order of `RUNNING`."""
        run = f"{held.run}, kept" if held.kept else str(held.run)
        times = held.since, held.believed, self.look.ends.get(held.key)
        return held.job, run, f"{held.width:,}", *map(self._moment, times)

    def _moment(self, t: float | None) -> str:
        return UNKNOWN if t is None else self.clock(t)


def _row(held: Held) -> dict[str, Any]:
    return asdict(held, filter=lambda key, _: key.name != "start")


def _table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """Yield a table as lines, the heads of its columns first, with columns as wide as their widest
    cell."""
    lines = [heads, *(tuple(map(visible, row)) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        yield f"  {'  '.join(map(str.ljust, line, widths))}".rstrip()


def read_instant(log: LogFile, at: float) -> Instant:
    """Return the queue and the machine at time `at`.

    Reads the log on from there until every job in the system then has started or released its
    processors. Raises InputError as LogFile does and for a time after the log's end, and ValueError
    or LookupError where a line contradicts earlier ones.
    """
    history, look, held_back = History(), None, HeldBack()
    shares, moment = None, None
    lines = Lines(log, history, history.apply)
    with log.skimmed():
        for number, line in skim(log, lines.catch_up):
            if look is None:
                time = TIME.search(line)
                if time is None or float(time[1]) <= at:
                    # Usage is of all runs: none of their lines may be dropped.
                    (lines.put if shares is None else lines.tell)(number, line)
                    held_back.hear(line)
                    if number == 1 and (order := _order(lines)) is not None:
                        shares = history.listen(Shares.of(order))
                    continue
                lines.catch_up()
                look = history.listen(Look.at(history))
                moment = None if shares is None else shares.moment(at)
            if not look.settled(history.now):
                lines.tell(number, line)
    started, last = history.header, log.last
    assert started is not None and last is not None
    clock = Clock(started.unit, history.begins)
    if look is None and at > last.t:
        problem = f"{clock(at)} is after the log's end"
        end = f"0 to {last.t:.17g} ({clock(last.t)})"
        raise InputError(str(log.path), "--at", problem, end)
    if look is None:
        look, moment = Look.at(history), None if shares is None else shares.moment(at)
    order = order_of(started, history.tiers)
    return Instant(at, started, look, clock, held_back.rows(), moment, order)


def _order(lines: Lines) -> Multifactor | None:
    """Return the order that the log's first line names, which has been put, if that is
    MULTIFACTOR."""
    lines.catch_up()
    return order_of(lines.history.header, ())
