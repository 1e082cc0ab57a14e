"""Implements conservative backfilling: every job gets a reservation when it arrives (Mu'alem and
Feitelson 2001)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence
from functools import cache
from math import inf

from attrs import define, field, frozen

from policies.interface.queue import BatchView, Decision, Queued, Reservation, Strategy
from policies.maths.tolerance import ROUNDING
from policies.queue.free_profile import (
    Filling,
    FreeProfile,
    Kind,
    Sought,
    newcomers,
    run_of_twins,
)

Due = tuple[float, tuple[float, int], Queued, int]
"""A reservation: (start, sort key, queue entry, index of the job's kind)."""


@define(eq=False)
class Gaps:
    """Looks for gaps in a profile for reservations, in the order of their starts, where processors
    have become free up to the time `until`. If a reservation found no gap before, a gap that it
    finds now includes some of the newly free time."""

    free_profile: FreeProfile
    until: float
    opened: float = inf
    """Time from which processors have become free because reservations were moved; inf: none."""
    sought: Sought = field(factory=Sought)

    def first(self, over: int, start: float, processors: int, held: float) -> int:
        """Return the step at which the first gap begins for a job whose reservation starts at
        `start`; `over` if there is none. `over` is the last step before its start at which fewer
        than `processors` processors are free."""
        times = self.free_profile.times
        since, shortest = self.sought.before(processors, held)
        if since < times[0]:
            since = times[0]
        new = start if self.opened < start else self.until
        if since >= new or since + held > times[over]:
            return over
        step, longest = self.free_profile.gap(over, processors, held, since, new)
        if step < over:
            self.sought.add(processors, held, times[step])
        else:
            # Where all gaps were looked at, none holds a job that takes `longest` or longer.
            shortest = max(shortest, longest) if new == start else held
            self.sought.add(processors, shortest, min(start, times[over + 1]))
        return step


def compress(
    free_profile: FreeProfile, due: list[Due], kinds: Sequence[Kind], until: float
) -> list[Queued]:
    """Move the reservations in `due`, in the order of their starts, to the earliest places that are
    free, at `free_profile`, where processors have become free; return the jobs that start now,
    which leave `due`. `kinds` has (processors, held) of each kind of job. The caller guarantees
    that since the last compression processors have become free only up to the time `until`.

    Jobs that start later do not hinder a job: where it would overlap with them, it has its own
    place already. So no job has to leave its place before an earlier one is found. Nearly all that
    move do so by a step or two, into the place that the one before has left.
    """
    times, free, moved = free_profile.times, free_profile.counts, 0
    gaps, starts, now = Gaps(free_profile, until), list[Queued](), times[0]
    for at, (start, _, _, kind) in enumerate(due):
        if at < moved:
            continue
        processors, held = kinds[kind]
        step = last = bisect_left(times, start)
        while step and free[step - 1] >= processors:
            step -= 1
        if step and now + held <= times[step - 1]:
            found = gaps.first(step - 1, start, processors, held)
            if found < step - 1:
                step = found
        if step == last:
            continue
        time = times[step]
        room = free_profile.least(step, min(last, bisect_left(times, time + held, step + 1)))
        moved = _moved(due, at, time, room // processors)
        free_profile.slide(start, step, (moved - at) * processors, held, last)
        gaps.opened = min(gaps.opened, max(start, time + held))
        if step == 0:
            starts += [it[2] for it in due[at:moved]]
    due.sort()
    del due[: len(starts)]
    free_profile.merge()
    return starts


def _moved(due: list[Due], at: int, time: float, most: int) -> int:
    """Change the start of the reservation at position `at` of `due` to `time`. Do the same with the
    following ones as long as they have the same kind and start, up to `most` in all. Return the
    position after the last one moved."""
    start, key, waiting, kind = due[at]
    due[at], end = (time, key, waiting, kind), at + 1
    limit = min(len(due), at + most)
    while end < limit and due[end][0] == start and due[end][3] == kind:
        due[end] = time, *due[end][1:]
        end += 1
    return end


@define(eq=False)
class Places:
    """The plan of conservative backfilling: the reservations of all waiting jobs, kept from one
    decision to the next."""

    free_profile: FreeProfile
    due: list[Due] = field(factory=list)
    """The reservations, sorted by start."""
    kinds: list[Kind] = field(factory=list)
    _known: dict[Kind, int] = field(factory=dict)
    """Maps each kind to its index in `kinds`."""
    promised: dict[int, float] = field(factory=dict)
    """Maps a job's index to the start that it was promised last; -inf where none could be promised
    yet, because the return of workers was not known."""
    new_promises: list[Reservation] = field(factory=list)
    """Promises of this decision that are new or postponed."""

    def follow(self, view: BatchView) -> list[Queued] | None:
        """Update the plan for what has happened since the last decision: let due jobs start, and
        move others up where runs have ended early. Return the jobs that start now.

        Return None if the plan must be made anew: a run has outlived its estimate, workers have
        changed, a waiting job was cancelled, or the free processors are not as planned.
        """
        free_profile, now = self.free_profile, view.now
        if view.moved or free_profile.overdue:
            return None
        free_profile.advance(now)
        for run in view.early:
            free_profile.release(now, run.end, run.processors)
        begun = bisect_right(self.due, now, key=_start)
        # A run that outlived its estimate has ended by now: jobs that waited for it start later,
        # and end later, too.
        if begun and self.due[0][0] < now * (1 - ROUNDING):
            return None
        starts = [waiting for _, _, waiting, _ in self.due[:begun]]
        # The profile disagrees with the platform: something unforeseen has happened.
        if free_profile.free_now != view.free - sum(it.processors for it in starts):
            return None
        del self.due[:begun]
        if view.early:
            starts += compress(
                free_profile, self.due, self.kinds, max(run.end for run in view.early)
            )
        return starts

    def fill(self, jobs: Sequence[Queued]) -> list[Queued]:
        """Reserve the earliest place that is left for each of `jobs`, in this order, and return
        those that start now. A job whose place begins now on processors of runs that outlive their
        estimates does not start."""
        kinds = [(waiting.processors, waiting.held) for waiting in jobs]
        filling, at, starts = Filling(self.free_profile), 0, list[Queued]()
        while at < len(jobs):
            twins = run_of_twins(kinds, at, len(jobs)) - at
            kind = kinds[at]
            step, count = filling.promise(kind, twins, twins)
            given, at = jobs[at : at + count], at + count
            if step == 0:
                starts.extend(given)
                continue
            # Overdue workers are not free yet: a job that waits for them has a place at this
            # instant, but does not start.
            time = self.free_profile.times[step]
            which = self._which(kind)
            for waiting in given:
                insort(self.due, (time, waiting.key, waiting, which))
                self._promise(waiting, time)
        return starts

    def _which(self, kind: Kind) -> int:
        which = self._known.setdefault(kind, len(self.kinds))
        if which == len(self.kinds):
            self.kinds.append(kind)
        return which

    def _promise(self, waiting: Queued, start: float) -> None:
        # Only a later start is news: an earlier one keeps the promise that was logged. While nobody
        # knows when workers return there is none to promise.
        if self.promised.setdefault(waiting.key[1], -inf) < start < inf:
            self.promised[waiting.key[1]] = start
            self.new_promises.append(Reservation(start, waiting))


def _start(due: Due) -> float:
    return due[0]


@frozen
class Conservative:
    """Gives every job a reservation when it arrives, at the earliest start that delays no other
    job: conservative backfilling.

    A reservation is postponed only by what cannot be foreseen: a run that outlives its estimate, or
    a processor that fails. When a run ends early the schedule is compressed: in the order of their
    starts, all jobs take the earliest place anew, which is never later than their last one.
    """

    def __call__(self, view: BatchView) -> Decision:
        """Return the decision with the jobs that start now and the promises that are new or later
        than before. Of jobs that arrive at one instant, the first in the queue is planned first."""
        if view.cells is not None:
            return _in_cells()(view)
        plan = view.memory if isinstance(view.memory, Places) else Places(_free_profile(view))
        plan.new_promises = []
        starts = plan.follow(view)
        if starts is None:
            due, gone = plan.due, view.cancelled
            for index in gone:
                plan.promised.pop(index, None)
            plan = Places(_free_profile(view), promised=plan.promised)
            starts = plan.fill([it[2] for it in due if it[1][1] not in gone])
        known = len(plan.due) + len(starts)
        starts += plan.fill(newcomers(view.queue, known, plan.promised))
        for waiting in starts:
            plan.promised.pop(waiting.key[1], None)
        return Decision(starts, memory=plan, promised=plan.new_promises)


def _free_profile(view: BatchView) -> FreeProfile:
    return FreeProfile.of(view.now, view.free, view.running)


@cache
def _in_cells() -> Strategy:
    # Only scenarios whose workers differ load it. An import costs as much as a start, so it is not
    # made at each decision.
    from policies.queue.cell_places import conservative_in_cells

    return conservative_in_cells
