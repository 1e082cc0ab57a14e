"""A malleable application: it computes, checkpoints, falls back at faults, and is redistributed."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from attrs import define, field

from actors.events import JobCompleted, JobSubmitted, Outcome, RunEnded, RunStarted
from actors.malleable.account import Account
from actors.malleable.events import (
    BothCopiesLost,
    CheckpointTaken,
    FaultIgnored,
    FaultStruck,
    ProcessorsJoined,
    ProcessorsReleased,
    ProgressSettled,
    RedistributionStarted,
    RestartedFromScratch,
    Stage,
    StageStarted,
    WhyIgnored,
)
from actors.malleable.lives import TRANSITIONS, Life
from actors.malleable.messages import (
    CarryOn,
    CheckpointDue,
    CopyLost,
    Ended,
    Fetch,
    Forget,
    Hold,
    Join,
    Joined,
    Leave,
    MemberStruck,
    Promise,
    Save,
    Settled,
    StageOver,
    Struck,
    Submit,
    Wipe,
    WorkDone,
)
from actors.runtime import Actor, Timer, handles
from policies.maths.redistribution import round_count

if TYPE_CHECKING:
    from actors.malleable.processor import Processor

STAGES = {
    Life.COMPUTING: Stage.COMPUTING,
    Life.CHECKPOINTING: Stage.CHECKPOINTING,
    Life.DOWN: Stage.DOWN,
    Life.RECOVERING: Stage.RECOVERING,
    Life.REDISTRIBUTING: Stage.REDISTRIBUTING,
    Life.CLOSING: Stage.CLOSING,
}
AT_WORK = (Life.COMPUTING, Life.CHECKPOINTING)
HELD = tuple(life for life in Life if life not in (Life.WAITING, Life.ENDED))


@define(eq=False)
class Application(Actor):
    """A job on pairs of processors (003, section 3).

    `vulnerable`: faults count while it is down, recovering or redistributing, and can be fatal;
    otherwise they are ignored there, as in 003, section 6.1.
    """

    transitions = TRANSITIONS
    initial = Life.WAITING

    index: int
    scheduler: Actor
    account: Account
    vulnerable: bool = False
    run: int = field(init=False, default=-1)
    processors: list[Processor] = field(init=False, factory=list)
    _checkpoint: int = field(init=False, default=0)
    """Number of the last checkpoint."""
    _stages: deque[tuple[Life, float]] = field(init=False, factory=deque)
    """What is still to come before it computes again, each with its end."""
    _timer: Timer | None = field(init=False, default=None)
    _bare: list[Processor] = field(init=False, factory=list)
    """Who was struck and has not recovered yet."""

    def started(self) -> None:
        self.record(JobSubmitted, self.name)
        self.send(self.scheduler, Submit(self))

    def waits_for(self) -> str | None:
        return None if self.state is Life.ENDED else f"the end of its work ({self.state.value})"

    # --- processors come and go ---------------------------------------------------------------

    @handles(Hold, (Life.WAITING,))
    def begin(self, message: Hold) -> None:
        self._exchange(message)
        self.account.start(self.now, len(self.processors))
        self._start_run(message.numbers)
        self.send(self.scheduler, Settled(self.account.standing()))
        self._compute()

    @handles(Hold, AT_WORK)
    def resize(self, message: Hold) -> None:
        """Redistribute at once, keeping all work, saved or not (003, section 3.3.2)."""
        self._stop_timer()
        self.record(RunEnded, self.name, self.run, Outcome.WITHDRAWN)
        self._exchange(message)
        self.account.move(self.now, len(self.processors))
        self._resume(message.numbers)

    @handles(Hold, (Life.STRUCK,))
    def resize_after_fault(self, message: Hold) -> None:
        """Redistribute after downtime and recovery."""
        self._exchange(message)
        self.account.move_after_recovery(len(self.processors))
        self._resume(message.numbers)

    @handles(CarryOn, (Life.STRUCK,))
    def carry_on(self, message: CarryOn) -> None:
        self._resume(message.numbers)

    @handles(Promise, HELD)
    def promise(self, message: Promise) -> None:
        self.record(ProcessorsReleased, self.name, self.run, message.numbers)
        self._leave(self.processors)
        self.processors = []

    @handles(Joined, HELD)
    def joined(self, message: Joined) -> None:
        self.record(ProcessorsJoined, self.name, self.run, message.numbers)

    @handles(Joined, (Life.ENDED,))
    def joined_too_late(self, _: Joined) -> None:
        """It ended at this very instant, and its run with it."""

    def _exchange(self, message: Hold) -> None:
        for processor in message.gained:
            self.send(processor, Join(self))
        self._leave(message.lost)
        gone = {processor.number for processor in message.lost}
        stay = (p for p in self.processors if p.number not in gone) if gone else self.processors
        self.processors = [*stay, *message.gained]
        self._bare = [processor for processor in self._bare if processor.number not in gone]

    def _leave(self, processors: tuple[Processor, ...] | list[Processor]) -> None:
        for processor in processors:
            self.send(processor, Leave())

    # --- runs and their stages ----------------------------------------------------------------

    def _start_run(self, numbers: str) -> None:
        self.run += 1
        self.record(RunStarted, self.name, self.run, numbers)
        account = self.account
        self.record(
            ProgressSettled,
            *(self.name, self.run, account.size, account.left, account.whole()),
            *(account.since, account.expected),
        )

    def _resume(self, numbers: str) -> None:
        self._start_run(numbers)
        self._stages = deque(self.account.stages)
        self.send(self.scheduler, Settled(self.account.standing()))
        self._next_stage()

    def _next_stage(self) -> None:
        if not self._stages:
            self._compute()
            return
        life, until = self._stages.popleft()
        self._enter(life)
        if life is Life.REDISTRIBUTING:
            before, after = self.account.moving
            rounds = round_count(before, after)
            self.record(RedistributionStarted, self.name, self.run, before, after, rounds)
        self._timer = self.at(until, StageOver())

    def _enter(self, life: Life) -> None:
        self.become(life)
        self.record(StageStarted, self.name, self.run, STAGES[life])

    def _compute(self) -> None:
        self._enter(Life.COMPUTING)
        due = self.account.next_checkpoint()
        if due is not None:
            self._timer = self.at(max(due, self.now), CheckpointDue())
        else:
            self._timer = self.at(max(self.account.end, self.now), WorkDone())

    @handles(CheckpointDue, (Life.COMPUTING,))
    def checkpoint(self, _: CheckpointDue) -> None:
        self._enter(Life.CHECKPOINTING)
        self._timer = self.at(self.account.next_checkpoint_end(), StageOver())

    @handles(StageOver, (Life.CHECKPOINTING,))
    def checkpointed(self, _: StageOver) -> None:
        self.account.taken += 1
        self._save()
        self._compute()

    @handles(StageOver, (Life.DOWN,))
    def replaced(self, _: StageOver) -> None:
        self._next_stage()

    @handles(StageOver, (Life.REDISTRIBUTING,))
    def redistributed(self, _: StageOver) -> None:
        self.account.arrive()
        self._next_stage()

    @handles(StageOver, (Life.RECOVERING,))
    def recovered(self, _: StageOver) -> None:
        for processor in self._bare:
            self.send(processor, Fetch())
        self._bare = []
        self._next_stage()

    @handles(StageOver, (Life.CLOSING,))
    def closed(self, _: StageOver) -> None:
        self._save()
        self._next_stage()

    def _save(self) -> None:
        self._checkpoint += 1
        left = self.account.save()
        self.record(CheckpointTaken, self.name, self.run, self._checkpoint, left)
        for processor in self.processors:
            self.send(processor, Save(self._checkpoint))

    @handles(WorkDone, (Life.COMPUTING,))
    def work_done(self, _: WorkDone) -> None:
        self.become(Life.ENDED)
        self.record(RunEnded, self.name, self.run, Outcome.COMPLETED)
        self.record(JobCompleted, self.name)
        self._leave(self.processors)
        self.processors = []
        self.send(self.scheduler, Ended(self.index))

    # --- faults -------------------------------------------------------------------------------

    @handles(MemberStruck, HELD)
    def struck(self, message: MemberStruck) -> None:
        processor = message.processor
        if self.now < self.account.since and not self.vulnerable:
            self.record(FaultIgnored, processor.number, self.name, WhyIgnored.BUSY)
            return
        self.account.fall_back(self.now)
        self.record(
            FaultStruck, processor.number, self.name, self.run, self._stage(), self.account.left
        )
        self._interrupt()
        self._bare = [*(p for p in self._bare if p is not processor), processor]
        self.send(processor, Wipe())
        self.send(self.scheduler, Struck(self.account.standing()))

    def _stage(self) -> Stage:
        # Struck twice at one instant: the first fault has brought it down.
        return STAGES.get(self.state, Stage.DOWN)

    def _interrupt(self) -> None:
        if self.state is Life.STRUCK:
            return
        self._stop_timer()
        self.record(RunEnded, self.name, self.run, Outcome.LOST)
        self.become(Life.STRUCK)

    @handles(CopyLost, HELD)
    def copy_lost(self, message: CopyLost) -> None:
        """Both copies are gone: everything starts again."""
        self.record(BothCopiesLost, message.processor, message.buddy, self.name)
        if self.account.saved < 1:
            self.record(RestartedFromScratch, self.name, self.run, 1 - self.account.saved)
        self.account.restart(self.now)
        self._bare = []
        for processor in self.processors:
            self.send(processor, Forget())
        self.send(self.scheduler, Struck(self.account.standing()))

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self.cancel(self._timer)
            self._timer = None
