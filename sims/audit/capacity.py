"""Who holds which workers: no more than there are, and only those that are UP (WORLD.md, W3)."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import define, field

from actors.events import (
    MembersJoined,
    MembersReleased,
    RunEnded,
    RunStarted,
    ScenarioStarted,
    WorkerChanged,
)
from actors.events.pack import MembersChanged
from actors.intervals import Numbers
from policies.availability import WorkerState
from sims.audit.facts import LoggedCopy, extent
from sims.audit.holders import ROUNDING
from sims.audit.law import Auditor, Handlers, Law
from sims.audit.world import World
from sims.ledger.slices import Range


@define(eq=False)
class CapacityAuditor(Auditor):
    """A worker is held by one copy at a time, kept members included; by several only where their
    shares add up to no more than 1."""

    world: World
    free: Numbers = field(factory=lambda: Numbers(0))
    """Workers that are UP and held by nobody whole."""
    count: int = 0
    """How many."""

    @property
    def handlers(self) -> Handlers:
        return {
            ScenarioStarted: self._begin,
            RunStarted: self._start,
            RunEnded: self._end,
            MembersReleased: self._release,
            MembersJoined: self._join,
            MembersChanged: self._change,
            WorkerChanged: self._move,
        }

    def _begin(self, event: ScenarioStarted, t: float, seq: int) -> None:
        self.count = self.world.processors
        self.free = Numbers(self.count)

    # --- runs take and give -------------------------------------------------------------------

    def _start(self, event: RunStarted, t: float, seq: int) -> None:
        run = self.world.present
        assert run is not None
        copy = run.copy
        if event.keeps is not None:
            self._keep(copy, event, seq)
        elif not copy.spans:
            self.world.breaks(Law.CAPACITY, (seq,), f"{run.name} holds nobody")
        elif event.share == 1:
            self._take(copy, copy.spans, seq)
        else:
            self._share(copy, seq)

    def _keep(self, copy: LoggedCopy, event: RunStarted, seq: int) -> None:
        spans = self.world.spans(event.processors, seq)
        if copy.seq == seq:
            why = f"{event.job} keeps nobody of run {event.keeps}"
            self.world.breaks(Law.CAPACITY, (seq,), why)
            self._take(copy, copy.spans, seq)
        elif spans != _merged(copy.spans) or event.share != copy.share:
            why = f"{event.job} kept {copy.spans} and starts on {event.processors}"
            self.world.breaks(Law.CAPACITY, (copy.seq, seq), why)
        for worker in sorted(copy.away):
            why = f"a run starts on worker {worker}, which is not UP"
            self.world.breaks(Law.STATE, (self.world.worker(worker).seq, seq), why)

    def _take(
        self,
        copy: LoggedCopy,
        spans: tuple[Range, ...],
        seq: int,
        known: frozenset[int] = frozenset(),
    ) -> None:
        """`known`: its members, whom it may take back though they are not UP."""
        if self.free.has(spans) and _apart(spans):
            self.free.remove(spans)
            self.count -= copy.size if spans is copy.spans else extent(spans)
            self.world.held.take(spans, copy)
            return
        for span in spans:
            if self._lacks(known, span, seq):
                continue
            here = tuple(self._up(span))
            self.free.remove(here)
            self.count -= extent(here)
            self.world.held.take((span,), copy)
            copy.away |= {n for n in self.world.away if span[0] <= n <= span[1]}

    def _lacks(self, known: frozenset[int], span: Range, seq: int) -> bool:
        """Whether these cannot be taken; what is not UP can where a decider tells all at once."""
        first, last = span
        if not 0 <= first <= last < self.world.processors:
            why = f"workers {first}-{last} of {self.world.processors}"
            self.world.breaks(Law.CAPACITY, (seq,), why)
            return True
        holder = self.world.held.within(first, last)
        if holder is not None:
            why = f"{holder.job.name} holds some of workers {first}-{last}"
            self.world.breaks(Law.CAPACITY, (holder.seq, seq), why)
            return True
        if not self.world.compound:
            away = self.world.away - known
            for worker in sorted(n for n in away if first <= n <= last):
                why = f"a run starts on worker {worker}, which is not UP"
                self.world.breaks(Law.STATE, (self.world.worker(worker).seq, seq), why)
        return False

    def _up(self, span: Range) -> Iterator[Range]:
        """Those of them that are UP."""
        first, last = span
        for worker in sorted(n for n in self.world.away if first <= n <= last):
            if first < worker:
                yield first, worker - 1
            first = worker + 1
        if first <= last:
            yield first, last

    def _share(self, copy: LoggedCopy, seq: int) -> None:
        if not 0 < copy.share < 1:
            self.world.breaks(Law.CAPACITY, (seq,), f"a share of {copy.share}")
        for worker in copy.members:
            if not 0 <= worker < self.world.processors:
                why = f"worker {worker} of {self.world.processors}"
                self.world.breaks(Law.CAPACITY, (seq,), why)
            holder = self.world.held.within(worker, worker)
            shares = self.world.held.share(worker, copy)
            if holder is not None or shares > 1 + ROUNDING:
                why = f"worker {worker} gives away {shares + (holder is not None):g} of itself"
                self.world.breaks(Law.CAPACITY, (seq,), why)

    def _end(self, event: RunEnded, t: float, seq: int) -> None:
        run = self.world.present
        if run is not None and not event.kept:
            self._free(run.copy)

    def _release(self, event: MembersReleased, t: float, seq: int) -> None:
        copy = self._kept(event, seq)
        if copy is not None:
            self._free(copy)

    def _kept(self, event: MembersReleased | MembersChanged, seq: int) -> LoggedCopy | None:
        job = self.world.jobs.get(event.job)
        copy = job.kept.get(event.run) if job is not None else None
        if copy is None:
            why = f"{event.job} keeps nobody of run {event.run}"
            self.world.breaks(Law.CAPACITY, (seq,), why)
        return copy

    def _free(self, copy: LoggedCopy) -> None:
        if copy.share != 1:
            self.world.held.unshare(copy)
            return
        spans = self.world.held.give(copy)
        if copy.away:
            spans = [part for span in spans for part in self._up(span)]
        self.free.release(tuple(spans))
        whole = len(spans) == len(copy.spans) and not copy.away
        self.count += copy.size if whole else extent(spans)

    def _join(self, event: MembersJoined, t: float, seq: int) -> None:
        copy = self.world.copy(event.job, event.run)
        if copy is None:
            why = f"workers join run {event.run} of {event.job}, which is not going on"
            self.world.breaks(Law.SEQUENCE, (seq,), why)
            return
        self._take(copy, self.world.spans(event.processors, seq), seq)
        self.world.touched[copy] = None

    def _change(self, event: MembersChanged, t: float, seq: int) -> None:
        copy = self._kept(event, seq)
        if copy is None:
            return
        known = frozenset(copy.members)
        self._free(copy)
        copy.change(self.world.spans(event.processors, seq))
        self._take(copy, copy.spans, seq, known)
        self.world.touched[copy] = None

    # --- workers come and go ------------------------------------------------------------------

    def _move(self, event: WorkerChanged, t: float, seq: int) -> None:
        number = event.worker
        if not 0 <= number < self.world.processors:
            return
        if self.world.held.within(number, number) is not None:
            return
        span = ((number, number),)
        if event.state is not WorkerState.UP:
            if self.free.has(span):
                self.free.remove(span)
                self.count -= 1
        elif not self.free.has(span):
            self.free.release(span)
            self.count += 1


def _merged(spans: tuple[Range, ...]) -> tuple[Range, ...]:
    """Those that touch in one: who was promised may have come beside those that were there."""
    merged = list[Range]()
    for first, last in spans:
        if merged and merged[-1][1] + 1 == first:
            first = merged.pop()[0]
        merged.append((first, last))
    return tuple(merged)


def _apart(spans: tuple[Range, ...]) -> bool:
    """Whether they are ascending, and share nobody."""
    end = -1
    for first, last in spans:
        if first <= end:
            return False
        end = last
    return True
