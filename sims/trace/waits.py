"""Why a job waited: who was ahead, who held the processors, who passed it, what made it start."""

from __future__ import annotations

from attrs import define, field, frozen

from actors.events import ScenarioStarted
from policies.availability import WorkerState
from sims.ledger.slices import count, ranges
from sims.trace.ranking import Asked, LaterStarts, Ranking
from sims.trace.scene import Arrived, Fields, HeldWorkers, Holdings, Key

DECISIONS = frozenset(
    (b"RunStarted", b"CopiesPlaced", b"CopiesSettled", b"ReservationMade", b"ReservationDropped")
)
"""With the first of these lines all else of an instant has happened: now is decided."""
STARTS = frozenset((b"RunStarted", b"CopiesPlaced"))
ENDS = frozenset((b"RunEnded", b"MembersReleased", b"CopiesSettled"))
HEARD = STARTS | ENDS
UP = WorkerState.UP.value
ROUNDING = 1 + 1e-9
"""Ends that are believed and ends that come are sums in another order."""


@frozen
class Promise:
    """What a reservation of the job says from some instant on."""

    t: float
    seq: int
    cause: int | None
    start: float | None
    """None: it is dropped."""
    early: tuple[HeldWorkers, ...]
    """Runs that ended at that instant, before they were believed to."""
    ahead: str | None = None
    """To whom the place of one that is dropped was given."""


@frozen
class Passed:
    """A job that came later and started first."""

    job: str
    arrived: Arrived
    asked: Asked


@frozen
class FreeWorkers:
    """How many workers were free: before and after what was decided."""

    t: float
    before: int
    after: int


@define
class Wait:
    """One time that the job waited."""

    since: float
    me: Arrived
    until: float | None = None
    """None: the log ends first."""
    free: int = 0
    """At its beginning, before anything was decided."""
    away: tuple[int, int] = (0, 0)
    """RECLAIMED, DOWN."""
    others: dict[str, Arrived] = field(factory=dict)
    """Who waited then, too."""
    holders: list[HeldWorkers] = field(factory=list)
    """The largest first."""
    passed: dict[str, Passed] = field(factory=dict)
    promises: list[Promise] = field(factory=list)
    instants: list[FreeWorkers] = field(factory=list)
    asked: Asked | None = None
    processors: str = ""
    """Those that it got."""
    freed: list[HeldWorkers] = field(factory=list)
    """At the instant when it started."""
    back: list[int] = field(factory=list)
    """Workers that came UP then."""
    starts: LaterStarts = field(factory=LaterStarts)
    """What the others got."""
    ends: dict[Key, float] = field(factory=dict)
    """When the holders gave back what they held."""
    _holding: set[Key] = field(factory=set)

    def look(self, scene: Holdings, me: str) -> None:
        """Its first instant is about to be decided on."""
        self.free = scene.free
        self.away = scene.count_away(WorkerState.RECLAIMED), scene.count_away(WorkerState.DOWN)
        self.others = {it: scene.jobs[it] for it in scene.waiting if it != me}
        self.holders = sorted(scene.held.values(), key=_width)
        self._holding = {(it.job, it.run) for it in self.holders}
        self.starts.awaited |= self.others.keys()

    def hear(self, kind: bytes, line: Fields) -> None:
        """What becomes of the others, and of the holders."""
        if kind in STARTS:
            self.starts.hear(kind, line)
        elif kind in ENDS:
            for key in self._holding.intersection(given_back(kind, line)):
                self._holding.discard(key)
                self.ends[key] = line["t"]

    @property
    def settled(self) -> bool:
        """Whether all that can be told of it is known."""
        return not self._holding and not self.starts.awaited

    @property
    def possible(self) -> float | None:
        """Since when as many were free as it got, without a break."""
        if self.asked is None:
            return None
        since = self.until
        for instant in reversed(self.instants):
            if instant.t != self.until and instant.after < self.asked.processors:
                break
            if instant.before >= self.asked.processors:
                since = instant.t
        return since

    @property
    def missed(self) -> list[float]:
        """Instants before that at which as many were free, and went to others."""
        asked, since = self.asked, self.possible
        if asked is None or since is None:
            return []
        return [it.t for it in self.instants if it.t < since and it.before >= asked.processors]


