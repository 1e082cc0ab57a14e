"""One time that a job waited, and why: who was ahead, who held the processors, who passed it, what
made it start; in words and as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from math import inf

from attrs import define, field, frozen

from actors.events import DeciderKind, ScenarioStarted
from actors.intervals import numbers_in
from actors.runtime import Record
from sims.history import Job, Run
from sims.telling import counted, in_units, moment, worker_of
from sims.trace import Span
from sims.trace.instant import Held, Look, Ranking, wanted

NAMED = 3
"""Of many jobs or runs, the largest are named."""


@frozen
class Promise:
    """What a reservation of the job says from some instant on."""

    record: Record
    start: float | None
    """None: it is dropped."""
    early: Sequence[Held]
    """Runs that ended at that instant, before they were believed to."""
    ahead: str | None = None
    """To whom the place of one that is dropped was given."""


@frozen
class FreeWorkers:
    """How many workers were free: before and after what was decided."""

    t: float
    before: int
    after: int
    reserved: str | None
    """Of the other jobs that have a reservation, the one that is promised the earliest start; None:
    none has."""


@define
class Wait:
    """One time that the job waited."""

    me: Job
    since: float
    started: ScenarioStarted
    """What the log begins with."""
    ranking: Ranking
    """The queue's order."""
    until: float | None = None
    """None: the log ends first."""
    look: Look = field(init=False)
    """At its beginning, before anything was decided."""
    passed: dict[str, Run] = field(factory=dict)
    """Jobs that came later and started first."""
    promises: list[Promise] = field(factory=list)
    instants: list[FreeWorkers] = field(factory=list)
    mine: Held | None = None
    """What it got."""
    run: Run | None = None
    freed: list[Held] = field(factory=list)
    """At the instant when it started."""
    back: list[int] = field(factory=list)
    """Workers that came UP then."""

    @property
    def possible(self) -> float | None:
        """Since when as many were free as it got, without a break."""
        if self.mine is None:
            return None
        since, width = self.until, self.mine.width
        for instant in reversed(self.instants):
            if instant.t != self.until and instant.after < width:
                break
            if instant.before >= width:
                since = instant.t
        return since

    @property
    def missed(self) -> list[float]:
        """Instants before that at which as many were free, and went to others."""
        mine, since = self.mine, self.possible
        if mine is None or since is None:
            return []
        return [it.t for it in self.instants if it.t < since and it.before >= mine.width]

    def reserved(self, start: float, end: float) -> Counter[str | None]:
        """At how many instants in [start, end) as many as it got were free and stayed so, by the
        job whose reservation held them."""
        width = self.mine.width if self.mine else inf
        return Counter(
            it.reserved
            for it in self.instants
            if start <= it.t < end and width <= min(it.before, it.after)
        )

    def spans(self) -> Iterator[Span]:
        """In order of time."""
        yield from _at(self.since, self._found(), self._held())
        for promise, before in zip(self.promises, [None, *self.promises], strict=False):
            yield Span.of(self._promised(promise, before), promise.record, promise.record.t)
        if self.until is not None:
            yield from _at(self.until, self._passed(), *self._started(self.until))

    def _moment(self, t: float) -> str:
        return moment(t, self.started.unit)

    # --- as it began ----------------------------------------------------------------------------

    def ahead(self) -> tuple[int, int]:
        """How many jobs were before it in the queue, and how many processors they got once they
        started."""
        look, rank = self.look, self.ranking.rank
        me, starts = rank(self.me, self.run), look.starts
        names = [it.name for it in look.waiting if rank(it, starts.get(it.name)) < me]
        return len(names), sum(wanted(starts[it]) for it in names if it in starts)

    def _found(self) -> str:
        look = self.look
        counts = [(len(numbers), f" {state.name}") for state, numbers in look.away.items()]
        away = [f", {number:,} {_are(number)}{state}" for number, state in counts if number]
        total = counted(self.started.processors, "processor")
        free = f"{look.free:,} of {total} {_are(look.free)} free{''.join(away)}"
        jobs, processors = self.ahead()
        if not jobs:
            return free
        where = "ahead" if self.ranking.order is not None else "waiting already"
        them = f"{counted(jobs, 'job')} for {counted(processors, 'processor')}"
        return f"{them} {_are(jobs)} {where}; {free}"

    def _held(self) -> str:
        holders = self.look.held
        return f"held by {_largest(holders, self._holder)}" if holders else ""

    def _holder(self, held: Held) -> str:
        end = self.look.ends.get(held.key)
        until = "the log's end" if end is None else self._moment(end)
        size = counted(held.width, "processor")
        return f"{held.job} ({size}, {self._moment(held.since)} to {until})"

    # --- while it waited ------------------------------------------------------------------------

    def _promised(self, promise: Promise, before: Promise | None) -> str:
        if promise.start is None:
            ahead = f": {promise.ahead} is ahead of it now" if promise.ahead else ""
            return f"nothing is promised to it any more{ahead}"
        start = f"promised its start for {self._moment(promise.start)}"
        if before is None or before.start is None:
            return start
        by = promise.start - before.start
        how = f"{in_units(abs(by), self.started.unit)} {'earlier' if by < 0 else 'later'}"
        ended = [self._early(it, promise.record.t) for it in promise.early[:NAMED]]
        return f"{start}, {how}{': ' if ended else ''}{_joined(ended)}"

    def _early(self, held: Held, end: float) -> str:
        early = in_units(held.believed - end, self.started.unit)
        return f"{held.job} ended {early} before it was believed to"

    def rule(self, passed: Run) -> str:
        """By what a job that came later started first."""
        if self.started.decider is not DeciderKind.QUEUE:
            return "by the policy's choice"
        ranking = self.ranking
        if ranking.order is None:
            return f"by the order {ranking.name} or by backfilling"
        mine = ranking.rank(self.me, self.run)
        first = ranking.rank(passed.job, passed) < mine
        return f"by the order {ranking.name}" if first else "by backfilling"

    def _passed(self) -> str:
        rules: dict[str, list[Run]] = {}
        for it in sorted(self.passed.values(), key=lambda it: -wanted(it)):
            rules.setdefault(self.rule(it), []).append(it)
        told = (
            f"{counted(len(them), 'job')} that came later started first {rule}: {self._named(them)}"
            for rule, them in rules.items()
        )
        return "; ".join(told)

    def _named(self, passed: Sequence[Run]) -> str:
        told = (f"{it.job.name} on {wanted(it):,} at {self._moment(it.start)}" for it in passed)
        return ", ".join([*islice(told, NAMED), *(["..."] if len(passed) > NAMED else [])])

    # --- as it ended ----------------------------------------------------------------------------

    def _started(self, now: float) -> Iterator[str]:
        mine, possible, missed = self.mine, self.possible, self.missed
        if mine is None or possible is None:
            return
        were = "was" if mine.width == 1 else "were"
        so_many = f"{counted(mine.width, 'processor')} {were} free"
        if missed and self.started.decider is DeciderKind.QUEUE:
            times = counted(len(missed), "earlier instant")
            first, held = self._moment(missed[0]), self.reserved(self.since, possible)
            taken, why = len(missed) - held.total(), "others had them"
            if held:
                why = f"{_holding(held)}{f'; at {taken:,} of them {why}' if taken else ''}"
            yield f"{so_many} at {times} too, first at {first}: {why}"
        if possible < now:
            why = _holding(self.reserved(possible, now))
            yield f"{so_many} from {self._moment(possible)} on, but {why}"
        free = self.instants[-1].before
        are = f"{free:,} {_are(free)} free"
        yield f"possible now: {self._freed()}{are}, it takes {mine.width:,}"

    def _freed(self) -> str:
        """What changed at the instant of its start."""
        freed, back = self.freed, self.back
        said = []
        if freed:
            said.append(f"{_largest(freed, self._end)} {'ends' if len(freed) == 1 else 'end'}")
        if back:
            names = [worker_of(self.started, worker) for worker in back]
            said.append(f"{_some(names, 'other')} {_are(len(back))} UP again")
        return f"{', '.join(said)}; " if said else ""

    def _end(self, held: Held) -> str:
        assert self.mine is not None
        own = set(numbers_in(held.processors)).intersection(numbers_in(self.mine.processors))
        whose = f", {len(own):,} of them now its own" if own else ""
        return f"{held.job} ({counted(held.width, 'processor')}{whose})"

    # --- as data --------------------------------------------------------------------------------

    def as_json(self) -> dict[str, object]:
        """The wait as data."""
        look, rule = self.look, self.rule
        passed = ("job", "processors", "start", "rule")
        return {
            "since": self.since,
            "until": self.until,
            "ahead": dict(zip(("jobs", "processors"), self.ahead(), strict=True)),
            "free": look.free,
            **{state.name.lower(): len(numbers) for state, numbers in look.away.items()},
            "held": [
                {**_data(it), "since": it.since, "until": look.ends.get(it.key)} for it in look.held
            ],
            "passed": [
                dict(zip(passed, (name, wanted(it), it.start, rule(it)), strict=True))
                for name, it in self.passed.items()
            ],
            "promises": [
                {"t": it.record.t, "start": it.start, "seq": it.record.seq} for it in self.promises
            ],
            "missed": self.missed,
            "reserved": {job: n for job, n in self.reserved(self.since, inf).items() if job},
            "possible": self.possible,
            "freed": list(map(_data, self.freed)),
            "back": self.back,
        }


