"""Decides what a run's computation was for, once its job (or its iteration) is completed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from enum import IntEnum
from fractions import Fraction

from attrs import define, field

from actors.events import Outcome, Stage
from actors.intervals import spans_in, text, without
from sims.history.rows import SpanRow, Use
from sims.history.states import Run

FINEST = 1_000_000
"""Largest denominator of a share.

A share in the log is a double that stands for a simple fraction. Taken as exact, five copies at
share 0.2 would take more than one server.
"""
NONE = -math.inf
"""Limit of work done below which computation is useful, for a run none of whose computation is."""
FEW = 16
"""Number of a job's runs below which no search for runs that cannot matter any more takes place."""

ADVANCING = {
    Stage.COMPUTING: Use.USEFUL,
    Stage.CHECKPOINTING: Use.CHECKPOINT,
    Stage.STARTING_UP: Use.STARTUP,
    Stage.RECOVERING: Use.RECOVERY,
    Stage.REDISTRIBUTING: Use.REDISTRIBUTION,
    Stage.VERIFYING: Use.VERIFICATION,
}
"""Maps a stage to the use of the members' time while the run advances in it; in other stages, or at
rate 0, the members wait."""


class Status(IntEnum):
    """Whether a member of a run (a worker that computes for it) does what its run does, or
    something of its own."""

    WITH = 0
    """The member does what the run does."""
    STALLED = 1
    """The member has speed 0: it waits, in a run without stages."""
    APART = 2
    """The member is not UP, or sends or receives a message."""
    SENDING = 3
    """The member sends or receives a message, though the run may go on meanwhile."""


def computes_until(run: Run, now: float, share: Fraction | int = 1) -> float:
    """Return the time until which a run without stages computes, if it is looked at at the time
    `now`: `now` itself if its job has no detector.

    Such a run computes its work first, at the rate `share`, and verifies for the rest of its time.
    """
    if not run.job.verification:
        return now
    return max(min(run.start + run.event.work / float(share), now), run.since)


def unless_useful(run: Run) -> Use:
    """Return the use of that part of a run's computation that is in no result: redundant if the run
    was cancelled, else lost.

    A run that ended because its job was killed counts as lost: no other copy was ahead of it, and
    no policy decided on its end.
    """
    killed = run.job.killed and run.job.end == run.end
    return Use.REDUNDANT if run.outcome is Outcome.CANCELLED and not killed else Use.LOST


