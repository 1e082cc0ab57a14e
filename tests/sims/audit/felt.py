"""What runs and decisions meet of what befalls workers.

A worker that is slower than told while nobody computes on it, or that was reclaimed an hour sooner
while nobody held it or could have started, is a world as lawful as the one that was: a log that
says so means nothing else to any run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from attrs import define, field

from actors.events import (
    JobSubmitted,
    MembersChanged,
    MembersJoined,
    MembersReleased,
    RunEnded,
    RunStarted,
    ScenarioStarted,
    WorkerChanged,
    WorkerSpeedChanged,
)
from actors.intervals import numbers_in
from actors.runtime import Event, Record
from policies.availability import WorkerState
from tests.parts import parted

UP = WorkerState.UP
OUTSIDE = (WorkerChanged, WorkerSpeedChanged)
"""What nothing in a run leads to."""


def felt(records: Sequence[Record]) -> list[object]:
    """Each change of a run's pace, and who was free whenever that could matter."""
    return list(_Feeling().all(records))


@define
class _Feeling:
    size: int = 0
    speeds: dict[int, float] = field(factory=dict)
    away: set[int] = field(factory=set)
    held: dict[tuple[str, int], tuple[tuple[int, ...], bool]] = field(factory=dict)
    pace: dict[tuple[str, int], object] = field(factory=dict)

    def all(self, records: Sequence[Record]) -> Iterator[object]:
        for t, group in groupby(parted(records), key=lambda record: record.t):
            events = [record.event for record in group]
            for event in events:
                self._apply(event)
            for key, (members, rotates) in self.held.items():
                speeds = [self.speeds.get(n, 1) for n in members]
                speed = sum(speeds) if rotates else min(speeds, default=0)
                away = tuple(n for n in members if n in self.away)
                pace = away or speed
                if self.pace.get(key) != pace:
                    self.pace[key] = pace
                    yield t, key, pace
            if any(isinstance(it, RunStarted | RunEnded | JobSubmitted) for it in events):
                taken = {n for members, _ in self.held.values() for n in members}
                yield t, sum(n not in taken and n not in self.away for n in range(self.size))

    def _apply(self, event: Event) -> None:
        match event:
            case ScenarioStarted(processors=size):
                self.size = size
            case WorkerSpeedChanged(worker=worker, speed=speed):
                self.speeds[worker] = speed
            case WorkerChanged(worker=worker, state=state):
                (self.away.discard if state is UP else self.away.add)(worker)
            case RunStarted(job=job, keeps=keeps):
                if keeps is not None:
                    self.held.pop((job, keeps), None)
                self.held[job, event.run] = numbers_in(event.processors), event.rotates
            case RunEnded(kept=False) | MembersReleased():
                self.held.pop((event.job, event.run), None)
            case MembersChanged() | MembersJoined():
                self._join(event)

    def _join(self, event: Any) -> None:
        key = event.job, event.run
        had = self.held.get(key, ((), False))[0] if isinstance(event, MembersJoined) else ()
        self.held[key] = tuple(sorted({*had, *numbers_in(event.processors)})), False