def _holding(reserved: Counter[str | None]) -> str:
    """Whose reservations held what was free: those that did so at the most instants."""
    jobs = [job for job, _ in reserved.most_common() if job is not None]
    if not jobs:
        return "not for it"
    one = "a reservation" if len(jobs) == 1 else "reservations"
    return f"{one} of {_some(jobs, 'other job')} held them"


def _data(held: Held) -> dict[str, object]:
    return {"job": held.job, "run": held.run, "processors": held.width}


def _at(t: float, *titles: str) -> Iterator[Span]:
    return (Span(title, t, t) for title in titles if title)


def _largest(holders: Sequence[Held], tell: Callable[[Held], str]) -> str:
    """The first ones, which are the largest, by name."""
    size = sum(it.width for it in holders[NAMED:])
    return _some([tell(it) for it in holders], "other run", f" ({size:,})")


def _some(words: Sequence[str], other: str, size: str = "") -> str:
    """The first ones, and how many others there are."""
    rest = len(words) - NAMED
    return _joined([*words[:NAMED], *([counted(rest, other) + size] if rest > 0 else [])])


def _joined(parts: Sequence[str]) -> str:
    """`a, b and c`."""
    *first, last = parts or [""]
    return f"{', '.join(first)} and {last}" if first else last


def _are(number: int) -> str:
    return "is" if number == 1 else "are"