@define(eq=False)
class RunSpan:
    """The account of one run's time, from its start until no later run can make its computation
    useful."""

    run: Run
    share: Fraction | int = field(init=False, default=1)
    done: float = 0
    """Work done at the end of the last span that was entered."""
    moves: dict[int, list[tuple[float, Status]]] = field(factory=dict)
    """Maps each member whose status has changed since `run.since` to its changes: when, and to
    what."""
    computed: list[tuple[SpanRow, float, float]] = field(factory=list)
    """Spans of computation whose use is not known yet, with the work done at the start and at the
    end of each."""

    def __attrs_post_init__(self) -> None:
        share = self.run.event.share
        if share != 1:
            self.share = Fraction(share).limit_denominator(FINEST)

    # --- its time -----------------------------------------------------------------------------

    def move(self, worker: int, now: float, status: Status) -> None:
        """Record that a member has another status in relation to its run from `now` on; nothing
        changes if it is the one that it has."""
        moves = self.moves.get(worker)
        if status is not (moves[-1][1] if moves else Status.WITH):
            self.moves.setdefault(worker, []).append((now, status))

    def settle(self, now: float, done: float, kept: bool) -> Iterator[SpanRow]:
        """Yield the spans of the members' time from the run's last change until `now`, when `done`
        work is done.

        `kept` says that the run had ended before and its job kept the members, which then wait.
        Spans of computation are not yielded but stored in `computed`, because their use is not
        known yet.
        """
        run = self.run
        if kept:
            yield from self._passed(Use.WAITING, run.since, now, done)
        elif run.stage is None:
            over = computes_until(run, now, self.share)
            yield from self._passed(Use.USEFUL, run.since, over, done)
            if over < now:
                yield from self._passed(Use.VERIFICATION, over, now, done)
        else:
            use = ADVANCING.get(run.stage, Use.WAITING) if run.rate else Use.WAITING
            if run.paused:
                use = Use.WAITING if run.away or run.hung is not None else Use.RECOVERY
            elif run.passing and not run.rate and not run.away:
                use = Use.CHECKPOINT
            yield from self._passed(use, run.since, now, done, run.stage.value)
        if self.moves:
            last = {worker: moves[-1][1] for worker, moves in self.moves.items()}
            self.moves = {n: [(now, status)] for n, status in last.items() if status}
        self.done = done

    def _passed(
        self, use: Use, since: float, now: float, done: float, note: str = ""
    ) -> Iterator[SpanRow]:
        """Yield the spans of all members' time from `since` to `now`, when `done` work is done.
        The run's use of the members was `use`, and `note` is a detail of it.

        Spans of computation are stored in `computed` instead, with the work done at both ends.
        Nothing is yielded where `now` is not after `since`.
        """
        if now <= since:
            return
        run = self.run
        whole = SpanRow(
            *(run.processors, use, since, now, run.seq, run.job.name, run.number),
            *(self.share, note),
        )
        for it in self._pieces(whole) if self.moves else (whole,):
            if it.use is Use.USEFUL:
                begun = _between(whole, it.start, run.done, done)
                self.computed.append((it, begun, _between(whole, it.end, run.done, done)))
            else:
                yield it

    def _pieces(self, whole: SpanRow) -> Iterator[SpanRow]:
        """Divide the slice `whole` of all members: yield one slice for those that did what the run
        did all the time, and then the spans of each other member."""
        instead = self._instead(whole.use)
        alone: dict[int, list[tuple[float, float, Status]]] = {}
        for worker, moves in self.moves.items():
            spans = _statuses(moves, whole.start, whole.end)
            # What makes no difference to its use leaves a member together with the others.
            if any(status in instead for _, _, status in spans):
                alone[worker] = spans
        if not alone:
            yield whole
            return
        if together := text(without(spans_in(whole.processors), alone)):
            yield whole.part(together, whole.use, whole.start, whole.end)
        for worker, spans in alone.items():
            for start, end, status in spans:
                use = instead.get(status, whole.use)
                # A member's own time (None) is left out: `worker_span` enters it.
                if use is not None:
                    yield whole.part(str(worker), use, start, end)

    def _instead(self, use: Use) -> dict[Status, Use | None]:
        """Map each status in which a member is not used as its run uses the others to the member's
        own use; None is a use that is not the run's to tell."""
        instead: dict[Status, Use | None] = {Status.APART: None}
        if self.run.stage is None and use is Use.USEFUL:
            instead[Status.STALLED] = Use.WAITING
        if not self.run.rate and use is not Use.RECOVERY:
            instead[Status.SENDING] = Use.TRANSFER
        return instead

    # --- what its computing was for -----------------------------------------------------------

    @property
    def otherwise(self) -> Use:
        """Use of the part of the run's computation that is in no result: redundant or lost."""
        return unless_useful(self.run)

    @property
    def held(self) -> bool:
        """Whether the run is under way, or a checkpoint of it is saved."""
        return self.run.outcome is None or self.run.checkpoint is not None

    def slices(self, limit: float, otherwise: Use) -> Iterator[SpanRow]:
        """Yield the stored spans of computation with their use, and remove them: useful up to
        `limit` of the run's work done, `otherwise` beyond.

        A slice that contains `limit` is cut in two, in proportion to the work done.
        """
        for it, begun, ended in self.computed:
            if ended <= limit:
                yield it
            elif begun >= limit:
                yield it.part(it.processors, otherwise, it.start, it.end)
            else:
                at = it.start + (limit - begun) * (it.end - it.start) / (ended - begun)
                at = min(max(at, it.start), it.end)
                if at > it.start:
                    yield it.part(it.processors, it.use, it.start, at)
                if it.end > at:
                    yield it.part(it.processors, otherwise, at, it.end)
        self.computed.clear()


