"""The makespan of a run, from its one event."""

from __future__ import annotations

from attrs import define

from actors.events import WorkloadEnded
from actors.runtime import Record


@define
class Makespan:
    """The end of the last job: all that a comparison of makespans needs (one event a run)."""

    wants: frozenset[type] = frozenset((WorkloadEnded,))
    value: float = 0.0
    runs: int = 0

    def __call__(self, record: Record) -> None:
        event = record.event
        assert isinstance(event, WorkloadEnded)
        self.value, self.runs = record.t, event.runs
