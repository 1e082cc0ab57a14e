"""One time that a job waited, and why: who was ahead, who held the processors, who passed it, what
made it start; in words and as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from math import inf

from attrs import define, field, frozen

from actors.events import DeciderKind, Outcome, ScenarioStarted
from actors.intervals import numbers_in
from actors.runtime import Record
from sims.history import Job, Run
from sims.telling import Clock, counted, in_units, worker_of
from sims.trace import Span
from sims.trace.instant import Held, Look, Ranking, wanted

NAMED = 3
"""Of many jobs or runs, the largest are named."""


@frozen
class Broken:
    """A promised start that did not come."""

    t: float
    """When it was due."""
    look: Look
    """What was free and away then; those hold workers that were not to hold them any more."""


@frozen
class Promise:
    """What a reservation of the job says from some instant on."""

    record: Record
    start: float | None
    """None: it is dropped."""
    early: Sequence[Held]
    """Runs that ended at that instant, before they were believed to."""
    upset: Sequence[Run | int] = ()
    """Runs that were lost, or failed, and workers that went DOWN at that instant."""
    ahead: str | None = None
    """To whom the place of one that is dropped was given."""
    broken: Broken | None = None
    """What there was when it was due; None: it was kept, or changed before."""


@frozen
class FreeWorkers:
    """How many workers were free: before and after what was decided."""

    t: float
    before: int
    after: int
    reserved: str | None
    """Of the other jobs that have a reservation, the one that is promised the earliest start; None:
    none has."""
    begun: tuple[Run, ...] = ()
    """Of other jobs, started at that instant."""


@define
class Wait:
    """One time that the job waited."""

    me: Job
    since: float
    started: ScenarioStarted
    """What the log begins with."""
    ranking: Ranking
    """The queue's order."""
    clock: Clock
    until: float | None = None
    """None: the log ends first."""
    look: Look = field(init=False)
    """At its beginning, before anything was decided."""
    passed: dict[str, Run] = field(factory=dict)
    """Jobs that came later and started first."""
    promises: list[Promise] = field(factory=list)
    upset: dict[str, Run] = field(factory=dict)
    """By job: its run that was lost, or failed, last while this job waited."""
    preempted: Run | None = None
    """The wait began as the job made way for it."""
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
        """Instants before that at which as many were free, and went to others; that at which it
        made way itself is none."""
        return [it.t for it in self._missed]

    @property
    def _missed(self) -> list[FreeWorkers]:
        mine, since, found = self.mine, self.possible, self.instants
        if mine is None or since is None:
            return []
        if self.preempted is not None and found and found[0].t == self.since:
            found = found[1:]
        return [it for it in found if it.t < since and it.before >= mine.width]

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
            if (broken := promise.broken) is not None:
                yield from _at(broken.t, self._broken(promise, broken))
        if self.until is not None:
            yield from _at(self.until, self._passed(), *self._started(self.until))

    def _moment(self, t: float) -> str:
        return self.clock(t)

    # --- as it began ----------------------------------------------------------------------------

    def ahead(self) -> tuple[int, int]:
        """How many jobs were before it in the queue, and how many processors they got once they
        started."""
        look, rank = self.look, self.ranking.rank
        me, starts = rank(self.me, self.run), look.starts
        names = [it.name for it in look.waiting if rank(it, starts.get(it.name)) < me]
        return len(names), sum(wanted(starts[it]) for it in names if it in starts)

    def _free(self, look: Look) -> str:
        counts = [(len(numbers), f" {state.name}") for state, numbers in look.away.items()]
        away = [f", {number:,} {_are(number)}{state}" for number, state in counts if number]
        total = counted(self.started.processors, "processor")
        return f"{look.free:,} of {total} {_are(look.free)} free{''.join(away)}"

    def _found(self) -> str:
        free, first = self._free(self.look), self.instants[0]
        if self.look.free and first.t == self.since and (names := _starters([first])):
            begun = _some(names, "other job")
            starts = "starts" if len(names) == 1 else "start"
            free += f", as it made way for {begun}" if self.preempted else f"; {begun} {starts}"
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
        why = [self._upset(it) for it in promise.upset[:NAMED]]
        if promise.start is None:
            why += [f"{promise.ahead} is ahead of it now"] if promise.ahead else []
            return f"nothing is promised to it any more{': ' if why else ''}{_joined(why)}"
        start = f"promised its start for {self._moment(promise.start)}"
        if before is None or before.start is None:
            return start
        by = promise.start - before.start
        how = f"{in_units(abs(by), self.started.unit)} {'earlier' if by < 0 else 'later'}"
        if by < 0:
            why = [self._early(it, promise.record.t) for it in promise.early[:NAMED]]
        return f"{start}, {how}{': ' if why else ''}{_joined(why)}"

    def _upset(self, it: Run | int) -> str:
        if isinstance(it, Run):
            assert it.outcome is not None
            how = "lost" if it.outcome is Outcome.LOST else "in vain, as it failed"
            return f"run {it.number} of {it.job.name} was {how}"
        return f"{worker_of(self.started, it)} went DOWN"

    def upsets(self, promise: Promise, held: Held) -> bool:
        """Whether workers that are held when the promised start is due were not to be held then, or
        were when it was promised and are held by another run now."""
        due = promise.start
        return (
            held.kept or held.start > promise.record.t or (due is not None and held.believed <= due)
        )

    def _broken(self, promise: Promise, broken: Broken) -> str:
        look = broken.look
        held = _largest(look.held, lambda it: self._outlasts(promise, it, look))
        return f"not started, as was promised: {self._free(look)}{'; ' if held else ''}{held}"

    def _outlasts(self, promise: Promise, held: Held, look: Look) -> str:
        end, upset = look.ends.get(held.key), self.upset.get(held.job)
        until = "the log's end" if end is None else self._moment(end)
        if upset is not None and upset.end is not None and upset.end >= promise.record.t:
            why = f"{self._upset(upset)} at {self._moment(upset.end)}"
        elif held.start > promise.record.t:
            why = f"it started at {self._moment(held.start)}"
        else:
            why = f"it was believed to end at {self._moment(held.believed)}"
        return f"{held.job} holds {held.width:,} until {until} ({why})"

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
            taken = len(missed) - held.total()
            them = _starters([it for it in self._missed if it.after < mine.width])
            why = f"{_some(them, 'other job') or 'others'} had them"
            if held:
                why = f"{self._holding(held)}{f'; at {taken:,} of them {why}' if taken else ''}"
            yield f"{so_many} at {times} too, first at {first}: {why}"
        chosen = possible < now and self.started.decider is not DeciderKind.QUEUE
        if possible < now:
            why = self._holding(self.reserved(possible, now))
            yield f"{so_many} from {self._moment(possible)} on, but {why}"
        free = self.instants[-1].before
        are = f"{free:,} {_are(free)} free"
        on = f"the policy starts it now, on {self._members(mine)}" if chosen else "possible now"
        yield f"{on}: {self._freed()}{are}, it takes {mine.width:,}"

    def _holding(self, reserved: Counter[str | None]) -> str:
        """Why what was free stayed so: whose reservations held it at the most instants, or the
        policy's choice."""
        jobs = [job for job, _ in reserved.most_common() if job is not None]
        if not jobs:
            waits = self.started.decider is DeciderKind.DEADLINE
            return "the policy chose to wait" if waits else "the policy did not start it"
        one = "a reservation" if len(jobs) == 1 else "reservations"
        return f"{one} of {_some(jobs, 'other job')} held them"

    def _members(self, mine: Held) -> str:
        names = [worker_of(self.started, n) for n in islice(numbers_in(mine.processors), NAMED)]
        return _joined(names) if mine.width <= NAMED else counted(mine.width, "worker")

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
            "preempted": self.preempted and self.preempted.job.name,
            "promises": [
                {
                    "t": it.record.t,
                    "start": it.start,
                    "seq": it.record.seq,
                    "broken": it.broken and self._broken(it, it.broken),
                }
                for it in self.promises
            ],
            "missed": self.missed,
            "reserved": {job: n for job, n in self.reserved(self.since, inf).items() if job},
            "possible": self.possible,
            "freed": list(map(_data, self.freed)),
            "back": self.back,
        }


def _starters(instants: Sequence[FreeWorkers]) -> list[str]:
    """Who started at those instants, the largest first."""
    begun = {run.job.name: wanted(run) for it in instants for run in it.begun}
    return [f"{name} ({size:,})" for name, size in sorted(begun.items(), key=lambda it: -it[1])]


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
