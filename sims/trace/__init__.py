"""Explains one job's life, why the job waited, and the queue at one instant, from the log alone.

Every module of this package listens to a history (`sims.history.reader`), which knows the state of
each worker, which run holds which workers, and which jobs wait. The explanations are trees of
`Span`.
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import asdict, define, field

from actors.runtime import Record
from sims.telling import Clock


@define
class Span:
    """One titled interval of time in an explanation, with its cause and the intervals inside it.

    A span whose `end` equals its `start` stands for something that happened at one instant.
    """

    title: str
    start: float
    end: float | None = None
    """End of the interval; None while it is still open where the log ends."""
    seq: int | None = None
    """Sequence number of the event that began the interval."""
    cause: int | None = None
    """Sequence number of the event that caused event `seq`."""
    children: list[Span] = field(factory=list)

    @classmethod
    def of(cls, title: str, record: Record, end: float | None = None) -> Span:
        """Return a span that begins at the time of `record` and has its cause; it ends at `end`, or
        is still open for None."""
        return cls(title, record.t, end, record.seq, record.cause)

    def below(self, title: str, record: Record) -> Span:
        """Append a child that begins with `record` and is still open; return the child."""
        self.children.append(child := Span.of(title, record))
        return child

    def happened(self, title: str, record: Record) -> Span:
        """Append a child that begins and ends with `record`; return the child."""
        self.children.append(child := Span.of(title, record, record.t))
        return child

    def close(self, now: float) -> None:
        """End the span at `now` unless it has ended already."""
        if self.end is None:
            self.end = now

    def close_within(self, parent: Span, now: float) -> None:
        """Close the span at `now`; if it has lasted no time and has no children, remove it from
        `parent`.

        A stage of zero length says nothing to a reader, and many runs have some.
        """
        self.close(now)
        if self.start == self.end and not self.children:
            # The span is nearly always the last child; a search through a long life is slow.
            if parent.children and parent.children[-1] is self:
                parent.children.pop()
            else:
                parent.children = [child for child in parent.children if child is not self]

    def as_json(self) -> dict[str, object]:
        """Return the span and its children as plain data for JSON."""
        return asdict(self)

    def lines(self, clock: Clock, depth: int = 0) -> Iterator[str]:
        """Yield the span as text, one line for each span, with children indented below their
        parent.

        `clock` formats times.
        """
        cause = "" if self.cause is None else f"  (#{self.seq} because of #{self.cause})"
        yield f"{'  ' * depth}{self._when(clock):<24} {self.title}{cause}"
        for child in self.children:
            yield from child.lines(clock, depth + 1)

    def _when(self, clock: Clock) -> str:
        """Return the span's start and, if it lasted, its end and length, as text."""
        start = clock(self.start)
        if self.end is None:
            return f"{start} to ?"
        if self.end == self.start:
            return start
        return f"{start} to {clock(self.end)} ({clock.lasted(self.end - self.start)})"
