"""Messages between a job's members and the master, told: whole, in parts, or lost."""

from __future__ import annotations

from collections.abc import Sequence

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
from sims.telling import in_units, worker_of
from sims.trace.run import ToldRun
from sims.trace.span import Span

WORDS = {
    TransferKind.PROGRAM: "program",
    TransferKind.DATA: "data",
    TransferKind.IMAGE: "an image",
    TransferKind.SAVE: "its image",
}

VERBS, GOING_ON = ("receives", "sends"), ("goes on receiving", "goes on sending")


@define
class Messages:
    """What a job's members receive and send."""

    sizes: dict[TransferKind, float] = field(factory=dict)
    """Time of a whole message."""
    spans: dict[int, Span] = field(factory=dict)
    """By worker: the last part of a message that has not passed whole."""

    def describe(self, record: Record, event: MessagesDescribed) -> None:
        """How long whole messages take."""
        images = dict.fromkeys((TransferKind.IMAGE, TransferKind.SAVE), event.image)
        self.sizes = {TransferKind.PROGRAM: event.program, TransferKind.DATA: event.data, **images}

    def start(
        self, event: TransferStarted, run: ToldRun, record: Record, verbs: Sequence[str] = VERBS
    ) -> None:
        """A worker holds a channel from now on."""
        what, left = WORDS[event.kind], event.left
        if left < self.sizes.get(event.kind, left):
            what = f"the last {in_units(left, run.started.unit)} of {what}"
        verb = verbs[event.kind is TransferKind.SAVE]
        title = f"{worker_of(run.started, event.worker)} {verb} {what}"
        self.spans[event.worker] = (run.doing or run.span).below(title, record)

    def go_on(self, run: ToldRun, record: Record) -> None:
        """Messages of its members that the run before left under way go on in this one: they are
        told in both."""
        transfers = {worker.number: worker.transfer for worker in run.under_way()}
        for number, span in self.spans.items():
            transfer = transfers.get(number)
            if transfer is not None and span.start < record.t == run.run.start:
                span.title += ", goes on in the next run"
                span.close(record.t)
                self.start(transfer, run, record, GOING_ON)

    def stop(
        self, event: TransferSuspended | TransferEnded | TransferDropped, unit: str, now: float
    ) -> None:
        """It holds it no more: what has passed is kept, whole, or lost."""
        span = self.spans.get(event.worker)
        if span is None:
            return
        if isinstance(event, TransferSuspended):
            span.title += f", {in_units(event.left, unit)} of it left"
        else:
            del self.spans[event.worker]
        if isinstance(event, TransferDropped):
            span.title += ", lost"
        span.close(now)

    def leave(self, now: float) -> None:
        """The job is gone, and with it what is under way."""
        for span in self.spans.values():
            if span.end is None:
                span.title += ", lost"
                span.close(now)
        self.spans.clear()
