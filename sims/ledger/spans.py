"""Runs as the accountant keeps them: what each did since when, and what its computing was for."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from fractions import Fraction
from itertools import pairwise

from attrs import define, evolve, field

from actors.events import Outcome, RunStarted, Stage
from actors.runtime import Record
from sims.ledger.slices import Slice, Use, ranges, text

FINEST = 1_000_000
"""Shares are simple fractions: one of a smaller denominator is what the log's double stands for.
Read as they are, five copies at share 0.2 would take more than a server."""

ADVANCING = {
    Stage.COMPUTING: Use.USEFUL,
    Stage.CHECKPOINTING: Use.CHECKPOINT,
    Stage.RECOVERING: Use.RECOVERY,
    Stage.REDISTRIBUTING: Use.REDISTRIBUTION,
    Stage.VERIFYING: Use.VERIFICATION,
}
"""What a run's members do while it advances in a stage; in others, or at rate 0, they wait."""


COMPLETED = Outcome.COMPLETED


class Status(IntEnum):
    """What a worker does to the runs that hold it."""

    WITH = 0
    """What they do."""
    STALLED = 1
    """It has no speed: it waits, in a run that tells of no stages."""
    APART = 2
    """Something of its own: it is not UP, or a message of its is under way."""


@define(eq=False)
class RunSpan:
    """A run, from its start until nobody can ask any more what its computing was for."""

    job: str
    number: int
    processors: str
    seq: int
    """The event that began what it does now."""
    since: float
    share: Fraction | int
    done: float
    """Work done at `since`."""
    work: float
    source: int | None
    saved: float
    """Work done in the state that it began from, in the source's count."""
    verification: float
    """Its job's."""
    start: float = field(init=False)
    stage: Stage | None = field(init=False, default=None)
    """None: none was told; it computes, then verifies."""
    rate: float = field(init=False, default=1)
    kept: bool = field(init=False, default=False)
    """It has ended, and its job keeps its members."""
    outcome: Outcome | None = field(init=False, default=None)
    ended: float = field(init=False, default=0)
    safe: bool = field(init=False, default=False)
    """Whether a checkpoint has saved some of it."""
    followers: int = field(init=False, default=0)
    """Runs not settled that began from its state."""
    moves: dict[int, list[tuple[float, Status]]] = field(init=False, factory=dict)
    """Members that were not with it all the time since `since`: when they changed, and to what."""
    computed: list[tuple[Slice, float, float]] = field(init=False, factory=list)
    """Not settled; with the work done at the start and at the end of each."""

    def __attrs_post_init__(self) -> None:
        self.start = self.since

    @classmethod
    def of(cls, record: Record, it: RunStarted, verification: float) -> RunSpan:
        """The run that starts with this record."""
        whole = it.share == 1
        share = 1 if whole else Fraction(it.share).limit_denominator(FINEST)
        return cls(
            *(it.job, it.run, it.processors, record.seq, record.t, share),
            *(it.begun, it.work, it.source, it.saved, verification),
        )

    # --- its time -----------------------------------------------------------------------------

    def move(self, worker: int, now: float, status: Status) -> None:
        """A member is in this status from now on."""
        self.moves.setdefault(worker, []).append((now, status))

    def settle(self, now: float, seq: int, done: float) -> Iterator[Slice]:
        """Enter its time until `now`, when it has done so much; `seq` begins what follows."""
        if now > self.since:
            if self.stage is None and not self.kept and self.verification:
                yield from self._attempt(now, done)
            else:
                yield from self._passed(self._use(), self.since, now, done)
        if self.moves:
            last = {worker: moves[-1][1] for worker, moves in self.moves.items()}
            self.moves = {n: [(now, status)] for n, status in last.items() if status}
        self.since, self.seq, self.done = now, seq, done

    def _use(self) -> Use:
        if self.kept:
            return Use.WAITING
        if self.stage is None:
            return Use.USEFUL
        return ADVANCING.get(self.stage, Use.WAITING) if self.rate else Use.WAITING

    def _attempt(self, now: float, done: float) -> Iterator[Slice]:
        """It computes for its work, and verifies for the rest of its time."""
        over = max(min(self.start + self.work / float(self.share), now), self.since)
        if over > self.since:
            yield from self._passed(Use.USEFUL, self.since, over, done)
        if now > over:
            yield from self._passed(Use.VERIFICATION, over, now, done)

    def _passed(self, use: Use, since: float, now: float, done: float) -> Iterator[Slice]:
        """All members' time from `since` to `now`."""
        note = self.stage.value if self.stage and not self.kept else ""
        whole = Slice(
            *(self.processors, use, since, now, self.seq, self.job, self.number),
            *(self.share, note),
        )
        if not self.moves:
            yield from self._hold_back((whole,), whole, done)
            return
        alone = {n: parts for n in self.moves if (parts := list(self._parts(n, whole))) != [whole]}
        members = (n for a, b in ranges(self.processors) for n in range(a, b + 1))
        rest = text(n for n in members if n not in alone)
        together = evolve(whole, processors=rest)
        yield from self._hold_back((together,) if rest else (), whole, done)
        for parts in alone.values():
            yield from self._hold_back(parts, whole, done)

    def _parts(self, worker: int, whole: Slice) -> Iterator[Slice]:
        """What a member that was not with it all the time did of `whole`; `whole`, if it was."""
        start, end = whole.start, whole.end
        moves = [(start, Status.WITH), *self.moves[worker], (end, Status.WITH)]
        times = [(min(max(t, start), end), status) for t, status in moves]
        apart = [(a, b, status) for (a, status), (b, _) in pairwise(times) if b > a]
        stalls = self.stage is None and whole.use is Use.USEFUL
        if not any(it is Status.APART or (stalls and it) for _, _, it in apart):
            yield whole
            return
        for a, b, status in apart:
            if status is not Status.APART:
                use = Use.WAITING if stalls and status else whole.use
                yield evolve(whole, processors=str(worker), use=use, start=a, end=b)

    def _hold_back(
        self, parts: tuple[Slice, ...] | list[Slice], whole: Slice, done: float
    ) -> Iterator[Slice]:
        """Computing is told once it is known what for."""
        for it in parts:
            if it.use is Use.USEFUL:
                begun, ended = (_between(whole, t, self.done, done) for t in (it.start, it.end))
                self.computed.append((it, begun, ended))
            else:
                yield it

    # --- what its computing was for -----------------------------------------------------------

    @property
    def otherwise(self) -> Use:
        """What computing was that is in nobody's result."""
        return Use.REDUNDANT if self.outcome is Outcome.CANCELLED else Use.LOST

    def told(self, limit: float, otherwise: Use) -> Iterator[Slice]:
        """Its computing: useful up to `limit` of work done."""
        for it, begun, ended in self.computed:
            if ended <= limit:
                yield it
            elif begun >= limit:
                yield evolve(it, use=otherwise)
            else:
                at = it.start + (limit - begun) * (it.end - it.start) / (ended - begun)
                at = min(max(at, it.start), it.end)
                parts = evolve(it, end=at), evolve(it, start=at, use=otherwise)
                yield from (part for part in parts if part.end > part.start)
        self.computed.clear()


def _between(whole: Slice, t: float, begun: float, done: float) -> float:
    """Work done at `t`, where it went from `begun` to `done` over all of `whole`."""
    if t == whole.start:
        return begun
    if t == whole.end:
        return done
    return begun + (done - begun) * (t - whole.start) / (whole.end - whole.start)


def attempted(
    record: Record, it: RunStarted, end: float, outcome: Outcome, verifies: bool
) -> Iterator[Slice]:
    """A whole attempt, from its start (`record`) to its end: it computes for its work, and
    verifies for the rest of its time."""
    since = record.t
    over = min(since + it.work, end) if verifies else end
    use = Use.USEFUL if outcome is COMPLETED else Use.LOST
    if over > since:
        yield Slice(it.processors, use, since, over, record.seq, it.job, it.run)
    if end > over:
        yield Slice(it.processors, Use.VERIFICATION, over, end, record.seq, it.job, it.run)
