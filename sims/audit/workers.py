"""Defines sets of workers, and the state of a worker to which something has happened: its
availability, memory and message, and the channel that it waits for."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import accumulate, chain, compress
from math import inf
from operator import and_, lt, ne, sub
from typing import Any, TypeVar

from attrs import Factory, define

from actors.events import TransferKind, TransferSuspended
from policies.availability import WorkerState
from sims.audit.law import possible, readable
from sims.audit.turns import NEGLIGIBLE, Emitter, Script, Timer

V = TypeVar("V")
UP, RECLAIMED, DOWN = WorkerState
PROGRAM, DATA = TransferKind.PROGRAM, TransferKind.DATA
IMAGE, SAVE = TransferKind.IMAGE, TransferKind.SAVE
LONGEST_FIRST = "longest-first"
Spans = tuple[int, ...]
"""Set of workers as intervals: the first number of each and the one after its last, ascending."""


@lru_cache(maxsize=1 << 14)
def _span_of(text: str) -> Spans:
    """Return the interval (first, one after the last) that a text such as `0-3` or `5` stands for;
    empty if it is not how logs write it. Raises ValueError for a text without numbers."""
    first, _, last = text.partition("-")
    span = int(first), int(last or first) + 1
    return span if written(span) == text else ()


@lru_cache(maxsize=1024)
def parse_spans(text: str) -> Spans:
    """Return the intervals of worker numbers that a log's text gives, such as `0-3 5`; empty for
    the empty text, where all workers are promised and have not come.

    Raises Broken for any other text.
    """
    try:
        each = list(map(_span_of, text.split(" "))) if text else []
    except ValueError:
        each = [()]
    spans = tuple(chain.from_iterable(each))
    sound = all(each) and all(map(lt, spans, spans[1:]))
    readable(sound, "{!r} is no interval set of workers", text)
    return spans


def by_worker(size: int, groups: Sequence[tuple[str, V]]) -> dict[int, V]:
    """Return the value of each of the platform's `size` workers, from pairs of worker intervals (as
    a log's text) and a value.

    Raises Broken where a worker has two values or none.
    """
    found: dict[int, V] = {}
    for text, value in groups:
        members = numbers(parse_spans(text))
        possible(found.keys().isdisjoint(members), f"{text} are logged twice")
        found.update(dict.fromkeys(members, value))
    whole = len(found) == size > max(found, default=0)
    possible(whole, f"it tells of {len(found)} workers of {size}")
    return found


def written(spans: Spans) -> str:
    """Return the text of intervals of workers as logs write it, such as `0-3 5`."""
    each = zip(spans[::2], spans[1::2], strict=True)
    return " ".join(f"{first}-{end - 1}" if end > first + 1 else str(first) for first, end in each)


def numbers(spans: Spans) -> tuple[int, ...]:
    """Return the numbers of all workers in these intervals, ascending."""
    return tuple(chain.from_iterable(map(range, spans[::2], spans[1::2])))


def joined(workers: Iterable[int]) -> Spans:
    """Return these worker numbers, in any order, as intervals: a tuple of bounds."""
    # Bounds of intervals are the numbers in exactly one of the set and the set shifted by one.
    each = set(workers)
    return tuple(sorted(each ^ {n + 1 for n in each}))


def extent(spans: Spans) -> int:
    """Return the number of workers in these intervals."""
    return sum(spans[1::2]) - sum(spans[::2])


def meet(one: Spans, other: Spans) -> bool:
    """Return whether any worker is in both sets, which are given as intervals."""
    return _begins(one, other) or _begins(other, one)


def _begins(one: Spans, other: Spans) -> bool:
    # An odd number of bounds up to `first`: it lies within an interval.
    return any(bisect_right(other, first) % 2 for first in one[::2])


@define(eq=False)
class Free:
    """The workers that are UP and that no copy holds, as intervals `spans` and their number
    `count`."""

    spans: Spans = ()
    count: int = 0

    def has(self, spans: Spans) -> bool:
        """Return whether all of these workers, given as intervals, are free. The set itself stays
        as it is."""
        return extent(self._but(spans)) == self.count - extent(spans)

    def take(self, spans: Spans) -> bool:
        """Remove these workers from the free ones; return whether all of them were free. If not,
        the set is wrong afterwards, and the log is too."""
        own, last = self.spans, len(spans) - 1
        self.count -= extent(spans)
        # Most often a run takes the lowest workers: then no merge is needed.
        if own[:last] == spans[:last] and own[last : last + 1] > spans[last:]:
            self.spans = (spans[last], *own[last:])
            return True
        self.spans = self._but(spans)
        return extent(self.spans) == self.count

    def give(self, spans: Spans) -> None:
        """Add these workers, which were not free before, to the free ones."""
        self.spans = self._but(spans)
        self.count += extent(spans)

    def _but(self, spans: Spans) -> Spans:
        """Return the workers in exactly one of the two sets: that of the free ones, and `spans`.

        Dropping the values that two sorted sequences have in common takes a third of the time of
        sets.
        """
        both = sorted(self.spans + spans)
        # A value that occurs twice equals a neighbour: both are dropped.
        apart = [True, *map(ne, both, both[1:]), True]
        return tuple(compress(both, map(and_, apart, apart[1:])))

    def lowest(self, wanted: int) -> Spans:
        """Return the `wanted` lowest free workers, or all if there are fewer (rules.md, D2)."""
        if wanted >= self.count:
            return self.spans
        sizes = list(accumulate(self._sizes()))
        whole = bisect_left(sizes, wanted)
        end = self.spans[2 * whole + 1] - (sizes[whole] - wanted)
        return (*self.spans[: 2 * whole + 1], end) if wanted else ()

    def _sizes(self) -> Iterable[int]:
        return map(sub, self.spans[1::2], self.spans[::2])

    def fewest_gaps(self, wanted: int) -> Spans:
        """Return `wanted` free workers from as few gaps (intervals of free workers) as possible, or
        all if there are fewer.

        Takes the largest gap (the highest of equals) until one gap holds all that are still wanted,
        then the head of the smallest gap that does (the lowest of equals).
        """
        taken = list[int]()
        gaps = sorted(zip(self._sizes(), self.spans[::2], strict=True))
        while gaps and gaps[-1][0] < wanted:
            size, first = gaps.pop()
            taken += first, first + size
            wanted -= size
        if gaps and wanted:
            first = gaps[bisect_left(gaps, (wanted, 0))][1]
            taken += first, first + wanted
        return tuple(sorted(taken))


@define(eq=False)
class ExpectedWorker(Emitter):
    """A worker to which something has happened. All others are UP, at speed 1, and have no such
    object."""

    number: int
    state: WorkerState = UP
    seq: int = 0
    """Sequence number of the event that changed the state last."""
    down_since: float | None = None
    """Time since which it has been DOWN; None: it is not."""
    fell: float = -1
    """Time at which it went DOWN last."""
    rose: float = -1
    """Time at which it ceased to be DOWN last, if it had not gone DOWN at that very instant."""
    until: float | None = None
    """End of a fault's downtime."""
    detection: float = 0
    """Time after which the last fault is detected if a copy holds the worker."""
    changed: float = -1
    """Time of the last change of state."""
    sped: float = -1
    """Time of the last change of speed."""
    away: tuple[float, int] | None = None
    """Time and event of the first DOWN since the worker was UP last."""
    lead: float | None = None
    """Time by which the owner's notices precede DOWN; None while unknown."""
    unannounced: tuple[float, float] = 0.0, 0.0
    """Longest time for which the worker had not been DOWN when its owner took it DOWN without
    notice, and when that was."""
    announced: list[float] = Factory(list)
    """Times at which the worker goes DOWN by its owner's notices."""
    back: float = -inf
    """Time at which the worker ceased to be DOWN last; -inf: it has not been DOWN."""
    watched: float = inf
    """Time since which `lead` has been known, and spells of DOWN are kept."""
    spells: list[tuple[float, float]] = Factory(list)
    """Spells of DOWN since `watched`, but for those that ended too long ago to matter for a
    notice."""
    repaired: float = -1
    """Time at which it was UP again because a fault's downtime was over."""
    deferred: Callable[[bool], Script] | None = None
    """Effect of a fault without downtime, pending until the worker's next state decides whether the
    fault is noticed."""
    speed: float = 1
    programs: set[str] = Factory(set)
    data: int = 0
    image: bool = False
    kind: TransferKind | None = None
    """Kind of the message of which a part has passed or is passing."""
    left: float = 0
    """Time that this message still takes, at `since`."""
    since: float = 0
    passing: Timer | None = None
    """Timer of the message's end, while it passes."""
    sent: int = -1
    """Sequence number of the message's TransferStarted."""
    began: tuple[str, int] = "", -1
    """Job and run for which the message was started; its worker may have been enrolled again."""
    run: Any = None
    """Run for which the worker fetches."""
    ready: bool = False
    """Whether the worker fetches the program because the run's copy holds it ready, not as a
    member."""
    fetches: bool = False
    """Whether the run continues from a checkpoint on the master's storage."""
    saving: bool = False
    wanted: tuple[float, int] = -1.0, -1
    """Time and event since which the worker has wanted its next message."""

    @property
    def lost(self) -> bool:
        """Whether the worker's message only blocks its channel, as the fault that lost it is not
        detected yet."""
        return self.passing is not None and not self.passing.live

    def leave(self) -> None:
        """Forget the data and the checkpoint received for a run that the worker leaves; complete
        programs stay."""
        self.data, self.image = 0, False

    def size(self, kind: TransferKind) -> float:
        """Return how long a message of this kind takes on the master's link for the job of the
        worker's run."""
        sizes = self.run.copy.job.messages
        known = {PROGRAM: sizes.program, DATA: sizes.data}
        return known.get(kind, sizes.image)  # type: ignore[no-any-return]

    def units(self) -> int:
        """Return the number of data messages, one per task, that the worker still lacks for its
        run; 0 for one that is held ready."""
        if self.ready:
            return 0
        return self.run.copy.units.get(self.number, 1) - self.data  # type: ignore[no-any-return]

    def wants(self) -> TransferKind | None:
        """Return the kind of message that the worker has to fetch for its run or send next; None if
        there is none."""
        if self.run is None or self.saving:
            return SAVE if self.run is not None else None
        if self.size(PROGRAM) and self.run.copy.job.messages.label not in self.programs:
            return PROGRAM
        if self.size(DATA) and self.units() > 0:
            return DATA
        return IMAGE if self.fetches and self.size(IMAGE) and not self.image else None

    def lacks(self, now: float) -> float:
        """Return how long all messages with program and data that the worker lacks at time `now`
        still take on the link (n_q of volatile13, section V)."""
        left = 0 if self.run.copy.job.messages.label in self.programs else self.size(PROGRAM)
        left += max(self.units(), 0) * self.size(DATA)
        if self.kind in (PROGRAM, DATA) and left:
            left -= self.size(self.kind) - self._left(now)
        return max(left, 0)

    def _left(self, now: float) -> float:
        return self.left - (now - self.since) if self.passing is not None else self.left

    def suspend(self, now: float) -> TransferSuspended:
        """Suspend the worker's message at time `now`; return the line that says so."""
        left = self._left(now)
        assert self.kind is not None
        # What rounding leaves of a message is none.
        self.left, self.since = left if left > NEGLIGIBLE * self.left else 0, now
        self.stop()
        return TransferSuspended(self.number, self.kind, self.left)

    def stop(self) -> None:
        """Cancel the timer of the message's end."""
        if self.passing is not None:
            self.passing.live = False
            self.passing = None


