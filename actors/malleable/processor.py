"""A processor and its memory: its own checkpoint and the copy of its buddy's (003, section 3.1)."""

from __future__ import annotations

from attrs import define, field

from actors.malleable.events import CopiesLost, CopiesRestored, FaultIgnored, WhyIgnored
from actors.malleable.messages import (
    BuddyWiped,
    CopyLost,
    Fetch,
    Forget,
    Join,
    Keep,
    Leave,
    MemberStruck,
    Returned,
    Save,
    SendBack,
    Strike,
    Wipe,
)
from actors.runtime import Actor, handles


@define(eq=False)
class Processor(Actor):
    """Holds two checkpoints: its own, and the copy of the one before it in its group.

    In a pair each is the other's buddy; a larger group is a ring. Alone, a processor has no buddy.
    """

    number: int
    holder: Processor | None = field(init=False, default=None)
    """The buddy that keeps this processor's copy."""
    ward: Processor | None = field(init=False, default=None)
    """The buddy whose copy this processor keeps; in a pair, the same."""
    application: Actor | None = field(init=False, default=None)
    own: int | None = field(init=False, default=None)
    """Number of its own checkpoint; None: none yet."""
    kept: int | None = field(init=False, default=None)
    """Number of its ward's checkpoint."""
    bare: bool = field(init=False, default=False)
    """Its own checkpoint was destroyed here and not sent again yet."""

    # --- belonging to an application ----------------------------------------------------------

    @handles(Join)
    def join(self, message: Join) -> None:
        self.application = message.application
        self._forget()

    @handles(Leave)
    def leave(self, _: Leave) -> None:
        self.application = None
        self._forget()

    @handles(Forget)
    def forget(self, _: Forget) -> None:
        self._forget()

    def _forget(self) -> None:
        self.own = self.kept = None
        self.bare = False

    # --- checkpoints --------------------------------------------------------------------------

    @handles(Save)
    def save(self, message: Save) -> None:
        self.own = message.checkpoint
        self.bare = False
        if self.holder is not None:
            self.send(self.holder, Keep(message.checkpoint))

    @handles(Keep)
    def keep(self, message: Keep) -> None:
        self.kept = message.checkpoint

    # --- faults -------------------------------------------------------------------------------

    @handles(Strike)
    def strike(self, _: Strike) -> None:
        if self.application is None:
            self.record(FaultIgnored, self.number, None, WhyIgnored.IDLE)
        else:
            self.send(self.application, MemberStruck(self))

    @handles(Wipe)
    def wipe(self, _: Wipe) -> None:
        if self.application is not None:
            self.record(CopiesLost, self.number, self.application.name, self.own, self.kept)
        self.bare = self.bare or self.own is not None
        self.own = self.kept = None
        for buddy in self._buddies():
            self.send(buddy, BuddyWiped(self))

    @handles(BuddyWiped)
    def buddy_wiped(self, message: BuddyWiped) -> None:
        if self.bare and self.application is not None:
            self.send(self.application, CopyLost(self.number, message.processor.number))

    def _buddies(self) -> tuple[Processor, ...]:
        if self.holder is None or self.ward is None:
            return ()
        return (self.holder,) if self.holder is self.ward else (self.holder, self.ward)

    # --- recovery -----------------------------------------------------------------------------

    @handles(Fetch)
    def fetch(self, _: Fetch) -> None:
        for buddy in self._buddies():
            self.send(buddy, SendBack(self))

    @handles(SendBack)
    def send_back(self, message: SendBack) -> None:
        if message.processor is self.ward:
            self.send(message.processor, Returned(self.kept, self.number))
        if message.processor is self.holder:
            self.send(message.processor, Keep(self.own))

    @handles(Returned)
    def returned(self, message: Returned) -> None:
        self.own = message.checkpoint
        self.bare = False
        if self.application is not None:
            self.record(CopiesRestored, self.number, message.buddy, self.application.name, self.own)


def befriend(group: list[Processor]) -> None:
    """Make a group's processors each other's buddies, in a ring."""
    for processor, following in zip(group, [*group[1:], group[0]], strict=True):
        if processor is not following:
            processor.holder = following
            following.ward = processor
