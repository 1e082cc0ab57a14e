"""What workers hold, by the log: programs, data, an image, a part of one message (WORLD.md, W2)."""

from __future__ import annotations

import math

from attrs import define, field

from actors.events import MessagesDescribed, TransferKind

PROGRAM, DATA, IMAGE = TransferKind.PROGRAM, TransferKind.DATA, TransferKind.IMAGE


@define(eq=False)
class WorkerMemory:
    """One worker's."""

    programs: set[str] = field(factory=set)
    units: int = 1
    """Units of data that its run wants."""
    data: int = 0
    """Complete ones that it may hold: a paper's option keeps those of the run before
    (volatile13)."""
    sure: int = 0
    """Complete ones that it holds."""
    image: bool = False
    saving: bool = False
    """It has an image to send."""
    kind: TransferKind | None = None
    """Of the message of which a part has passed or is passing."""
    left: float = 0
    """Of that, at `since`."""
    since: float = 0
    passing: bool = False
    seq: int = 0
    """What told of its message last."""
    lost: float = -math.inf
    """When it went DOWN last."""
    ended: float = -math.inf
    """When its run ended last."""
    doomed: bool = False
    """Whether a part of a message must be dropped at this instant: it went DOWN."""
    leaving: str | None = None
    """Job whose run it has left at this instant."""
    kept: bool = False
    """Whether that job keeps it."""

    def lacks(self, messages: MessagesDescribed | None, image: bool) -> TransferKind | None:
        """What it must fetch next; None: nothing."""
        if messages is None:
            return None
        if messages.program and messages.label not in self.programs:
            return PROGRAM
        if messages.data and self.data < self.units:
            return DATA
        return IMAGE if image and messages.image and not self.image else None

    def start(self, kind: TransferKind, left: float, t: float, seq: int) -> None:
        """A message passes from now on."""
        self.kind, self.left, self.since, self.seq, self.passing = kind, left, t, seq, True

    def complete(self, label: str) -> None:
        """It has passed."""
        if self.kind is PROGRAM:
            self.programs.add(label)
        elif self.kind is DATA:
            self.data, self.sure = self.data + 1, self.sure + 1
        elif self.kind is IMAGE:
            self.image = True
        else:
            self.saving = False
        self.kind = None

    def drop(self, seq: int) -> None:
        """What has passed is lost."""
        self.kind, self.passing, self.doomed, self.seq = None, False, False, seq

    def settle(self, job: str) -> None:
        """It is a member of a run of `job` from now on."""
        if self.leaving is not None:
            self.leave(again=self.leaving == job)

    def leave(self, again: bool) -> None:
        """Its run has ended; `again`: a run of the same job took it at the same instant."""
        if not self.kept:
            self.sure = 0
            self.data = self.data if again else 0
        self.leaving, self.kept = None, False

    def forget(self, t: float) -> None:
        """It is DOWN."""
        self.programs.clear()
        self.data = self.sure = 0
        self.image = self.saving = False
        self.lost, self.doomed = t, self.kind is not None


@define(eq=False)
class Memories:
    """By worker: only those that have one."""

    by_worker: dict[int, WorkerMemory] = field(factory=dict)

    def __getitem__(self, worker: int) -> WorkerMemory:
        memory = self.by_worker.get(worker)
        if memory is None:
            memory = self.by_worker[worker] = WorkerMemory()
        return memory
