"""What a trace is made of: spans of time with a title, a cause, and spans within."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import define, field

from actors.runtime import Record


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
    def of(cls, title: str, record: Record) -> Span:
        """What begins with `record`."""
        return cls(title, record.t, seq=record.seq, cause=record.cause)

    def below(self, title: str, record: Record) -> Span:
        """What begins with `record`, within this."""
        self.children.append(child := Span.of(title, record))
        return child

    def happened(self, title: str, record: Record) -> None:
        """Within this, at once over."""
        self.below(title, record).end = record.t

    def close(self, now: float) -> None:
        """It is over, if it was not before."""
        if self.end is None:
            self.end = now

    def close_within(self, parent: Span, now: float) -> None:
        """The same; not told at all where nothing of it was to be seen."""
        self.close(now)
        if self.start == self.end and not self.children:
            parent.children = [child for child in parent.children if child is not self]

    def as_json(self) -> dict[str, object]:
        """The span as data."""
        return {
            "title": self.title,
            "start": self.start,
            "end": self.end,
            "seq": self.seq,
            "cause": self.cause,
            "children": [child.as_json() for child in self.children],
        }

    def lines(self, depth: int = 0) -> Iterator[str]:
        """The span for people, one line each, children indented."""
        cause = "" if self.cause is None else f"  (#{self.seq} because of #{self.cause})"
        yield f"{'  ' * depth}{self._when():<24} {self.title}{cause}"
        for child in self.children:
            yield from child.lines(depth + 1)

    def _when(self) -> str:
        if self.end is None:
            return f"{self.start:g} to ?"
        if self.end == self.start:
            return f"{self.start:g}"
        return f"{self.start:g} to {self.end:g} ({self.end - self.start:g})"
