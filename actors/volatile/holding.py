"""What a worker's memory holds of program and data (002, III.C)."""

from __future__ import annotations

from attrs import Factory, define

from actors.progress import Progress
from actors.volatile.events import TransferKind


@define
class Holding:
    """Complete messages, and the part of the one that is being received.

    The program comes before any data, so at most one message is incomplete.
    """

    program_slots: int
    """T_prog."""
    data_slots: int
    """T_data, per task."""
    program: bool = False
    """The program is complete."""
    data: int = 0
    """Complete data messages, one per task."""
    part: Progress = Factory(lambda: Progress(0))
    """The incomplete message; `part.rate` is 1 while it is being received."""

    def missing(self, tasks: int, now: float) -> int:
        """n_q: slots of communication that `tasks` tasks still lack at `now`."""
        left = 0 if self.program else self.program_slots
        left += max(tasks - self.data, 0) * self.data_slots
        # A part of a data message counts only while another data message is wanted.
        return max(left - int(self.part.at(now)), 0) if left else 0

    @property
    def next_kind(self) -> TransferKind:
        """The message to receive next."""
        if self.program or not self.program_slots:
            return TransferKind.DATA
        return TransferKind.PROGRAM

    def begin(self, now: float) -> None:
        """A channel serves the next message (or the rest of it) from `now` on."""
        size = self.program_slots if self.next_kind is TransferKind.PROGRAM else self.data_slots
        self.part.work = size
        self.part.change(now, 1)

    def complete(self, now: float) -> TransferKind:
        """The message in progress has been received whole."""
        kind = self.next_kind
        if kind is TransferKind.PROGRAM:
            self.program = True
        else:
            self.data += 1
        self.part = Progress(0, since=now)
        return kind

    def forget_data(self) -> None:
        """Keep a complete program only: what un-enrolment leaves."""
        self.data = 0
        self.part = Progress(0)

    def forget(self) -> None:
        """Keep nothing: what DOWN leaves."""
        self.program = False
        self.forget_data()
