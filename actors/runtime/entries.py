"""Defines the entries of the loop's queue and heap (messages, and asyncio's handles disguised as
messages), which times are one instant, and the order of events within it."""

from __future__ import annotations

import asyncio
import enum
import math
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from typing import Any, NoReturn, Protocol

from actors.runtime.errors import (
    ActorFailed,
    Livelock,
    Stalled,
    Unloggable,
    Unresolved,
    WorkersRetired,
)
from policies.maths.tolerance import ROUNDING

Handler = Callable[[Any, Any, int], None]
NOTHING = -1
"""Value of `cause` where no event is the cause."""
Timer = list[Any]
"""One heap entry: [due time, order, target, message, cause]. The target is None once the entry ran
or was cancelled. It is a list because an instance of a class would cost a tenth of the message
rate."""


class Receiver(Protocol):
    """A target of messages, delivered by `handlers[type(message)](receiver, message, cause)`."""

    handlers: Mapping[type, Handler]

    @property
    def name(self) -> str: ...


class TimerHandle(asyncio.TimerHandle):
    """An asyncio timer handle that refers to its entry in the loop's heap, so that cancelling the
    handle cancels the entry too. The reference is None once the entry has run, or if it never was
    in the heap."""

    __slots__ = ("entry",)
    entry: Timer | None


def _run_handle(_: object, handle: asyncio.Handle, __: int = -1) -> None:
    if not handle._cancelled:
        handle._run()


def _run_timer(_: object, handle: TimerHandle, __: int) -> None:
    # Handle and entry refer to each other: the cycle would stay until garbage is collected.
    handle.entry = None
    _run_handle(_, handle)


OF_RUN = ActorFailed | Livelock | Stalled | Unloggable | Unresolved | WorkersRetired
"""Errors that end a run as they are."""


def _run_due(_: object, timer: Timer, cause: int) -> None:
    target, message = timer[2], timer[3]
    if target is None:
        return
    timer[2] = None
    try:
        target.handlers[message.__class__](target, message, cause)
    except BaseException as error:
        blame(target, message, error)


def blame(target: Receiver | None, message: object, error: BaseException) -> NoReturn:
    """Report that `target` (None: the loop itself) raised `error` on `message`; call this where it
    is caught.

    Raises ActorFailed, also for an exit of the program that an actor asks for, or `error` again
    where it ends the run by itself: an error of the runtime, Ctrl-C, or the exit of a program whose
    asyncio callback asks for it.
    """
    own = isinstance(error, KeyboardInterrupt | OF_RUN)
    if own or (target is CALLBACKS and not isinstance(error, Exception)):
        raise error
    name = "loop" if target is None else target.name
    raise ActorFailed(name, message, error) from error


HANDLERS: Mapping[type, Handler] = {
    asyncio.Handle: _run_handle,
    TimerHandle: _run_timer,
    list: _run_due,
}
"""Handlers of what the loop queues for itself: asyncio's handles, and timers."""


class _StandIn:
    """Target of the queue's entries that are no messages to actors."""

    __slots__ = ("handlers", "name")

    def __init__(self, name: str) -> None:
        self.name, self.handlers = name, HANDLERS


CALLBACKS = _StandIn("asyncio")
"""Target of the entries for asyncio's handles, which are treated as messages: handling one runs its
callback unless the handle has been cancelled."""
DUE = _StandIn("timer")
"""Target of a timer that has been queued with the others of its instant. When its turn comes the
timer's message goes to the real target, unless the timer has been cancelled meanwhile."""


INSTANT = 1 + ROUNDING
"""Factor up to which times are one instant with the earliest of them: sums of decimals then
coincide as they do on paper."""


def end_of_instant(now: float) -> float:
    """Return the latest time that is one instant with `now`: `now` x (1 + 1e-12), or `now` itself
    if it is not positive."""
    return now * INSTANT if now > 0 else now


def after_instant(now: float, when: float) -> float:
    """Return `when`, or the first time after the present instant if `when` belongs to this instant.
    Otherwise a task that sleeps until `when` and then looks at the clock again would wait for
    ever."""
    end = end_of_instant(now)
    return math.nextafter(end, math.inf) if when <= end else when


class Phase(enum.IntEnum):
    """Orders the events of one instant; a phase begins when all messages of the one before are
    handled.

    Without phases, whether a worker that goes DOWN at the very end of an attempt loses that
    attempt, or whether a decision sees a freed processor, would depend on which of them was started
    first.
    """

    WORK_ENDS = 0
    """Work that ends now is complete (intervals are half-open); messages on the master's link come
    first."""
    PARTS_END = 1
    """Parts of runs end, except the last verification."""
    RUNS_END = 2
    """Last verifications end, and with them runs and jobs."""
    FAULTS_OCCUR = 3
    """Workers are notified of faults before they change state, so that a worker with two reasons
    for a change changes once. Jobs that exceed the time that they asked for are killed; work that
    ends exactly then is complete."""
    STATES_CHANGE = 4
    """Workers change state, and runs are lost."""
    NOTICES = 5
    """Owners announce that they will take workers away."""
    JOBS_CANCELLED = 6
    """Agents cancel jobs, whatever has become of these at this instant."""
    RUNS_RESUME = 7
    """A job that kept its workers starts its next run if all of them are UP."""
    DECISION = 8
    """The scheduler decides, once."""
    SERVICE = 9
    """The master assigns its channels, so that what the decision asked for is served."""
    STORAGE = 10
    """The storage divides its bandwidth among the runs that save or load."""
    AGENTS = 11
    """Agents hear of what has happened at this instant, which they can change no more."""


PHASE_SHIFT = 50
"""Position of the phase in an entry's order: order = phase << 50 | sequence number, one comparison
instead of two (2^50 events suffice)."""


def orders() -> tuple[Iterator[int], ...]:
    """Return, for each phase, an endless iterator over the order numbers of its entries: phase and
    sequence number in one whole number."""
    return tuple(count(phase << PHASE_SHIFT) for phase in Phase)


def end_of_phase(order: int) -> int:
    """Return the bound below which all order numbers of the same phase as `order` lie."""
    return ((order >> PHASE_SHIFT) + 1) << PHASE_SHIFT
