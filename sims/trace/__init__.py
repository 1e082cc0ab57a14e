"""The life of one job, why it waited, and the queue at an instant, told from the log alone.

All are listeners to histories (`sims.history`), which know who is UP, who holds whom and who waits.
What they tell is made of spans of time with a title, a cause, and spans within.
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import asdict, define, field

from actors.runtime import Record
from sims.telling import Clock


@define
class Span:
    """Something that lasted, or (with `end` equal to `start`) that happened."""

    title: str
    start: float
    end: float | None = None
    """None: still going on where the log ends."""
    seq: int | None = None
    """The event that began it."""
    cause: int | None = None
    """The event that caused it."""
    children: list[Span] = field(factory=list)

    @classmethod
    def of(cls, title: str, record: Record, end: float | None = None) -> Span:
        """What begins with `record`."""
        return cls(title, record.t, end, record.seq, record.cause)

    def below(self, title: str, record: Record) -> Span:
        """What begins with `record`, within this."""
        self.children.append(child := Span.of(title, record))
        return child

    def happened(self, title: str, record: Record) -> Span:
        """Within this, at once over."""
        self.children.append(child := Span.of(title, record, record.t))
        return child

    def close(self, now: float) -> None:
        """It is over, if it was not before."""
        if self.end is None:
            self.end = now

    def close_within(self, parent: Span, now: float) -> None:
        """The same; not told at all where nothing of it was to be seen."""
        self.close(now)
        if self.start == self.end and not self.children:
            if parent.children and parent.children[-1] is self:
                parent.children.pop()
            else:
                parent.children = [child for child in parent.children if child is not self]

    def as_json(self) -> dict[str, object]:
        """The span as data."""
        return asdict(self)

    def lines(self, clock: Clock, depth: int = 0) -> Iterator[str]:
        """The span for people, one line each, children indented; `clock` shows its moments."""
        cause = "" if self.cause is None else f"  (#{self.seq} because of #{self.cause})"
        yield f"{'  ' * depth}{self._when(clock):<24} {self.title}{cause}"
        for child in self.children:
            yield from child.lines(clock, depth + 1)

    def _when(self, clock: Clock) -> str:
        start = clock(self.start)
        if self.end is None:
            return f"{start} to ?"
        if self.end == self.start:
            return start
        return f"{start} to {clock(self.end)} ({clock.lasted(self.end - self.start)})"
