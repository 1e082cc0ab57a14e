"""Carries a scheduler's decisions out: starts, resizes and cancels copies of jobs, and finds the
cause of each start."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Protocol

from attrs import define, field

from actors.events import RunStarted
from actors.intervals import Intervals, intervals_of, meet, members, text
from actors.messages import (
    CancelCopy,
    GivenStandbys,
    ResizeCopy,
    StartCopy,
)
from actors.pool import Pool, Sources
from actors.runtime import NOTHING, Actor, Home, VirtualTimeLoop

NOTHING_ABOUT: tuple[Sequence[float], Sequence[Actor]] = (), ()


@define(eq=False)
class CauseTracker:
    """Finds the event that causes the start of a copy. For this it keeps which jobs have asked for
    workers at this instant, and which workers were freed at it, with the numbers of those events.

    The cause of a start is the shelf or batch that it starts in; else the event since which its job
    wants workers, if that event is of this instant; else the event that freed some of them.
    """

    loop: VirtualTimeLoop
    wants: dict[int, int] = field(init=False, factory=dict)
    """Maps the index of each job that has asked for workers at this instant to the number of the
    event since which it wants them."""
    freed: list[tuple[int, Intervals]] = field(init=False, factory=list)
    opened: int = field(init=False, default=NOTHING)
    """Number of the event that opened a shelf or batch at this instant; NOTHING: none did."""
    _at: float = field(init=False, default=-1)

    def want(self, index: int, seq: int) -> None:
        """Record that the job with this index wants workers since the event numbered `seq`: its
        submission, or the end of its last run."""
        self._renew()
        self.wants[index] = seq

    def free(self, numbers: Intervals, seq: int) -> None:
        """Record that these workers can be given to jobs since the event numbered `seq`, which
        freed them or brought them back UP."""
        self._renew()
        self.freed.append((seq, numbers))

    def called(self, otherwise: int) -> int:
        """Return the number (seq) of the event of this instant that called for a decision: the one
        that opened a shelf or batch, else the last one that freed workers, else `otherwise`."""
        self._renew()
        if self.opened != NOTHING:
            return self.opened
        return self.freed[-1][0] if self.freed else otherwise

    def why(self, index: int, numbers: Intervals) -> int:
        """Return the number (seq) of the event of this instant that causes the start of job `index`
        on the workers `numbers`. That is the event that opened a shelf or batch; else the one since
        which the job wants workers; else the first one that freed some of these workers. Return
        NOTHING if there is none."""
        self._renew()
        seq = self.wants.get(index, NOTHING) if self.opened == NOTHING else self.opened
        if seq != NOTHING or not self.freed:
            return seq
        return next((seq for seq, freed in self.freed if meet(freed, numbers)), NOTHING)

    def freed_last(self, worker: int, otherwise: int) -> int:
        """Return the number (seq) of the last event of this instant that freed this worker, or
        brought it back UP; `otherwise` if there is none, because it was free before."""
        self._renew()
        one = ((worker, worker),)
        return next((seq for seq, them in reversed(self.freed) if meet(them, one)), otherwise)

    def open(self, seq: int) -> None:
        """Record that the event numbered `seq` opens a shelf or batch now."""
        self._renew()
        self.opened = seq

    def _renew(self) -> None:
        """Forget what was recorded, if that was at an earlier instant."""
        if (now := self.loop.now) != self._at:
            self._at, self.opened = now, NOTHING
            self.wants.clear()
            self.freed.clear()


class Chief(Protocol):
    """The scheduler of a dispatcher, as far as it may use it."""

    system: Home

    @property
    def now(self) -> float:
        """The current virtual time, in the scenario's unit."""

    def send(self, target: Actor, message: object, cause: int) -> None:
        """Deliver a message; see `Actor.send`."""

    def holds_ready(self, copy: int, count: int) -> None:
        """Note that a copy that starts holds workers ready besides its `count` members."""


