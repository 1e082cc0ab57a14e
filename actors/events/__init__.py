"""What the log records: one event for one fact, whatever the kind of job.

One module per mechanism; together they are the closed vocabulary of the log.
"""

from __future__ import annotations

from actors.events import (
    copies,
    enrolment,
    jobs,
    link,
    pack,
    protection,
    queue,
    runs,
    scenario,
    workers,
)
from actors.events.copies import CopiesPlaced, CopiesSettled, GainDescribed
from actors.events.enrolment import BoundsDescribed, ChainsBelieved, TasksDescribed
from actors.events.jobs import (
    IterationCompleted,
    IterationStarted,
    JobCompleted,
    JobDescribed,
    JobKilled,
    JobsChanged,
    JobsLeftOut,
    JobSubmitted,
    MessagesDescribed,
    ProtectionDescribed,
    ProtectionKind,
    WorkloadEnded,
)
from actors.events.link import (
    LinkDescribed,
    TransferDropped,
    TransferEnded,
    TransferKind,
    TransferStarted,
    TransferSuspended,
)
from actors.events.pack import (
    ApplicationDescribed,
    EndExpected,
    FaultIgnored,
    MembersChanged,
    MembersPromised,
    PackDescribed,
    PeriodRule,
    RedistributionDecided,
    RedistributionPlanned,
    WhyIgnored,
)
from actors.events.protection import CheckpointLost, CheckpointTaken, RestartedFromScratch
from actors.events.queue import BatchOpened, ReservationDropped, ReservationMade, ShelfOpened
from actors.events.runs import (
    MembersJoined,
    MembersReleased,
    Outcome,
    RateChanged,
    RunEnded,
    RunStarted,
    Stage,
    StageStarted,
    TasksDealt,
)
from actors.events.scenario import (
    SCHEMA,
    Compound,
    DeciderKind,
    End,
    MeasuresDescribed,
    ScenarioEnded,
    ScenarioStarted,
    StaleMessage,
)
from actors.events.workers import WorkerChanged, WorkerPriced, WorkerSpeedChanged
from actors.runtime import Event

__all__ = [
    "SCHEMA",
    "VOCABULARY",
    "ApplicationDescribed",
    "BatchOpened",
    "BoundsDescribed",
    "ChainsBelieved",
    "CheckpointLost",
    "CheckpointTaken",
    "Compound",
    "CopiesPlaced",
    "CopiesSettled",
    "DeciderKind",
    "End",
    "EndExpected",
    "FaultIgnored",
    "GainDescribed",
    "IterationCompleted",
    "IterationStarted",
    "JobCompleted",
    "JobDescribed",
    "JobKilled",
    "JobSubmitted",
    "JobsChanged",
    "JobsLeftOut",
    "LinkDescribed",
    "MeasuresDescribed",
    "MembersChanged",
    "MembersJoined",
    "MembersPromised",
    "MembersReleased",
    "MessagesDescribed",
    "Outcome",
    "PackDescribed",
    "PeriodRule",
    "ProtectionDescribed",
    "ProtectionKind",
    "RateChanged",
    "RedistributionDecided",
    "RedistributionPlanned",
    "ReservationDropped",
    "ReservationMade",
    "RestartedFromScratch",
    "RunEnded",
    "RunStarted",
    "ScenarioEnded",
    "ScenarioStarted",
    "ShelfOpened",
    "Stage",
    "StageStarted",
    "StaleMessage",
    "TasksDealt",
    "TasksDescribed",
    "TransferDropped",
    "TransferEnded",
    "TransferKind",
    "TransferStarted",
    "TransferSuspended",
    "WhyIgnored",
    "WorkerChanged",
    "WorkerPriced",
    "WorkerSpeedChanged",
    "WorkloadEnded",
]

VOCABULARY: tuple[type[Event], ...] = (
    *scenario.VOCABULARY,
    *jobs.VOCABULARY,
    *enrolment.VOCABULARY,
    *workers.VOCABULARY,
    *link.VOCABULARY,
    *runs.VOCABULARY,
    *protection.VOCABULARY,
    *queue.VOCABULARY,
    *copies.VOCABULARY,
    *pack.VOCABULARY,
)
