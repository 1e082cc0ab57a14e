"""What a run was about when: the pieces that a job's account is made of."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from attrs import define, field, frozen

from sims.trace.account import Part

ROUNDING = 1 - 1e-12
"""Work summed in another order differs by so much; a sliver of it is no lost work."""


@frozen
class Piece:
    """A run was about one thing from `start` on."""

    start: float
    part: Part
    done: float
    """Work done then."""
    rate: float = 0
    """At which it grows."""


@define
class History:
    """One run: its pieces in order of time, and the state that it began from."""

    number: int
    start: float
    work: float
    source: int | None = None
    """The run that computed that state."""
    saved: float = 0
    """Work done in it, in the source's count."""
    end: float | None = None
    done: float = 0
    """Work done at its end."""
    pieces: list[Piece] = field(factory=list)

    def turn(self, now: float, part: Part, done: float, rate: float = 0) -> None:
        """From `now` on the run is about `part`."""
        self.pieces.append(Piece(now, part, done, rate))

    def close(self, now: float, done: float) -> None:
        """It is over."""
        self.end, self.done = now, done

    def spent(
        self, start: float, end: float, kept: float, fate: Part
    ) -> Iterator[tuple[Part, float, float]]:
        """(part, from, to) within [start, end): what was computed up to the work `kept` met
        `fate`, and was lost beyond."""
        if self.end is not None and kept >= self.done:
            kept = inf  # whatever its rate was told to be
        ends = [piece.start for piece in self.pieces[1:]] + [end if self.end is None else self.end]
        for piece, over in zip(self.pieces, ends, strict=True):
            first, last = max(piece.start, start), min(over, end)
            if last <= first:
                continue
            if piece.part is not Part.USEFUL:
                yield piece.part, first, last
                continue
            split = min(max(self._reached(piece, over, kept), first), last)
            yield fate, first, split
            yield Part.LOST, split, last

    def _reached(self, piece: Piece, over: float, kept: float) -> float:
        """When the work `kept` was done, if it was within this piece."""
        if piece.done + piece.rate * (over - piece.start) * ROUNDING <= kept:
            return over
        return piece.start + (kept - piece.done) / piece.rate
