"""Why a job waited, in words: what `waits` found, as spans within the time that it waited."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import frozen

from actors.events import DeciderKind
from sims.telling import counted, in_units, moment
from sims.trace.holding import Cast
from sims.trace.ranking import QUEUE, Ranking
from sims.trace.scene import HeldWorkers
from sims.trace.span import Span
from sims.trace.waits import Passed, Promise, Wait, overlap

NAMED = 3
"""Of many jobs or runs, the largest are named."""


@frozen
class Reasons:
    """One wait of a job, explained."""

    job: str
    wait: Wait
    ranking: Ranking
    cast: Cast
    decider: DeciderKind

    def spans(self) -> Iterator[Span]:
        """In order of time."""
        wait = self.wait
        yield from self._told(wait.since, self._found(), self._held())
        yield from map(self._promised, wait.promises, [None, *wait.promises])
        if wait.until is not None:
            yield from self._told(wait.until, self._passed(), *self._started(wait.until))

    @staticmethod
    def _told(t: float, *titles: str) -> Iterator[Span]:
        return (Span(title, t, t) for title in titles if title)

    # --- as it began ----------------------------------------------------------------------------

    def ahead(self) -> tuple[list[str], int]:
        """Who was before it in the queue, and how many processors they got once they started."""
        wait, asked = self.wait, self.wait.starts.of
        me = self.ranking.rank(self.job, wait.me, wait.asked)
        ranks = {it: self.ranking.rank(it, job, asked.get(it)) for it, job in wait.others.items()}
        names = sorted((it for it, rank in ranks.items() if rank < me), key=ranks.__getitem__)
        return names, sum(asked[it].processors for it in names if it in asked)

    def _found(self) -> str:
        wait, total = self.wait, self.ranking.processors
        free = f"{wait.free:,} of {counted(total, 'processor')} {_are(wait.free)} free"
        states = zip(wait.away, ("RECLAIMED", "DOWN"), strict=True)
        free += "".join(
            f", {number:,} {_are(number)} {state}" for number, state in states if number
        )
        names, processors = self.ahead()
        if not names:
            return free
        where = "ahead" if self.ranking.order is not None else "waiting already"
        jobs = f"{counted(len(names), 'job')} for {counted(processors, 'processor')}"
        return f"{jobs} {_are(len(names))} {where}; {free}"

    def _held(self) -> str:
        holders = self.wait.holders
        if not holders:
            return ""
        more = sum(it.width for it in holders[NAMED:])
        rest = f"{counted(len(holders) - NAMED, 'other run')} ({more:,})" if more else ""
        named = [self._holder(it) for it in holders[:NAMED]]
        return f"held by {_joined([*named, rest])}"

    def _holder(self, held: HeldWorkers) -> str:
        unit, end = self.cast.unit, self.wait.ends.get((held.job, held.run))
        since = moment(held.since, unit)
        until = "the log's end" if end is None else moment(end, unit)
        return f"{held.job} ({counted(held.width, 'processor')}, {since} to {until})"

    # --- while it waited ------------------------------------------------------------------------

    def _promised(self, promise: Promise, before: Promise | None) -> Span:
        return Span(
            self._promise(promise, before), promise.t, promise.t, promise.seq, promise.cause
        )

    def _promise(self, promise: Promise, before: Promise | None) -> str:
        if promise.start is None:
            ahead = f": {promise.ahead} is ahead of it now" if promise.ahead else ""
            return f"nothing is promised to it any more{ahead}"
        unit, start = self.cast.unit, moment(promise.start, self.cast.unit)
        if before is None or before.start is None:
            return f"promised its start for {start}"
        by = promise.start - before.start
        how = f"{in_units(abs(by), unit)} {'earlier' if by < 0 else 'later'}"
        ended = [f"{it.job} {self._early(it, promise.t)}" for it in promise.early[:NAMED]]
        why = f": {_joined(ended)}" if ended else ""
        return f"promised its start for {start}, {how}{why}"

    def _early(self, held: HeldWorkers, end: float) -> str:
        return f"ended {in_units(held.believed - end, self.cast.unit)} before it was believed to"

    def rule(self, passed: Passed) -> str:
        """By what a job that came later started first."""
        if self.decider is not QUEUE:
            return "by the policy's choice"
        if self.ranking.order is None:
            return f"by the order {self.ranking.name} or by backfilling"
        mine = self.ranking.rank(self.job, self.wait.me, self.wait.asked)
        theirs = self.ranking.rank(passed.job, passed.arrived, passed.asked)
        return f"by the order {self.ranking.name}" if theirs < mine else "by backfilling"

    def _passed(self) -> str:
        passed = sorted(self.wait.passed.values(), key=lambda it: -it.asked.processors)
        if not passed:
            return ""
        rules: dict[str, list[Passed]] = {}
        for it in passed:
            rules.setdefault(self.rule(it), []).append(it)
        told = (
            f"{counted(len(them), 'job')} that came later started first {rule}: {self._named(them)}"
            for rule, them in rules.items()
        )
        return "; ".join(told)

    def _named(self, passed: Sequence[Passed]) -> str:
        unit = self.cast.unit
        named = [
            f"{it.job} on {it.asked.processors:,} at {moment(it.asked.at, unit)}"
            for it in passed[:NAMED]
        ]
        return ", ".join([*named, *(["..."] if len(passed) > NAMED else [])])

    # --- as it ended ----------------------------------------------------------------------------

    def _started(self, now: float) -> Iterator[str]:
        wait, unit = self.wait, self.cast.unit
        asked, possible, missed = wait.asked, wait.possible, wait.missed
        if asked is None or possible is None:
            return
        so_many = f"{counted(asked.processors, 'processor')}"
        if missed and self.decider is QUEUE:
            times = counted(len(missed), "earlier instant")
            first = moment(missed[0], unit)
            yield f"{so_many} were free at {times} too, first at {first}: others had them"
        if possible < now:
            yield f"{so_many} were free from {moment(possible, unit)} on, but not for it"
        free = wait.instants[-1].before
        are = f"{free:,} {_are(free)} free"
        yield f"possible now: {self._freed()}{are}, it takes {asked.processors:,}"

    def _freed(self) -> str:
        """What changed at the instant of its start."""
        wait = self.wait
        told = [self._end(it) for it in wait.freed[:NAMED]]
        more = wait.freed[NAMED:]
        if more:
            told.append(f"{counted(len(more), 'other run')} ({sum(it.width for it in more):,})")
        said = [f"{_joined(told)} {'ends' if len(wait.freed) == 1 else 'end'}"] if told else []
        if wait.back:
            said.append(f"{_joined(self._back())} {_are(len(wait.back))} UP again")
        return f"{', '.join(said)}; " if said else ""

    def _back(self) -> list[str]:
        names = [self.cast.name(worker) for worker in self.wait.back[:NAMED]]
        more = len(self.wait.back) - NAMED
        return [*names, counted(more, "other")] if more > 0 else names

    def _end(self, held: HeldWorkers) -> str:
        share = overlap(held, self.wait.processors)
        whose = f", {share:,} of them now its own" if share else ""
        return f"{held.job} ({counted(held.width, 'processor')}{whose})"

    # --- as data --------------------------------------------------------------------------------

    def as_json(self) -> dict[str, object]:
        """The wait as data."""
        wait = self.wait
        names, processors = self.ahead()
        return {
            "since": wait.since,
            "until": wait.until,
            "ahead": {"jobs": len(names), "processors": processors},
            "free": wait.free,
            "reclaimed": wait.away[0],
            "down": wait.away[1],
            "held": [self._holder_as_json(it) for it in wait.holders],
            "passed": [
                {
                    "job": it.job,
                    "processors": it.asked.processors,
                    "start": it.asked.at,
                    "rule": self.rule(it),
                }
                for it in wait.passed.values()
            ],
            "promises": [{"t": it.t, "start": it.start, "seq": it.seq} for it in wait.promises],
            "missed": wait.missed,
            "possible": wait.possible,
            "freed": [{"job": it.job, "run": it.run, "processors": it.width} for it in wait.freed],
            "back": wait.back,
        }

    def _holder_as_json(self, held: HeldWorkers) -> dict[str, object]:
        until = self.wait.ends.get((held.job, held.run))
        about = {"job": held.job, "run": held.run, "processors": held.width}
        return {**about, "since": held.since, "until": until}


def _joined(parts: Sequence[str]) -> str:
    """`a, b and c`."""
    *first, last = [part for part in parts if part]
    return f"{', '.join(first)} and {last}" if first else last


def _are(number: int) -> str:
    return "is" if number == 1 else "are"
