"""What a run of malleable applications comes down to: ends, redistributions and faults."""

from __future__ import annotations

from attrs import define, field, frozen

from actors.events import JobCompleted, JobSubmitted
from actors.malleable.events import FaultIgnored, FaultStruck, RedistributionDecided
from actors.runtime import Record
from policies.interface.malleable import Cause


@frozen
class Redistribution:
    """One decision of the scheduler."""

    time: float
    why: Cause
    job: str
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
        (JobSubmitted, JobCompleted, RedistributionDecided, FaultStruck, FaultIgnored)
    )
    jobs: list[str] = field(factory=list)
    ends: dict[str, float] = field(factory=dict)
    redistributions: list[Redistribution] = field(factory=list)
    faults: list[Fault] = field(factory=list)

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
            case FaultStruck(processor=processor, job=job):
                self.faults.append(Fault(record.t, processor, job, job))
            case FaultIgnored(processor=processor, job=held):
                self.faults.append(Fault(record.t, processor, None, held))
