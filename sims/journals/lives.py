"""Tells the lives of a user's actors from a log: what each received, sent and recorded, and
because of what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from attrs import define, field, frozen

from actors.runtime import Record
from actors.runtime.deliveries import ActorStarted, MessageReceived
from sims.errors import InputError, visible
from sims.journals.words import happened, is_timer, said
from sims.log import LogFile
from sims.telling import Clock, amount_of, counted

SHOWN = 20
"""How many actors an error message names if the one asked for does not exist."""
CLOCK = Clock("")
"""Clock of these logs, whose times have no unit."""


@define
class ActorCounts:
    """Numbers of the messages, timers and events of one actor."""

    kind: str = ""
    """Name of the actor's class; empty where the log does not say."""
    received: int = 0
    sent: int = 0
    timers: int = 0
    """Number of the actor's own timers that came, sleeps included."""
    recorded: int = 0
    """Number of events that the actor recorded."""

    def as_json(self) -> dict[str, object]:
        """Return the numbers as data."""
        return {it: getattr(self, it) for it in ("kind", *NUMBERS)}


NUMBERS = ("received", "sent", "timers", "recorded")


@define
class Counts:
    """Counts what a log of a user's own actors holds: call it with each record, in order."""

    events: int = 0
    time: float = 0
    """Virtual time of the last event."""
    kinds: Counter[str] = field(factory=Counter)
    """Number of events of each kind, without those of the runtime."""
    messages: Counter[str] = field(factory=Counter)
    """Number of messages of each class that an actor received from another."""
    actors: dict[str, ActorCounts] = field(factory=dict)

    @classmethod
    def of(cls, records: Iterable[Record]) -> Counts:
        """Return the counts of all these records."""
        counts = cls()
        for record in records:
            counts(record)
        return counts

    def __call__(self, record: Record) -> None:
        self.events, self.time = record.seq + 1, record.t
        mine = None if record.actor is None else self._of(record.actor)
        match event := record.event:
            case ActorStarted() if mine:
                mine.kind = event.kind
            case MessageReceived() if mine and is_timer(record):
                mine.timers += 1
            case MessageReceived() if mine:
                mine.received += 1
                self.messages[event.message] += 1
                self._of(event.sender).sent += 1
            case _:
                self.kinds[type(event).__name__] += 1
                if mine:
                    mine.recorded += 1

    def _of(self, name: str) -> ActorCounts:
        return self.actors.setdefault(name, ActorCounts())

    def as_json(self) -> dict[str, object]:
        """Return the counts as data, as `--json` prints them."""
        return {
            "events": self.events,
            "time": self.time,
            "kinds": dict(self.kinds),
            "messages": dict(self.messages),
            "actors": {name: it.as_json() for name, it in self.actors.items()},
        }

    def lines(self, each: bool = True) -> Iterator[str]:
        """Yield the counts as lines for people, under `each` with a table of the actors."""
        yield f"{counted(self.events, 'event')} until {amount_of(self.time)}"
        for what, counts in (("recorded", self.kinds), ("received", self.messages)):
            if counts:
                parts = (f"{number:,} {name}" for name, number in counts.most_common())
                yield visible(f"  {what:<12}{', '.join(parts)}")
        if self.actors and each:
            yield ""
            width = max(16, *(len(visible(name)) for name in self.actors))
            yield f"{'':<{width}}  {'kind':<16}{''.join(f'{it:>10}' for it in NUMBERS)}"
            for name, it in self.actors.items():
                numbers = "".join(f"{getattr(it, key):>10,}" for key in NUMBERS)
                yield f"{visible(name):<{width}}  {visible(it.kind):<16}{numbers}"


@frozen
class Step:
    """One thing in the life of an actor."""

    t: float
    """Time, in the log's unit."""
    seq: int
    """Number of the event that says it; of a message that was sent, its receipt."""
    cause: int | None
    """Number of the event that caused that one."""
    what: str
    """Description of it, in words."""


@frozen
class ActorLife:
    """The life of one actor: what it received, sent and recorded, in order; printing it shows the
    text."""

    actor: str
    counts: ActorCounts
    steps: list[Step]

    @property
    def data(self) -> dict[str, Any]:
        """The life as data, as `--json` prints it."""
        steps = [
            {"t": it.t, "seq": it.seq, "what": it.what}
            | ({} if it.cause is None else {"cause": it.cause})
            for it in self.steps
        ]
        return {"actor": self.actor} | self.counts.as_json() | {"steps": steps}

    def __str__(self) -> str:
        it = self.counts
        kind = f", a {it.kind}" if it.kind else ""
        numbers = ", ".join(f"{getattr(it, key):,} {key}" for key in NUMBERS)
        lines = [f"{self.actor}{kind}: {numbers}"]
        for step in self.steps:
            because = "" if step.cause is None else f"  because of #{step.cause}"
            lines.append(f"  {CLOCK(step.t):<12} #{step.seq:<7} {step.what}{because}")
        return "\n".join(map(visible, lines))

    __repr__ = __str__


def find_actor(log: LogFile, name: str) -> ActorLife:
    """Return the life of the actor called `name`, from the log of a system that logs its messages.

    Raises InputError, which names other actors, where the log has no such actor.
    """
    counts, steps = Counts(), list[Step]()
    for record in log:
        counts(record)
        steps += _steps(record, name)
    if name not in counts.actors:
        known = list(counts.actors)
        more = [f"{len(known) - SHOWN:,} more"] if len(known) > SHOWN else []
        accepted = ", ".join([*known[:SHOWN], *more])
        problem = f"there is no actor {name!r} in this log"
        raise InputError(str(log.path), "NAME", problem, accepted or MESSAGES)
    # A message is logged when it is received, and belongs where it was sent.
    return ActorLife(name, counts.actors[name], sorted(steps, key=lambda it: (it.t, it.seq)))


MESSAGES = (
    "a log of `holdfast run --messages`, or of System(sinks=[...], messages=True), which logs who "
    "received what"
)


def _steps(record: Record, name: str) -> Iterator[Step]:
    event = record.event
    sent = isinstance(event, MessageReceived) and event.sender == name and not is_timer(record)
    if sent and isinstance(event, MessageReceived):
        later = "" if event.sent == record.t else f", received at {CLOCK(record.t)}"
        what = f"sends {said(event)} to {record.actor}{later}"
        yield Step(event.sent, record.seq, record.cause, what)
    if record.actor == name:
        yield Step(record.t, record.seq, record.cause, happened(record, CLOCK))
