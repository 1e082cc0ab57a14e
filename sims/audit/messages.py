"""Tells the lines of a log that are about the world from those about messages between its actors,
which `holdfast run --messages` adds.

The audit derives the world's lines. Of the others it checks that they say nothing else than a log
can: each is in its place, about an actor that there is, and caused by an earlier event, and causes
nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from attrs import Factory, define, evolve

from actors.runtime import Record
from actors.runtime.deliveries import ActorStarted, MessageReceived
from sims.audit.law import Broken, Law


@define(eq=False)
class OfWorld:
    """The records of a log that are about the world, numbered as in a log without messages."""

    records: Iterable[Record]
    actors: set[str] = Factory(set)
    """Names of the actors that have joined."""
    lines: list[int] = Factory(list)
    """Number of each record's line in the log; empty as long as the two are the same."""
    places: dict[int, int] = Factory(dict)
    """Maps these numbers to the records' own; empty as long as `lines` is."""
    left_out: int = 0
    """Number of lines about messages so far."""

    def line(self, seq: int) -> int:
        """Return the number in the log of the record that has this number."""
        return self.lines[seq] if seq < len(self.lines) else seq + self.left_out

    def __iter__(self) -> Iterator[Record]:
        after = 0.0
        for record in self.records:
            if isinstance(record.event, ActorStarted | MessageReceived):
                self._check(record, after)
                self._leave_out(record.seq)
            elif self.left_out:
                yield self._renumbered(record)
            else:
                yield record
            after = record.t

    def _leave_out(self, seq: int) -> None:
        if not self.left_out:
            self.lines.extend(range(seq))
            self.places.update(enumerate(range(seq)))
        self.left_out += 1

    def _renumbered(self, record: Record) -> Record:
        place = record.seq - self.left_out
        self.lines.append(record.seq)
        self.places[record.seq] = place
        # What a line about a message causes, nothing causes.
        cause = None if record.cause is None else self.places.get(record.cause, -1)
        return evolve(record, seq=place, cause=cause)

    def _check(self, record: Record, after: float) -> None:
        """Raise Broken for a line about messages that no log holds."""
        event, name = record.event, record.actor
        due = len(self.lines) + self.left_out if self.left_out else record.seq
        caused = record.cause in self.places or (not self.left_out and record.cause is not None)
        if record.seq != due or record.t < after or not caused:
            raise Broken(Law.ORDER, f"{type(event).__name__} #{record.seq} is out of its place")
        if isinstance(event, ActorStarted):
            known = name is not None and name not in self.actors
            self.actors.add(name or "")
        else:
            assert isinstance(event, MessageReceived)
            known = {name, event.sender} <= self.actors and event.sent <= record.t
        if not known:
            raise Broken(Law.ORDER, f"#{record.seq} is about no actor, or one that joined before")