@define(eq=False)
class Dispatcher:
    """Knows which copy holds which workers, and sends jobs the messages by which a scheduler's
    decisions are carried out."""

    scheduler: Chief
    pool: Pool
    workers: Callable[[int], Actor] | None = None
    """Returns the address of a worker, which gets its actor when it is first addressed; None: no
    worker is addressed."""
    linked: bool = False
    """Whether there is a master, so that jobs have to address their members."""
    tracker: CauseTracker | None = None
    """Finds the causes of starts; None: no sink records runs, so that causes are not needed."""
    jobs: dict[int, Actor] = field(init=False, factory=dict)
    """Addresses, by index, of the jobs that have been submitted and are not gone."""
    promised: dict[int, int] = field(init=False, factory=dict)
    """Maps each promised worker to the copy that computes on it until that copy ends, although the
    worker is free or another copy holds it."""
    _copies: count[int] = field(init=False, factory=count)

    def start_some(
        self,
        index: int,
        processors: int,
        cause: int,
        former: Intervals = (),
        otherwise: Callable[[], int] | None = None,
    ) -> tuple[int, Intervals]:
        """Start one more copy of the job with this index on `processors` free workers, which the
        pool chooses. Return the copy's number and its workers; these are empty where workers are
        only counted.

        `former` are workers that the job had a moment ago and can get again. The start's cause is
        the event of this instant for which the job can start; if there is none, what `otherwise`
        returns or, without it, `cause`, the event for which the scheduler decides.
        """
        copy, pool = next(self._copies), self.pool
        numbers = pool.allocate(copy, processors, index, former)
        named = self.present(numbers) if numbers else ""
        if self.tracker is not None:
            cause = self._why(self.tracker, index, numbers, cause, otherwise)
        if self.linked or pool.speeds:
            about = self.about(members(numbers))
            message = StartCopy(copy, processors, numbers, named, *about)
        else:
            message = StartCopy(copy, processors, numbers, named)
        self.scheduler.send(self.jobs[index], message, cause)
        return copy, numbers

    def start_among(
        self,
        index: int,
        processors: int,
        cause: int,
        former: Intervals,
        otherwise: Callable[[], int] | None,
        ready: int,
        sources: Sources,
    ) -> tuple[int, Intervals, Intervals]:
        """Start a copy as `start_some` does, on workers of `sources`, which may hold more than its
        `processors` members: up to `ready` workers that are to replace members (rules.md, P12), or
        all of its members' nodes. Return the copy's number, all workers that it holds, and its
        members; these are empty where workers are only counted."""
        copy, pool, given = next(self._copies), self.pool, None
        rest: Intervals = ()
        if ready:
            numbers, others = pool.allocate_ready(copy, processors, ready, index, sources)
            given = GivenStandbys(others, *self.about(members(others)))
            self.scheduler.holds_ready(copy, processors)
        else:
            numbers = pool.allocate(copy, processors, index, former, sources.members)
            if sources.whole:
                rest = pool.allocate_rest(copy, sources.whole, numbers)
        if self.tracker is not None:
            cause = self._why(self.tracker, index, numbers, cause, otherwise)
        about = self.about(members(numbers)) if self.linked or pool.speeds else NOTHING_ABOUT
        named = self.present(numbers)
        message = StartCopy(copy, processors, numbers, named, *about, ready=given, rest=rest)
        self.scheduler.send(self.jobs[index], message, cause)
        return copy, pool.held[copy][2], numbers

    def start_on(
        self,
        index: int,
        workers: Sequence[int],
        cause: int,
        tasks: tuple[int, ...] = (),
        reason: str | None = None,
    ) -> int:
        """Start one more copy of the job with this index on exactly these workers, and return the
        copy's number. Raises ValueError where one is not free.

        `tasks` is the number of tasks of each worker; empty if the decider deals no tasks. `reason`
        is the decider's reason, for the log. `cause` is the number of the event for which the
        scheduler decides.
        """
        copy = next(self._copies)
        numbers = self.pool.assign(copy, index, workers)
        named = text(numbers) if self.scheduler.system.journal.wants(RunStarted) else ""
        about = self.about(workers)
        message = StartCopy(copy, len(workers), numbers, named, *about, tasks, reason)
        if self.tracker is not None:
            cause = self._why(self.tracker, index, numbers, cause, None)
        self.scheduler.send(self.jobs[index], message, cause)
        return copy

    def about(self, workers: Sequence[int]) -> tuple[Sequence[float], Sequence[Actor]]:
        """Return the speeds and the addresses of these workers. Either is empty where jobs need not
        know it: speeds if all are 1, addresses if there is no master."""
        speeds, address = self.pool.speeds, self.workers
        if not (speeds or self.linked):
            return NOTHING_ABOUT
        known = tuple(map(speeds.__getitem__, workers)) if speeds else ()
        return known, tuple(map(address, workers)) if address and self.linked else ()

    def _why(
        self,
        tracker: CauseTracker,
        index: int,
        numbers: Intervals,
        cause: int,
        otherwise: Callable[[], int] | None,
    ) -> int:
        found = tracker.why(index, numbers)
        if found != NOTHING:
            return found
        return cause if otherwise is None else otherwise()

    def resize(self, copy: int, processors: int, cause: int) -> None:
        """Change the number of workers of a copy to `processors`. The pool chooses which workers
        the copy gains or gives up, and its job gets a message. `cause` is the number of the event
        for which the scheduler decides."""
        index, _, _ = self.pool.held[copy]
        numbers = self.pool.exchange(copy, processors)
        about = self.about(members(numbers))
        message = ResizeCopy(copy, numbers, self.present(numbers), *about)
        self.scheduler.send(self.jobs[index], message, cause)

    def holder(self, worker: int) -> int:
        """Return the number of the copy to which it matters what becomes of this worker, as a
        member or a standby; -1 if there is none."""
        return -1 if worker in self.pool.rest else self.pool.holder(worker)

    def tell_job(self, cause: int, kind: Callable[..., object], worker: int, *more: object) -> bool:
        """Send the message `kind(copy, worker, *more)` to the job whose copy holds `worker`;
        `cause` is the number of the event that leads to it. Return whether a job holds the worker;
        if none does, nothing is sent. A job is told nothing of the rest of its nodes."""
        copy = self.pool.holder(worker)
        if copy < 0 or worker in self.pool.rest:
            return False
        job = self.job_of(copy)
        if job is not None:
            self.scheduler.send(job, kind(copy, worker, *more), cause)
        return job is not None

    def job_of(self, copy: int) -> Actor | None:
        """Return the address of the job of the copy with this number; None if the job is gone."""
        return self.jobs.get(self.pool.held[copy][0])

    def present(self, numbers: Intervals) -> str:
        """Return, as logs write numbers, the workers of `numbers` that a copy can use already:
        those on which no other copy that has promised them still computes. The text is empty where
        no sink wants starts of runs and nothing is promised."""
        if not self.promised:
            return text(numbers) if self.scheduler.system.journal.wants(RunStarted) else ""
        return text(intervals_of(n for n in members(numbers) if n not in self.promised))

    def cancel_copy(self, copy: int, cause: int) -> None:
        """Ask the job of the copy numbered `copy` to end the copy's run as cancelled and to release
        its workers. `cause` is the number of the event that leads to it."""
        self.scheduler.send(self.jobs[self.pool.held[copy][0]], CancelCopy(copy), cause)
