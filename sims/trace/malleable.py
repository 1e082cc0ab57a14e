"""The life of a malleable application: stages, checkpoints, faults, redistributions (003)."""

from __future__ import annotations

from attrs import define

from actors.events import Outcome, RunEnded, RunStarted
from actors.malleable.events import (
    BothCopiesLost,
    CheckpointTaken,
    CopiesLost,
    CopiesRestored,
    FaultIgnored,
    FaultStruck,
    ProcessorsJoined,
    ProcessorsReleased,
    ProgressSettled,
    RedistributionDecided,
    RedistributionStarted,
    RestartedFromScratch,
    Stage,
    StageStarted,
)
from actors.runtime import Record
from sims.telling import counted
from sims.trace.account import Part
from sims.trace.span import Span
from sims.trace.tale import Tale
from sims.uses.slices import count

PARTS = {
    Stage.COMPUTING: Part.USEFUL,
    Stage.CHECKPOINTING: Part.CHECKPOINT,
    Stage.CLOSING: Part.CHECKPOINT,
    Stage.DOWN: Part.DOWNTIME,
    Stage.RECOVERING: Part.RECOVERY,
    Stage.REDISTRIBUTING: Part.REDISTRIBUTION,
}


@define
class MalleableTrace(Tale):
    """Runs between faults and redistributions, each through its stages."""

    _run: Span | None = None
    _stage: Span | None = None

    def __call__(self, record: Record) -> None:
        event = record.event
        if isinstance(event, RedistributionDecided):
            if self.root is not None and self.root.end is None:
                self._redistribute(event, record)
        else:
            Tale.__call__(self, record)

    def tell(self, record: Record) -> None:
        """See Tale."""
        match record.event:
            case RunStarted(run=run, processors=processors):
                title = f"run {run} on {counted(count(processors), 'processor')}: {processors}"
                self._run = self._below(self.root, title, record)
            case ProgressSettled(left=left, expected=expected):
                if self._run is not None:
                    self._run.title += f"; {left:.3%} of the work left, expected end {expected:g}"
            case StageStarted(stage=stage):
                self._close(self._stage, record.t)
                self._stage = self._below(self._run, stage.value, record)
                self.account.turn(record.t, PARTS[stage])
            case CheckpointTaken(checkpoint=number, left=left):
                self.account.turn(record.t, self.account.part)
                self.account.save()
                title = f"checkpoint {number} is complete; {left:.3%} left"
                self._happened(self._run, title, record)
            case RunEnded(outcome=outcome):
                self._end(outcome, record)
            case _:
                self._incident(record)

    def _end(self, outcome: Outcome, record: Record) -> None:
        self.account.turn(record.t, Part.WAITING)
        if outcome is Outcome.LOST:
            self.account.lose()
        self._close(self._stage, record.t)
        self._happened(self._run, f"ended: {outcome.value}", record)
        self._close(self._run, record.t)

    def _incident(self, record: Record) -> None:
        match record.event:
            case FaultStruck(processor=processor, stage=stage, left=left):
                title = f"a fault on processor {processor} while {stage.value}; falls back to "
                self._happened(self._run, f"{title}{left:.3%} left", record)
            case FaultIgnored(processor=processor):
                self._happened(self._run, f"a fault on processor {processor}, ignored", record)
            case RestartedFromScratch(lost=lost):
                self.account.lose_all()
                title = f"starts from scratch: {lost:.3%} of the work is lost"
                self._happened(self._run, title, record)
            case RedistributionStarted(before=before, after=after, rounds=rounds):
                where = f"from {before} to {counted(after, 'processor')}"
                title = f"moves its data {where} in {counted(rounds, 'round')}"
                self._happened(self._run, title, record)
            case _:
                self._memory(record)

    def _memory(self, record: Record) -> None:
        match record.event:
            case CopiesLost(processor=processor, own=own):
                title = f"processor {processor} loses checkpoint {own}"
            case CopiesRestored(processor=processor, buddy=buddy, checkpoint=number):
                title = f"processor {processor} gets checkpoint {number} from processor {buddy}"
            case BothCopiesLost(processor=processor, buddy=buddy):
                title = f"processors {processor} and {buddy} have both lost its checkpoint"
            case ProcessorsReleased(processors=processors):
                title = f"promises its processors {processors}, and goes on"
            case ProcessorsJoined(processors=processors):
                title = f"processors {processors} join"
            case _:
                return
        self._happened(self._run, title, record)

    def _redistribute(self, event: RedistributionDecided, record: Record) -> None:
        mine = [(before, after) for job, before, after in event.moves if job == self.job]
        for before, after in mine:
            title = f"goes from {before} to {counted(after, 'processor')}"
            why = f"{event.job}'s {event.why.value}"
            self._happened(self.root, f"{title}: {why}", record)
