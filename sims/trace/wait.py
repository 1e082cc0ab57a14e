"""Explains one wait of a job, in words and as data: which jobs were ahead, which held the
processors, which started earlier although they came later, and what made the job start."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from math import inf

from attrs import define, field

from actors.events import DeciderKind, MaintenancePlanned, ScenarioStarted
from actors.intervals import numbers_in, size_of
from sims.history.reader import Job, Key, Run
from sims.history.states import Partition
from sims.telling import Clock, counted, in_units, worker_of
from sims.trace import Span
from sims.trace.instant import Held, Look
from sims.trace.partitions import of_partition, sharing
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
    some,
    starters,
)
from sims.trace.ranking import Ranking


@define
class Wait:
    """One interval for which the job waited for workers, from `since` to `until`, and why it
    did."""

    me: Job
    since: float
    started: ScenarioStarted
    """The first event of the log."""
    ranking: Ranking
    """Order of the queue."""
    clock: Clock
    windows: Sequence[MaintenancePlanned] = ()
    """Windows of maintenance, in the order of the log."""
    rivals: dict[str, Partition | None] = field(factory=dict)
    """Maps other jobs that were in the way to their partitions."""
    until: float | None = None
    """Time at which the job started; None if the log ends first."""
    look: Look = field(init=False)
    """State of the machine and the queue at `since`, before any decision of that instant."""
    passed: dict[str, Run] = field(factory=dict)
    """Maps the names of jobs that came later and started first to their runs."""
    promises: list[Promise] = field(factory=list)
    upset: dict[str, Run] = field(factory=dict)
    """Maps a job's name to its last run that was lost or failed during this wait."""
    preempted: Run | None = None
    """The run for which the scheduler cancelled this job's run, if the wait began so."""
    instants: list[FreeWorkers] = field(factory=list)
    mine: Held | None = None
    """Processors that the job got."""
    run: Run | None = None
    freed: list[Held] = field(factory=list)
    """Holders whose processors were released at the instant when the job started."""
    made_way: frozenset[Key] = frozenset()
    """Keys of the runs among these that the scheduler cancelled for jobs that started at that
    instant."""
    back: list[int] = field(factory=list)
    """Numbers of the workers that came UP at that instant."""

    @property
    def possible(self) -> float | None:
        """Time from which on as many workers as the job got were free without a break until it
        started; None if it never started."""
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
        """Times before `possible` at which, before the scheduler's decisions, as many workers were
        free as the job got at last.

        Not all of them stayed free until its start: other jobs got some, or some went away. The
        instant at which the job itself was preempted does not count.
        """
        return [it.t for it in self._missed]

    @property
    def _missed(self) -> list[FreeWorkers]:
        """The records of the instants in `missed`."""
        mine, since, found = self.mine, self.possible, self.instants
        if mine is None or since is None:
            return []
        if self.preempted is not None and found and found[0].t == self.since:
            # The processors were free because this job's own run had just been cancelled.
            found = found[1:]
        return [it for it in found if it.t < since and it.before >= mine.width]

    def reserved(self, start: float, end: float) -> Counter[str | None]:
        """Count, for each other job, the instants in [start, end) at which its reservation kept
        free workers from this job.

        Only instants count at which as many workers as the job got were free, before and after
        decisions, and neither a window of maintenance nor a limit kept the job off them.
        """
        width = self.mine.width if self.mine else inf
        return Counter(
            it.reserved
            for it in self.instants
            if start <= it.t < end and width <= min(it.before, it.after) and not self._off(it)
        )

    def spans(self) -> Iterator[Span]:
        """Yield a span for each reason for the wait, in order of time."""
        unstarted = self.instants[0] if self.until is None and self.instants else None
        limit = "" if unstarted is None else self._above(unstarted)
        yield from at_once(self.since, self._found(), self._held(), limit)
        for promise, before in zip(self.promises, [None, *self.promises], strict=False):
            yield Span.of(self._promised(promise, before), promise.record, promise.record.t)
            if (broken := promise.broken) is not None:
                yield from at_once(broken.t, self._broken(promise, broken))
        if self.until is not None:
            yield from at_once(self.until, self._passed(), *self._started(self.until))

    # --- as it began ----------------------------------------------------------------------------

    def ahead(self) -> tuple[int, int]:
        """Return how many jobs were ahead in the queue, and how many processors they got once they
        started."""
        look, rank = self.look, self.ranking.rank
        me, starts = rank(self.me, self.run), look.starts
        names = [it.name for it in look.waiting if rank(it, starts.get(it.name)) < me]
        return len(names), sum(starts[it].asked for it in names if it in starts)

    def _free(self, look: Look) -> str:
        """Return words that say how many workers are free, spares, RECLAIMED and DOWN in the state
        `look`."""
        spare = len(look.spare), " spare" if len(look.spare) == 1 else " spares"
        counts = [(number, f" {state.name}") for state, number in look.away_others.items()]
        away = [f", {n:,} {are(n)}{what}" for n, what in (spare, *counts) if n]
        free, size, where = look.free, self.started.processors, ""
        mine = self.me.partition
        if mine is not None and look is self.look:
            size, where = size_of(mine.workers), of_partition(mine)
            free = self.instants[0].before
        total = counted(size, "processor")
        return f"{free:,} of {total}{where} {are(free)} free{''.join(away)}"

    def _found(self) -> str:
        """Say what the job found as its wait began: jobs ahead of it, and free workers."""
        free, first = self._free(self.look), self.instants[0]
        if self.look.free and first.t == self.since:
            urgent = self.preempted and self.preempted.job
            way = starters(it for it in first.begun if it.job is urgent)
            names = starters(it for it in first.begun if it.job is not urgent)
            free += f", as it made way for {way[0]}" if way else ""
            starts = "starts" if len(names) == 1 else "start"
            free += f"; {some(names, 'other job')} {starts}" if names else ""
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
        size = counted(held.width, "processor")
        until = self._until(held, self.look)
        return f"{held.job} ({size}, {self.clock(held.since)} to {until})"

    def _until(self, held: Held, look: Look) -> str:
        end = look.ends.get(held.key)
        return "the log's end" if end is None else self.clock(end)

    # --- while it waited ------------------------------------------------------------------------

    def _promised(self, promise: Promise, before: Promise | None) -> str:
        """Say what the reservation promises from now on, and why it differs from the one before."""
        why = [mishap(self.started, it) for it in promise.upset[:NAMED]]
        if promise.start is None:
            why += [f"{promise.ahead} is ahead of it now"] if promise.ahead else []
            return f"nothing is promised to it any more{': ' if why else ''}{joined(why)}"
        start = f"promised its start for {self.clock(promise.start)}"
        if before is None or before.start is None:
            return start
        by = promise.start - before.start
        how = f"{in_units(abs(by), self.started.unit)} {'earlier' if by < 0 else 'later'}"
        if by < 0:
            why = ended_early(promise, self.started.unit)
        return f"{start}, {how}{': ' if why else ''}{joined(why)}"

    def _broken(self, promise: Promise, broken: Broken) -> str:
        """Say that a promised start has not come, and which jobs held the workers."""
        look = broken.look
        held = largest(look.held, lambda it: self._outlasts(it, promise, look))
        return f"not started, as was promised: {self._free(look)}{'; ' if held else ''}{held}"

    def _outlasts(self, held: Held, promise: Promise, look: Look) -> str:
        """Say until when a job holds workers that were promised to be free, and why it still holds
        them."""
        lost = self.upset.get(held.job)
        if lost is not None and lost.end is not None and lost.end >= promise.record.t:
            why = f"{mishap(self.started, lost)} at {self.clock(lost.end)}"
        elif held.start > promise.record.t:
            why = f"it started at {self.clock(held.start)}"
        else:
            why = f"it was believed to end at {self.clock(held.believed)}"
        return f"{held.job} holds {held.width:,} until {self._until(held, look)} ({why})"

    def rule(self, passed: Run) -> str:
        """Return words for the rule by which the run `passed` of a job that came later started
        first: the queue's order, backfilling, a limit that kept this one from starting, or the
        policy's choice where no queue decides."""
        if self.started.decider is not DeciderKind.QUEUE:
            return "by the policy's choice"
        at = next((it for it in self.instants if it.t == passed.start), None)
        if at is not None and self._above(at):
            return "by a limit"
        ranking = self.ranking
        if ranking.order is None:
            return f"by the order {ranking.name} or by backfilling"
        mine = ranking.rank(self.me, self.run)
        first = ranking.rank(passed.job, passed) < mine
        return f"by the order {ranking.name}" if first else "by backfilling"

    def _passed(self) -> str:
        """Return words that say which jobs came later and started first, grouped by the rule."""
        rules: dict[str, list[Run]] = {}
        for it in sorted(self.passed.values(), key=lambda it: -it.asked):
            rules.setdefault(self.rule(it), []).append(it)
        texts = (
            f"{counted(len(them), 'job')} that came later started first {rule}: {self._named(them)}"
            for rule, them in rules.items()
        )
        return "; ".join(texts)

    def _named(self, passed: Sequence[Run]) -> str:
        texts = (f"{it.job.name} on {it.asked:,} at {self.clock(it.start)}" for it in passed)
        return ", ".join([*islice(texts, NAMED), *(["..."] if len(passed) > NAMED else [])])

    # --- as it ended ----------------------------------------------------------------------------

    def _started(self, now: float) -> Iterator[str]:
        """Yield what made the job start: earlier instants that it missed, and the workers freed at
        last."""
        mine, possible, missed = self.mine, self.possible, self.missed
        if mine is None or possible is None:
            return
        were = "was" if mine.width == 1 else "were"
        so_many = f"{counted(mine.width, 'processor')} {were} free"
        if missed and self.started.decider is DeciderKind.QUEUE:
            times = counted(len(missed), "earlier instant")
            reasons = self._reasons(mine.width)
            several = len(reasons) > 1
            each = (f"at {n:,} of them {it}" if several else it for it, n in reasons.items())
            yield f"{so_many} at {times} too, first at {self.clock(missed[0])}: {'; '.join(each)}"
        chosen = possible < now and self.started.decider is not DeciderKind.QUEUE
        if possible < now:
            first = next(it for it in self.instants if it.t == possible)
            why = self._off(first) or self._holding(self.reserved(possible, now))
            yield f"{so_many} from {self.clock(possible)} on, but {why}"
        free = self.instants[-1].before
        count = f"{free:,} {are(free)} free"
        on = (
            f"the policy starts it now, on {members(self.started, mine)}"
            if chosen
            else "possible now"
        )
        yield f"{on}: {self._freed()}{count}, it takes {mine.width:,}"

    def _reasons(self, width: int) -> dict[str, int]:
        """Map each reason for which the job did not start at the instants in `missed`, in words, to
        their number; `width` is the number of workers that it got at last."""
        missed = self._missed
        off = Counter(filter(None, map(self._off, missed)))
        left = [it for it in missed if not self._off(it)]
        held = Counter(it.reserved for it in left if it.after >= width)
        taken = [it for it in left if it.after < width]
        others = some(starters(run for it in taken for run in it.begun), "other job") or "others"
        reasons = dict(off)
        reasons |= {self._holding(held): held.total()} if held else {}
        return reasons | ({f"{others} had them": len(taken)} if taken else {})

    def _off(self, it: FreeWorkers) -> str:
        """Return words that name what kept the job from workers that were free at that instant, a
        window of maintenance or a limit; empty where neither did."""
        return self._kept_off(it) or self._above(it)

    def _above(self, it: FreeWorkers) -> str:
        """Return words that name the limit above which the job would have been; empty where there
        is none. Where the job never starts, the limit has to leave nothing at all."""
        return it.room.exceeded(1 if self.run is None else self.run.asked)

    def _kept_off(self, it: FreeWorkers) -> str:
        """Return words that name the window of maintenance before which the job could not have
        ended, started at that instant on the workers that were free.

        The text is empty where enough of them are in no such window, and where no queue decides.
        """
        run, described, me = self.run, self.me.described, self.me
        if run is None or described is None or self.started.decider is not DeciderKind.QUEUE:
            return ""
        work = run.event.work if described.estimate is None else described.estimate
        end = it.t + me.before(first=True) + work + described.verification
        near = [its for its in self.windows if it.t <= its.start < end]
        gone = {n for its in near for n in numbers_in(its.workers)}
        if self.mine is None or not near or len(it.numbers - gone) >= self.mine.width:
            return ""
        first = min(near, key=lambda its: its.start)
        return f"a window of maintenance begins at {self.clock(first.start)}, before its end"

    def _holding(self, reserved: Counter[str | None]) -> str:
        """Return words that say why free workers stayed free: reservations of other jobs held them,
        or else the policy chose so.

        `reserved` maps jobs to the number of instants at which their reservations held the workers
        (None: no reservation did); the jobs with most instants are named.
        """
        jobs = [job for job, _ in reserved.most_common() if job is not None]
        blocking = Counter(it.first for it in self.instants if it.first is not None)
        if not jobs and blocking:
            return f"it was blocked by {self._sharing(blocking.most_common(1)[0][0])}"
        if not jobs:
            waits = self.started.decider is DeciderKind.DEADLINE
            return "the policy chose to wait" if waits else "the policy did not start it"
        one = "a reservation" if len(jobs) == 1 else "reservations"
        named = [self._sharing(name) for name in jobs]
        return f"{one} of {some(named, 'other job')} held them"

    def _sharing(self, name: str) -> str:
        """Return the name of a job that is in the way, with the workers that its partition
        shares."""
        return sharing(self.me.partition, name, self.rivals.get(name))

    def _freed(self) -> str:
        """Say which runs ended and which workers came UP at the instant of the start, so that
        workers were free."""
        way = [it for it in self.freed if it.key in self.made_way]
        over = [it for it in self.freed if it.key not in self.made_way]
        back, clauses = self.back, []
        for freed, one, more in ((over, "ends", "end"), (way, "makes way", "make way")):
            if freed:
                clauses.append(f"{largest(freed, self._end)} {one if len(freed) == 1 else more}")
        if back:
            names = [worker_of(self.started, worker) for worker in back]
            clauses.append(f"{some(names, 'other')} {are(len(back))} UP again")
        return f"{', '.join(clauses)}; " if clauses else ""

    def _end(self, held: Held) -> str:
        assert self.mine is not None
        own = set(numbers_in(held.processors)).intersection(numbers_in(self.mine.processors))
        shared = f", {len(own):,} of them now its own" if own else ""
        return f"{held.job} ({counted(held.width, 'processor')}{shared})"

    # --- as data --------------------------------------------------------------------------------

    def as_json(self) -> dict[str, object]:
        """Return the wait as plain data for JSON, without the name of the job that waits.

        The data are its beginning and end, the jobs ahead and the workers' state as it began, the
        jobs that passed this one, the job for which its run was cancelled, its reservations, each
        limit that it would have exceeded with the number of instants, when it could have started,
        and what was freed for its start.
        """
        look, rule = self.look, self.rule
        passed = ("job", "processors", "start", "rule")
        return {
            "since": self.since,
            "until": self.until,
            "ahead": dict(zip(("jobs", "processors"), self.ahead(), strict=True)),
            "free": look.free,
            "spare": len(look.spare),
            **{state.name.lower(): number for state, number in look.away_others.items()},
            "held": [
                {**it.as_json(), "since": it.since, "until": look.ends.get(it.key)}
                for it in look.held
            ],
            "passed": [
                dict(zip(passed, (name, it.asked, it.start, rule(it)), strict=True))
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
            "above": dict(Counter(filter(None, map(self._above, self.instants)))),
            "possible": self.possible,
            "freed": [it.as_json() for it in self.freed],
            "back": self.back,
        }
