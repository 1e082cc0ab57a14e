"""One time that a job waited, and why: who was ahead, who held the processors, who passed it, what
made it start; in words and as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from math import inf

from attrs import define, field

from actors.events import DeciderKind, ScenarioStarted
from actors.intervals import numbers_in
from sims.history import Job, Run
from sims.telling import Clock, counted, in_units, worker_of
from sims.trace import Span
from sims.trace.instant import Held, Look
from sims.trace.promises import (
    NAMED,
    Broken,
    FreeWorkers,
    Promise,
    are,
    at_once,
    ended_early,
    joined,
    largest,
    members,
    mishap,
    outlasts,
    some,
    starters,
)
from sims.trace.ranking import Ranking, wanted


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
        yield from at_once(self.since, self._found(), self._held())
        for promise, before in zip(self.promises, [None, *self.promises], strict=False):
            yield Span.of(self._promised(promise, before), promise.record, promise.record.t)
            if (broken := promise.broken) is not None:
                yield from at_once(broken.t, self._broken(promise, broken))
        if self.until is not None:
            yield from at_once(self.until, self._passed(), *self._started(self.until))

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
        away = [f", {number:,} {are(number)}{state}" for number, state in counts if number]
        total = counted(self.started.processors, "processor")
        return f"{look.free:,} of {total} {are(look.free)} free{''.join(away)}"

    def _found(self) -> str:
        free, first = self._free(self.look), self.instants[0]
        if self.look.free and first.t == self.since and (names := starters([first])):
            begun = some(names, "other job")
            starts = "starts" if len(names) == 1 else "start"
            free += f", as it made way for {begun}" if self.preempted else f"; {begun} {starts}"
        jobs, processors = self.ahead()
        if not jobs:
            return free
        where = "ahead" if self.ranking.order is not None else "waiting already"
        them = f"{counted(jobs, 'job')} for {counted(processors, 'processor')}"
        return f"{them} {are(jobs)} {where}; {free}"

    def _held(self) -> str:
        holders = self.look.held
        return f"held by {largest(holders, self._holder)}" if holders else ""

    def _holder(self, held: Held) -> str:
        end = self.look.ends.get(held.key)
        until = "the log's end" if end is None else self._moment(end)
        size = counted(held.width, "processor")
        return f"{held.job} ({size}, {self._moment(held.since)} to {until})"

    # --- while it waited ------------------------------------------------------------------------

    def _promised(self, promise: Promise, before: Promise | None) -> str:
        why = [mishap(self.started, it) for it in promise.upset[:NAMED]]
        if promise.start is None:
            why += [f"{promise.ahead} is ahead of it now"] if promise.ahead else []
            return f"nothing is promised to it any more{': ' if why else ''}{joined(why)}"
        start = f"promised its start for {self._moment(promise.start)}"
        if before is None or before.start is None:
            return start
        by = promise.start - before.start
        how = f"{in_units(abs(by), self.started.unit)} {'earlier' if by < 0 else 'later'}"
        if by < 0:
            why = ended_early(promise, self.started.unit)
        return f"{start}, {how}{': ' if why else ''}{joined(why)}"

    def _broken(self, promise: Promise, broken: Broken) -> str:
        look = broken.look
        about = promise, self.upset, look, self.clock, self.started
        held = largest(look.held, lambda it: outlasts(it, *about))
        return f"not started, as was promised: {self._free(look)}{'; ' if held else ''}{held}"

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
            them = starters([it for it in self._missed if it.after < mine.width])
            why = f"{some(them, 'other job') or 'others'} had them"
            if held:
                why = f"{self._holding(held)}{f'; at {taken:,} of them {why}' if taken else ''}"
            yield f"{so_many} at {times} too, first at {first}: {why}"
        chosen = possible < now and self.started.decider is not DeciderKind.QUEUE
        if possible < now:
            why = self._holding(self.reserved(possible, now))
            yield f"{so_many} from {self._moment(possible)} on, but {why}"
        free = self.instants[-1].before
        count = f"{free:,} {are(free)} free"
        on = (
            f"the policy starts it now, on {members(self.started, mine)}"
            if chosen
            else "possible now"
        )
        yield f"{on}: {self._freed()}{count}, it takes {mine.width:,}"

    def _holding(self, reserved: Counter[str | None]) -> str:
        """Why what was free stayed so: whose reservations held it at the most instants, or the
        policy's choice."""
        jobs = [job for job, _ in reserved.most_common() if job is not None]
        if not jobs:
            waits = self.started.decider is DeciderKind.DEADLINE
            return "the policy chose to wait" if waits else "the policy did not start it"
        one = "a reservation" if len(jobs) == 1 else "reservations"
        return f"{one} of {some(jobs, 'other job')} held them"

    def _freed(self) -> str:
        """What changed at the instant of its start."""
        freed, back = self.freed, self.back
        said = []
        if freed:
            said.append(f"{largest(freed, self._end)} {'ends' if len(freed) == 1 else 'end'}")
        if back:
            names = [worker_of(self.started, worker) for worker in back]
            said.append(f"{some(names, 'other')} {are(len(back))} UP again")
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
                {**it.as_json(), "since": it.since, "until": look.ends.get(it.key)}
                for it in look.held
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
            "freed": [it.as_json() for it in self.freed],
            "back": self.back,
        }
