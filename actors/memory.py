"""A worker's memory holds programs, data, an image, and a part of one message (rules.md, W2)."""

from __future__ import annotations

from attrs import define, field

from actors.events import TransferKind
from actors.progress import Progress
from actors.worker_messages import Needs

PROGRAM, DATA, IMAGE = TransferKind.PROGRAM, TransferKind.DATA, TransferKind.IMAGE


INPUT = (PROGRAM, DATA)
"""Kinds of messages of which the part that has passed counts for an enrolment."""


def time_missing(needs: Needs, units: int, programmed: bool, data: int, passed: float) -> float:
    """Return the time of communication that a run of `units` units still lacks on a worker that
    holds `data` of them: n_q of volatile13, section V. Where something is lacked, `passed` is the
    time for which the next message has passed already."""
    left: float = 0 if programmed else needs.program
    if units > data:
        left += (units - data) * needs.data
    return max(left - passed, 0) if left and passed else left


@define(eq=False)
class Memory:
    """Holds complete messages, and the part that has passed of the incomplete one."""

    programs: set[str] = field(factory=set)
    """Labels of the complete programs."""
    data: int = 0
    """Number of complete units of data of the run that the worker is a member of."""
    image: bool = False
    """Whether the saved state that the run continues from is complete."""
    kind: TransferKind | None = None
    """Kind of the incomplete message, if a part of one has passed or is passing."""
    part: Progress = field(factory=lambda: Progress(0))
    """Progress of the incomplete message, where there is one; its rate is 1 while it passes."""

    def lacks(self, needs: Needs, units: int, image: bool) -> TransferKind | None:
        """Return the kind of the message to fetch next; None: nothing is missing."""
        if needs.program and needs.label not in self.programs:
            return PROGRAM
        if needs.data and self.data < units:
            return DATA
        if image and needs.image and not self.image:
            return IMAGE
        return None

    def missing(self, needs: Needs, units: int, now: float) -> float:
        """Return the time of communication that a run still lacks at `now` (`time_missing`)."""
        passed = self.part.at(now) if self.kind in INPUT else 0
        return time_missing(needs, units, needs.label in self.programs, self.data, passed)

    def begin(self, kind: TransferKind, size: float, now: float) -> float:
        """Let this message, or the rest of it, pass from `now` on; return the time that it still
        takes."""
        if self.kind is not kind:
            self.kind, self.part = kind, Progress(size, 0, 1, now)
            return size
        self.part.change(now, 1)
        return self.part.left(now)

    def complete(self, label: str) -> TransferKind | None:
        """Keep the message that has passed whole; return its kind."""
        kind = self.kind
        if kind is PROGRAM:
            self.programs.add(label)
        elif kind is DATA:
            self.data += 1
        elif kind is IMAGE:
            self.image = True
        self.drop()
        return kind

    def drop(self) -> None:
        """Lose what has passed of the incomplete message."""
        self.kind = None

    def leave(self) -> None:
        """Keep complete programs only, as the worker leaves its run."""
        self.drop()
        self.data, self.image = 0, False

    def forget(self) -> None:
        """Keep nothing, as the worker goes DOWN."""
        self.leave()
        self.programs.clear()
