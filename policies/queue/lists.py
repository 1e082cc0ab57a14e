"""Implements list and shelf strategies: R-LIST(m), list scheduling with m reservations and
backfilling, and R-SHELF and R-SHELFFILL, whose jobs start together (rigid21, algorithms 1 to 3)."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from functools import cache
from math import inf
from operator import attrgetter
from types import ModuleType

from attrs import define, field, frozen

from policies.interface.queue import BatchView, Decision, Queued, Reservation, Run
from policies.queue.free_profile import Filling, FreeProfile, Horizon, run_of_twins


class Reading(enum.Enum):
    """Says how the reservations of R-LIST(m) (rigid21, algorithm 1) are understood: which jobs get
    the m reservations, and whether these are kept. The readings differ in published figures."""

    FRESH = "fresh"
    """The paper's text (section 4.1): all reservations are discarded and made again at every
    instant with a completion, for the first m jobs of the queue, including those that start at
    once."""
    EASY = "easy"
    """The usual rule: as FRESH, but a job that starts at once uses none of the m reservations."""
    KEPT = "kept"
    """The reading that the published curves of R-LIST-1 and R-LIST-Q fit: reservations are never
    cancelled, a job with one has left the queue, and every round makes up to m more."""


def greedy(queue: Iterable[Queued], free: int, least: int = 1) -> list[Queued]:
    """Return, in the queue's order, each job that fits on what the jobs before it leave of `free`
    processors, for a start now: R-LIST-0, and LIST of moldable21 (algorithm 1).

    No job of the queue has fewer processors than `least`. Stopping there saves a ninth of an
    attempt's time with the 500 jobs of moldable21's set, and a third or more with thousands of jobs
    in the queue.
    """
    starts: list[Queued] = []
    if free < least:
        return starts
    for waiting in queue:
        if waiting.processors <= free:
            starts.append(waiting)
            free -= waiting.processors
            if free < least:
                break
    return starts


@frozen
class RList:
    """The list strategy R-LIST(m): the first m jobs of the queue get reservations (`reservations`
    is m; None: all jobs), and others start now only if they delay none of these (backfilling).
    `reading` says which jobs count among the m."""

    reservations: int | None = field(default=0)
    reading: Reading = Reading.FRESH

    @reservations.validator
    def _not_negative(self, _: object, value: int | None) -> None:
        if value is not None and value < 0:
            raise ValueError(f"R-LIST makes 0 or more reservations, not {value}")

    def __call__(self, view: BatchView) -> Decision:
        if view.cells is not None:
            return self._in_cells(view)
        if self.reservations == 0:
            return Decision(greedy(view.queue, view.free, view.least))
        if self.reading is Reading.KEPT:
            return _kept(view, self.reservations)
        if not view.queue:
            return Decision()
        counted = self.reading is Reading.FRESH
        if self.reservations == 1:
            return _one(view, counted)
        if self.reservations is None and view.free < view.least:
            return Decision()
        return _planned(view, self.reservations, counted)

    def _in_cells(self, view: BatchView) -> Decision:
        cells, most = _cells(), self.reservations
        decision: Decision
        if most == 0:
            decision = cells.greedy_in_cells(view)
        elif self.reading is Reading.KEPT:
            decision = cells.kept_in_cells(view, most)
        else:
            decision = cells.planned_in_cells(view, most, self.reading is Reading.FRESH)
        return decision


@cache
def _cells() -> ModuleType:
    # Only scenarios whose workers differ load it. An import costs as much as a start, so it is not
    # made at each decision.
    from policies.queue import cells

    return cells


# --- one reservation: EASY, whose backfilling needs two numbers --------------------------------


def _one(view: BatchView, counted: bool) -> Decision:
    """Return the decision with one reservation. Jobs start from the head of the queue until one
    does not fit, which gets the reservation; the rest is backfilled. With `counted` (the reading
    FRESH) a job that starts uses the reservation: behind the head all jobs that fit start."""
    queue, free, starts = view.queue, view.free, list[Queued]()
    for position, waiting in enumerate(queue):
        if waiting.processors > free:
            return _backfilled(view, starts, queue[position:], free)
        starts.append(waiting)
        free -= waiting.processors
        if counted:
            return Decision(starts + greedy(queue[1:], free, view.least))
    return Decision(starts)


def _backfilled(
    view: BatchView, starts: list[Queued], blocked: Sequence[Queued], free: int
) -> Decision:
    """Return the decision that starts the jobs `starts`, reserves the earliest start for the first
    job of `blocked`, and starts each further one that does not delay it: it ends before the
    reservation begins, or leaves enough processors beside it. `free` processors are left after
    `starts`."""
    now, first = view.now, blocked[0]
    shadow, spare = _shadow(view, starts, first.processors, free)
    if free >= view.least:
        for waiting in blocked:
            processors = waiting.processors
            if processors <= free and (processors <= spare or now + waiting.held <= shadow):
                starts.append(waiting)
                free -= processors
                if now + waiting.held > shadow:
                    spare -= processors
    return Decision(starts, reservations=[Reservation(shadow, first)])


def _shadow(
    view: BatchView, started: Sequence[Queued], processors: int, free: int
) -> tuple[float, int]:
    """Return the first time at which `processors` processors will be free, as runs end when
    expected, and how many more than those will be free then. `free` are free now, after the jobs
    `started` have started."""
    now, ends = view.now, view.running
    if started:
        new = [Run(now + w.held, w.key[1], w.processors, w, (), -1) for w in started]
        ends = sorted([*ends, *new], key=attrgetter("end", "index"))
    shadow = now
    for run in ends:
        end = run.end
        if free >= processors and end > shadow:
            break
        free += run.processors
        shadow = end if end > now else now
    return shadow, free - processors


# --- any number of reservations ------------------------------------------------------------------


def _planned(view: BatchView, m: int | None, counted: bool) -> Decision:
    """Return the decision with m reservations, or with one for every job of the queue (m is None).
    With `counted` a job that starts at once uses one of them.

    Each of m reservations is logged. Of those for the whole queue, only the ones that a job
    starting now must not delay are made, and none is logged: each of a thousand may move at every
    decision.
    """
    queue, starts, promises = view.queue, list[Queued](), list[Reservation]()
    free_profile = FreeProfile.of(view.now, view.free, view.running)
    kinds = [(waiting.processors, waiting.held) for waiting in queue]
    filling, horizon = Filling(free_profile), Horizon.of(free_profile, kinds)
    most, made, at = len(queue) if m is None else m, 0, 0
    while at < (len(queue) if m and made < most else horizon.end):
        end = run_of_twins(kinds, at, len(queue))
        twins, left = end - at, most - made
        if left > 0:
            # Under EASY, a job that starts at once uses none of the m reservations.
            bounded = min(twins, left)
            step, count = filling.promise(kinds[at], bounded if counted else twins, bounded)
            made += count if counted or step > 0 else 0
            after = at + count
        else:
            # Behind the reservations, a job that does not fit now is passed over.
            step, count, after = 0, filling.squeeze(kinds[at], twins), end
        if step == 0:
            starts.extend(queue[at : at + count])
        elif m:
            time = free_profile.times[step]
            promises.extend(Reservation(time, waiting) for waiting in queue[at : at + count])
        at = after
        horizon.review()
    return Decision(starts, reservations=promises)


# --- reservations that are kept ------------------------------------------------------------------


@define
class _Round:
    """Collects the jobs that start and the reservations that are made in one decision of R-LIST
    under the reading KEPT, under which no reservation is cancelled."""

    free_profile: FreeProfile
    starts: list[Queued]
    promises: list[Reservation]

    def give(self, waiting: Queued, earlier: Reservation | None = None) -> None:
        """Give a job the earliest possible reservation or, if that begins now, start it. If its
        `earlier` reservation has the same start, the job keeps that object, so that it is not
        logged again."""
        step, _ = self.free_profile.earliest(waiting.processors, waiting.held)
        start = self.free_profile.times[step]
        if step == 0:
            self.starts.append(waiting)
        elif earlier is not None and earlier.start == start:
            self.promises.append(earlier)
        else:
            self.promises.append(Reservation(start, waiting))
        self.free_profile.take(step, waiting.processors, waiting.held)


def _kept(view: BatchView, most: int | None) -> Decision:
    earlier = view.reservations
    later = [promise for promise in earlier.values() if view.now < promise.start < inf]
    free_profile = FreeProfile.of(view.now, view.free, view.running, later)
    current = _Round(free_profile, [], list(later))
    for promise in earlier.values():
        # A reservation whose time has come while its processors are still in use (a job outlives
        # its estimate) is postponed. One with an infinite start was made when the return of workers
        # was unknown, so it promised nothing and is made again.
        if not view.now < promise.start < inf:
            current.give(promise.waiting, promise)
    queue = [waiting for waiting in view.queue if waiting.job.index not in earlier]
    made = len(queue) if most is None else min(most, len(queue))
    for waiting in queue[:made]:
        current.give(waiting)
    for waiting in queue[made:]:
        if current.free_profile.fits(0, waiting.processors, waiting.held):
            current.free_profile.take(0, waiting.processors, waiting.held)
            current.starts.append(waiting)
    # A reservation for now waits for a job that outlives its estimate; the end of that job calls
    # the strategy, so no wake-up is needed.
    times = (it.start for it in current.promises)
    wake = min((start for start in times if view.now < start < inf), default=None)
    return Decision(current.starts, reservations=current.promises, wake=wake)


def until_misfit(queue: Iterable[Queued], free: int) -> list[Queued]:
    """Return the first jobs of `queue` that fit together on `free` processors, for a start now:
    those before the first job that does not fit (no backfilling)."""
    starts = []
    for waiting in queue:
        if waiting.processors > free:
            break
        starts.append(waiting)
        free -= waiting.processors
    return starts


def _begun(view: BatchView, queue: Sequence[Queued], skips: bool) -> Decision:
    """Return the decision that starts the jobs that fit now, in the order of `queue`. With `skips`
    jobs that do not fit are passed over; without it only the jobs before the first of these
    start."""
    if view.cells is not None:
        decision: Decision = _cells().begun_in_cells(view, queue, skips)
        return decision
    return Decision(greedy(queue, view.free) if skips else until_misfit(queue, view.free))


@frozen
class InOrder:
    """Starts jobs strictly in the queue's order: no job starts before the one ahead of it has (no
    backfilling)."""

    def __call__(self, view: BatchView) -> Decision:
        return _begun(view, view.queue, skips=False)


@frozen
class Shelves:
    """Starts jobs shelf by shelf: a shelf is a set of jobs that start together, and the next opens
    once nothing runs any more (R-SHELF and R-SHELFFILL of rigid21).

    With estimates, a shelf whose attempts all end early ends early too.
    """

    backfilling: bool = True
    """The flag b: whether jobs behind one that does not fit may enter the shelf."""
    filling: bool = False
    """R-SHELFFILL: a failed job restarts at once on its own processors if it is expected to end
    within the shelf (equality fills). Nothing else enters a running shelf."""

    def __call__(self, view: BatchView) -> Decision:
        if view.busy:
            decision = self._fill(view)
            decision.shelf_end = view.shelf_end
            return decision
        decision = _begun(view, view.queue, self.backfilling)
        if decision.starts:
            decision.shelf_end = view.now + max(waiting.held for waiting in decision.starts)
        return decision

    def _fill(self, view: BatchView) -> Decision:
        end = view.shelf_end
        if not self.filling or end is None:
            return Decision()
        ending = [waiting for waiting in view.failed if view.now + waiting.held <= end]
        # They restart on their own processors, unless one of these failed and the shelf leaves no
        # other.
        return _begun(view, ending, skips=True)
