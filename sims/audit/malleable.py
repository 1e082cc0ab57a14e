"""Laws of malleable applications: their work, and how long each stage takes (003, section 3)."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import define, field

from actors.events import JobCompleted, JobSubmitted, Outcome, RunEnded, RunStarted
from actors.malleable.events import (
    ApplicationDescribed,
    CheckpointTaken,
    FaultStruck,
    PackDescribed,
    ProgressSettled,
    RedistributionStarted,
    RestartedFromScratch,
    Stage,
    StageStarted,
)
from actors.runtime import Record
from policies.maths.redistribution import round_count
from sims.audit.law import Law, Violation
from sims.audit.malleable_model import TOLERANCE, Model, close, same

FOLLOWS = {
    None: (Stage.COMPUTING, Stage.DOWN, Stage.REDISTRIBUTING),
    Stage.COMPUTING: (Stage.CHECKPOINTING,),
    Stage.CHECKPOINTING: (Stage.COMPUTING,),
    Stage.DOWN: (Stage.RECOVERING,),
    Stage.RECOVERING: (Stage.COMPUTING, Stage.REDISTRIBUTING),
    Stage.REDISTRIBUTING: (Stage.CLOSING, Stage.COMPUTING),
    Stage.CLOSING: (Stage.COMPUTING,),
}
AT_WORK = (Stage.COMPUTING, Stage.CHECKPOINTING)


@define
class _Application:
    """An application as its laws say it must be."""

    model: Model
    run: int = -1
    size: int = 0
    holders: int = 0
    """Processors among which its data is spread."""
    left: float = 1.0
    """alpha at `since`."""
    saved: float = 1.0
    whole: float = 0.0
    """t_ij."""
    since: float = 0.0
    """t_lastR."""
    taken: int = 0
    checkpoint: int = 0
    stage: Stage | None = None
    begun: float = 0.0
    """When the stage began."""
    seq: int = 0
    """What began it."""
    complete: bool = False
    """Whether the checkpoint that the stage is for has been taken."""
    outcome: Outcome | None = None
    """How the last run ended; None where it has not, or there was none."""
    struck: float | None = None
    """When a fault struck it last."""
    started: int | None = None
    """seq of a RunStarted that ProgressSettled must follow."""
    rounds: int | None = None
    """seq of a stage that RedistributionStarted must follow."""
    times: dict[int, float] = field(factory=dict)
    """Size -> t_ij."""


@define
class MalleableAuditor:
    """Rebuilds every fraction of work and the end of every stage from the times in the log."""

    pack: PackDescribed | None = None
    applications: dict[str, _Application] = field(factory=dict)

    def __call__(self, record: Record) -> Iterator[Violation]:
        event, seq = record.event, record.seq
        if isinstance(event, PackDescribed):
            if self.pack is not None:
                yield Violation(Law.FRAME, (seq,), "the pack is described twice")
            self.pack = event
        elif isinstance(event, ApplicationDescribed):
            yield from self._describe(event, seq)
        else:
            it = self.applications.get(getattr(event, "job", ""))
            if it is not None:
                yield from self._progress(it, record)
            elif isinstance(event, JobSubmitted):
                yield Violation(Law.FRAME, (seq,), f"{event.job} was not described")

    def close(self, last: Record) -> Iterator[Violation]:
        return iter(())

    def _describe(self, event: ApplicationDescribed, seq: int) -> Iterator[Violation]:
        if self.pack is None or event.job in self.applications:
            why = f"{event.job} is described twice, or before the pack"
            yield Violation(Law.FRAME, (seq,), why)
        if self.pack is not None:
            self.applications[event.job] = _Application(Model(self.pack, event.footprint))

    def _progress(self, it: _Application, record: Record) -> Iterator[Violation]:
        yield from self._follow(it, record)
        match record.event:
            case RunStarted(run=run):
                it.run, it.started, it.stage = run, record.seq, None
                it.begun = record.t
            case ProgressSettled():
                yield from self._settle(it, record.event, record)
            case StageStarted():
                yield from self._enter(it, record.event, record)
            case CheckpointTaken():
                yield from self._save(it, record.event, record)
            case RunEnded():
                yield from self._end(it, record.event, record)
            case _:
                yield from self._hazard(it, record)

    def _follow(self, it: _Application, record: Record) -> Iterator[Violation]:
        """What belongs together stands together."""
        event, seq = record.event, record.seq
        if it.started is not None and not isinstance(event, ProgressSettled):
            yield Violation(Law.FRAME, (it.started, seq), "no ProgressSettled follows the start")
        if it.rounds is not None and not isinstance(event, RedistributionStarted):
            yield Violation(Law.REDISTRIBUTION, (it.rounds, seq), "nothing says what moves")
        it.rounds = None

    # --- runs ---------------------------------------------------------------------------------

    def _settle(
        self, it: _Application, event: ProgressSettled, record: Record
    ) -> Iterator[Violation]:
        start, it.started = it.started, None
        if start is None or start != record.seq - 1 or event.run != it.run:
            yield Violation(Law.FRAME, (record.seq,), f"run {event.run} has not just started")
        left, since = self._due(it, event, record.t)
        whole = it.times.setdefault(event.processors, event.time)
        expected = event.since + it.model.expected(event.processors, event.left * event.time)
        for what, says, law in (
            ("left", (event.left, left), Law.PROGRESS),
            ("since", (event.since, since), Law.DURATION),
            ("time", (event.time, whole), Law.DURATION),
            ("expected", (event.expected, expected), Law.DURATION),
        ):
            yield from same(what, *says, law, (it.seq, record.seq))
        it.left, it.since, it.whole, it.size = event.left, event.since, event.time, event.processors
        it.taken, it.outcome, it.seq = 0, None, record.seq

    def _due(self, it: _Application, event: ProgressSettled, now: float) -> tuple[float, float]:
        """What must be left, and when it must compute again."""
        model, size = it.model, event.processors
        if it.outcome is None:
            it.holders = size
            return 1.0, now
        if it.outcome is Outcome.LOST:
            since = now + model.pack.downtime + model.checkpoint(it.holders)
            return it.saved, self._moved(it, since, size) if it.holders != size else since
        worked = now - it.since - it.taken * model.checkpoint(it.size)
        return max(0.0, it.left - worked / it.whole), self._moved(it, now, size)

    def _moved(self, it: _Application, start: float, size: int) -> float:
        model = it.model
        return start + model.redistribution(it.holders, size) + model.checkpoint(size)

    def _end(self, it: _Application, event: RunEnded, record: Record) -> Iterator[Violation]:
        it.outcome = event.outcome
        if (event.outcome is Outcome.LOST) != (it.struck == record.t):
            why = f"{event.job} was struck at {it.struck}, and its run ends {event.outcome.value}"
            yield Violation(Law.STATE, (record.seq,), why)
        completed = event.outcome is Outcome.COMPLETED
        if completed and self._end_of_stage(it) is not None and it.stage is Stage.COMPUTING:
            last = it.taken == it.model.checkpoints(it.size, it.left * it.whole)
            if not last:
                yield Violation(Law.PROGRESS, (record.seq,), "it completes before its work is done")
        if event.outcome is Outcome.FAILED or (completed and it.stage is not Stage.COMPUTING):
            why = f"a run {event.outcome.value} in stage {it.stage}"
            yield Violation(Law.LIFE, (record.seq,), why)
        yield from self._leave(it, record, interrupted=not completed)
        it.stage, it.complete = None, False

    # --- stages -------------------------------------------------------------------------------

    def _enter(self, it: _Application, event: StageStarted, record: Record) -> Iterator[Violation]:
        stage, seq = event.stage, record.seq
        if stage not in FOLLOWS[it.stage] or event.run != it.run:
            was = it.stage.value if it.stage else "nothing"
            why = f"run {event.run} is {stage.value} after {was} in run {it.run}"
            yield Violation(Law.STATE, (it.seq, seq), why)
        if it.stage is None and record.t != it.begun:
            yield Violation(Law.STATE, (it.seq, seq), "it does nothing for a while")
        if it.stage in (Stage.CHECKPOINTING, Stage.CLOSING) and not it.complete:
            yield Violation(Law.CHECKPOINT, (it.seq, seq), "no checkpoint was completed")
        yield from self._leave(it, record, interrupted=False)
        if stage is Stage.COMPUTING and not close(record.t, max(it.since, record.t)):
            yield Violation(Law.DURATION, (it.seq, seq), f"it computes before {it.since}")
        if stage is Stage.REDISTRIBUTING:
            it.rounds = seq
        it.stage, it.begun, it.seq, it.complete = stage, record.t, seq, False

    def _leave(self, it: _Application, record: Record, interrupted: bool) -> Iterator[Violation]:
        """The stage is over: was it time?"""
        end, stage = self._end_of_stage(it), it.stage
        if end is None or stage is None:
            it.begun = record.t
            return
        busy = stage not in AT_WORK and not it.model.pack.fatal
        early = interrupted and record.t <= end * (1 + TOLERANCE) and not busy
        if not early and not close(record.t, end):
            why = f"{stage.value} should last until {end!r} and lasts until {record.t!r}"
            yield Violation(Law.DURATION, (it.seq, record.seq), why)
        if stage is Stage.REDISTRIBUTING and not interrupted and not it.model.protected:
            it.holders = it.size
        it.begun = record.t

    def _end_of_stage(self, it: _Application) -> float | None:
        """When the present stage ends if nothing comes between."""
        model, now = it.model, it.begun
        if it.complete:
            return now
        match it.stage:
            case Stage.DOWN:
                return now + model.pack.downtime
            case Stage.RECOVERING:
                return now + model.checkpoint(it.holders)
            case Stage.REDISTRIBUTING:
                return now + model.redistribution(it.holders, it.size)
            case Stage.CLOSING:
                return now + model.checkpoint(it.size)
            case Stage.CHECKPOINTING:
                return it.since + (it.taken + 1) * model.period(it.size)
            case Stage.COMPUTING:
                return self._computed(it)
        return None

    def _computed(self, it: _Application) -> float:
        model, whole = it.model, it.left * it.whole
        if it.taken == model.checkpoints(it.size, whole):
            return max(it.since + model.duration(it.size, whole), it.begun)
        due = it.since + (it.taken + 1) * model.period(it.size) - model.checkpoint(it.size)
        return max(due, it.begun)

    # --- checkpoints, faults ------------------------------------------------------------------

    def _save(
        self, it: _Application, event: CheckpointTaken, record: Record
    ) -> Iterator[Violation]:
        if it.stage not in (Stage.CHECKPOINTING, Stage.CLOSING) or event.run != it.run:
            yield Violation(Law.CHECKPOINT, (record.seq,), "no checkpoint was being taken")
        if event.checkpoint != it.checkpoint + 1:
            why = f"checkpoint {event.checkpoint} follows {it.checkpoint}"
            yield Violation(Law.SEQUENCE, (record.seq,), why)
        yield from self._leave(it, record, interrupted=False)
        it.taken += it.stage is Stage.CHECKPOINTING
        it.complete = True
        done = it.taken * it.model.work(it.size) / it.whole if it.taken and it.whole else 0.0
        left = max(0.0, it.left - done)
        yield from same("left", event.left, left, Law.PROGRESS, (it.seq, record.seq))
        it.checkpoint, it.saved, it.holders = event.checkpoint, event.left, it.size

    def _hazard(self, it: _Application, record: Record) -> Iterator[Violation]:
        match record.event:
            case FaultStruck():
                yield from self._fall_back(it, record.event, record)
            case RestartedFromScratch(lost=lost):
                yield from same("lost", lost, 1 - it.saved, Law.CHECKPOINT, (it.seq, record.seq))
                it.saved, it.holders = 1.0, it.size
            case RedistributionStarted(before=before, after=after, rounds=rounds):
                found = (it.holders, it.size, round_count(it.holders, it.size))
                begun = it.stage is Stage.REDISTRIBUTING and it.seq == record.seq - 1
                if not begun or found != (before, after, rounds):
                    why = f"from, to and rounds are {found}; it says {record.event}"
                    yield Violation(Law.REDISTRIBUTION, (it.seq, record.seq), why)
            case JobCompleted() if it.outcome is not Outcome.COMPLETED:
                yield Violation(Law.LIFE, (record.seq,), "its last run did not complete")

    def _fall_back(
        self, it: _Application, event: FaultStruck, record: Record
    ) -> Iterator[Violation]:
        again = it.stage is None and it.outcome is Outcome.LOST
        it.struck = record.t
        if event.run != it.run or (event.stage is not it.stage and not again):
            why = f"it strikes {event.stage.value} in run {event.run}, not {it.stage}"
            yield Violation(Law.STATE, (it.seq, record.seq), why)
        if not it.model.pack.fatal and record.t < it.since:
            why = f"before {it.since} it should have been ignored"
            yield Violation(Law.STATE, (it.seq, record.seq), why)
        yield from same("left", event.left, it.saved, Law.CHECKPOINT, (it.seq, record.seq))
