"""Laws of redundant copies: checkpoints, clones, completions (004, III)."""

from __future__ import annotations

from collections.abc import Iterator
from math import isclose

from attrs import define, field

from actors.events import JobCompleted, JobSubmitted, Outcome, RunEnded, RunStarted
from actors.redundant.events import (
    ClusterDescribed,
    CopiesCheckpointed,
    CopyPlaced,
    CopySettled,
    JobSized,
)
from actors.runtime import Event, Record
from sims.audit.law import Law, Violation
from sims.audit.placement import TOLERANCE, Placement
from sims.audit.service import Service

PAIRS: dict[type[Event], type[Event]] = {
    RunStarted: CopyPlaced,
    CopySettled: RunEnded,
    JobSubmitted: JobSized,
}
"""What is told in two events, one at once after the other."""
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
    settled: dict[str, list[Record]] = field(factory=dict)
    """Job -> what its copies said at this checkpoint."""
    called: float | None = None
    """When a job came or went last."""
    now: float = 0.0
    _last: Record | None = None

    def __call__(self, record: Record) -> Iterator[Violation]:
        if record.t > self.now:
            yield from self._pass(record)
        yield from self._pair(record)
        if self.placement is not None and not isinstance(record.event, RunStarted | CopyPlaced):
            yield from self.placement.complete()
        yield from self.service(record)
        match record.event:
            case ClusterDescribed(lost=lost):
                self.cluster, self.service.lost = record.event, lost
            case JobSubmitted() | JobSized() | JobCompleted():
                yield from self._job(record)
            case CopiesCheckpointed():
                yield from self._checkpoint(record.event, record)
            case _:
                yield from self._copy(record)
        self._last = record

    def close(self, last: Record) -> Iterator[Violation]:
        yield from self._pass(last)

    def _pair(self, record: Record) -> Iterator[Violation]:
        last, event = self._last, record.event
        if last is None:
            return
        wanted = PAIRS.get(type(last.event))
        about = (getattr(last.event, "job", None), getattr(last.event, "run", None))
        same = about == (getattr(event, "job", None), getattr(event, "run", None))
        if wanted is not None and not (type(event) is wanted and same and record.t == last.t):
            why = f"{wanted.__name__} of {about[0]} does not follow at once"
            yield Violation(Law.FRAME, (last.seq, record.seq), why)
        if type(event) in PAIRS.values() and PAIRS.get(type(last.event)) is not type(event):
            yield Violation(Law.FRAME, (record.seq,), "it follows nothing that it completes")

    # --- an instant is over -------------------------------------------------------------------

    def _pass(self, record: Record) -> Iterator[Violation]:
        if self.placement is not None:
            yield from self.placement.complete()
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

    # --- checkpoints --------------------------------------------------------------------------

    def _checkpoint(self, event: CopiesCheckpointed, record: Record) -> Iterator[Violation]:
        served = {job for job, _ in self.placement.copies} if self.placement is not None else set()
        if self.checkpoint is not None or len(served) != event.jobs:
            why = f"{len(served)} jobs were served; it says {event.jobs}"
            yield Violation(Law.CLONE, (record.seq,), why)
        self.checkpoint = record
        self.settled = {}

    def _copy(self, record: Record) -> Iterator[Violation]:
        match record.event:
            case RunStarted():
                yield from self._open(record)
            case CopyPlaced():
                yield from self._place(record.event, record.seq)
            case CopySettled():
                yield from self._settle(record.event, record)
            case RunEnded():
                yield from self._end(record.event, record.seq)

    def _open(self, record: Record) -> Iterator[Violation]:
        old = self.placement
        if old is not None and old.begun == record.t and not old.closed:
            return
        if old is not None and old.copies:
            left = min(copy.seq for copy in old.copies.values())
            why = f"{len(old.copies)} copies of the placement before are going on"
            yield Violation(Law.CLONE, (left, record.seq), why)
        yield from self._furthest(record.seq)
        self.placement = Placement(self.cluster, self.service, dict(self.holders), record.t)

    def _furthest(self, seq: int) -> Iterator[Violation]:
        """Of each job's copies the first that came furthest says so, and no other."""
        for name, said in self.settled.items():
            progress = [r.event.progress for r in said if isinstance(r.event, CopySettled)]
            marked = [r.event.furthest for r in said if isinstance(r.event, CopySettled)]
            best = progress[marked.index(True)] if any(marked) else -1.0
            if marked.count(True) != 1 or best < max(progress) - self._slack(max(progress)):
                why = f"copies of {name} came to {progress}; the furthest is {marked}"
                yield Violation(Law.CLONE, (said[0].seq, seq), why)
        self.settled = {}

    def _slack(self, size: float) -> float:
        return self.placement.slack(size, self.now) if self.placement is not None else 0.0

    def _place(self, event: CopyPlaced, seq: int) -> Iterator[Violation]:
        start, job = self._last, self.jobs.get(event.job)
        if start is None or not isinstance(start.event, RunStarted) or self.placement is None:
            return  # said already
        self.placement.add(event.job, event.run, start.event.processors, event, seq)
        if job is None or job.over is not None:
            yield Violation(Law.LIFE, (seq,), f"{event.job} is not active")
            return
        if not 0 < event.share <= 1:
            yield Violation(Law.CAPACITY, (seq,), f"a share of {event.share}")
        if event.progress > job.furthest * (1 + TOLERANCE):
            why = f"{event.job} starts from {event.progress!r}; it came to {job.furthest!r}"
            yield Violation(Law.CLONE, (seq,), why)
        elif not any(_close(event.progress, state) for state in (*job.states, 0.0)):
            why = f"no copy of {event.job} was in the state {event.progress!r}"
            yield Violation(Law.CLONE, (seq,), why)

    def _settle(self, event: CopySettled, record: Record) -> Iterator[Violation]:
        job, placement = self.jobs.get(event.job), self.placement
        if job is None or placement is None or (event.job, event.run) not in placement.copies:
            why = f"run {event.run} of {event.job} is not going on"
            yield Violation(Law.CLONE, (record.seq,), why)
            return
        if self.checkpoint is None:
            yield Violation(Law.CLONE, (record.seq,), "there is no checkpoint now")
        yield from placement.settle(event, job.size, record)
        self.settled.setdefault(event.job, []).append(record)
        job.states.append(event.progress)
        if event.furthest:
            job.furthest = event.progress
            self.holders[event.job] = placement.copies[event.job, event.run].servers[0]

    def _end(self, event: RunEnded, seq: int) -> Iterator[Violation]:
        said, job = self._last, self.jobs.get(event.job)
        if self.placement is not None:
            self.placement.copies.pop((event.job, event.run), None)
        if said is None or not isinstance(said.event, CopySettled) or job is None:
            return  # said already
        ended = said.event.furthest and said.event.progress >= job.size
        outcome = Outcome.COMPLETED if ended else Outcome.WITHDRAWN
        beyond = said.event.progress > job.size + self._slack(job.size)
        if event.outcome is not outcome or beyond:
            why = f"at {said.event.progress!r} of {job.size!r} it is {event.outcome.value}"
            yield Violation(Law.CLONE, (said.seq, seq), why)
        if ended:
            job.over = seq


def _close(one: float, other: float) -> bool:
    return isclose(one, other, rel_tol=TOLERANCE)
