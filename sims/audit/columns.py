"""Checks copies that the log has in columns: all copies of all jobs are placed at once and end at
once, each with a share of its worker (redundancy17, section III)."""

from __future__ import annotations

from functools import partial
from itertools import accumulate, count
from math import inf, ulp
from operator import neg

import numpy as np
from attrs import Factory, define, evolve, field
from numpy.typing import NDArray

from actors.events import (
    CopiesPlaced,
    CopiesSettled,
    JobCompleted,
    ProtectionKind,
    RunStarted,
)
from actors.runtime import Event
from sims.audit import stages
from sims.audit.deciding import DecisionChecks
from sims.audit.facts import ExpectedCopy, ExpectedJob
from sims.audit.law import ROUNDING, LinePhase, allowed, comes, follows, possible, readable
from sims.audit.protection import cloning
from sims.audit.turns import INSTANT, Emitter, Script, Timer
from sims.audit.workers import ExpectedWorker
from sims.audit.world import Handler, World

SHORTEST = "SRPT", "SRPT+R", "SRPT+R-even", "SRPT+R-noclone"
"""Policies that start the jobs with the least remaining work first."""
ROUNDINGS = 64
"""Number of roundings of a time that may add up between two decision epochs."""
Numbers = NDArray[np.float64]
Ints = NDArray[np.intp]
State = tuple[float, int]
"""Negative work done, and the number of the run that did it: sorting puts the furthest state
first."""


@define(eq=False)
class ExpectedPlacement:
    """The copies of all jobs that run between two decision epochs (arrivals and departures of
    jobs), in parallel arrays with an entry for each copy or for each worker."""

    event: CopiesPlaced
    since: float
    firsts: list[int]
    """Index of each job's first copy, and at last the number of copies."""
    workers: Ints
    sizes: Numbers
    """Work of the job of each copy."""
    needs: Numbers
    """Service that each worker has to give until the first of its copies ends; one number for all
    workers together where copies rotate over them."""
    ends: Numbers
    """Time at which each worker has given that service."""

    def serving(self, each: Numbers) -> Numbers:
        """Return, for each copy, the value that `each`, an array with one value for every worker,
        has for the copy's worker.

        Where copies rotate over all workers, so that each is served by all of them, every copy gets
        the sum.
        """
        return each.sum(keepdims=True) if self.event.width > 1 else each[self.workers]


