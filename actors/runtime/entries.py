"""What the loop's queue and heap hold: messages, and asyncio's handles that pass for messages."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
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
