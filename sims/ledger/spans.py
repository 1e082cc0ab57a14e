"""What each run's computing was for: known when its job (the iteration) is completed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from enum import IntEnum
from fractions import Fraction
from itertools import pairwise

from attrs import define, evolve, field

from actors.events import Outcome, Stage
from actors.intervals import intervals_of, numbers_in, text
from sims.history import Run
from sims.ledger.slices import Slice, Use

FINEST = 1_000_000
"""Shares are simple fractions: one of a smaller denominator is what the log's double stands for.
Read as they are, five copies at share 0.2 would take more than a server."""
NONE = -math.inf
"""Limit of work done up to which computing was useful: none of it was."""

ADVANCING = {
    Stage.COMPUTING: Use.USEFUL,
    Stage.CHECKPOINTING: Use.CHECKPOINT,
    Stage.RECOVERING: Use.RECOVERY,
    Stage.REDISTRIBUTING: Use.REDISTRIBUTION,
    Stage.VERIFYING: Use.VERIFICATION,
}
"""What a run's members do while it advances in a stage; in others, or at rate 0, they wait."""


class Status(IntEnum):
    """What a worker does to the runs that hold it."""

    WITH = 0
    """What they do."""
    STALLED = 1
    """It has no speed: it waits, in a run without stages."""
    APART = 2
    """Something of its own: it is not UP, or a message of its is under way."""
    SENDING = 3
    """A message of its is under way, though the run may go on meanwhile."""


@define(eq=False)
class RunSpan:
    """A run, from its start until its state cannot matter any more."""

    run: Run
    share: Fraction | int = field(init=False, default=1)
    done: float = 0
    """Work done at the end of the span that was entered last."""
    followers: int = 0
    """Runs not settled that began from its state."""
    moves: dict[int, list[tuple[float, Status]]] = field(factory=dict)
    """Members that were not with it all the time since `run.since`: when they changed, to what."""
    computed: list[tuple[Slice, float, float]] = field(factory=list)
    """Not settled; with the work done at the start and at the end of each."""

    def __attrs_post_init__(self) -> None:
        share = self.run.event.share
        if share != 1:
            self.share = Fraction(share).limit_denominator(FINEST)

    # --- its time -----------------------------------------------------------------------------

    def move(self, worker: int, now: float, status: Status) -> None:
        """A member is in this status from now on."""
        moves = self.moves.get(worker)
        if status is not (moves[-1][1] if moves else Status.WITH):
            self.moves.setdefault(worker, []).append((now, status))

    def settle(self, now: float, done: float, kept: bool) -> Iterator[Slice]:
        """Enter its time until `now`, when it has done so much; `kept`: it had ended before."""
        run = self.run
        if now > run.since:
            if run.stage is None and not kept and run.job.verification:
                yield from self._attempt(now, done)
            else:
                use = Use.WAITING if kept else self._use()
                note = run.stage.value if run.stage and not kept else ""
                yield from self._passed(use, run.since, now, done, note)
        if self.moves:
            last = {worker: moves[-1][1] for worker, moves in self.moves.items()}
            self.moves = {n: [(now, status)] for n, status in last.items() if status}
        self.done = done

    def _use(self) -> Use:
        run = self.run
        if run.stage is None:
            return Use.USEFUL
        if run.passing and not run.rate and not run.away:
            return Use.CHECKPOINT
        return ADVANCING.get(run.stage, Use.WAITING) if run.rate else Use.WAITING

    def _attempt(self, now: float, done: float) -> Iterator[Slice]:
        """It computes for its work, and verifies for the rest of its time."""
        run = self.run
        over = max(min(run.start + run.event.work / float(self.share), now), run.since)
        if over > run.since:
            yield from self._passed(Use.USEFUL, run.since, over, done)
        if now > over:
            yield from self._passed(Use.VERIFICATION, over, now, done)

    def _passed(
        self, use: Use, since: float, now: float, done: float, note: str = ""
    ) -> Iterator[Slice]:
        """All members' time from `since` to `now`."""
        run = self.run
        whole = Slice(
            *(run.processors, use, since, now, run.seq, run.job.name, run.number),
            *(self.share, note),
        )
        if not self.moves:
            yield from self._hold_back((whole,), whole, done)
            return
        alone = {n: parts for n in self.moves if (parts := list(self._parts(n, whole))) != [whole]}
        rest = text(intervals_of(n for n in numbers_in(run.processors) if n not in alone))
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
        instead: dict[Status, Use | None] = {Status.APART: None}
        if self.run.stage is None and whole.use is Use.USEFUL:
            instead[Status.STALLED] = Use.WAITING
        if not self.run.rate:
            instead[Status.SENDING] = Use.TRANSFER
        if not any(status in instead for _, _, status in apart):
            yield whole
            return
        for a, b, status in apart:
            use = instead.get(status, whole.use)
            if use is not None:
                yield evolve(whole, processors=str(worker), use=use, start=a, end=b)

    def _hold_back(
        self, parts: tuple[Slice, ...] | list[Slice], whole: Slice, done: float
    ) -> Iterator[Slice]:
        """Computing is told once it is known what for."""
        for it in parts:
            if it.use is Use.USEFUL:
                begun, ended = (_between(whole, t, self.run.done, done) for t in (it.start, it.end))
                self.computed.append((it, begun, ended))
            else:
                yield it

    # --- what its computing was for -----------------------------------------------------------

    @property
    def otherwise(self) -> Use:
        """What computing was that is in no result."""
        return Use.REDUNDANT if self.run.outcome is Outcome.CANCELLED else Use.LOST

    @property
    def needed(self) -> bool:
        """Whether a run may still begin from its state, or has."""
        return self.followers > 0 or self.run.checkpoint is not None

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


