"""What all traces share: a tree of spans that grows with the log, and the job's account."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

import orjson
from attrs import define, field

from actors.events import JobCompleted, JobSubmitted, ScenarioEnded, ScenarioStarted
from actors.runtime import Record
from sims.trace.account import FlowAccount
from sims.trace.span import Span


@define
class Tale:
    """Fold: the life of one job; feed it the records that `concerns` its kind of job.

    `root` is None while the log has not mentioned the job.
    """

    about: ClassVar[tuple[bytes, ...]] = ()
    """What else a line of the log may hold that concerns a job it does not name."""

    job: str
    root: Span | None = None
    account: FlowAccount = field(factory=FlowAccount)
    unit: str = ""
    """Of all times."""

    def __call__(self, record: Record) -> None:
        match record.event:
            case ScenarioStarted(unit=unit):
                self.unit = unit
            case JobSubmitted(job=name) if name == self.job:
                self.account.open(record.t)
                self.root = self._span(f"{self.job} submitted", record)
            case JobCompleted(job=name) if name == self.job:
                self._leave(record, "completed")
            case ScenarioEnded() if self.root is not None and self.root.end is None:
                self.account.close(record.t, completed=False)
            case event if self.root is not None and self.root.end is None:
                if getattr(event, "job", self.job) == self.job:
                    self.tell(record)

    def concerns(self, line: bytes) -> bool:
        """Whether a line of the log, not decoded yet, can concern the job."""
        return self._named in line or any(part in line for part in self.about)

    @cached_property
    def _named(self) -> bytes:
        return orjson.dumps(self.job)

    def tell(self, record: Record) -> None:
        """Grow the tree and the account by one event of the job, or of nobody's in particular."""

    def stop(self, now: float) -> None:
        """The log ends here, early."""
        if self.root is not None and self.root.end is None:
            self.account.close(now, completed=False)

    def _leave(self, record: Record, how: str) -> None:
        self.account.close(record.t, completed=True)
        self._happened(self.root, how, record)
        self._close(self.root, record.t)

    # --- spans --------------------------------------------------------------------------------

    def _happened(self, parent: Span | None, title: str, record: Record) -> None:
        self._close(self._below(parent, title, record), record.t)

    def _below(self, parent: Span | None, title: str, record: Record) -> Span:
        span = self._span(title, record)
        return parent.add(span) if parent is not None else span

    @staticmethod
    def _span(title: str, record: Record) -> Span:
        return Span(title, record.t, seq=record.seq, cause=record.cause)

    @staticmethod
    def _close(span: Span | None, t: float) -> None:
        if span is not None and span.end is None:
            span.end = t
