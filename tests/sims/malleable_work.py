"""Does the work of malleable applications add up? The log, replayed without the simulator (003)."""

from __future__ import annotations

from attrs import define, field

from actors.events import JobCompleted, RunEnded
from actors.malleable.events import (
    CheckpointTaken,
    FaultStruck,
    ProgressSettled,
    RestartedFromScratch,
    Stage,
    StageStarted,
)
from actors.runtime import Record


@define
class _Work:
    left: float = 1.0
    saved: float = 1.0
    """What was left at the last complete checkpoint."""
    time: float = 1.0
    """t_ij of the present run."""
    stage: Stage | None = None
    since: float = 0.0


@define
class WorkReplay:
    """Rebuilds every fraction of work from the times in the log and compares.

    `problems` has one sentence for each disagreement beyond `tolerance` (of the whole work).
    """

    tolerance: float = 1e-9
    problems: list[str] = field(factory=list)
    _jobs: dict[str, _Work] = field(factory=dict)

    def __call__(self, record: Record) -> None:
        event, now = record.event, record.t
        match event:
            case ProgressSettled(job=job, left=left, time=time):
                work = self._jobs.setdefault(job, _Work())
                self._compare(record, work.left, left)
                work.left, work.time, work.stage = left, time, None
            case StageStarted(job=job, stage=stage):
                self._advance(self._jobs[job], now, credit=False)
                self._jobs[job].stage = stage
            case CheckpointTaken(job=job, left=left):
                work = self._jobs[job]
                self._advance(work, now, credit=False)
                self._compare(record, work.left, left)
                work.saved = left
            case _:
                self._end(record)

    def _end(self, record: Record) -> None:
        match record.event:
            case FaultStruck(job=job, left=left):
                work = self._jobs[job]
                self._compare(record, work.saved, left)
                work.left, work.stage = work.saved, None
            case RestartedFromScratch(job=job):
                work = self._jobs[job]
                work.left = work.saved = 1.0
            case RunEnded(job=job):
                # A redistribution counts the part of a checkpoint that it interrupts as work.
                self._advance(self._jobs[job], record.t, credit=True)
                self._jobs[job].stage = None
            case JobCompleted(job=job):
                self._compare(record, self._jobs[job].left, 0.0)

    def _advance(self, work: _Work, now: float, credit: bool) -> None:
        elapsed, work.since = now - work.since, now
        if work.stage is Stage.COMPUTING or (work.stage is Stage.CHECKPOINTING and credit):
            work.left = max(0.0, work.left - elapsed / work.time)

    def _compare(self, record: Record, replayed: float, logged: float) -> None:
        if abs(replayed - logged) > self.tolerance:
            kind, t = type(record.event).__name__, record.t
            self.problems.append(f"{kind} at {t!r} says {logged!r} is left, not {replayed!r}")
