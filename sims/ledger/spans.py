"""What a run did over time, and what its computing was for: known when its job (the iteration) is
completed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from enum import IntEnum
from fractions import Fraction
from itertools import pairwise

from attrs import define, evolve, field

from actors.events import Outcome, Stage
from actors.intervals import intervals_of, numbers_in, text
from sims.history import Run
from sims.ledger import Slice, Use

FINEST = 1_000_000
"""Shares are simple fractions: one of a smaller denominator is what the log's double stands for.
Read as they are, five copies at share 0.2 would take more than a server."""
NONE = -math.inf
"""Limit of work done up to which computing was useful: none of it was."""
FEW = 16
"""Runs of a job that are kept without a look at whether they may still matter."""

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


def computes_until(run: Run, now: float, share: Fraction | int = 1) -> float:
    """When a run without stages begins to verify: it computes for its work, and verifies for the
    rest of its time; `now`, where it has no detector."""
    if not run.job.verification:
        return now
    return max(min(run.start + run.event.work / float(share), now), run.since)


def unless_useful(run: Run) -> Use:
    """What a run's computing was that is in no result: redundant where the run was cancelled,
    whatever for, and lost where it ended in any other way. A run that its job's kill ended is no
    cancelled one: no other copy was ahead of it, and nothing was decided."""
    killed = run.job.killed and run.job.end == run.end
    return Use.REDUNDANT if run.outcome is Outcome.CANCELLED and not killed else Use.LOST


@define(eq=False)
class RunSpan:
    """A run, from its start until its state cannot matter any more."""

    run: Run
    share: Fraction | int = field(init=False, default=1)
    done: float = 0
    """Work done at the end of the span that was entered last."""
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
        if kept:
            yield from self._passed(Use.WAITING, run.since, now, done)
        elif run.stage is None:
            over = computes_until(run, now, self.share)
            yield from self._passed(Use.USEFUL, run.since, over, done)
            yield from self._passed(Use.VERIFICATION, over, now, done)
        else:
            use = ADVANCING.get(run.stage, Use.WAITING) if run.rate else Use.WAITING
            if run.passing and not run.rate and not run.away:
                use = Use.CHECKPOINT
            yield from self._passed(use, run.since, now, done, run.stage.value)
        if self.moves:
            last = {worker: moves[-1][1] for worker, moves in self.moves.items()}
            self.moves = {n: [(now, status)] for n, status in last.items() if status}
        self.done = done

    def _passed(
        self, use: Use, since: float, now: float, done: float, note: str = ""
    ) -> Iterator[Slice]:
        """All members' time from `since` to `now`; computing is told once it is known what for."""
        if now <= since:
            return
        run = self.run
        whole = Slice(
            *(run.processors, use, since, now, run.seq, run.job.name, run.number),
            *(self.share, note),
        )
        for it in self._pieces(whole) if self.moves else (whole,):
            if it.use is Use.USEFUL:
                begun, ended = (_between(whole, t, run.done, done) for t in (it.start, it.end))
                self.computed.append((it, begun, ended))
            else:
                yield it

    def _pieces(self, whole: Slice) -> Iterator[Slice]:
        """What members did of `whole`: together those that were with it all the time, then each
        that was not."""
        alone = {n: parts for n in self.moves if (parts := list(self._parts(n, whole))) != [whole]}
        rest = (n for n in numbers_in(whole.processors) if n not in alone)
        if together := text(intervals_of(rest)):
            yield evolve(whole, processors=together)
        for parts in alone.values():
            yield from parts

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

    # --- what its computing was for -----------------------------------------------------------

    @property
    def otherwise(self) -> Use:
        """What computing was that is in no result."""
        return unless_useful(self.run)

    @property
    def held(self) -> bool:
        """Whether it is under way, or its state saved."""
        return self.run.outcome is None or self.run.checkpoint is not None

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
class Lineage:
    """The runs of one job (of its iteration) that may still matter."""

    runs: dict[int, RunSpan] = field(init=False, factory=dict)
    completed: RunSpan | None = field(init=False, default=None)
    """The run that completes it."""
    furthest: RunSpan | None = field(init=False, default=None)
    """Of the cancelled runs whose states outlive them, and of equals the last."""
    _enough: int = field(init=False, default=FEW)
    """Runs from which on those that cannot matter are sought."""

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

    def give_up(self) -> Iterator[Slice]:
        """The job is killed."""
        for span in self.runs.values():
            yield from span.told(NONE, span.otherwise)

    def close(self) -> Iterator[Slice]:
        """The log ends: what is saved or under way is lost."""
        if self.completed is not None:
            yield from self.settle()
        held = self._with_sources(span for span in self.runs.values() if span.held)
        for number, span in self.runs.items():
            yield from span.told(NONE, Use.LOST if number in held else span.otherwise)

    def forget(self, now: float) -> Iterator[Slice]:
        """Tell of runs that ended before `now`, and that nothing can go on from any more: where
        there are many, as a look at all of them takes time."""
        if len(self.runs) < self._enough:
            return
        outlive = self.completed, self.furthest
        kept = self._with_sources(
            span
            for span in self.runs.values()
            if span.held or span.run.end == now or span in outlive
        )
        for number in [it for it in self.runs if it not in kept]:
            span = self.runs.pop(number)
            yield from span.told(NONE, span.otherwise)
        self._enough = max(FEW, 2 * len(self.runs))

    def _with_sources(self, spans: Iterable[RunSpan]) -> set[int]:
        """The numbers of these runs, of those that they began from, and so on back."""
        found: set[int] = set()
        for first in spans:
            span: RunSpan | None = first
            while span is not None and span.run.number not in found:
                found.add(span.run.number)
                span = self._source(span)
        return found

    def _source(self, span: RunSpan) -> RunSpan | None:
        """The run that it began from."""
        source = span.run.event.source
        return None if source is None else self.runs.get(source)
