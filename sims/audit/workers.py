"""Workers: sets of them, who is free, and what the audit knows of one to which something has
happened: its state, its memory, the message that passes, and the channel that it waits for."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import accumulate, chain, compress
from operator import and_, lt, ne, sub
from typing import Any, TypeVar

from attrs import Factory, define

from actors.events import TransferKind, TransferSuspended
from policies.availability import WorkerState
from sims.audit.law import possible, readable
from sims.audit.turns import NEGLIGIBLE, Script, Teller, Timer

V = TypeVar("V")
UP, DOWN = WorkerState.UP, WorkerState.DOWN
PROGRAM, DATA = TransferKind.PROGRAM, TransferKind.DATA
IMAGE, SAVE = TransferKind.IMAGE, TransferKind.SAVE
LONGEST_FIRST = "longest-first"
Spans = tuple[int, ...]
"""Workers as intervals: first number of each and the one after its last, ascending."""


@lru_cache(maxsize=1 << 14)
def _span_of(text: str) -> Spans:
    first, _, last = text.partition("-")
    span = int(first), int(last or first) + 1
    return span if written(span) == text else ()


@lru_cache(maxsize=1024)
def spans_told(text: str) -> Spans:
    """Intervals as logs write them, such as `0-3 5`; none where all are promised, and have not
    come. Raises Broken for another text."""
    try:
        each = list(map(_span_of, text.split(" "))) if text else []
    except ValueError:
        each = [()]
    spans = tuple(chain.from_iterable(each))
    sound = all(each) and all(map(lt, spans, spans[1:]))
    readable(sound, "{!r} is no interval set of workers", text)
    return spans


def by_worker(size: int, groups: Sequence[tuple[str, V]]) -> dict[int, V]:
    """Of every worker of the platform. Raises Broken where one is told of twice, or not."""
    found: dict[int, V] = {}
    for text, value in groups:
        members = numbers(spans_told(text))
        possible(found.keys().isdisjoint(members), f"{text} are told of twice")
        found.update(dict.fromkeys(members, value))
    whole = len(found) == size > max(found, default=0)
    possible(whole, f"it tells of {len(found)} workers of {size}")
    return found


def written(spans: Spans) -> str:
    """As logs write them."""
    each = zip(spans[::2], spans[1::2], strict=True)
    return " ".join(f"{first}-{end - 1}" if end > first + 1 else str(first) for first, end in each)


def numbers(spans: Spans) -> tuple[int, ...]:
    """Every one of them."""
    return tuple(chain.from_iterable(map(range, spans[::2], spans[1::2])))


def joined(workers: Iterable[int]) -> Spans:
    """These numbers as intervals."""
    each = set(workers)
    return tuple(sorted(each ^ {n + 1 for n in each}))


def extent(spans: Spans) -> int:
    """How many workers these are."""
    return sum(spans[1::2]) - sum(spans[::2])


def meet(one: Spans, other: Spans) -> bool:
    """Whether a worker is in both: an interval of one begins within one of the other's."""
    return _begins(one, other) or _begins(other, one)


def _begins(one: Spans, other: Spans) -> bool:
    return any(bisect_right(other, first) % 2 for first in one[::2])