@define(eq=False)
class Service(Emitter):
    """The master's channels: which workers want or have one, and what has happened since the
    channels were last assigned."""

    channels: int
    order: str
    waiting: dict[ExpectedWorker, int] = Factory(dict)
    """Maps workers that want or have a channel to the event since which they want it."""
    requests: dict[ExpectedWorker, int] = Factory(dict)
    """Maps workers that have asked for a channel since the last assignment to the event that made
    them ask."""
    freed: int = -1
    """Sequence number of the event that has freed a channel since the last assignment; -1 if none
    has."""
    stale: bool = False
    """Whether the channels have to be assigned anew."""
    next_slot: float = -1
    """Start of the next slot, at which an order that looks again in every slot does so."""

    def remove(self, worker: ExpectedWorker) -> None:
        """Note that a worker no longer wants a channel; if it wanted one, the channels are assigned
        anew."""
        if self.waiting.pop(worker, None) is not None:
            self.stale = True

    def free(self, seq: int) -> None:
        """Note that event `seq` has freed a channel, so that the channels have to be assigned
        anew."""
        self.freed, self.stale = seq, True

    @property
    def derived(self) -> bool:
        """Whether the master's order of service determines from the state which workers get a
        channel. It does not with a user's own order or a timetable: then any waiting worker may."""
        return self.order in ("started-first", LONGEST_FIRST)