def _statuses(
    moves: Iterable[tuple[float, Status]], start: float, end: float
) -> list[tuple[float, float, Status]]:
    """Return the intervals of [start, end) in which a member with these moves has one
    status."""
    spans, at, status = [], start, Status.WITH
    for t, then in (*moves, (end, Status.WITH)):
        until = min(max(t, start), end)
        if until > at:
            spans.append((at, until, status))
        at, status = until, then
    return spans


def _between(whole: SpanRow, t: float, begun: float, done: float) -> float:
    """Return the work done at the time `t`, if it grew evenly from `begun` at the slice's start to
    `done` at its end."""
    if t == whole.start:
        return begun
    if t == whole.end:
        return done
    return begun + (done - begun) * (t - whole.start) / (whole.end - whole.start)


def useful_until(number: int | None, limit: float, runs: Mapping[int, Run]) -> dict[int, float]:
    """Map the number of each run whose computation is in a result to the amount of its work that is
    in there.

    The result contains the work of run `number` up to `limit`, that of the run from whose state it
    began up to this state, and so on back, as far as `runs`, a job's runs by number, has them. It
    contains nothing for a `number` of None.
    """
    found: dict[int, float] = {}
    while number is not None and number in runs and number not in found:
        found[number] = limit
        started = runs[number].event
        number, limit = started.source, started.saved
    return found


@define(eq=False)
class Lineage:
    """The runs of one job (of an iterative job, of its present iteration) whose computation may
    still turn out useful, because a later run began from their states."""

    runs: dict[int, RunSpan] = field(init=False, factory=dict)
    completed: RunSpan | None = field(init=False, default=None)
    """The run that completes the job or iteration."""
    furthest: RunSpan | None = field(init=False, default=None)
    """The cancelled run whose state is the furthest, of equals the last, where states outlive their
    runs."""
    _enough: int = field(init=False, default=FEW)
    """Number of runs from which on those that cannot matter any more are sought."""

    def settle(self) -> Iterator[SpanRow]:
        """Yield the spans of computation of all runs of a job, or iteration, that is over.

        Useful is all that the completing run computed, what the run from whose state it began
        computed up to this state, and so on back. The rest is lost or redundant, as is everything
        of a job that was killed.
        """
        completed = None if self.completed is None else self.completed.run.number
        useful = useful_until(completed, math.inf, self._known)
        for number, span in self.runs.items():
            yield from span.slices(useful.get(number, NONE), span.otherwise)

    def close(self) -> Iterator[SpanRow]:
        """Yield the spans of computation of all runs, with their use, where the log ends.

        Computation of runs that are under way or have a checkpoint saved counts as lost, as does
        that of the runs from whose states they began.
        """
        if self.completed is not None:
            yield from self.settle()
        held = self._with_sources(span for span in self.runs.values() if span.held)
        for number, span in self.runs.items():
            yield from span.slices(NONE, Use.LOST if number in held else span.otherwise)

    @property
    def many(self) -> bool:
        """Whether there are so many runs that `forget` is worth its time."""
        return len(self.runs) >= self._enough

    def forget(self, now: float) -> Iterator[SpanRow]:
        """Remove the runs that ended before `now` and from whose states no run can begin any more,
        and yield their spans of computation, none of which is useful."""
        outlive = self.completed, self.furthest
        kept = self._with_sources(
            span
            for span in self.runs.values()
            if span.held or span.run.end == now or span in outlive
        )
        for number in [it for it in self.runs if it not in kept]:
            span = self.runs.pop(number)
            yield from span.slices(NONE, span.otherwise)
        # Doubling the number makes the search linear in the number of runs over a job's life.
        self._enough = max(FEW, 2 * len(self.runs))

    def _with_sources(self, spans: Iterable[RunSpan]) -> set[int]:
        """Return the numbers of these runs, of the runs from whose states they began, and so on
        back."""
        known, found = self._known, set[int]()
        for span in spans:
            if span.run.number not in found:
                found.update(useful_until(span.run.number, math.inf, known))
        return found

    @property
    def _known(self) -> dict[int, Run]:
        return {number: span.run for number, span in self.runs.items()}
