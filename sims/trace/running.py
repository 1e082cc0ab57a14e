"""One run of a job, told: what it does, stage after stage, and who of its members is away."""

from __future__ import annotations

from attrs import define, field

from actors.events import Outcome, RunStarted, Stage
from actors.runtime import Record
from policies.availability import WorkerState
from sims.telling import amount_of, in_units
from sims.trace.account import Part
from sims.trace.history import History
from sims.trace.holding import Holding
from sims.trace.span import Span

STAGING_IN, SAVING, COMPUTING, VERIFYING = (
    *(Stage.STAGING_IN, Stage.SAVING),
    *(Stage.COMPUTING, Stage.VERIFYING),
)
BY_MESSAGE = frozenset((STAGING_IN, SAVING))
"""Stages that are over when all members' messages have passed."""

PARTS = {
    Stage.COMPUTING: Part.USEFUL,
    Stage.VERIFYING: Part.VERIFICATION,
    Stage.CHECKPOINTING: Part.CHECKPOINT,
    Stage.RECOVERING: Part.RECOVERY,
    Stage.REDISTRIBUTING: Part.REDISTRIBUTION,
}
WORDS = {
    Stage.STAGING_IN: "stages in",
    Stage.SAVING: "sends its images",
    Stage.COMPUTING: "computes",
    Stage.VERIFYING: "verifies",
    Stage.CHECKPOINTING: "takes a checkpoint",
    Stage.RECOVERING: "recovers",
    Stage.REDISTRIBUTING: "redistributes its data",
}


@define
class RunUnderWay(Holding):
    """A run under way. While no stage of it is told it computes at its members' speed, then
    verifies: it is told in one line."""

    history: History = field(kw_only=True)
    verification: float = 0
    share: float = 1
    rotates: bool = False
    stage: Stage = COMPUTING
    rate: float = 0
    told: bool = False
    """Whether its stages are."""
    doing: Span | None = None
    receiving: set[int] = field(factory=set)
    """Members whose message is under way."""

    def begin(self, event: RunStarted) -> None:
        """It holds its members from now on."""
        self.share, self.rotates = event.share, event.rotates
        self.rate = self._speed()
        self.history.turn(self.history.start, self._part(), event.begun, self.rate)

    # --- its stages ---------------------------------------------------------------------------

    def enter(self, stage: Stage, rate: float, done: float, record: Record) -> None:
        """The stage before is over."""
        self.told = True
        self._stop(record.t)
        self.stage = stage
        self._go_on(rate, done, record)

    def change_rate(self, rate: float, done: float, record: Record) -> None:
        """It advances at another rate within its stage."""
        if self.doing is not None and self.stage is COMPUTING:
            self.doing.title += f", {in_units(done, self.cast.unit)} done by then"
        self._stop(record.t)
        self._go_on(rate, done, record)

    def _go_on(self, rate: float, done: float, record: Record) -> None:
        self.rate = rate
        if rate or self.stage in BY_MESSAGE:
            self.doing = self.span.below(self._words(), record)
        self.history.turn(record.t, self._part(), done, rate)

    def _stop(self, now: float) -> None:
        if self.doing is not None:
            self.doing.close_within(self.span, now)
            self.doing = None

    def _words(self) -> str:
        words = WORDS[self.stage]
        paced = self.stage in (COMPUTING, VERIFYING) and self.rate != 1
        return f"{words} at speed {self.rate:g}" if paced else words

    def _part(self) -> Part:
        if self.stage in BY_MESSAGE:
            if self.receiving:
                return Part.TRANSFER
            return Part.SUSPENDED if self.away else Part.WAITING
        return PARTS[self.stage] if self.rate else Part.SUSPENDED

    # --- its members --------------------------------------------------------------------------

    def move(self, worker: int, state: WorkerState, record: Record) -> None:
        """See Holding."""
        super().move(worker, state, record)
        self.review(record.t)

    def pace(self, worker: int, record: Record) -> None:
        """A member has another speed."""
        speed = self.cast.speeds[worker]
        self.span.happened(f"{self.cast.name(worker)} has speed {speed:g} now", record)
        self.review(record.t)

    def review(self, now: float) -> None:
        """What its members do has changed, and with it what the run is about."""
        if not self.told:
            self._advance(now, 0 if self.away else self._speed())
        elif self.stage in BY_MESSAGE:
            last = self.history.pieces[-1]
            if self._part() is not last.part:
                self.history.turn(now, self._part(), last.done)

    def _speed(self) -> float:
        speeds = self.cast.speeds
        if not speeds:
            return self.share
        of_members = [speeds.get(worker, 1) for worker in self.members()]
        return self.share * (sum(of_members) if self.rotates else min(of_members))

    def _advance(self, now: float, rate: float) -> None:
        """Nobody tells its stages: its work is done when it must be."""
        last, work = self.history.pieces[-1], self.history.work
        done = last.done
        if self.stage is COMPUTING and self.rate:
            done += self.rate * (now - last.start)
            over = last.start + (work - last.done) / self.rate
            if self.verification and over <= now:
                self.stage, done = VERIFYING, work
                self.history.turn(over, Part.VERIFICATION, work)
        if rate != self.rate:
            self.rate = rate
            self.history.turn(now, self._part(), done, rate)

    # --- its end ------------------------------------------------------------------------------

    def end(self, outcome: Outcome, done: float, record: Record) -> None:
        """It gives its members back, or its job keeps them."""
        now = record.t
        if self.told:
            self.span.happened(f"ended: {outcome.value}", record)
        else:
            self._advance(now, self.rate)
            self._sum_up(outcome, done, now)
        self.history.close(now, done)
        self._stop(now)
        self.close(now)

    def _sum_up(self, outcome: Outcome, done: float, now: float) -> None:
        pieces, unit = self.history.pieces, self.cast.unit
        ends = [piece.start for piece in pieces[1:]] + [now]
        said = []
        for part, verb in ((Part.USEFUL, "computes"), (Part.VERIFICATION, "verifies")):
            spent = sum(
                over - it.start for it, over in zip(pieces, ends, strict=True) if it.part is part
            )
            if spent:
                said.append(f"{verb} {in_units(spent, unit)}")
        how = outcome.value
        if outcome in (Outcome.LOST, Outcome.CANCELLED):
            how += f" with {amount_of(done)} of {amount_of(self.history.work)} done"
        self.span.title += f"; {', '.join([*said, how])}"
