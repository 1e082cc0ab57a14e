"""What the processors of malleable applications did (003)."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import define, evolve, field

from actors.events import JobCompleted, Outcome, RunEnded, RunStarted
from actors.malleable.events import (
    CheckpointTaken,
    PackDescribed,
    ProcessorsJoined,
    RestartedFromScratch,
    Stage,
    StageStarted,
)
from actors.runtime import Record
from sims.uses.slices import Slice, Use

USES = {
    Stage.COMPUTING: Use.USEFUL,
    Stage.CHECKPOINTING: Use.CHECKPOINT,
    Stage.CLOSING: Use.CHECKPOINT,
    Stage.DOWN: Use.RECOVERY,
    Stage.RECOVERING: Use.RECOVERY,
    Stage.REDISTRIBUTING: Use.REDISTRIBUTION,
}


@define
class _Application:
    """One application as the log has told it so far."""

    job: str
    run: int = 0
    held: list[str] = field(factory=list)
    """Interval sets; more than one where promised processors joined the run."""
    stage: Stage | None = None
    since: float = 0
    seq: int = 0
    unsaved: list[Slice] = field(factory=list)
    """Computation since the last complete checkpoint: a fault undoes it."""
    saved: list[Slice] = field(factory=list)
    """Computation that only the loss of both copies of a checkpoint undoes."""


@define
class MalleableAccountant:
    """A run goes through stages on all its processors; work is useful once nothing can undo it.

    Until then it is kept back: it comes later than other slices of its processors. A checkpoint
    that a redistribution interrupts is a checkpoint here, though 003, section 3.3.2, counts its
    part as work.
    """

    fatal: bool = False
    """Whether checkpoints can be lost."""
    _applications: dict[str, _Application] = field(factory=dict)

    def __call__(self, record: Record) -> Iterator[Slice]:
        match record.event:
            case PackDescribed(fatal=fatal):
                self.fatal = fatal
            case RunStarted(job=job, run=run, processors=processors):
                it = self._applications.setdefault(job, _Application(job))
                it.run, it.held, it.stage = run, [processors], None
            case ProcessorsJoined(job=job, processors=processors):
                it = self._applications[job]
                yield from self._pass(it, record)
                it.held.append(processors)
            case StageStarted(job=job, stage=stage):
                it = self._applications[job]
                yield from self._pass(it, record)
                it.stage = stage
            case CheckpointTaken(job=job):
                yield from self._save(self._applications[job], record)
            case _:
                yield from self._end(record)

    def _end(self, record: Record) -> Iterator[Slice]:
        match record.event:
            case RunEnded(job=job, outcome=outcome):
                it = self._applications[job]
                yield from self._pass(it, record)
                it.stage, it.held = None, []
                if outcome is Outcome.LOST:
                    yield from _decided(it.unsaved, Use.LOST)
            case RestartedFromScratch(job=job):
                yield from _decided(self._applications[job].saved, Use.LOST)
            case JobCompleted(job=job):
                it = self._applications.pop(job)
                yield from _decided(it.saved, Use.USEFUL)
                yield from _decided(it.unsaved, Use.USEFUL)

    def close(self, now: float) -> Iterator[Slice]:
        """What is saved counts as useful; the rest of unfinished work as lost."""
        for it in self._applications.values():
            yield from self._slices(it, now)
            yield from _decided(it.saved, Use.USEFUL)
            yield from _decided(it.unsaved, Use.LOST)
        self._applications.clear()

    def _save(self, it: _Application, record: Record) -> Iterator[Slice]:
        yield from self._pass(it, record)
        it.saved += it.unsaved
        it.unsaved.clear()
        if not self.fatal:
            yield from _decided(it.saved, Use.USEFUL)

    def _pass(self, it: _Application, record: Record) -> Iterator[Slice]:
        """Enter the time until now; what follows began with this record."""
        yield from self._slices(it, record.t)
        it.since, it.seq = record.t, record.seq

    @staticmethod
    def _slices(it: _Application, now: float) -> Iterator[Slice]:
        if it.stage is None or now == it.since:
            return
        for held in it.held:
            use, note = USES[it.stage], it.stage.value
            done = Slice(held, use, it.since, now, it.seq, it.job, it.run, note=note)
            if it.stage is Stage.COMPUTING:
                it.unsaved.append(done)
            else:
                yield done


def _decided(slices: list[Slice], use: Use) -> Iterator[Slice]:
    for it in slices:
        yield evolve(it, use=use)
    slices.clear()
