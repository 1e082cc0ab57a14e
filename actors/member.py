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
from actors.messages import MemberFed, MemberSaved, ProgramReceived
from actors.runtime import Actor, Timer, handles
from actors.worker_messages import (
    AskForChannel,
    Feed,
    Granted,
    LeaveRun,
    NeedNoChannel,
    Preempted,
    SendImage,
    TransferDue,
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
    memory: Memory = field(init=False, factory=Memory)
    feed: Feed | None = field(init=False, default=None)
    """The run that it is a member of, where there is a master."""
    saving: bool = field(init=False, default=False)
    """It has an image to send."""
    _transfer: Timer | None = field(init=False, default=None)
    """The end of the message that is passing."""
    _wanted_since: tuple[float, int] = field(init=False, default=(-1, -1))
    """Since when, and seq since what, it has wanted the message that it wants."""
    _asking: bool = field(init=False, default=False)
    """The master knows that it wants a channel."""

    def moved(self, state: WorkerState) -> None:
        """Its state is another one; only where there is a master."""
        if state is DOWN:
            # Its run is lost (R2). One that is back at once must not tell it that nothing is
            # missing: it would hear that before it hears of the loss, and save what is lost.
            self._drop()
            self.memory.forget()
            self.feed, self.saving = None, False
        elif self.feed is not None:
            self._go_on(self.feed) if state is UP else self._quit_channel()

    # --- its run ------------------------------------------------------------------------------

    @handles(Feed, during=(UP,))
    def join(self, feed: Feed) -> None:
        if self.feed is not None:
            self._stay(self.feed, feed)
        self.feed = feed
        self._go_on(feed)

    def _stay(self, former: Feed, feed: Feed) -> None:
        """Enrolled again at the very instant at which it left (002): its data are kept, and what
        has passed of a program or of data."""
        memory = self.memory
        self.saving = memory.image = False
        if feed.job is not former.job:
            self._drop()
            memory.leave()
            return
        wanted = self._wanted(feed)
        if memory.kind in IMAGES or (memory.kind and wanted and memory.kind is not wanted):
            self._drop()
        elif wanted is None:
            self._quit_channel()

    @handles(SendImage)
    def send_image(self, _: SendImage) -> None:
        self.saving = True
        if self.memory.kind is DATA:
            self._drop()  # of a task that it has no more
        if self.feed is not None and self.state is UP:
            self._go_on(self.feed)

    @handles(LeaveRun)
    def leave(self, message: LeaveRun) -> None:
        if self.feed is not None:
            if self.feed.copy != message.copy:
                return
            self._drop()
            self.feed, self.saving, self.memory.image = None, False, False
        # Also where its run had ended before, and it was only kept (P2): nobody else has its data.
        if not message.keep:
            self.memory.leave()

    # --- its messages -------------------------------------------------------------------------

    def _wanted(self, feed: Feed) -> TransferKind | None:
        if self.saving:
            return SAVE
        return self.memory.lacks(feed.needs, feed.units, feed.image)

    def _go_on(self, feed: Feed) -> None:
        """Ask for a channel, or tell the job that nothing is missing."""
        if self._wanted(feed) is None:
            self.send(feed.job, MemberFed(feed.copy, feed.run, self.index))
            return
        if self._asking:
            self._wanted_since = self.now, self.system.loop.cause
        else:
            self._ask_for_channel()

    def _ask_for_channel(self) -> None:
        if self.master is not None:
            self._wanted_since = self.now, self.system.loop.cause
            self._asking = True
            self.send(self.master, AskForChannel(self, self.index))

    @property
    def begun(self) -> bool:
        """Whether a part of the message that it fetches or sends next has passed already."""
        return self.memory.kind is not None

    @property
    def left(self) -> float:
        """Time of communication that it lacks in all."""
        feed = self.feed
        return 0 if feed is None else self.memory.missing(feed.needs, feed.units, self.now)

    @handles(Granted, during=(UP,))
    def begin(self, _: Granted) -> None:
        feed = self.feed
        assert feed is not None
        kind = self._wanted(feed)
        assert kind is not None
        needs = feed.needs
        size = needs.program if kind is PROGRAM else needs.data if kind is DATA else needs.image
        loop, (since, cause) = self.system.loop, self._wanted_since
        if since == loop.now or loop.cause < 0:
            loop.cause = cause  # it did not wait for a channel, or for none that became free
        left = self.memory.begin(kind, size, loop.now)
        self.record(TransferStarted, self.index, feed.job.name, feed.run, kind, left)
        self._transfer = self.after(left, TRANSFER_DUE)

    @handles(Preempted)
    def preempted(self, _: Preempted) -> None:
        if self._transfer is not None and self.system.loop.cause < 0:
            # Nobody asked: it has been served for as long as it should be at once.
            self.system.loop.cause = self._transfer[4]
        self._suspend()
        self._wanted_since = self.now, self.system.loop.cause

    @handles(TransferDue)
    def finish(self, _: TransferDue) -> None:
        feed = self.feed
        assert feed is not None and self.master is not None
        self._transfer = None
        kind = self.memory.complete(feed.needs.label)
        assert kind is not None
        self.record(TransferEnded, self.index, kind)
        if kind is PROGRAM:
            self.send(self.scheduler, ProgramReceived(self.index, feed.needs.label))
        if kind is not SAVE and self._wanted(feed) is not None:
            self._ask_for_channel()  # anew: the one that it had is free
            return
        self._need_no_channel()
        if kind is SAVE:
            self.saving = False
            self.send(feed.job, MemberSaved(feed.copy, feed.run, self.index))
        else:
            self.send(feed.job, MemberFed(feed.copy, feed.run, self.index))

    def _suspend(self) -> None:
        if self._transfer is None:
            return
        self.cancel(self._transfer)
        self._transfer = None
        memory = self.memory
        memory.part.change(self.now, 0)
        assert memory.kind is not None
        self.record(TransferSuspended, self.index, memory.kind, memory.part.left(self.now))

    def _quit_channel(self) -> None:
        self._suspend()
        self._need_no_channel()

    def _need_no_channel(self) -> None:
        if self._asking and self.master is not None:
            self._asking = False
            self.send(self.master, NeedNoChannel(self.index))

    def _drop(self) -> None:
        """Lose what has passed of an incomplete message."""
        if self._transfer is not None:
            self.cancel(self._transfer)
            self._transfer = None
        cause = self.system.loop.cause
        if self.memory.kind is not None:
            self.record(TransferDropped, self.index, self.memory.kind)
            self.memory.drop()
        self._need_no_channel()
        self.system.loop.cause = cause

    def waits_for(self) -> str | None:
        if self.feed is None or self.state is UP:
            return None
        lacks = f", which lacks {self.left:g} time units of messages" if self.left else ""
        return f"its return: it is {self.state.name}, and a run holds it{lacks}"
