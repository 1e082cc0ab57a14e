"""What servers with redundant copies did (004)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from attrs import define, evolve, field, frozen

from actors.redundant.events import (
    ClusterDescribed,
    CopyPlaced,
    CopySettled,
    ServerCameBack,
    ServerWentDown,
)
from actors.runtime import Record
from sims.uses.slices import Slice, Use, ranges, text

FINEST = 1_000_000
"""Shares are simple fractions: one of a smaller denominator is what the log's double stands for.
Read as they are, five copies at share 0.2 would take more than a server."""


@define
class _Copy:
    """One that is going on."""

    job: str
    run: int
    processors: str
    placed: float
    seq: int
    starts: float
    share: Fraction
    use: Use = Use.LOST
    """Until it is settled nobody knows what its work was for."""


@frozen
class _Down:
    """A server's failure, and its return where that is known."""

    start: float
    seq: int
    end: float | None = None


@define
class RedundantAccountant:
    """A copy pays for its checkpoint and clone, then serves; the furthest one's time is useful,
    any other's redundant. What a failure undoes of the furthest one's service is lost.

    A server that is down is down for all its copies, and for nobody where it has none.
    """

    lost: Fraction = Fraction(0)
    """Part of a server's service since the last checkpoint that its failure undoes."""
    _copies: dict[tuple[str, int], _Copy] = field(factory=dict)
    _down: dict[int, _Down] = field(factory=dict)
    _past: dict[int, list[_Down]] = field(factory=dict)
    """Downtimes that have ended, of copies that are going on."""

    def __call__(self, record: Record) -> Iterator[Slice]:
        t, seq = record.t, record.seq
        match record.event:
            case ClusterDescribed(lost=lost):
                self.lost = Fraction(lost)
            case CopyPlaced(job=job, run=run):
                self._copies[job, run] = _placed(record.event, t, seq)
            case CopySettled(job=job, run=run, furthest=furthest):
                copy = self._copies.pop((job, run))
                copy.use = Use.USEFUL if furthest else Use.REDUNDANT
                yield from self._end(copy, t)
            case ServerWentDown(server=server):
                self._down[server] = _Down(t, seq)
            case ServerCameBack(server=server):
                yield from self._back(server, t)

    def close(self, now: float) -> Iterator[Slice]:
        """Open copies end at `now`; nobody knows whether their work was of use, so it is lost."""
        for copy in self._copies.values():
            yield from self._end(copy, now)
        self._copies.clear()
        for server in list(self._down):
            yield from self._back(server, now)

    def _back(self, server: int, now: float) -> Iterator[Slice]:
        down = self._down.pop(server)
        if self._copies:
            self._past.setdefault(server, []).append(evolve(down, end=now))
        if now > down.start:
            yield Slice(str(server), Use.DOWN, down.start, now, down.seq)

    def _end(self, copy: _Copy, now: float) -> Iterator[Slice]:
        whole = []
        for first, last in ranges(copy.processors):
            for server in range(first, last + 1):
                downs = self._downs(server, copy, now)
                if downs:
                    yield from self._interrupted(evolve(copy, processors=str(server)), downs, now)
                else:
                    whole.append(server)
        if whole:
            copy.processors = text(whole)
            yield from self._served(copy, copy.placed, now, 0)
        if not self._copies:
            self._past.clear()

    def _downs(self, server: int, copy: _Copy, now: float) -> list[_Down]:
        known = list(self._past.get(server, ()))
        if server in self._down:
            known.append(evolve(self._down[server], end=now))
        return [it for it in known if it.end is not None and it.end >= copy.placed]

    def _interrupted(self, copy: _Copy, downs: list[_Down], now: float) -> Iterator[Slice]:
        begun = copy.placed
        for number, down in enumerate(downs):
            assert down.end is not None
            # A failure before the copy was placed undoes nothing of it.
            # (Counted, not summed: a sum of numpy's comparisons would overflow in a fraction.)
            failures = len([it for it in downs[number:] if it.start > copy.placed])
            yield from self._served(copy, begun, min(down.start, now), failures)
            begun = max(begun, down.end)
        yield from self._served(copy, begun, now, 0)

    def _served(self, copy: _Copy, start: float, end: float, failures: int) -> Iterator[Slice]:
        """From `start` to `end` without interruption; `failures` came after."""
        begun = min(max(copy.starts, start), end)
        about = Slice(
            *(copy.processors, Use.CHECKPOINT, start, begun, copy.seq, copy.job, copy.run),
            share=copy.share,
        )
        if begun > start:
            yield about
        if end <= begun:
            return
        kept = (1 - self.lost) ** failures if copy.use is Use.USEFUL else Fraction(1)
        if kept:
            share = copy.share * kept
            yield evolve(about, use=copy.use, start=begun, end=end, share=share)
        if kept < 1:
            share = copy.share * (1 - kept)
            yield evolve(about, use=Use.LOST, start=begun, end=end, share=share)


def _placed(event: CopyPlaced, t: float, seq: int) -> _Copy:
    share = Fraction(event.share).limit_denominator(FINEST)
    return _Copy(event.job, event.run, event.processors, t, seq, event.starts, share)
