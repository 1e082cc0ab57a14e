"""Writes rows of messages: when each held a channel of the master, and how it left it."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import ClassVar

from attrs import define, frozen

from actors.events import (
    TransferDropped,
    TransferEnded,
    TransferKind,
    TransferStarted,
    TransferSuspended,
)
from actors.events.quantities import JobName, RunNumber, Time, WorkerNumber
from actors.runtime import Event, Record
from sims.history.rows import Seq, Start
from sims.history.workers import Handler
from sims.history.writers import SpellWriter


class TransferEnd(enum.Enum):
    """Says how a message left its channel."""

    ENDED = "ended"
    """The message has passed completely."""
    SUSPENDED = "suspended"
    """The rest of it may pass later, as another row."""
    DROPPED = "dropped"
    """The part that has passed is lost."""


@frozen
class TransferRow:
    """A message to or from a worker, or a part of one, that holds a channel of the master."""

    worker: WorkerNumber
    kind: TransferKind
    """Kind of the message."""
    job: JobName
    run: RunNumber
    """Run that needs the message; for a standby that in which it became one."""
    seq: Seq
    start: Start
    left: Time
    """Channel time that the message needed when it began, or went on."""
    end: Time | None = None
    """Time at which it left its channel; None if the log ends before."""
    how: TransferEnd | None = None
    """How it left its channel; None if the log ends before."""


Stopped = TransferSuspended | TransferEnded | TransferDropped
LEFT: Mapping[type[Event], TransferEnd] = {
    TransferEnded: TransferEnd.ENDED,
    TransferSuspended: TransferEnd.SUSPENDED,
    TransferDropped: TransferEnd.DROPPED,
}


@define(eq=False)
class TransferWriter(SpellWriter):
    """Writes a row for each time for which a message holds a channel."""

    row: ClassVar[type] = TransferRow

    def handlers(self) -> Mapping[type[Event], Handler]:
        return {TransferStarted: self._start, **dict.fromkeys(LEFT, self._stop)}

    def _start(self, record: Record, event: TransferStarted) -> None:
        of = event.worker, event.kind, event.job, event.run
        self.begin(event.worker, TransferRow(*of, record.seq, record.t, event.left))

    def _stop(self, record: Record, event: Stopped) -> None:
        # There may be none: what a suspended message has sent may be dropped later.
        self.end(event.worker, end=record.t, how=LEFT[type(event)])
