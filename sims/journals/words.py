"""Says events in words, those of a user's own actors and of the runtime included."""

from __future__ import annotations

from actors.runtime import Record
from actors.runtime.coroutines import Awake
from actors.runtime.deliveries import ActorStarted, MessageReceived
from sims.errors import visible
from sims.telling import Clock, event_text

SLEEP = Awake.__name__


def record_text(record: Record, clock: Clock) -> str:
    """Return what a record says, after the name of the actor that recorded it if the log has that
    name."""
    text = happened(record, clock)
    return text if record.actor is None else visible(f"{record.actor}: {text}")


def happened(record: Record, clock: Clock) -> str:
    """Return what a record says, without the name of its actor."""
    match event := record.event:
        case ActorStarted():
            return visible(f"starts, a {event.kind}")
        case MessageReceived() if is_timer(record):
            what = "wakes" if event.message == SLEEP else f"timer {said(event)}"
            return visible(f"{what}, set at {clock(event.sent)}")
        case MessageReceived():
            late = "" if event.sent == record.t else f", sent at {clock(event.sent)}"
            return visible(f"receives {said(event)} from {event.sender}{late}")
        case _:
            return event_text(event).removesuffix(": ")


def said(event: MessageReceived) -> str:
    """Return a message's class and what it says: `Task (number 3, work 2.5)`."""
    return f"{event.message} ({event.content})" if event.content else event.message


def is_timer(record: Record) -> bool:
    """Whether the record is of a timer that is over: of a message to the sender itself, which it
    sent before."""
    event = record.event
    own = isinstance(event, MessageReceived) and event.sender == record.actor
    return own and event.sent < record.t  # type: ignore[attr-defined]
