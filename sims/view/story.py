"""The events that a page tells: what can be pointed at, and the chains of causes behind it."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import define, field

from actors.events import JobCompleted, JobKilled, JobSubmitted, RunEnded, RunStarted
from actors.runtime import Record
from sims.parts import parts
from sims.telling import told

Json = dict[str, object]

LIFE = (JobSubmitted, RunStarted, RunEnded, JobCompleted, JobKilled)
"""What a job's life is told by."""


@define
class Story:
    """Fold: call it with each record, then ask for the events to tell."""

    _records: list[Record] = field(factory=list)
    lives: dict[str, list[int]] = field(factory=dict)
    """Job -> the events of its life."""

    def __call__(self, record: Record) -> None:
        self._records.append(record)
        for part in parts(record):
            if isinstance(part.event, LIFE):
                self._lived(part.event.job, part.seq)

    def _lived(self, job: str, seq: int) -> None:
        life = self.lives.setdefault(job, [])
        if seq not in life[-1:]:
            life.append(seq)

    def columns(self, shown: Iterable[int]) -> Json:
        """The events in `shown`, those of all jobs' lives, and the causes of all of them."""
        kept = [self._records[seq] for seq in sorted(self._closure(shown))]
        return {
            "seq": [record.seq for record in kept],
            "t": [record.t for record in kept],
            "cause": [-1 if record.cause is None else record.cause for record in kept],
            "text": [told(record.event) for record in kept],
        }

    def _closure(self, shown: Iterable[int]) -> set[int]:
        kept: set[int] = set()
        for seq in (*shown, *(seq for life in self.lives.values() for seq in life)):
            now: int | None = seq
            while now is not None and now not in kept:
                kept.add(now)
                now = self._records[now].cause
        return kept
