"""The part of a scheduler that carries decisions out: it starts, resizes, promises and cancels
copies of jobs, and finds the cause of each start."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count

from attrs import define, field

from actors.events import RunStarted
from actors.intervals import Intervals, added, intervals_of, meet, members, merged, size_of, text
from actors.messages import (
    CancelCopy,
    MembersArrived,
    MemberStateChanged,
    PromiseCopy,
    ReplaceMember,
    ResizeCopy,
    Resume,
    StandbyJoins,
    StartCopy,
)
from actors.pool import Pool
from actors.runtime import NOTHING, Actor
from policies.availability import WorkerState


@define(eq=False)
class CauseTracker:
    """Finds the event that causes the start of a copy. For this it keeps which jobs have asked for
    workers at this instant, and which workers were freed at it, with the numbers of those events.

    The cause of a start is the shelf or batch that it starts in; else the event since which its job
    wants workers, if that is of this instant; else the event that freed some of them.
    """

    wants: dict[int, int] = field(init=False, factory=dict)
    """Maps the index of each job that has asked for workers at this instant to the number of the
    event since which it wants them."""
    freed: list[tuple[int, Intervals]] = field(init=False, factory=list)
    opened: int = field(init=False, default=NOTHING)
    """Number of the event that opened a shelf or batch at this instant; NOTHING: none did."""
    _at: float = field(init=False, default=-1)

    def want(self, now: float, index: int, seq: int) -> None:
        """Record that the job with this index wants workers since the event numbered `seq`: its
        submission, or the end of its last run."""
        self._renew(now)
        self.wants[index] = seq

    def free(self, now: float, numbers: Intervals, seq: int) -> None:
        """Record that these workers can be given to jobs since the event numbered `seq`, which
        freed them or brought them back UP."""
        self._renew(now)
        self.freed.append((seq, numbers))

    def called(self, now: float, otherwise: int) -> int:
        """Return the number (seq) of the event that called for a decision at the time `now`: the
        one that opened a shelf or batch at this instant, else the last one that freed workers at
        it, else `otherwise`."""
        self._renew(now)
        if self.opened != NOTHING:
            return self.opened
        return self.freed[-1][0] if self.freed else otherwise

    def why(self, now: float, index: int, numbers: Intervals) -> int:
        """Return the number (seq) of the event of this instant that causes the start of job `index`
        on the workers `numbers`. That is the event that opened a shelf or batch; else the one since
        which the job wants workers; else the first one that freed some of these workers. Return
        NOTHING if there is none."""
        self._renew(now)
        seq = self.wants.get(index, NOTHING) if self.opened == NOTHING else self.opened
        if seq != NOTHING or not self.freed:
            return seq
        return next((seq for seq, freed in self.freed if meet(freed, numbers)), NOTHING)

    def freed_last(self, now: float, worker: int, otherwise: int) -> int:
        """Return the number (seq) of the last event of the instant `now` that freed this worker, or
        brought it back UP; `otherwise` if there is none, because it was free before."""
        self._renew(now)
        one = ((worker, worker),)
        return next((seq for seq, them in reversed(self.freed) if meet(them, one)), otherwise)

    def _renew(self, now: float) -> None:
        if now != self._at:
            self._at, self.opened = now, NOTHING
            self.wants.clear()
            self.freed.clear()


RESUME = Resume()


@define(eq=False)
class Dispatcher(Actor):
    """The part of a scheduler that knows which copy holds which workers, and that sends jobs the
    messages by which decisions are carried out."""

    pool: Pool
    workers: Callable[[int], Actor] | None = field(kw_only=True, default=None)
    """Returns the address of a worker, which gets its actor when it is first addressed; None: no
    worker is addressed."""
    linked: bool = field(kw_only=True, default=False)
    """Whether there is a master, so that jobs have to address their members."""
    actors: dict[int, Actor] = field(init=False, factory=dict)
    """Addresses, by index, of the jobs that have been submitted and are not gone."""
    held: dict[int, tuple[int, int, Intervals]] = field(init=False, factory=dict)
    """Maps each copy to its job's index, the number of its workers, and their numbers."""
    promised: dict[int, int] = field(init=False, factory=dict)
    """Maps each promised worker to the copy that computes on it until that copy ends, although the
    worker is free or another copy holds it."""
    tracker: CauseTracker | None = field(init=False, default=None)
    """Finds the causes of starts; None: no sink records runs, so that causes are not needed."""
    undetected: dict[int, int] = field(init=False, factory=dict)
    """Maps each worker whose DOWN is not detected yet (rules.md, F1) to the number of the event
    with which it went DOWN."""
    replaceable: dict[int, tuple[int, int]] = field(init=False, factory=dict)
    """Maps each member that is to be replaced to its copy and the number of the event with which it
    went DOWN."""
    ready: dict[int, int] = field(init=False, factory=dict)
    """Maps each copy that may hold standbys to the number of its members, standbys not counted
    (rules.md, P12)."""
    repaired: dict[int, int] = field(init=False, factory=dict)
    """Maps each worker whose downtime or repair ended at this instant to the number of the event
    with which it came UP."""
    _copies: count[int] = field(init=False, factory=count)

    def start_some(
        self,
        index: int,
        processors: int,
        cause: int,
        former: Intervals = (),
        otherwise: Callable[[], int] | None = None,
        standbys: int = 0,
    ) -> tuple[int, Intervals, Intervals]:
        """Start one more copy of the job with this index on `processors` free workers, which the
        pool chooses. With `standbys` it holds up to that many more, ready to replace members.
        Return the copy's number, all workers that it holds, and its members; these are empty where
        workers are only counted.

        `former` are workers that the job had a moment ago and can get again. The start's cause is
        the event of this instant for which the job can start; if there is none, what `otherwise`
        returns or, without it, `cause`, the event for which the scheduler decides.
        """
        copy, pool = next(self._copies), self.pool
        if standbys:
            return copy, *self._start_ready(copy, index, processors, standbys, cause, otherwise)
        numbers = pool.allocate(copy, processors, former, index)
        named = self._present(numbers) if numbers else ""
        self.held[copy] = index, processors, numbers
        if self.tracker is not None:
            cause = self._why(self.tracker, index, numbers, cause, otherwise)
        if self.linked or pool.speeds:
            about = self._about(members(numbers))
            message = StartCopy(copy, processors, numbers, named, *about)
        else:
            message = StartCopy(copy, processors, numbers, named)
        self.send(self.actors[index], message, cause)
        return copy, numbers, numbers

    def _start_ready(
        self,
        copy: int,
        index: int,
        processors: int,
        standbys: int,
        cause: int,
        otherwise: Callable[[], int] | None,
    ) -> tuple[Intervals, Intervals]:
        """Start the copy numbered `copy` on `processors` workers with up to `standbys` standbys
        (workers ready to replace members; rules.md, P12). Return all workers that it holds, and its
        members. The other parameters are those of `start_some`."""
        numbers, ready = self.pool.allocate_ready(copy, processors, standbys, index)
        held = merged(numbers, ready)
        self.held[copy], self.ready[copy] = (index, size_of(held), held), processors
        if self.tracker is not None:
            cause = self._why(self.tracker, index, numbers, cause, otherwise)
        about = self._about(members(numbers)) if self.linked or self.pool.speeds else ((), ())
        named, others = self._present(numbers), self._about(members(ready))
        message = StartCopy(
            *(copy, processors, numbers, named, *about),
            standbys=ready,
            standby_speeds=others[0],
            standby_addresses=others[1],
        )
        self.send(self.actors[index], message, cause)
        return held, numbers

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
        numbers = self.pool.assign(copy, workers)
        self.held[copy] = index, len(workers), numbers
        named = text(numbers) if self.system.journal.wants(RunStarted) else ""
        about = self._about(workers)
        message = StartCopy(copy, len(workers), numbers, named, *about, tasks, reason)
        if self.tracker is not None:
            cause = self._why(self.tracker, index, numbers, cause, None)
        self.send(self.actors[index], message, cause)
        return copy

    def _about(self, workers: Sequence[int]) -> tuple[Sequence[float], Sequence[Actor]]:
        """Return the speeds and the addresses of these workers. Either is empty where jobs need not
        know it: speeds if all are 1, addresses if there is no master."""
        speeds, address = self.pool.speeds, self.workers
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
        found = tracker.why(self.now, index, numbers)
        if found != NOTHING:
            return found
        return cause if otherwise is None else otherwise()

    def resize(self, copy: int, processors: int, cause: int) -> None:
        """Change the number of workers of a copy to `processors`. The pool chooses which workers
        the copy gains or gives up, and its job gets a message. `cause` is the number of the event
        for which the scheduler decides."""
        index, _, held = self.held[copy]
        numbers = self.pool.exchange(copy, held, processors, index)
        self.held[copy] = index, processors, numbers
        about = self._about(members(numbers))
        message = ResizeCopy(copy, numbers, self._present(numbers), *about)
        self.send(self.actors[index], message, cause)

    def tell_job(self, cause: int, kind: Callable[..., object], worker: int, *more: object) -> bool:
        """Send the message `kind(copy, worker, *more)` to the job whose copy holds `worker`;
        `cause` is the number of the event that leads to it. Return whether a job holds the worker;
        if none does, nothing is sent."""
        copy = self.pool.holder(worker)
        job = self.actors.get(self.held[copy][0]) if copy >= 0 else None
        if job is not None:
            self.send(job, kind(copy, worker, *more), cause)
        return job is not None

    def replace_members(self) -> Iterator[tuple[int, Intervals]]:
        """Replace by free workers the members that their jobs want replaced, because they have been
        away for long enough. The lowest member comes first; members for which no worker is free
        stay. Yield, for each replacement, the copy's number and all workers that it holds then
        (rules.md, P10).

        Jobs start runs only after all replacements: of one job's runs the copy that was placed
        earlier has the lower number (R4).
        """
        served: dict[int, int] = {}
        for worker, (copy, cause) in sorted(self.replaceable.items()):
            held = self.pool.holder(worker) == copy
            other = self.pool.replacement(self.promised) if held else None
            if held and other is None:
                break
            del self.replaceable[worker]
            if other is not None:
                if self.tracker is not None:  # the copy may have waited for a worker
                    cause = self.tracker.freed_last(self.now, other, cause)
                served[self.held[copy][0]] = cause
                yield copy, self._replace(copy, worker, other, cause)
        for index, cause in served.items():
            self.send(self.actors[index], RESUME, cause)

    def _replace(self, copy: int, worker: int, other: int, cause: int) -> Intervals:
        index, processors, held = self.held[copy]
        numbers = self.pool.replace(copy, held, worker, other)
        self.held[copy] = index, processors, numbers
        named, about = self._present(numbers), self._about((other,))
        self.send(self.actors[index], ReplaceMember(copy, worker, other, named, *about), cause)
        return numbers

    def join_standbys(self, most: Callable[[int], int]) -> Iterator[tuple[int, Intervals]]:
        """Make each free worker whose downtime or repair ended at this instant a standby (ready to
        replace a member) of the first copy, by job and copy number, that has fewer standbys than
        its job can have. Yield, for each such worker, the copy's number and all workers that it
        holds then.

        `most` returns the largest number of standbys of a job, given its index (rules.md, P12).
        """
        pool, served = self.pool, dict[int, int]()
        self.ready = {copy: count for copy, count in self.ready.items() if copy in self.held}
        by_job = sorted(self.ready, key=lambda copy: (self.held[copy][0], copy))
        for worker, cause in sorted(self.repaired.items()):
            if worker in pool.away or worker >= pool.size or pool.holder(worker) >= 0:
                continue
            for copy in by_job:
                index, processors, numbers = self.held[copy]
                if processors - self.ready[copy] < most(index):
                    pool.assign(copy, (worker,))
                    numbers = added(numbers, worker)
                    self.held[copy] = index, processors + 1, numbers
                    served[index] = cause
                    joins = StandbyJoins(copy, worker, *self._about((worker,)))
                    self.send(self.actors[index], joins, cause)
                    yield copy, numbers
                    break
        for index, cause in served.items():  # a copy may wait for its replacement
            self.send(self.actors[index], RESUME, cause)

    def promise(self, copy: int, cause: int) -> None:
        """Release a copy's workers in the pool before its run ends, so that other copies can be
        given them already. The copy computes on them to its end, and only then can another copy use
        them (malleable17, section 5). `cause` is the number of the event that leads to it."""
        index, processors, numbers = self.held[copy]
        self.pool.release(processors, numbers)
        self.held[copy] = index, 0, ()
        for worker in members(numbers):
            self.promised.setdefault(worker, copy)
        self.send(self.actors[index], PromiseCopy(copy), cause)

    def tell_promiser(self, worker: int, cause: int) -> None:
        """Tell the copy that has promised this worker to others that the worker is UP again. If the
        copy's run was lost before it promised its workers, its next run may wait for exactly that.
        `cause` is the number of the event that leads to it."""
        copy = self.promised[worker]
        message = MemberStateChanged(copy, worker, WorkerState.UP, False)
        self.send(self.actors[self.held[copy][0]], message, cause)

    def _present(self, numbers: Intervals) -> str:
        """Return, as logs write numbers, the workers of `numbers` that a copy can use already:
        those on which no other copy that has promised them still computes. The text is empty where
        no sink wants starts of runs and nothing is promised."""
        if not self.promised:
            return text(numbers) if self.system.journal.wants(RunStarted) else ""
        return text(intervals_of(n for n in members(numbers) if n not in self.promised))

    def _hand_on(self, over: int, cause: int) -> None:
        """Pass on the workers that the copy numbered `over` had promised, because it has ended:
        each copy that was given some of them gets the message that it can use them now. `cause` is
        the number of the event that ended the copy."""
        joined: dict[int, list[int]] = {}
        for worker in sorted(worker for worker, copy in self.promised.items() if copy == over):
            del self.promised[worker]
            joined.setdefault(self.pool.holder(worker), []).append(worker)
        for copy, workers in joined.items():
            if copy < 0 and self.tracker is not None:
                self.tracker.free(self.now, intervals_of(workers), cause)
            elif copy >= 0:
                index, _, numbers = self.held[copy]
                came = MembersArrived(copy, text(intervals_of(workers)), self._present(numbers))
                self.send(self.actors[index], came, cause)

    def cancel_copy(self, copy: int, cause: int) -> None:
        """Ask the job of the copy numbered `copy` to end the copy's run as cancelled and to release
        its workers. `cause` is the number of the event that leads to it."""
        self.send(self.actors[self.held[copy][0]], CancelCopy(copy), cause)
