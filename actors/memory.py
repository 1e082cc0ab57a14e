"""A worker's memory holds programs, data, an image, and a part of one message (rules.md, W2)."""

from __future__ import annotations

from attrs import define, field

from actors.events import TransferKind
from actors.progress import Progress
from actors.worker_messages import Needs

PROGRAM, DATA, IMAGE = TransferKind.PROGRAM, TransferKind.DATA, TransferKind.IMAGE


INPUT = (PROGRAM, DATA)
"""Kinds of messages that count as a run's input, also for the part that has passed."""


def time_missing(needs: Needs, units: int, programmed: bool, data: int, passed: float) -> float:
    """Return the channel time that a worker still needs to receive program and data, before it can
    run `units` units (tasks) of a job: n_q of volatile13, section V. What has passed already is
    subtracted, and the result is never negative.

    `programmed`: it holds the program. `data`: number of units whose data it holds. `passed`: time
    for which the incomplete message has passed; 0 if there is none.
    """
    left: float = 0 if programmed else needs.program
    if units > data:
        left += (units - data) * needs.data
    return max(left - passed, 0) if left and passed else left


@define(eq=False)
class Memory:
    """Contents of a worker's memory: complete messages, and the part of an incomplete one that has
    passed."""

    programs: set[str] = field(factory=set)
    """Labels of the complete programs."""
    data: int = 0
    """Number of complete units of data of the run that the worker is a member of."""
    image: bool = False
    """Whether the saved state that the run continues from is complete."""
    kind: TransferKind | None = None
    """Kind of the incomplete message, if a part of one has passed or is passing; None: there is
    none."""
    part: Progress = field(factory=lambda: Progress(0))
    """Progress of the incomplete message, where there is one; its rate is 1 while it passes."""

    def lacks(self, needs: Needs, units: int, image: bool) -> TransferKind | None:
        """Return the kind of the message that the worker has to fetch next for a run of `units`
        units of data: first the program, then data, then, if the run begins from an `image`, that.
        None if it lacks nothing. What has size 0 is never lacking."""
        if needs.program and needs.label not in self.programs:
            return PROGRAM
        if needs.data and self.data < units:
            return DATA
        if image and needs.image and not self.image:
            return IMAGE
        return None

    def missing(self, needs: Needs, units: int, now: float) -> float:
        """Return the channel time for program and data that the worker still lacks at the time
        `now` before it can run `units` units. What has passed of an incomplete message is
        subtracted."""
        passed = self.part.at(now) if self.kind in INPUT else 0
        return time_missing(needs, units, needs.label in self.programs, self.data, passed)

    def begin(self, kind: TransferKind, size: float, now: float) -> float:
        """Begin to receive or send a message of this kind, which takes `size` time units, at the
        time `now`. If a message of this kind was interrupted, go on with it. Return the time that
        the message still takes."""
        if self.kind is not kind:
            self.kind, self.part = kind, Progress(size, 0, 1, now)
            return size
        self.part.change(now, 1)
        return self.part.left(now)

    def complete(self, label: str) -> TransferKind | None:
        """Complete the message that is passing and return its kind. A received program is stored
        under `label`, data add one unit, and a received image is held; an image that was sent
        leaves the memory as it was."""
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
        """Discard the part that has passed of the incomplete message."""
        self.kind = None

    def leave(self) -> None:
        """Discard all but complete programs, as the worker leaves its run."""
        self.drop()
        self.data, self.image = 0, False

    def forget(self) -> None:
        """Discard everything, as the worker goes DOWN."""
        self.leave()
        self.programs.clear()
