"""What the loop's queue and heap hold: messages, and asyncio's handles that pass for them; which
are one instant, and what happens first within it."""

from __future__ import annotations

import asyncio
import enum
import math
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from typing import Any, Protocol

from actors.runtime.errors import ActorFailed

Handler = Callable[[Any, Any, int], None]
NOTHING = -1
"""In place of an event's number: no event is the cause."""
Timer = list[Any]
"""One heap entry: [due time, order, target, message, cause]; the target is None once it ran or was
cancelled. A list, because a class of its own costs a tenth of the message rate."""


class Receiver(Protocol):
    """Whom a message can be delivered to: `handlers[type(message)](receiver, message, cause)`."""

    handlers: Mapping[type, Handler]

    @property
    def name(self) -> str: ...


class TimerHandle(asyncio.TimerHandle):
    """asyncio's timer handle that knows its heap entry, to take it out of the count of the live."""

    __slots__ = ("entry",)
    entry: Timer | None


class _Callbacks:
    """Receives asyncio's handles as if they were messages."""

    __slots__ = ("handlers", "name")

    def __init__(self) -> None:
        self.name = "asyncio"
        self.handlers: Mapping[type, Handler] = {
            asyncio.Handle: _run_handle,
            TimerHandle: _run_timer,
        }


def _run_handle(_: object, handle: asyncio.Handle, __: int = -1) -> None:
    if not handle._cancelled:
        handle._run()


def _run_timer(_: object, handle: TimerHandle, __: int) -> None:
    # Handle and entry name each other: left so, each would wait for the garbage collector.
    handle.entry = None
    _run_handle(_, handle)


class _Due:
    """Receives a timer that was gathered with others of its instant; it may still be cancelled."""

    __slots__ = ("handlers", "name")

    def __init__(self) -> None:
        self.name = "timer"
        self.handlers: Mapping[type, Handler] = {list: _run_due}


def _run_due(_: object, timer: Timer, cause: int) -> None:
    target, message = timer[2], timer[3]
    if target is None:
        return
    timer[2] = None
    try:
        target.handlers[message.__class__](target, message, cause)
    except Exception as error:
        raise ActorFailed(target.name, message, error) from error


CALLBACKS = _Callbacks()
DUE = _Due()


INSTANT = 1 + 1e-12
"""Times up to so many times the earliest are one instant, that of the earliest: sums of decimals
coincide as they do on paper."""


def end_of_instant(now: float) -> float:
    """The latest time that is one instant with `now`."""
    return now * INSTANT if now > 0 else now


def after_instant(now: float, when: float) -> float:
    """`when`, or if that is one instant with `now`, the first time that is not: whoever waits until
    then and looks at the time again would else wait for ever."""
    end = end_of_instant(now)
    return math.nextafter(end, math.inf) if when <= end else when


class Phase(enum.IntEnum):
    """The order of one instant; a phase begins when all messages of the one before are handled.

    Without it, whether a worker that goes DOWN at the very end of an attempt loses that attempt,
    or whether a freed processor is seen by a decision, would depend on who was started first.
    """

    WORK_ENDS = 0
    """Work that ends now is complete: intervals are half-open. Messages on the link first."""
    PARTS_END = 1
    """Parts of runs that end, but the last verification."""
    RUNS_END = 2
    """Last verifications end, and with them runs and jobs."""
    FAULTS_OCCUR = 3
    """Workers hear of faults, before they change state: two reasons for one change are one. Jobs
    that outlive their limits are killed: work that ends at the limit is complete."""
    STATES_CHANGE = 4
    """Workers change state; runs are lost."""
    NOTICES = 5
    """Owners announce that they take workers away."""
    RUNS_RESUME = 6
    """A job that kept its workers starts its next run if all of them are UP."""
    DECISION = 7
    """The scheduler decides, once."""
    SERVICE = 8
    """What a decision asked for is served: the master deals out its channels."""


PHASE_SHIFT = 50
"""order = phase << 50 | sequence number: one comparison instead of two (2^50 events suffice)."""


def orders() -> tuple[Iterator[int], ...]:
    """By phase: the orders that its entries get, one after the other."""
    return tuple(count(phase << PHASE_SHIFT) for phase in Phase)


def end_of_phase(order: int) -> int:
    """What every order of its phase is below."""
    return ((order >> PHASE_SHIFT) + 1) << PHASE_SHIFT
