"""A worker as a member of runs: the messages that it fetches and sends, one at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from attrs import define, field

from actors.events import (
    TransferDropped,
    TransferEnded,
    TransferKind,
    TransferStarted,
    TransferSuspended,
)
from actors.memory import Memory
from actors.messages import HoldingsChanged, MemberFed, MemberSaved, ProgramReceived
from actors.runtime import NOTHING, Actor, Timer, handles
from actors.worker_messages import (
    AskForChannel,
    Feed,
    Granted,
    LeaveRun,
    NeedNoChannel,
    Preempted,
    SendImage,
    TransferDue,
    YieldChannel,
)
from policies.availability import WorkerState

UP, RECLAIMED, DOWN = WorkerState.UP, WorkerState.RECLAIMED, WorkerState.DOWN
PROGRAM, DATA, SAVE = TransferKind.PROGRAM, TransferKind.DATA, TransferKind.SAVE
IMAGES = (TransferKind.IMAGE, SAVE)
TRANSFER_DUE = TransferDue()


@define(eq=False)
class Member(Actor):
    """Fetches what its run needs and sends its image, through the master (WORLD.md, L).

    What takes its state away is a worker's business: it calls `moved`.
    """

    transitions: ClassVar[Mapping[WorkerState, frozenset[WorkerState]]] = {
        UP: frozenset((RECLAIMED, DOWN)),
        RECLAIMED: frozenset((UP, DOWN)),
        DOWN: frozenset((UP, RECLAIMED)),
    }
    initial = UP

    index: int
    scheduler: Actor
    master: Actor | None = None
    reports: bool = False
    """Whether the scheduler is told what it holds, whenever that changes."""
    memory: Memory = field(init=False, factory=Memory)
    feed: Feed | None = field(init=False, default=None)
    """The run that it is a member of, where there is a master."""
    saving: bool = field(init=False, default=False)
    """It has an image to send."""
    _transfer: Timer | None = field(init=False, default=None)
    """The end of the message that is passing."""
    _wanted_since: tuple[float, int] = field(init=False, default=(-1, NOTHING))
    """Since when, and since which event, it has wanted the message that it wants."""
    _asking: bool = field(init=False, default=False)
    """The master knows that it wants a channel."""

    def moved(self, state: WorkerState, cause: int) -> None:
        """Its state is another one; only where there is a master."""
        if state is DOWN:
            # Its run is lost (R2). One that is back at once must not tell it that nothing is
            # missing: it would hear that before it hears of the loss, and save what is lost.
            self._drop(cause)
            self.memory.forget()
            self.feed, self.saving = None, False
            self._report(cause)
        elif self.feed is not None:
            self._go_on(self.feed, cause) if state is UP else self._quit_channel(cause)

    # --- its run ------------------------------------------------------------------------------

    @handles(Feed, during=(UP,))
    def join(self, feed: Feed, cause: int) -> None:
        if self.feed is not None:
            self._stay(self.feed, feed, cause)
        self.feed = feed
        self._report(cause)
        self._go_on(feed, cause)

    def _stay(self, former: Feed, feed: Feed, cause: int) -> None:
        """Enrolled again at the very instant at which it left (002): its data are kept, and what
        has passed of a program or of data."""
        memory = self.memory
        self.saving = memory.image = False
        if feed.job is not former.job:
            self._drop(cause)
            memory.leave()
            return
        wanted = self._wanted(feed)
        if memory.kind in IMAGES or (memory.kind and wanted and memory.kind is not wanted):
            self._drop(cause)
        elif wanted is None:
            self._quit_channel(cause)

    @handles(SendImage)
    def send_image(self, _: SendImage, cause: int) -> None:
        self.saving = True
        if self.memory.kind is DATA:
            self._drop(cause)  # of a task that it has no more
        if self.feed is not None and self.state is UP:
            self._go_on(self.feed, cause)

    @handles(LeaveRun)
    def leave(self, message: LeaveRun, cause: int) -> None:
        if self.feed is not None:
            if self.feed.copy != message.copy:
                return
            self._drop(cause)
            self.feed, self.saving, self.memory.image = None, False, False
        # Also where its run had ended before, and it was only kept (P2): nobody else has its data.
        if not message.keep:
            self.memory.leave()
        self._report(cause)

    def _report(self, cause: int) -> None:
        if self.reports:
            job = None if self.feed is None else self.feed.job.name
            message = HoldingsChanged(self.index, job, self.memory.holdings())
            self.send(self.scheduler, message, cause)

    # --- its messages -------------------------------------------------------------------------

    def _wanted(self, feed: Feed) -> TransferKind | None:
        if self.saving:
            return SAVE
        return self.memory.lacks(feed.needs, feed.units, feed.image)

    def _go_on(self, feed: Feed, cause: int) -> None:
        """Ask for a channel, or tell the job that nothing is missing."""
        if self._wanted(feed) is None:
            self.send(feed.job, MemberFed(feed.copy, feed.run, self.index), cause)
        else:
            self._ask_for_channel(feed, cause, anew=not self._asking)

    def _ask_for_channel(self, feed: Feed, cause: int, anew: bool = True) -> None:
        if self.master is not None:
            now, memory = self.now, self.memory
            self._wanted_since, self._asking = (now, cause), True
            left = memory.missing(feed.needs, feed.units, now)
            message = AskForChannel(self, self.index, memory.kind is not None, left, anew)
            self.send(self.master, message, cause)

    @handles(Granted, during=(UP,))
    def begin(self, _: Granted, cause: int) -> None:
        feed = self.feed
        assert feed is not None
        kind = self._wanted(feed)
        assert kind is not None
        needs, now = feed.needs, self.now
        size = needs.program if kind is PROGRAM else needs.data if kind is DATA else needs.image
        since, wanted = self._wanted_since
        if since == now or cause == NOTHING:
            cause = wanted  # it did not wait for a channel, or for none that became free
        left = self.memory.begin(kind, size, now)
        cause = self.record(cause, TransferStarted, self.index, feed.job.name, feed.run, kind, left)
        self._transfer = self.after(left, TRANSFER_DUE, cause)
        self._report(cause)

    @handles(Preempted)
    def preempted(self, _: Preempted, cause: int) -> None:
        cause = self._suspend(cause)
        if self.master is not None:
            self.send(self.master, YieldChannel(self.index), cause)

    @handles(TransferDue)
    def finish(self, _: TransferDue, cause: int) -> None:
        feed = self.feed
        assert feed is not None and self.master is not None
        self._transfer = None
        kind = self.memory.complete(feed.needs.label)
        assert kind is not None
        cause = self.record(cause, TransferEnded, self.index, kind)
        self._report(cause)
        if kind is PROGRAM:
            self.send(self.scheduler, ProgramReceived(self.index, feed.needs.label), cause)
        if kind is not SAVE and self._wanted(feed) is not None:
            self._ask_for_channel(feed, cause)  # anew: the one that it had is free
            return
        self._need_no_channel(cause)
        if kind is SAVE:
            self.saving = False
            self.send(feed.job, MemberSaved(feed.copy, feed.run, self.index), cause)
        else:
            self.send(feed.job, MemberFed(feed.copy, feed.run, self.index), cause)

    def _suspend(self, cause: int) -> int:
        if self._transfer is None:
            return cause
        self.cancel(self._transfer)
        self._transfer = None
        memory = self.memory
        memory.part.change(self.now, 0)
        assert memory.kind is not None
        left = memory.part.left(self.now)
        cause = self.record(cause, TransferSuspended, self.index, memory.kind, left)
        self._report(cause)
        return cause

    def _quit_channel(self, cause: int) -> None:
        self._need_no_channel(self._suspend(cause))

    def _need_no_channel(self, cause: int) -> None:
        if self._asking and self.master is not None:
            self._asking = False
            self.send(self.master, NeedNoChannel(self.index), cause)

    def _drop(self, cause: int) -> None:
        """Lose what has passed of an incomplete message."""
        if self._transfer is not None:
            self.cancel(self._transfer)
            self._transfer = None
        if self.memory.kind is not None:
            cause = self.record(cause, TransferDropped, self.index, self.memory.kind)
            self.memory.drop()
        self._need_no_channel(cause)

    def waits_for(self) -> str | None:
        feed = self.feed
        if feed is None or self.state is UP:
            return None
        left = self.memory.missing(feed.needs, feed.units, self.now)
        lacks = f", which lacks {left:g} time units of messages" if left else ""
        return f"its return: it is {self.state.name}, and a run holds it{lacks}"
