"""How long a job would take by itself: what its flowtime is measured against."""

from __future__ import annotations

from attrs import define, field

from actors.events import JobDescribed, RunStarted
from actors.runtime import Record

ITERATIVE = "iterative"


@define
class OwnTimes:
    """Fold: job -> its own error-free time, where the log knows one.

    One run from scratch at speed 1, verification included and without checkpoints, on the workers
    of its last run (its first one where it is malleable: it changes their number while it runs).
    Iterative jobs have none: it would depend on which workers stay UP.
    """

    wants: frozenset[type] = frozenset((JobDescribed, RunStarted))
    times: dict[str, float] = field(factory=dict)
    _verifications: dict[str, float | None] = field(factory=dict)
    """By job; None: it has no time of its own."""
    _first: set[str] = field(factory=set)
    """Jobs whose first run counts."""

    def __call__(self, record: Record) -> None:
        event = record.event
        if isinstance(event, RunStarted):
            job = event.job
            verification = self._verifications.get(job)
            if verification is not None and not (job in self._first and job in self.times):
                self.times[job] = event.work + verification
        elif isinstance(event, JobDescribed):
            iterative = event.kind == ITERATIVE
            self._verifications[event.job] = None if iterative else event.verification
            if event.kind == "malleable":
                self._first.add(event.job)