@define(eq=False)
class ColumnChecks(DecisionChecks):
    """Checks decisions on redundant copies (redundancy17). A log has either one line that places
    the copies of all jobs, as columns of numbers, or a line of its own for each copy's run."""

    emitter: Emitter = Factory(Emitter)
    gains: bool = field(init=False)
    """Whether jobs progress by g(r, t), the expected service of the fastest of r copies, and not by
    the work that their workers deliver (redundancy17, Assumption 2); g is not in the log."""
    rates: Numbers = field(init=False)
    service: Numbers = field(init=False)
    """Service that each worker has given since the last decision epoch, up to `times`."""
    times: Numbers = field(init=False)
    placed: ExpectedPlacement | None = None
    timer: Timer | None = None
    aimed: int = -1
    """Sequence number of the event that led to the present value of the timer."""
    states: dict[str, list[State]] = Factory(dict)
    least: float = 0
    """Remaining work of the job whose copy started last."""

    def __attrs_post_init__(self) -> None:
        self.gains = "gain" in self.w.given.section("platform")
        self._resize(self.w.head.processors)

    def _resize(self, size: int) -> None:
        self.rates, self.service, self.times = np.ones(size), np.zeros(size), np.zeros(size)

    def spares_described(self) -> None:
        self._resize(self.w.able)

    def line_handlers(self) -> dict[type[Event], Handler]:
        return {
            CopiesPlaced: self.place,
            CopiesSettled: self.settle,
        }

    def placing(self, copy: ExpectedCopy, event: RunStarted) -> None:
        allowed(self.placed is None and not self.gains, "it is among columns")
        job = copy.job  # a plain one has no rules, nor copies
        alone = copy.full == 1 and not job.plain and job.rules.copies == self.w.able
        allowed(alone, "a copy is on one worker, and there may be one on each")
        if self.w.head.policy in SHORTEST:
            self._in_order(_left(self.w, copy.job))

    def _in_order(self, left: float) -> None:
        """Check that the jobs' copies start in the order of remaining work, the least first
        (redundancy17, section IV): `left`, that of the job that starts now, is no less than that of
        the job that started before it at this instant."""
        before = self.least if self.started else 0
        allowed(before <= left * (1 + ROUNDING), f"{left!r} is left of it, {before!r} before")
        self.least = left

    def speed_changed(self, worker: ExpectedWorker, seq: int) -> None:
        n, now, placed = worker.number, self.w.now, self.placed
        if n >= self.w.able:
            return
        self.service[n] += self.rates[n] * (now - self.times[n])
        self.times[n], self.rates[n] = now, worker.speed
        # A timer that is due now fires, whatever the speed is from now on.
        if placed is not None and self.timer is not None and self.timer.due > self.w.turns.end:
            self._reckon(placed, 0 if placed.event.width > 1 else n)
            self._aim(seq)

    def _given(self) -> Numbers:
        return self.service + self.rates * (self.w.now - self.times)

    def _reckon(self, placed: ExpectedPlacement, n: int) -> None:
        """Compute the time at which the first of the copies on worker `n` ends at the present
        speed, and keep it in `placed.ends`. Where copies rotate over all workers, the first of all
        copies counts."""
        need, given, rate = placed.needs[n], self.service[n], self.rates[n]
        if placed.event.width > 1:
            given, rate = self._given().sum(), self.rates.sum()
        left = need - given
        # Sums of service are rounded: a tiny rest of the need counts as none.
        over = left <= need * INSTANT < inf
        placed.ends[n] = self.w.now + (0 if over else left / rate if rate else inf)

    def _aim(self, seq: int) -> None:
        """Set the timer for the time at which the first copy ends, as all copies are settled then.

        `seq` is the sequence number of the event that leads to the timer's value, if that changes.
        """
        assert self.placed is not None
        due = inf if self.gains else float(self.placed.ends.min())
        if self.timer is None or due != self.timer.due:
            if self.timer is not None:
                self.timer.live = False
            self.aimed = seq
            self.timer = self.w.turns.at(due, LinePhase.DECISION, self.emitter, 0, self._settled)

    def settle(self, w: World, event: CopiesSettled) -> Script:
        """Check the line that ends all copies at another time than the timer's: as a job arrives,
        or, where jobs progress by g(r, t), as a copy has ended."""
        called = self.triggers or self.gains
        follows(self.placed is not None and called, "nothing leads to this now")
        return self._settled()

    def _settled(self) -> Script:
        """Read the line that ends all copies: check how far each has come and which jobs
        complete."""
        event = yield None
        placed, w = self.placed, self.w
        assert placed is not None
        comes(isinstance(event, CopiesSettled), "the end of all copies must come")
        was, done, firsts = placed.event, event.done, placed.firsts
        readable(len(done) == firsts[-1], f"{len(done)} copies have ended")
        over = self._over(placed, event)
        due = evolve(event, jobs=was.jobs, runs=was.runs, copies=was.copies, completed=tuple(over))
        cause = yield due, self.triggers[0] if self.triggers else self.aimed
        if self.timer is not None:
            self.timer.live = False
        self.placed, self.timer = None, None
        w.counts[2] += len(done)
        for at, name in enumerate(was.jobs):
            job, copies = w.jobs[name], done[firsts[at] : firsts[at + 1]]
            reached = zip(map(neg, copies), count(was.runs[at]), strict=False)
            if job.rules.cloning:
                self.states[name] = [min(reached)]
            else:
                known = self.states.get(name, [])
                self.states[name] = sorted([*reached, *known[len(copies) :]])
            if over[at] is not None:
                del self.states[name]
                w.turns.push(job, LinePhase.DECISION, 0, partial(_completed, w, job, cause))
        if len(w.jobs) > sum(it is not None for it in over):
            yield from self._placed(cause)

    def _over(self, placed: ExpectedPlacement, event: CopiesSettled) -> list[int | None]:
        """Return, for each job of `placed`, the number of the run that completes it, or None if
        none does; check that `event`, the line that ends all copies, says how far each has come.

        The completing run has to be one of the job's copies that have done most work.
        """
        was, sizes, found, firsts = placed.event, placed.sizes, event.done, placed.firsts
        due = np.array(was.begun) + was.share * placed.serving(self._given())
        if self.gains:
            due = np.minimum(np.maximum(found, was.begun), sizes)
        # The log's times are rounded to their last bit, however short the time since the last epoch
        # is.
        rounded = ROUNDINGS * ulp(self.w.now) * max(float(self.rates.max()), 1)
        slack = ROUNDING * sizes + rounded
        near = (abs(np.minimum(due, sizes) - found) <= slack) & (due <= sizes + slack)
        first = int(near.argmin())
        follows(near[first], f"copy {first} has done {due[first]}")
        reached = np.where(sizes - due <= slack, sizes, due)
        best = np.maximum.reduceat(reached, firsts[:-1])
        over: list[int | None] = [None] * len(was.jobs)
        for at in np.flatnonzero(best >= was.sizes).tolist():
            logged = event.completed[at] if at < len(event.completed) else None
            own = logged is not None and reached[firsts[at] + logged - was.runs[at]] == best[at]
            ahead = int(reached[firsts[at] : firsts[at + 1]].argmax())
            over[at] = logged if own else was.runs[at] + ahead
        return over

    def place(self, w: World, event: CopiesPlaced) -> Script:
        """Check the line that starts copies of all jobs that the policy serves, where no copies run
        and something has called for the decision."""
        follows(self.placed is None and self.triggers, "nothing leads to this now")
        return self._placed(self.triggers[0])

    def _placed(self, cause: int) -> Script:
        """Check the line that starts copies of all served jobs at once, and set the time at which
        these must all end.

        Jobs, runs, work, the states that copies begin from and the workers' shares must be those
        that follow from the log. `cause` is the event that leads to the line.
        """
        event = yield None
        w = self.w
        comes(isinstance(event, CopiesPlaced), "all jobs must be placed")
        firsts = [0, *accumulate(event.copies)]
        size, columns = w.able, (event.runs, event.copies, event.sizes)
        whole = all(len(it) == len(event.jobs) for it in columns)
        each = (event.workers, event.begun, event.sources)
        whole = whole and all(len(it) == firsts[-1] for it in each) and min(event.copies) > 0
        readable(whole and event.width in (1, size), "columns do not fit")
        allowed(len(set(event.jobs)) == len(event.jobs), "one twice")
        runs, sizes = list[int](), list[float]()
        begun, sources = list[float](), list[int | None]()
        for name, copies in zip(event.jobs, event.copies, strict=True):
            job = self._served(name)
            runs.append(job.next_run)
            job.next_run += copies
            sizes.append(job.described.work)
            # With cloning all copies start from the furthest state, otherwise each from one of its
            # own.
            known = self.states.get(name, [])
            known = known * copies if job.rules.cloning else known
            known = [*known[:copies], *[(0.0, 0)] * (copies - len(known))]
            # Work is negative in states, for sorting.
            begun += [-done for done, _ in known]
            sources += [run if done else None for done, run in known]
        owners = np.repeat(np.arange(len(runs)), event.copies)
        workers = np.array(event.workers)
        self._share(event, owners * size + workers, workers)
        found = tuple(runs), tuple(sizes), tuple(begun), tuple(sources)
        names = "runs", "sizes", "begun", "sources"
        seq = yield evolve(event, **dict(zip(names, found, strict=True))), cause
        works, needs = np.array(sizes)[owners], np.full(size, inf)
        # The copy that needs least ends first on its worker, and all copies end with the first.
        np.minimum.at(needs, workers, (works - event.begun) / event.share)
        with np.errstate(divide="ignore"):
            last = needs / self.rates + w.now
        self.placed = ExpectedPlacement(event, w.now, firsts, workers, works, needs, last)
        self.service[:], self.times[:] = 0, w.now
        if event.width > 1:
            self._reckon(self.placed, 0)
        self._aim(seq)

    def _served(self, name: str) -> ExpectedJob:
        """Return the job of that name, which a line places in columns.

        Raises Broken unless the job is in the system, may have as many copies as there are workers,
        and has nothing but work, as columns have room for nothing else: no checkpoints, no delay of
        clones, no overhead and no estimate.
        """
        job: ExpectedJob = allowed(self.w.jobs.get(name), "{} does not wait", name)
        described = job.described
        protection = job.rules.copies, job.kind, job.rules.delay
        bare = protection == (self.w.able, ProtectionKind.NONE, 0)
        bare = bare and described.estimate is None and not job.overhead
        possible(bare, "{} is placed with others", name)
        return job

    def _share(self, event: CopiesPlaced, pairs: Ints, workers: Ints) -> None:
        """Check that the shares of each worker sum to 1 at most, and that copies of one job are on
        different workers.

        `workers` has the number of each copy's worker; `pairs` has a number for each copy that is
        equal for two copies of one job on one worker.
        """
        rotates, given = event.width > 1, np.bincount(workers) * event.share
        allowed(0 < event.share <= 1, f"a share of {event.share}")
        # Copies that rotate over all workers are all listed on worker 0.
        there = len(given) <= (1 if rotates else self.w.able)
        whole = there and given.max() <= 1 + ROUNDING
        allowed(whole, "workers give away more than themselves")
        apart = rotates or len(set(pairs.tolist())) == len(pairs)
        allowed(apart, "two copies of a job are on one worker")

    def close(self) -> None:
        if not self.triggers:
            return
        if self.w.jobs and self.states:
            now = self.placed is not None and self.placed.since == self.w.now
            comes(now, "all jobs must be placed")
        if self.started and self.w.head.policy in SHORTEST:
            waiting = [_left(self.w, job) for job in self.w.jobs.values() if not job.copies]
            self._in_order(min(waiting, default=inf))


def _left(w: World, job: ExpectedJob) -> float:
    """Return the work that remains from the job's furthest state, as its policy knows it: a fault
    that is not detected yet has taken no state away (rules.md, F1)."""
    undetected = [it.run.state(w.now) for it in job.copies if it.run is not None and it.undetected]
    states = [cloning.furthest(w, job), *undetected, *job.kept[:1], job.saved]
    furthest = cloning.best([it for it in states if it is not None])
    return job.described.work * (1 - (furthest.fraction if furthest is not None else 0))


def _completed(w: World, job: ExpectedJob, cause: int) -> Script:
    stages.leave(w, job, 0, (yield JobCompleted(job.name), cause))
