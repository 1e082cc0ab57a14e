"""What a trace is made of: spans of time with a title, a cause, and spans within."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import define, field


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

    def add(self, child: Span) -> Span:
        """Append `child`; returns it."""
        self.children.append(child)
        return child

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