@define(eq=False)
class Fate:
    """The runs of one job (of its iteration) that may still matter."""

    runs: dict[int, RunSpan] = field(init=False, factory=dict)
    over: list[RunSpan] = field(init=False, factory=list)
    """Those that have ended and were not looked at since, in that order."""
    completed: RunSpan | None = field(init=False, default=None)
    """The run that completes it."""
    kept: RunSpan | None = field(init=False, default=None)
    """Of the cancelled runs whose states outlive them the furthest, and of equals the last."""

    def keep(self, span: RunSpan) -> None:
        """The state of this run, which is cancelled, outlives it if it is the furthest."""
        before = self.kept
        if before is None or span.done >= before.done:
            self.kept = span
            if before is not None:
                self.over.insert(0, before)

    def settle(self) -> Iterator[Slice]:
        """All that the completing run computed is useful; what the run that it began from computed
        up to that state; and so on back."""
        limits: dict[int, float] = {}
        span, limit = self.completed, math.inf
        while span is not None and span.run.number not in limits:
            limits[span.run.number], limit = limit, span.run.event.saved
            span = self._source(span)
        for number, span in self.runs.items():
            yield from span.told(limits.get(number, NONE), span.otherwise)

    def give_up(self, now: float) -> Iterator[Slice]:
        """The job is killed now: no other copy was ahead of a run that this ended."""
        for span in self.runs.values():
            yield from span.told(NONE, Use.LOST if span.run.end == now else span.otherwise)

    def close(self) -> Iterator[Slice]:
        """The log ends: what is saved or under way is lost."""
        if self.completed is not None:
            yield from self.settle()
        for span in self.runs.values():
            held = span.run.outcome is None or span.needed
            yield from span.told(NONE, Use.LOST if held else span.otherwise)

    def forget(self, now: float) -> Iterator[Slice]:
        """Tell of runs that ended before `now`, and that nothing can go on from any more."""
        if not self.over or self.over[0].run.end == now:
            return
        over = [span for span in self.over if span.run.end != now]
        del self.over[: len(over)]
        while over:
            span = over.pop()
            if span.needed or span in (self.completed, self.kept):
                continue
            if self.runs.pop(span.run.number, None) is None:
                continue
            yield from span.told(NONE, span.otherwise)
            source = self._source(span)
            if source is not None:
                source.followers -= 1
                if source.run.outcome is not None:
                    over.append(source)

    def _source(self, span: RunSpan) -> RunSpan | None:
        """The run that it began from."""
        source = span.run.event.source
        return None if source is None else self.runs.get(source)
