"""What a run of malleable applications comes down to: ends, redistributions and faults."""

from __future__ import annotations

from attrs import define, field, frozen

from actors.events import (
    FaultIgnored,
    JobCompleted,
    JobSubmitted,
    MembersChanged,
    MembersJoined,
    MembersPromised,
    RedistributionDecided,
    RunEnded,
    RunStarted,
    WorkerChanged,
)
from actors.intervals import numbers_in
from actors.runtime import Record
from policies.availability import WorkerState
from policies.interface.pack import Cause


@frozen
class Redistribution:
    """One decision of the scheduler."""

    time: float
    why: Cause
    job: str | None
    moves: tuple[tuple[str, int, int], ...]
    """(application, processors before, after)."""


@frozen
class Fault:
    """One fault; `job` is None where it changed nothing."""

    time: float
    processor: int
    job: str | None
    held: str | None
    """Whose processor it was, busy or not."""


@define
class Story:
    """Ends, redistributions and faults of a run, in the order of the log."""

    wants: frozenset[type] = frozenset(
        (
            *(JobSubmitted, JobCompleted, RedistributionDecided, FaultIgnored, WorkerChanged),
            *(RunStarted, RunEnded, MembersChanged, MembersJoined, MembersPromised),
        )
    )
    jobs: list[str] = field(factory=list)
    ends: dict[str, float] = field(factory=dict)
    redistributions: list[Redistribution] = field(factory=list)
    faults: list[Fault] = field(factory=list)
    _held: dict[str, set[int]] = field(factory=dict)

    @property
    def makespan(self) -> float:
        """In s."""
        return max(self.ends.values())

    def __call__(self, record: Record) -> None:
        match record.event:
            case JobSubmitted(job=job):
                self.jobs.append(job)
            case JobCompleted(job=job):
                self.ends[job] = record.t
            case RedistributionDecided(why=why, job=job, moves=moves):
                self.redistributions.append(Redistribution(record.t, why, job, moves))
            case WorkerChanged(worker=worker, state=WorkerState.DOWN):
                holder = next((job for job, held in self._held.items() if worker in held), None)
                self.faults.append(Fault(record.t, worker, holder, holder))
            case FaultIgnored(worker=worker, job=held):
                self.faults.append(Fault(record.t, worker, None, held))
            case _:
                self._hold(record)

    def _hold(self, record: Record) -> None:
        match record.event:
            case RunStarted() | MembersChanged():
                self._held[record.event.job] = set(numbers_in(record.event.processors))
            case MembersJoined(job=job, processors=text):
                self._held[job] |= set(numbers_in(text))
            case MembersPromised(job=job) | RunEnded(job=job, kept=False):
                self._held[job] = set()
