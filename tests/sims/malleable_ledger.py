"""Where the processor-seconds of a run of malleable applications went: a fold over its events."""

from __future__ import annotations

import enum
from collections import defaultdict
from typing import ClassVar

from attrs import define, field, frozen

from actors.events import JobCompleted, Outcome, RunEnded, RunStarted, ScenarioEnded
from actors.malleable.events import (
    CheckpointTaken,
    FaultStruck,
    ProcessorsJoined,
    RestartedFromScratch,
    Stage,
    StageStarted,
)
from actors.runtime import Record


class Use(enum.Enum):
    """What a processor-second was spent on."""

    USEFUL = "useful"
    LOST = "lost"
    """Computation that a fault undid."""
    CHECKPOINT = "checkpoint"
    RECOVERY = "recovery"
    REDISTRIBUTION = "redistribution"
    WAITING = "waiting"
    """For the replacement of another processor of the same application."""
    DOWN = "down"
    IDLE = "idle"


USES = {
    Stage.CHECKPOINTING: Use.CHECKPOINT,
    Stage.CLOSING: Use.CHECKPOINT,
    Stage.RECOVERING: Use.RECOVERY,
    Stage.REDISTRIBUTING: Use.REDISTRIBUTION,
    Stage.DOWN: Use.WAITING,
}


@frozen
class Spans:
    """An interval set of processors, read back from the log."""

    ranges: tuple[tuple[int, int], ...]

    @staticmethod
    def read(text: str) -> Spans:
        """From `0-3 6`."""
        pairs = (word.partition("-") for word in text.split())
        return Spans(tuple((int(a), int(b or a)) for a, _, b in pairs))

    @property
    def count(self) -> int:
        """Processors in it."""
        return sum(last - first + 1 for first, last in self.ranges)

    def __contains__(self, processor: int) -> bool:
        return any(first <= processor <= last for first, last in self.ranges)


@define
class _Job:
    held: list[Spans] = field(factory=list)
    stage: Stage | None = None
    since: float = 0.0
    struck: set[int] = field(factory=set)
    """Who is being replaced."""
    unsaved: float = 0.0
    """Processor-seconds of computation since the last complete checkpoint."""
    saved: float = 0.0
    """Those that a checkpoint has saved."""

    @property
    def width(self) -> int:
        return sum(spans.count for spans in self.held)

    @property
    def down(self) -> int:
        return sum(any(q in spans for spans in self.held) for q in self.struck)


@define
class MalleableLedger:
    """Every processor-second of `processors`, in exactly one of `Use`.

    Partial checkpoints count as checkpoints, though the work that is left after a redistribution
    may credit them (003, section 3.3.2).
    """

    wants: ClassVar[frozenset[type]] = frozenset(
        (
            *(RunStarted, RunEnded, StageStarted, CheckpointTaken, FaultStruck),
            *(ProcessorsJoined, RestartedFromScratch, JobCompleted, ScenarioEnded),
        )
    )

    processors: int
    spent: defaultdict[Use, float] = field(factory=lambda: defaultdict(float))
    """Processor-seconds by use; complete when all jobs are."""
    makespan: float = 0.0
    _jobs: dict[str, _Job] = field(factory=dict)
    _now: float = 0.0
    _busy: int = 0

    def __call__(self, record: Record) -> None:
        self._pass(record.t)
        event = record.event
        match event:
            case RunStarted(job=name, processors=text):
                job = self._jobs.setdefault(name, _Job())
                job.since, job.stage = record.t, None
                self._take(job, text)
            case StageStarted(job=name, stage=stage):
                job = self._settled(name, record.t)
                job.stage = stage
                if stage is Stage.RECOVERING:
                    job.struck = set()
            case ProcessorsJoined(job=name, processors=text):
                self._take(self._settled(name, record.t), text)
            case _:
                self._progress(record)

    def _progress(self, record: Record) -> None:
        event = record.event
        match event:
            case CheckpointTaken(job=name):
                job = self._settled(name, record.t)
                job.saved, job.unsaved = job.saved + job.unsaved, 0.0
            case FaultStruck(job=name, processor=processor):
                self._settled(name, record.t).struck.add(processor)
            case RestartedFromScratch(job=name):
                job = self._jobs[name]
                self.spent[Use.LOST] += job.saved
                job.saved = 0.0
            case RunEnded(job=name, outcome=outcome):
                self._end_run(self._settled(name, record.t), outcome)
            case JobCompleted(job=name):
                job = self._jobs[name]
                self.spent[Use.USEFUL] += job.saved + job.unsaved
                self.makespan = record.t

    def _pass(self, now: float) -> None:
        self.spent[Use.IDLE] += (self.processors - self._busy) * (now - self._now)
        self._now = now

    def _take(self, job: _Job, text: str) -> None:
        spans = Spans.read(text)
        job.held.append(spans)
        self._busy += spans.count

    def _settled(self, name: str, now: float) -> _Job:
        """The job, its time until now accounted for."""
        job = self._jobs[name]
        elapsed, job.since = now - job.since, now
        if job.stage is Stage.COMPUTING:
            job.unsaved += elapsed * job.width
        elif job.stage is not None:
            down = job.down if job.stage is Stage.DOWN else 0
            self.spent[Use.DOWN] += elapsed * down
            self.spent[USES[job.stage]] += elapsed * (job.width - down)
        return job

    def _end_run(self, job: _Job, outcome: Outcome) -> None:
        self._busy -= job.width
        job.held, job.stage = [], None
        if outcome is Outcome.LOST:
            self.spent[Use.LOST] += job.unsaved
            job.unsaved = 0.0