@define(eq=False)
class Free:
    """Workers that are UP and that nobody holds."""

    spans: Spans = ()
    count: int = 0

    def has(self, spans: Spans) -> bool:
        """Whether all of these are."""
        return extent(self._but(spans)) == self.count - extent(spans)

    def take(self, spans: Spans) -> bool:
        """They are no more; whether all of them were."""
        own, last = self.spans, len(spans) - 1
        self.count -= extent(spans)
        if own[:last] == spans[:last] and own[last : last + 1] > spans[last:]:  # most often
            self.spans = (spans[last], *own[last:])
            return True
        self.spans = self._but(spans)
        return extent(self.spans) == self.count

    def give(self, spans: Spans) -> None:
        """They are again."""
        self.spans = self._but(spans)
        self.count += extent(spans)

    def _but(self, spans: Spans) -> Spans:
        """Those in one of both sets: what two sorted sequences have in common goes, which takes a
        third of the time that sets take."""
        both = sorted(self.spans + spans)
        apart = [True, *map(ne, both, both[1:]), True]
        return tuple(compress(both, map(and_, apart, apart[1:])))

    def lowest(self, wanted: int) -> Spans:
        """The lowest numbers, or all if there are fewer (WORLD.md, D2)."""
        if wanted >= self.count:
            return self.spans
        sizes = list(accumulate(self._sizes()))
        whole = bisect_left(sizes, wanted)
        end = self.spans[2 * whole + 1] - (sizes[whole] - wanted)
        return (*self.spans[: 2 * whole + 1], end) if wanted else ()

    def _sizes(self) -> Iterable[int]:
        return map(sub, self.spans[1::2], self.spans[::2])

    def fewest_gaps(self, wanted: int) -> Spans:
        """Until one gap holds all that is still wanted, the largest gap (the highest of equals);
        then the head of the smallest that does (the lowest of equals)."""
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
class Worker(Teller):
    """One to which something has happened; others are UP, at speed 1."""

    number: int
    state: WorkerState = UP
    seq: int = 0
    """What changed its state last."""
    until: float | None = None
    """When a fault's downtime is over."""
    detection: float = 0
    """After which time its last fault is detected where a copy holds it."""
    changed: float = -1
    """When its state did last."""
    away: tuple[float, int] | None = None
    """When it went DOWN first since it was UP, and seq of that."""
    lead: float | None = None
    """How long before it goes DOWN its owner says so."""
    unannounced: tuple[float, float] = 0.0, 0.0
    """How long it had not been DOWN at most when its owner took it DOWN and had not said so, and
    when that was."""
    told: list[float] = Factory(list)
    """When it goes DOWN, as its owner has said."""
    back: float = 0
    """When it ceased to be DOWN last."""
    struck: Callable[[bool], Script] | None = None
    """What a fault without a downtime leads to, once it is known whether somebody hears of it."""
    speed: float = 1
    programs: set[str] = Factory(set)
    data: int = 0
    image: bool = False
    kind: TransferKind | None = None
    """Of the message of which a part has passed or is passing."""
    left: float = 0
    """Of it, at `since`."""
    since: float = 0
    passing: Timer | None = None
    """Its end, while it passes."""
    sent: int = -1
    """seq of its TransferStarted."""
    run: Any = None
    """That it fetches for."""
    fetches: bool = False
    """Whether the run continues from an image of the master's."""
    saving: bool = False
    wanted: tuple[float, int] = -1.0, -1
    """Since when, and since which event, it has wanted the message that it wants."""

    @property
    def lost(self) -> bool:
        """Whether its message only keeps its channel, as nobody has heard that it went DOWN."""
        return self.passing is not None and not self.passing.live

    def leave(self) -> None:
        """Complete programs are what leaving a run leaves."""
        self.data, self.image = 0, False

    def size(self, kind: TransferKind) -> float:
        """Time of such a message, of its run's job."""
        sizes = self.run.copy.job.messages
        known = {PROGRAM: sizes.program, DATA: sizes.data}
        return known.get(kind, sizes.image)  # type: ignore[no-any-return]

    def units(self) -> int:
        """Messages with data that it still lacks."""
        return self.run.copy.units.get(self.number, 1) - self.data  # type: ignore[no-any-return]

    def wants(self) -> TransferKind | None:
        """The message that it must fetch or send next."""
        if self.run is None or self.saving:
            return SAVE if self.run is not None else None
        if self.size(PROGRAM) and self.run.copy.job.messages.label not in self.programs:
            return PROGRAM
        if self.size(DATA) and self.units() > 0:
            return DATA
        return IMAGE if self.fetches and self.size(IMAGE) and not self.image else None

    def lacks(self, now: float) -> float:
        """Time of program and data that it lacks in all (n_q of volatile13, section V)."""
        left = 0 if self.run.copy.job.messages.label in self.programs else self.size(PROGRAM)
        left += max(self.units(), 0) * self.size(DATA)
        if self.kind in (PROGRAM, DATA) and left:
            left -= self.size(self.kind) - self._left(now)
        return max(left, 0)

    def _left(self, now: float) -> float:
        return self.left - (now - self.since) if self.passing is not None else self.left

    def suspend(self, now: float) -> TransferSuspended:
        """Its message stops passing; what tells of it."""
        left = self._left(now)
        assert self.kind is not None
        self.left, self.since = left if left > NEGLIGIBLE * self.left else 0, now
        self.stop()
        return TransferSuspended(self.number, self.kind, self.left)

    def stop(self) -> None:
        """Nothing passes any more."""
        if self.passing is not None:
            self.passing.live = False
            self.passing = None


@define(eq=False)
class Service(Teller):
    """Who wants a channel, and what has changed since they were dealt out."""

    channels: int
    order: str
    waiting: dict[Worker, int] = Factory(dict)
    """Who wants one or has one -> seq of what it wants it for."""
    asked: dict[Worker, int] = Factory(dict)
    """The same of those who have asked since the channels were dealt out last."""
    freed: int = -1
    """seq of what freed a channel since then."""
    stirred: bool = False
    looks: float = -1
    """When the slot begins in which an order that looks again in every slot does so next."""

    def quit(self, worker: Worker) -> None:
        """It wants none any more."""
        if self.waiting.pop(worker, None) is not None:
            self.stirred = True

    def free(self, seq: int) -> None:
        """A channel is."""
        self.freed, self.stirred = seq, True

    @property
    def derived(self) -> bool:
        """Whether whom it serves follows: an order of a user's, or a timetable, may choose anybody
        who waits."""
        return self.order in ("started-first", LONGEST_FIRST)
