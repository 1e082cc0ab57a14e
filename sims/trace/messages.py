"""Messages between a job's members and the master, told: whole, in parts, or lost."""

from __future__ import annotations

from attrs import define, field

from actors.events import (
    MessagesDescribed,
    TransferDropped,
    TransferEnded,
    TransferKind,
    TransferStarted,
    TransferSuspended,
)
from actors.runtime import Record
from sims.telling import in_units
from sims.trace.run import ToldRun
from sims.trace.span import Span

WORDS = {
    TransferKind.PROGRAM: "program",
    TransferKind.DATA: "data",
    TransferKind.IMAGE: "an image",
    TransferKind.SAVE: "its image",
}


@define
class _Message:
    """One that has not passed whole."""

    what: str
    saves: bool
    """Whether the worker sends it."""
    span: Span
    run: int
    """In which it is told."""


@define
class Messages:
    """What a job's members receive and send."""

    sizes: dict[TransferKind, float] = field(factory=dict)
    """Time of a whole message."""
    by_worker: dict[int, _Message] = field(factory=dict)

    def describe(self, record: Record, event: MessagesDescribed) -> None:
        """How long whole messages take."""
        images = dict.fromkeys((TransferKind.IMAGE, TransferKind.SAVE), event.image)
        self.sizes = {TransferKind.PROGRAM: event.program, TransferKind.DATA: event.data, **images}

    def start(self, event: TransferStarted, run: ToldRun, record: Record) -> None:
        """A worker holds a channel from now on."""
        kind, left = event.kind, event.left
        what, saves = WORDS[kind], kind is TransferKind.SAVE
        if left < self.sizes.get(kind, left):
            what = f"the last {in_units(left, run.unit)} of {what}"
        title = f"{run.name(event.worker)} {'sends' if saves else 'receives'} {what}"
        span = (run.doing or run.span).below(title, record)
        self.by_worker[event.worker] = _Message(what, saves, span, event.run)

    def stop(
        self, event: TransferSuspended | TransferEnded | TransferDropped, unit: str, now: float
    ) -> None:
        """It holds it no more: what has passed is kept, whole, or lost."""
        message = self.by_worker.get(event.worker)
        if message is None:
            return
        if isinstance(event, TransferSuspended):
            message.span.title += f", {in_units(event.left, unit)} of it left"
        else:
            del self.by_worker[event.worker]
        if isinstance(event, TransferDropped):
            message.span.title += ", lost"
        message.span.close(now)

    def leave(self, now: float) -> None:
        """The job is gone, and with it what is under way."""
        for message in self.by_worker.values():
            if message.span.end is None:
                message.span.title += ", lost"
                message.span.close(now)

    def go_on(self, run: ToldRun, record: Record) -> None:
        """Messages of its members that the run before left under way go on in this one: they are
        told in both."""
        number = run.run.number
        for worker, it in self.by_worker.items():
            if it.span.end is None and it.run != number and worker in run.run.apart:
                it.span.title += ", goes on in the next run"
                it.span.close(record.t)
                goes_on = f"goes on {'sending' if it.saves else 'receiving'} {it.what}"
                title = f"{run.name(worker)} {goes_on}"
                it.span, it.run = (run.doing or run.span).below(title, record), number
