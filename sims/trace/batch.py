"""The life of a rigid or moldable job: promises and attempts (001, 000)."""

from __future__ import annotations

from typing import ClassVar

from attrs import define

from actors.batch.events import (
    AttemptSized,
    JobDescribed,
    JobKilled,
    ProcessorFailed,
    ReservationMade,
)
from actors.events import Outcome, RunEnded, RunStarted
from actors.runtime import Record
from sims.telling import counted
from sims.trace.account import Part
from sims.trace.span import Span
from sims.trace.tale import Tale
from sims.uses.slices import count


@define
class BatchTrace(Tale):
    """Waits, attempts, and what each attempt's end showed."""

    about: ClassVar[tuple[bytes, ...]] = (b'"ProcessorFailed"',)

    _failed: Record | None = None
    """The last processor that did, anybody's."""
    _attempt: Span | None = None
    _time: float = 0
    """t(p) of the attempt that is going on."""

    def tell(self, record: Record) -> None:
        """See Tale."""
        match record.event:
            case JobDescribed(limit=limit) if limit is not None:
                self._happened(self.root, f"may last {limit:g}", record)
            case ReservationMade(start=start, processors=processors):
                title = f"promised {counted(processors, 'processor')} from {start:g} on"
                self._happened(self.root, title, record)
            case RunStarted(run=run, processors=processors):
                title = f"attempt {run} on {counted(count(processors), 'processor')}: {processors}"
                self._attempt = self._below(self.root, title, record)
                self.account.turn(record.t, Part.USEFUL)
            case ProcessorFailed():
                self._failed = record
            case AttemptSized(time=time):
                self._time = time
            case RunEnded(outcome=outcome):
                self._end(outcome, record)
            case JobKilled():
                self.account.close(record.t, completed=False)
                self._happened(self.root, "killed at the user's estimate", record)
                self._close(self.root, record.t)

    def _end(self, outcome: Outcome, record: Record) -> None:
        attempt = self._attempt
        assert attempt is not None
        computed = min(attempt.start + self._time, record.t)
        attempt.add(Span("computes", attempt.start, computed, attempt.seq))
        self.account.turn(computed, Part.VERIFICATION)
        if record.t > computed:
            attempt.add(Span("verifies", computed, record.t, attempt.seq))
        failed = self._failed
        if failed is not None and failed.seq == record.cause:
            assert isinstance(failed.event, ProcessorFailed)
            self._happened(attempt, f"processor {failed.event.processor} fails", failed)
        self._happened(attempt, f"ended: {outcome.value}", record)
        self._close(attempt, record.t)
        self.account.turn(record.t, Part.WAITING)
        if outcome is not Outcome.COMPLETED:
            self.account.lose()
