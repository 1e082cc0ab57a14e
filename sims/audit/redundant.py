"""Laws of redundant copies: checkpoints, clones, completions (004, III)."""

from __future__ import annotations

from collections.abc import Iterator
from math import isclose

from attrs import define, field

from actors.events import JobCompleted, JobSubmitted, Outcome
from actors.redundant.events import (
    ClusterDescribed,
    CopiesPlaced,
    CopiesSettled,
    CopyPlaced,
    CopySettled,
    JobSized,
)
from actors.runtime import Record
from sims.audit.law import Law, Violation
from sims.audit.placement import TOLERANCE, Placement
from sims.audit.service import Service
from sims.telling import counted

NOBODY = ClusterDescribed(1.0, False, 0.0, 0.0, 0.0)


@define
class _Job:
    size: float = 0.0
    furthest: float = 0.0
    """Progress of its furthest state."""
    states: list[float] = field(factory=list)
    """Progress of each state that may be cloned."""
    over: int | None = None
    """seq of the end of the copy that completed it."""


@define
class RedundantAuditor:
    """Replays what servers deliver, and so how far copies come; a clone is its source's equal."""

    service: Service = field(factory=Service)
    cluster: ClusterDescribed = NOBODY
    jobs: dict[str, _Job] = field(factory=dict)
    """Those that are active."""
    holders: dict[str, int] = field(factory=dict)
    placement: Placement | None = None
    checkpoint: Record | None = None
    """The checkpoint of this instant."""
    called: float | None = None
    """When a job came or went last."""
    now: float = 0.0
    _last: Record | None = None

    def __call__(self, record: Record) -> Iterator[Violation]:
        if record.t > self.now:
            yield from self._pass(record)
        yield from self._pair(record)
        yield from self.service(record)
        match record.event:
            case ClusterDescribed():
                yield from self._describe(record.event, record.seq)
            case JobSubmitted() | JobSized() | JobCompleted():
                yield from self._job(record)
            case CopiesPlaced():
                yield from self._place(record.event, record)
            case CopiesSettled():
                yield from self._settle(record.event, record)
        self._last = record

    def close(self, last: Record) -> Iterator[Violation]:
        yield from self._pass(last)

    def _describe(self, event: ClusterDescribed, seq: int) -> Iterator[Violation]:
        if self.cluster is not NOBODY:
            yield Violation(Law.FRAME, (seq,), "the cluster is described twice")
        self.cluster, self.service.lost = event, event.lost

    def _pair(self, record: Record) -> Iterator[Violation]:
        """A job says how large it is as soon as it is submitted, and never again."""
        last = self._last
        submitted = last.event.job if last and isinstance(last.event, JobSubmitted) else None
        sized = record.event.job if isinstance(record.event, JobSized) else None
        if submitted != sized:
            why = f"{submitted or sized} is submitted and sized in one go"
            yield Violation(Law.FRAME, (record.seq,), why)

    # --- an instant is over -------------------------------------------------------------------

    def _pass(self, record: Record) -> Iterator[Violation]:
        if self.checkpoint is not None and self.called != self.now:
            why = "a checkpoint, and no job came or went"
            yield Violation(Law.DECISION, (self.checkpoint.seq,), why)
        if self.called == self.now:
            yield from self._placed(record)
        for name, job in self.jobs.items():
            if job.over is not None:
                yield Violation(Law.LIFE, (job.over, record.seq), f"{name} is over and stays")
        self.now, self.checkpoint = record.t, None

    def _placed(self, record: Record) -> Iterator[Violation]:
        begun = self.placement.begun if self.placement is not None else None
        if self.jobs and begun != self.now:
            why = f"a job came or went at {self.now:g}, and nothing was placed"
            yield Violation(Law.DECISION, (record.seq,), why)

    # --- jobs ---------------------------------------------------------------------------------

    def _job(self, record: Record) -> Iterator[Violation]:
        match record.event:
            case JobSubmitted(job=name):
                self.jobs[name] = _Job()
                self.called = record.t
            case JobSized(job=name, size=size) if name in self.jobs:
                self.jobs[name].size = size
                if size <= 0:
                    yield Violation(Law.SPEED, (record.seq,), f"{name} has size {size}")
            case JobCompleted(job=name):
                self.called = record.t
                job = self.jobs.pop(name, None)
                self.holders.pop(name, None)
                if job is None or job.over is None:
                    yield Violation(Law.LIFE, (record.seq,), f"no copy of {name} has ended")

    # --- placements ---------------------------------------------------------------------------

    def _place(self, event: CopiesPlaced, record: Record) -> Iterator[Violation]:
        old = self.placement
        if old is not None and old.copies:
            copies = counted(len(old.copies), "copy", "copies")
            why = f"{copies} of the placement before still going on"
            yield Violation(Law.CLONE, (old.seq, record.seq), why)
        placement = Placement(self.cluster, self.service, dict(self.holders), record.t, record.seq)
        for copy in event.parts():
            placement.add(copy)
            yield from self._begin(copy, record.seq)
        self.placement = placement
        yield from placement.begin()

    def _begin(self, copy: CopyPlaced, seq: int) -> Iterator[Violation]:
        job = self.jobs.get(copy.job)
        if job is None or job.over is not None:
            yield Violation(Law.LIFE, (seq,), f"{copy.job} is not active")
            return
        if not 0 < copy.share <= 1:
            yield Violation(Law.CAPACITY, (seq,), f"a share of {copy.share}")
        if copy.progress > job.furthest * (1 + TOLERANCE):
            why = f"{copy.job} starts from {copy.progress!r}; it came to {job.furthest!r}"
            yield Violation(Law.CLONE, (seq,), why)
        elif not any(_close(copy.progress, state) for state in (*job.states, 0.0)):
            why = f"no copy of {copy.job} was in the state {copy.progress!r}"
            yield Violation(Law.CLONE, (seq,), why)

    # --- checkpoints --------------------------------------------------------------------------

    def _settle(self, event: CopiesSettled, record: Record) -> Iterator[Violation]:
        placement, seq = self.placement, record.seq
        if placement is None or not placement.copies:
            yield Violation(Law.CLONE, (seq,), "no copies are going on")
            return
        said: dict[str, list[CopySettled]] = {}
        for copy in event.parts():
            said.setdefault(copy.job, []).append(copy)
            yield from self._end(copy, placement, record)
        if placement.copies:
            left = counted(len(placement.copies), "copy", "copies")
            why = f"it says nothing of {left} still going on"
            yield Violation(Law.CLONE, (placement.seq, seq), why)
        if not said.keys() >= set(event.completed):
            why = f"not all of {event.completed} were served"
            yield Violation(Law.CLONE, (placement.seq, seq), why)
        for name, copies in said.items():
            yield from self._furthest(name, copies, placement, seq)
        self.checkpoint = record
        placement.copies.clear()

    def _end(self, copy: CopySettled, placement: Placement, record: Record) -> Iterator[Violation]:
        job, placed = self.jobs.get(copy.job), placement.copies.pop((copy.job, copy.run), None)
        if job is None or placed is None:
            why = f"run {copy.run} of {copy.job} is not going on"
            yield Violation(Law.CLONE, (placement.seq, record.seq), why)
            return
        yield from placement.settle(placed, copy, job.size, record)
        job.states.append(copy.progress)
        ended = copy.furthest and copy.progress >= job.size
        outcome = Outcome.COMPLETED if ended else Outcome.WITHDRAWN
        if copy.outcome is not outcome or copy.progress > job.size + self._slack(job.size):
            why = f"at {copy.progress!r} of {job.size!r} {copy.job} is {copy.outcome.value}"
            yield Violation(Law.CLONE, (record.seq,), why)
        if ended:
            job.over = record.seq
        if copy.furthest:
            job.furthest = copy.progress
            self.holders[copy.job] = placed.servers[0]

    def _furthest(
        self, name: str, copies: list[CopySettled], placement: Placement, seq: int
    ) -> Iterator[Violation]:
        """Of each job's copies one that came furthest says so, and no other."""
        progress, marked = [it.progress for it in copies], [it.furthest for it in copies]
        best = progress[marked.index(True)] if any(marked) else -1.0
        if best < max(progress) - self._slack(max(progress)):
            why = f"copies of {name} came to {progress}; the furthest is {marked}"
            yield Violation(Law.CLONE, (placement.seq, seq), why)

    def _slack(self, size: float) -> float:
        return self.placement.slack(size, self.now) if self.placement is not None else 0.0


def _close(one: float, other: float) -> bool:
    return isclose(one, other, rel_tol=TOLERANCE)
