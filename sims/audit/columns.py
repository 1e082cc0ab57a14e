"""Copies in columns: all copies of all jobs are placed at once, and all end at once, a share of
their workers each (redundancy17, section III)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import accumulate, pairwise
from math import inf, ulp

import numpy as np
from attrs import Factory, define, evolve, field
from numpy.typing import NDArray

from actors.events import (
    CopiesPlaced,
    CopiesSettled,
    GainDescribed,
    JobCompleted,
    ProtectionKind,
    RunStarted,
)
from actors.runtime import Event
from sims.audit import ends, rules
from sims.audit.deciding import Decider
from sims.audit.facts import Copy, Job
from sims.audit.law import Phase, allowed, comes, follows, framed, possible, readable
from sims.audit.turns import INSTANT, Script, Teller, Timer
from sims.audit.workers import Worker
from sims.audit.world import Handler, World

SHORTEST = "SRPT", "SRPT+R", "SRPT+R-even", "SRPT+R-noclone"
"""Policies that serve the jobs with the least work left."""
ROUNDING = 1e-9
ROUNDINGS = 64
"""Roundings of a time that may add up between two checkpoints."""
Numbers = NDArray[np.float64]
State = tuple[float, int]
"""Work done, negative, and the run that did it: the furthest first."""


@define(eq=False)
class Placed:
    """What runs between two checkpoints."""

    event: CopiesPlaced
    seq: int
    since: float
    owners: list[int]
    """Of each copy: place of its job in the columns."""
    firsts: list[int]
    """Of each job: place of its first copy; then how many copies there are."""
    needs: Numbers
    """Service that each worker must give until the first of its copies is over; of all together,
    where copies go round them."""


@define(eq=False)
class Columns(Decider):
    """Copies that are told in columns; others are runs."""

    teller: Teller = Factory(Teller)
    gains: bool = False
    """Whether jobs progress by g(r, t), which is not in the log."""
    rates: Numbers = field(init=False)
    service: Numbers = field(init=False)
    """What each worker has given since the checkpoint, until `times`."""
    times: Numbers = field(init=False)
    ends: Numbers = field(init=False)
    placed: Placed | None = None
    timer: Timer | None = None
    aimed: int = -1
    """seq of the event since which the timer is set."""
    states: dict[str, list[State]] = Factory(dict)
    least: float = 0
    """Work left of the job whose copy started last."""

    def __attrs_post_init__(self) -> None:
        size = self.w.head.processors
        self.rates, self.service = np.ones(size), np.zeros(size)
        self.times, self.ends = np.zeros(size), np.full(size, inf)

    def tells(self) -> dict[type[Event], Handler]:
        return {
            GainDescribed: self.describe_gain,
            CopiesPlaced: self.place,
            CopiesSettled: self.settle,
        }

    def placing(self, copy: Copy, event: RunStarted) -> None:
        allowed(self.placed is None and not self.gains, "it is among columns")
        alone = copy.full == 1 and copy.job.rules.copies == self.w.head.processors
        allowed(alone, "a copy is on one worker, and there may be one on each")
        if self.w.head.policy in SHORTEST:
            self._in_order(_left(self.w, copy.job))

    def _in_order(self, left: float) -> None:
        """Whose copies start have less work left than who comes after them (section IV)."""
        before = self.least if self.started else 0
        allowed(before <= left * (1 + ROUNDING), "{!r} is left of it, {!r} before", left, before)
        self.least = left

    def describe_gain(self, w: World, event: GainDescribed, seq: int) -> Script:
        """Jobs progress by g(r, t)."""
        framed(not self.w.jobs and not self.w.now, "it comes too late")
        self.gains = True
        yield event, 0

    def paced(self, worker: Worker, seq: int) -> None:
        n, now = worker.number, self.w.now
        self.service[n] += self.rates[n] * (now - self.times[n])
        self.times[n], self.rates[n] = now, worker.speed
        if self.placed is not None and not self.gains and not self._due():
            end = self._rotated() if self.placed.event.width > 1 else self._end(n)
            if self.timer is None or end != self.timer.due:
                self._aim(end, seq)

    def _due(self) -> bool:
        return self.timer is not None and self.timer.due <= self.w.end

    def _end(self, n: int) -> float:
        assert self.placed is not None
        need, rate = float(self.placed.needs[n]), float(self.rates[n])
        left = need - float(self.service[n]) if need < inf else inf
        over = left <= need * INSTANT and need < inf
        self.ends[n] = self.w.now + (0 if over else left / rate if rate else inf)
        return float(self.ends.min())

    def _rotated(self) -> float:
        assert self.placed is not None
        rate, left = float(self.rates.sum()), float(self.placed.needs[0] - self._given().sum())
        return self.w.now + max(left, 0) / rate if rate else inf

    def _given(self) -> Numbers:
        given: Numbers = self.service + self.rates * (self.w.now - self.times)
        return given

    def _aim(self, end: float, seq: int) -> None:
        if self.timer is not None:
            self.timer.live = False
        self.aimed = seq
        self.timer = self.w.at(end, Phase.DECISION, self.teller, 0, self._settled)

    def settle(self, w: World, event: CopiesSettled, seq: int) -> Script:
        """An arrival ends all copies; or, by g(r, t), the first end."""
        called = self.news or self.gains
        follows(self.placed is not None and called, "nothing leads to this now")
        return self._settled()

    def _settled(self) -> Script:
        event = yield None
        placed, w = self.placed, self.w
        assert placed is not None
        comes(isinstance(event, CopiesSettled), "the end of all copies must come")
        was = placed.event
        done = event.done
        readable(len(done) == len(placed.owners), "{} copies have ended", len(done))
        over = self._measure(placed, event)
        due = evolve(event, jobs=was.jobs, runs=was.runs, copies=was.copies, completed=over)
        cause = yield due, self.news[0] if self.news else self.aimed
        if self.timer is not None:
            self.timer.live = False
        self.placed, self.timer = None, None
        w.counts[2] += len(done)
        for at, name in enumerate(was.jobs):
            first, last = placed.firsts[at : at + 2]
            reached = [(-done[k], was.runs[at] + k - first) for k in range(first, last)]
            job, known = w.jobs[name], self.states.get(name, [])
            if job.rules.cloning:
                self.states[name] = [min(reached)]
            else:
                self.states[name] = sorted([*reached, *known[last - first :]])
            if over[at] is not None:
                del self.states[name]
                w.push(job, Phase.DECISION, 0, partial(_completed, w, job, cause))
        if len(w.jobs) > sum(it is not None for it in over):
            yield from self._placed(cause)

    def _measure(self, placed: Placed, event: CopiesSettled) -> tuple[int | None, ...]:
        """How far each copy has come; the runs that complete their jobs."""
        was, given, reached = placed.event, self._given(), list[float]()
        served = [float(given.sum())] if was.width > 1 else given.tolist()
        rounded = ROUNDINGS * ulp(self.w.now) * max(float(self.rates.max()), 1)
        for k, at in enumerate(placed.owners):
            size, begun, found = was.sizes[at], was.begun[k], event.done[k]
            due = begun + was.share * served[was.workers[k]]
            if self.gains:
                due = min(max(found, begun), size)
            slack = ROUNDING * size + rounded
            near = abs(min(due, size) - found) <= slack and due <= size + slack
            follows(near, "copy {} of {} has done {!r}", k, was.jobs[at], due)
            reached.append(size if size - due <= slack else due)
        return tuple(self._winners(placed, reached, event))

    def _winners(
        self, placed: Placed, reached: list[float], event: CopiesSettled
    ) -> Iterator[int | None]:
        was = placed.event
        for at, (first, last) in enumerate(pairwise(placed.firsts)):
            size, best = was.sizes[at], max(reached[first:last])
            told_ = event.completed[at] if at < len(event.completed) else None
            if best < size:
                yield None
            elif told_ is not None and reached[first + told_ - was.runs[at]] == best:
                yield told_
            else:
                yield was.runs[at] + reached[first:last].index(best)

    def place(self, w: World, event: CopiesPlaced, seq: int) -> Script:
        """All jobs that are served begin."""
        free = self.placed is None and self.news
        follows(free, "nothing leads to this now")
        return self._placed(self.news[0])

    def _placed(self, cause: int) -> Script:
        event = yield None
        w = self.w
        comes(isinstance(event, CopiesPlaced), "all jobs must be placed")
        firsts = [0, *accumulate(event.copies)]
        owners = [at for at, count in enumerate(event.copies) for _ in range(count)]
        size, columns = w.head.processors, (event.runs, event.copies, event.sizes)
        whole = all(len(it) == len(event.jobs) for it in columns)
        each = (event.workers, event.begun, event.sources)
        whole = whole and all(len(it) == len(owners) for it in each) and min(event.copies) > 0
        readable(whole and event.width in (1, size), "columns do not fit")
        allowed(len(set(event.jobs)) == len(event.jobs), "one twice")
        runs, sizes = [], []
        for name, count in zip(event.jobs, event.copies, strict=True):
            job = self._served(name)
            runs.append(job.next_run)
            job.next_run += count
            sizes.append(job.described.work)
        self._share(event, owners)
        begun, sources = self._begun(event)
        due = evolve(event, runs=tuple(runs), sizes=tuple(sizes), begun=begun, sources=sources)
        seq = yield due, cause
        left = np.array([sizes[at] for at in owners]) - np.array(event.begun)
        needs = np.full(size, inf)
        np.minimum.at(needs, np.array(event.workers), left / event.share)
        self.placed = Placed(event, seq, w.now, owners, firsts, needs)
        self.service[:], self.times[:] = 0, w.now
        if self.gains:
            self.aimed = seq
        elif event.width > 1:
            self._aim(self._rotated(), seq)
        else:
            with np.errstate(divide="ignore"):
                self.ends = needs / self.rates + w.now
            self._aim(float(self.ends.min()), seq)

    def _served(self, name: str) -> Job:
        """The job, which is nothing but work."""
        job: Job = allowed(self.w.jobs.get(name), "{} does not wait", name)
        described = job.described
        told_ = job.rules.copies, job.kind, job.rules.delay
        bare = told_ == (self.w.head.processors, ProtectionKind.NONE, 0)
        bare = bare and described.estimate is None and not described.verification
        possible(bare, "{} is placed with others", name)
        return job

    def _share(self, event: CopiesPlaced, owners: list[int]) -> None:
        """A worker gives away no more than itself; copies of one job are on different ones."""
        rotates, given = event.width > 1, np.bincount(np.array(event.workers)) * event.share
        allowed(0 < event.share <= 1, "a share of {}", event.share)
        there = len(given) <= (1 if rotates else self.w.head.processors)
        whole = there and given.max() <= 1 + ROUNDING
        allowed(whole, "workers give away more than themselves")
        apart = rotates or len(set(zip(owners, event.workers, strict=True))) == len(owners)
        allowed(apart, "two copies of a job are on one worker")

    def _begun(self, event: CopiesPlaced) -> tuple[tuple[float, ...], tuple[int | None, ...]]:
        """The states that copies begin from: the furthest, or each its own."""
        begun, sources = list[float](), list[int | None]()
        for name, count in zip(event.jobs, event.copies, strict=True):
            known, cloning = self.states.get(name, []), self.w.jobs[name].rules.cloning
            for at in [0] * count if cloning else range(count):
                done, run = known[at] if at < len(known) else (0.0, 0)
                begun.append(-done)
                sources.append(run if done else None)
        return tuple(begun), tuple(sources)

    def close(self) -> None:
        if not self.news:
            return
        if self.w.jobs and self.states:
            now = self.placed is not None and self.placed.since == self.w.now
            comes(now, "all jobs must be placed")
        if self.started and self.w.head.policy in SHORTEST:
            waiting = [_left(self.w, job) for job in self.w.jobs.values() if not job.copies]
            self._in_order(min(waiting, default=inf))


def _left(w: World, job: Job) -> float:
    """Work that its furthest state lacks."""
    states = [rules.furthest(w, job), *job.kept[:1], job.saved]
    furthest = rules.best([it for it in states if it is not None])
    return job.described.work * (1 - (furthest.fraction if furthest is not None else 0))


def _completed(w: World, job: Job, cause: int) -> Script:
    ends.leave(w, job, 0, (yield JobCompleted(job.name), cause))