@define
class Waits:
    """Fold over a log's lines: all waits of one job, complete once the log has been read."""

    job: str
    scene: Holdings
    ranking: Ranking
    done: list[Wait] = field(factory=list)
    _open: Wait | None = None
    _me: Arrived | None = None
    _looked: bool = False
    """Whether this instant is being decided on."""
    _now: float = 0
    _before: int = 0
    _freed: list[HeldWorkers] = field(factory=list)
    _back: list[int] = field(factory=list)
    _first: bool = False
    _unsettled: list[Wait] = field(factory=list)

    @classmethod
    def of(cls, job: str, started: ScenarioStarted) -> Waits:
        """Of a job of the log that begins so."""
        return cls(job, Holdings(started), Ranking.of(started))

    @property
    def over(self) -> bool:
        """Whether no line can tell more."""
        gone = self._me is not None and self.job not in self.scene.jobs
        return gone and not self._unsettled

    @property
    def idle(self) -> bool:
        """Whether the job is at work, and all that can be told of its waits is known."""
        return self._open is None and not self._unsettled and self.job in self.scene.jobs

    def __call__(self, kind: bytes, line: Fields) -> None:
        if line["t"] > self._now:
            self._pass(line["t"])
        if self._open is not None:
            self._watch(self._open, kind, line)
        if self._unsettled and kind in HEARD:
            self._settle(kind, line)
        self.scene(kind, line)
        waits = self.job in self.scene.waiting
        if waits != (self._open is not None):
            self._turn(kind, line)

    def close(self) -> None:
        """The log ends here."""
        if self._open is not None:
            self._pass(self._now)
            self.done.append(self._open)
            self._open = None

    # --- from wait to wait --------------------------------------------------------------------

    def _turn(self, kind: bytes, line: Fields) -> None:
        wait = self._open
        if wait is None:
            self._freed.clear()
            self._back.clear()
            self._me = self.scene.jobs[self.job]
            self._open, self._first, self._looked = Wait(line["t"], self._me), True, False
            return
        self._open = None
        if line["t"] == wait.since:
            self._unsettled = [it for it in self._unsettled if it is not wait]
            return
        if kind in STARTS:
            self._satisfy(wait, line)
        self.done.append(wait)

    def _settle(self, kind: bytes, line: Fields) -> None:
        for wait in self._unsettled:
            wait.hear(kind, line)
        self._unsettled = [it for it in self._unsettled if not it.settled]

    def _satisfy(self, wait: Wait, line: Fields) -> None:
        held = [it for it in self.scene.held.values() if it.job == self.job]
        wait.until, wait.processors = line["t"], held[-1].processors
        work = line.get("work", 0.0)
        wait.asked = Asked(held[-1].width, work, line["t"])
        wait.instants.append(FreeWorkers(line["t"], self._before, self.scene.free))
        wait.freed = sorted(self._freed, key=_width)
        wait.back = list(self._back)

    # --- while it waits -----------------------------------------------------------------------

    def _pass(self, now: float) -> None:
        """An instant is over."""
        wait = self._open
        if wait is not None:
            if not self._looked:
                self._look(wait)
            wait.instants.append(FreeWorkers(self._now, self._before, self.scene.free))
            self._freed.clear()
            self._back.clear()
        self._now, self._looked = now, False

    def _look(self, wait: Wait) -> None:
        """All but the decisions of this instant is known."""
        self._looked, self._before = True, self.scene.free
        if self._first:
            self._first = False
            wait.look(self.scene, self.job)
            self._unsettled.append(wait)

    def _watch(self, wait: Wait, kind: bytes, line: Fields) -> None:
        if kind in DECISIONS and not self._looked:
            if kind == b"RunStarted" and line["job"] == self.job and line["t"] == wait.since:
                return  # it does not wait
            self._look(wait)
        if kind in ENDS:
            self._freed += [self.scene.held[key] for key in given_back(kind, line)]
        elif kind == b"WorkerChanged" and line["state"] == UP:
            self._back.append(line["worker"])
        elif kind in STARTS:
            self._see_passing(wait, kind, line)
        elif kind == b"ReservationMade":
            self._promise(wait, line)
        elif kind == b"ReservationDropped" and line["job"] == self.job:
            wait.promises.append(Promise(line["t"], line["seq"], line.get("cause"), None, ()))

    def _see_passing(self, wait: Wait, kind: bytes, line: Fields) -> None:
        assert self._me is not None
        names = [line["job"]] if kind == b"RunStarted" else line["jobs"]
        for place, job in enumerate(names):
            arrived = self.scene.jobs[job]
            if arrived.index <= self._me.index or job in wait.passed:
                continue
            if kind == b"RunStarted":
                asked = Asked(count(line["processors"]), line["work"], line["t"])
            else:
                width = line["copies"][place] * line["width"]
                asked = Asked(width, line["sizes"][place], line["t"])
            wait.passed[job] = Passed(job, arrived, asked)

    def _promise(self, wait: Wait, line: Fields) -> None:
        t, last = line["t"], wait.promises[-1] if wait.promises else None
        if line["job"] == self.job:
            early = tuple(
                sorted((it for it in self._freed if it.believed > t * ROUNDING), key=_width)
            )
            made = Promise(t, line["seq"], line.get("cause"), line["start"], early)
            wait.promises.append(made)
        elif last is not None and last.t == t and last.start is None and last.ahead is None:
            wait.promises[-1] = Promise(*(t, last.seq, last.cause, None, ()), ahead=line["job"])


def given_back(kind: bytes, line: Fields) -> list[Key]:
    """Whose members are given back by a line of `ENDS`."""
    if kind == b"CopiesSettled":
        return list(zip(line["jobs"], line["runs"], strict=True))
    return [] if line.get("kept", False) else [(line["job"], line["run"])]


def _width(held: HeldWorkers) -> tuple[int, float, str]:
    return -held.width, held.since, held.job


def overlap(held: HeldWorkers, processors: str) -> int:
    """How many of these it held."""
    mine: set[int] = {n for a, b in ranges(held.processors) for n in range(a, b + 1)}
    return sum(n in mine for a, b in ranges(processors) for n in range(a, b + 1))
