"""Logs the messages of a system: which actor received what, from whom, and because of what.

A system that logs its messages gives each actor its own view of the system and of the loop, by
which everything that the actor sends, to others or to itself, is sent as a `Delivery`. A system
that does not log them, such as that of a scenario by default, has none of this and pays nothing for
it.

In the journal of a user's own actors a message is an event like others: what follows from it has it
as its cause. Beside the events of Holdfast's world (`Interleaved`) messages cause nothing, so that
the events are those of a run without messages.
"""

from __future__ import annotations

import enum
from array import array
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, ParamSpec, cast

import attrs

from actors.runtime.actor import STOPPED, Actor, Home
from actors.runtime.coroutines import Letter, into_mailbox
from actors.runtime.entries import Handler, Phase, Receiver, Timer
from actors.runtime.journal import Event, MessageLog, Record, RecordOfActor, Sink, fact
from actors.runtime.loop import VirtualTimeLoop

P = ParamSpec("P")


@fact
class ActorStarted(Event):
    """An actor joined the system; the line's key `actor` has its name."""

    kind: str
    """Name of the actor's class."""


@fact
class MessageReceived(Event):
    """An actor received a message. In a log of a user's own actors its number is the cause of all
    that follows from it; in a log of the world nothing has it as its cause.

    The line's key `actor` names the receiver. A message of an actor to itself is a timer that is
    over, if it was sent before.
    """

    message: str
    """Name of the message's class."""
    content: str
    """The message's fields and their values, as `task 3, work 2.5`; actors are given by name."""
    sender: str
    """Name of the actor that sent it."""
    sent: float
    """Virtual time at which it was sent."""


class Delivery:
    """A message on its way: the loop delivers to it in place of the receiver."""

    __slots__ = ("handlers", "journal", "name", "sender", "sent", "target")

    def __init__(self, target: Receiver, sender: str, sent: float, journal: MessageLog) -> None:
        self.target, self.sender, self.sent, self.journal = target, sender, sent, journal
        self.name = target.name
        self.handlers: Mapping[type, Handler] = ALL

    def received(self, message: object, cause: int) -> int:
        """Record that the message is received, and return the cause of what follows from it."""
        told = type(message).__name__, content(message), self.sender, self.sent
        return self.journal.record_by(self.name, cause, MessageReceived, *told)


class _All(dict[type, Handler]):
    """Maps every class of messages to the function that delivers it."""

    def __missing__(self, kind: type) -> Handler:
        return _deliver


ALL = _All()


class Parcel(NamedTuple):
    """A letter in a mailbox that is logged when it is received."""

    message: object
    cause: int
    delivery: Delivery


class LoggedLetters(deque[Any]):
    """The messages that a coroutine actor has not received yet; taking one logs it."""

    def popleft(self) -> Letter:
        message, cause, delivery = super().popleft()
        return message, delivery.received(message, cause)


def _deliver(delivery: Delivery, message: object, cause: int) -> None:
    target = delivery.target
    handler = target.handlers[message.__class__]
    if target.handlers is STOPPED:
        return
    if handler is into_mailbox:
        cast(Any, target).life.take_in(Parcel(message, cause, delivery))
    else:
        handler(target, message, delivery.received(message, cause))


# --- the system as one actor sees it --------------------------------------------------------------


class Outbox:
    """Stands in for a queue of the loop's, to which one actor appends its messages."""

    def __init__(self, queue: Any, delivery: Callable[[Receiver], Delivery]) -> None:
        self._queue, self._delivery = queue, delivery

    def append(self, entry: tuple[Any, ...]) -> None:
        """Append an entry whose last parts are a target, a message and a cause."""
        *order, target, message, cause = entry
        self._queue.append((*order, self._delivery(target), message, cause))


class LoopOfActor:
    """The loop as one actor sees it: what the actor schedules is logged when it is received."""

    def __init__(self, actor: Actor, loop: VirtualTimeLoop, journal: MessageLog) -> None:
        self._actor, self._loop, self._journal = actor, loop, journal
        self._queue = Outbox(loop._queue, self._delivery)
        self._later = Outbox(loop._later, self._delivery)

    def _delivery(self, target: Receiver) -> Delivery:
        return Delivery(target, self._actor.name, self._loop.now, self._journal)

    def schedule(
        self, when: float, phase: Phase, target: Receiver, message: object, cause: int
    ) -> Timer:
        """Deliver `message` at time `when`, as the loop does."""
        return self._loop.schedule(when, phase, self._delivery(target), message, cause)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loop, name)


class HomeOfActor:
    """The system as one actor sees it, where messages are logged."""

    def __init__(self, actor: Actor, home: Home, journal: MessageLog) -> None:
        self._home = home
        self.loop = LoopOfActor(actor, home.loop, journal)
        self.letters = LoggedLetters

    def __getattr__(self, name: str) -> Any:
        return getattr(self._home, name)


def log_messages(actor: Actor, home: Home, journal: MessageLog) -> None:
    """Have all that `actor`, which joins the system `home`, receives be logged in `journal`, and
    all that it records have its name."""
    actor.system = cast(Home, HomeOfActor(actor, home, journal))
    record: Any = home.journal.record_by
    actor.record = partial(record, actor.name)
    journal.record_by(actor.name, home.origin, ActorStarted, type(actor).__name__)


# --- messages beside the events of the world ------------------------------------------------------


class Interleaved:
    """A sink of a journal that passes on, as one log, the journal's events and the messages between
    actors, numbered anew.

    Messages are no events of the journal, so that the run is the same with and without them; an
    event's cause is an event. `sink` takes the log.
    """

    def __init__(self, loop: VirtualTimeLoop, sink: Sink) -> None:
        self._loop, self._sink = loop, sink
        self._lines = array("Q")
        """Number of the line of each event."""
        self._length = 0
        """Number of lines so far."""

    def __call__(self, record: Record) -> None:
        cause = None if record.cause is None else self._lines[record.cause]
        self._lines.append(self._length)
        self._add(record.t, cause, record.event, record.actor)

    def record_by(
        self, actor: str, cause: int, kind: Callable[P, Event], *args: P.args, **kwargs: P.kwargs
    ) -> int:
        """Add a line on the actor of this name, and return `cause`, the event that leads to all
        that follows. NOTHING stands for the first event."""
        line = self._lines[max(cause, 0)]
        self._add(self._loop.now, line, kind(*args, **kwargs), actor)
        return cause

    def _add(self, t: float, cause: int | None, event: Event, actor: str | None) -> None:
        self._sink(RecordOfActor.of(Record(self._length, t, cause, event), actor))
        self._length += 1


# --- what a message says --------------------------------------------------------------------------


def content(message: object) -> str:
    """Return the fields of a message and their values as text; a message that is no attrs class is
    its own value."""
    kind = type(message)
    if not attrs.has(kind):
        return _value(message)
    fields = ((it.name, getattr(message, it.name)) for it in attrs.fields(kind))
    return ", ".join(f"{name} {_value(value)}" for name, value in fields)


def _value(value: object) -> str:
    """Return a value as text that is the same in every run: without addresses."""
    match value:
        case Actor():
            return value.name
        case enum.Enum():
            return str(value.value)
        case None | bool() | int() | float() | str():
            return str(value)
        case list() | tuple():
            return f"({' '.join(map(_value, cast(Sequence[object], value)))})"
        case _ if attrs.has(type(value)):
            return f"{type(value).__name__}({content(value)})"
        case _:
            return type(value).__name__
