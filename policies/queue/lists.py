"""R-LIST(m): list scheduling with m reservations and backfilling (001, algorithm 1)."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from math import inf
from operator import itemgetter

from attrs import define, field, frozen

from policies.interface.queue import BatchView, Decision, Queued, Reservation
from policies.queue.outlook import Outlook


class Reading(enum.Enum):
    """What algorithm 1's reservations are; the readings differ in published figures."""

    FRESH = "fresh"
    """The text (section 4.1): all are forgotten and made again at every instant with a completion,
    for the first m of the queue, those that start at once included."""
    EASY = "easy"
    """The usual rule: as FRESH, but a job that starts at once uses none of the m."""
    KEPT = "kept"
    """What the published curves of R-LIST-1 and R-LIST-Q fit: never cancelled; a job with one has
    left the queue, and every round makes up to m more."""


def greedy(queue: Iterable[Queued], free: int, least: int = 1) -> list[Queued]:
    """Everything that fits, in order: R-LIST-0, and LIST of 000 (algorithm 1).

    No job of the queue has fewer processors than `least`: to know where to stop saves a ninth of an
    attempt's time with the 500 jobs of 000's set, a third or more with thousands in the queue.
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
    """R-LIST with `reservations` = m; None: one for every job in the queue."""

    reservations: int | None = field(default=0)
    reading: Reading = Reading.FRESH

    @reservations.validator
    def _not_negative(self, _: object, value: int | None) -> None:
        if value is not None and value < 0:
            raise ValueError(f"R-LIST makes 0 or more reservations, not {value}")

    def __call__(self, view: BatchView) -> Decision:
        if self.reservations == 0:
            return Decision(greedy(view.queue, view.free, view.least))
        if self.reading is Reading.KEPT:
            return _kept(view, self.reservations)
        if not view.queue:
            return Decision()
        counted = self.reading is Reading.FRESH
        if self.reservations == 1:
            return Decision(_one(view, counted))
        most = len(view.queue) if self.reservations is None else self.reservations
        return Decision(_planned(view, most, counted))


# --- one reservation: EASY, whose backfilling needs two numbers --------------------------------


def _one(view: BatchView, counted: bool) -> Sequence[Queued]:
    """Start from the head (FRESH: the head alone), reserve for the first that does not fit,
    backfill the rest."""
    queue, free, starts = view.queue, view.free, list[Queued]()
    for position, waiting in enumerate(queue):
        if waiting.processors > free:
            return starts + _backfill(view, starts, queue[position:], free)
        starts.append(waiting)
        free -= waiting.processors
        if counted:
            return starts + greedy(queue[1:], free, view.least)
    return starts


def _backfill(
    view: BatchView, started: Sequence[Queued], blocked: Sequence[Queued], free: int
) -> list[Queued]:
    """What starts behind `blocked[0]` without delaying it: it ends before the reservation begins,
    or leaves enough processors beside it."""
    starts: list[Queued] = []
    if free < view.least:
        return starts
    now = view.now
    fitting = [waiting for waiting in blocked if waiting.processors <= free]
    if not fitting:
        return starts
    shadow, spare = _shadow(view, started, blocked[0].processors, free)
    for waiting in fitting:
        processors = waiting.processors
        if processors <= free and (processors <= spare or now + waiting.held <= shadow):
            starts.append(waiting)
            free -= processors
            if now + waiting.held > shadow:
                spare -= processors
    return starts


def _shadow(
    view: BatchView, started: Sequence[Queued], processors: int, free: int
) -> tuple[float, int]:
    """When `processors` will be free, and how many more than those then."""
    now, ends = view.now, view.running
    if started:
        new = [(now + w.held, w.key[1], w.processors, w, (), -1) for w in started]
        ends = sorted([*ends, *new], key=itemgetter(0, 1))
    shadow = now
    for end, _, width, *_ in ends:
        if free >= processors and end > shadow:
            break
        free += width
        shadow = end if end > now else now
    return shadow, free - processors


# --- any number of reservations ------------------------------------------------------------------


def _least_after(queue: Sequence[Queued]) -> list[int]:
    """The smallest allotment from each position on."""
    least, smallest = [0] * len(queue), queue[-1].processors
    for i in range(len(queue) - 1, -1, -1):
        smallest = min(smallest, queue[i].processors)
        least[i] = smallest
    return least


def _planned(view: BatchView, most: int, counted: bool) -> list[Queued]:
    queue, starts, made = view.queue, list[Queued](), 0
    least = _least_after(queue)
    if least[0] > view.free:
        return starts
    outlook = Outlook.of(view.now, view.free, view.running)
    for position, waiting in enumerate(queue):
        # Reservations are forgotten afterwards: once nothing more can start now, none matters.
        if outlook.free_now < least[position]:
            break
        processors, held = waiting.processors, waiting.held
        if made < most:
            step = outlook.earliest(processors, held)
            made += counted or step > 0
        elif outlook.fits(0, processors, held):
            step = 0
        else:
            continue
        outlook.take(step, processors, held)
        if step == 0:
            starts.append(waiting)
    return starts


# --- reservations that are kept ------------------------------------------------------------------


@define
class _Round:
    """One round of KEPT: what starts, what is promised."""

    outlook: Outlook
    starts: list[Queued]
    promises: list[Reservation]

    def give(self, waiting: Queued, earlier: Reservation | None = None) -> None:
        """The earliest possible reservation, `earlier` if it says the same; one that begins now
        starts."""
        step = self.outlook.earliest(waiting.processors, waiting.held)
        start = self.outlook.times[step]
        if step == 0:
            self.starts.append(waiting)
        elif earlier is not None and earlier.start == start:
            self.promises.append(earlier)
        else:
            self.promises.append(Reservation(start, waiting))
        self.outlook.take(step, waiting.processors, waiting.held)


def _kept(view: BatchView, most: int | None) -> Decision:
    earlier = view.reservations
    later = [promise for promise in earlier.values() if view.now < promise.start < inf]
    outlook = Outlook.of(view.now, view.free, view.running, later)
    current = _Round(outlook, [], list(later))
    for promise in earlier.values():
        # Where its time has come but its processors have not (a job outlives its estimate), it is
        # put off. Where nobody knew when workers come back, none was promised: it is asked again.
        if not view.now < promise.start < inf:
            current.give(promise.waiting, promise)
    queue = [waiting for waiting in view.queue if waiting.job.index not in earlier]
    made = len(queue) if most is None else min(most, len(queue))
    for waiting in queue[:made]:
        current.give(waiting)
    for waiting in queue[made:]:
        if current.outlook.fits(0, waiting.processors, waiting.held):
            current.outlook.take(0, waiting.processors, waiting.held)
            current.starts.append(waiting)
    # A promise for now waits for a job that outlives its estimate: its end will be heard of.
    times = (it.start for it in current.promises)
    wake = min((start for start in times if view.now < start < inf), default=None)
    return Decision(current.starts, reservations=current.promises, wake=wake)
