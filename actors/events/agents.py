"""Events of agents: actors of a user's own that act on the world (rules.md, A1 to A3)."""

from __future__ import annotations

from typing import Annotated

from actors.events.quantities import JobName, Quantity, Speed, Time, WorkerNumber
from actors.runtime import Event, fact
from policies.availability import WorkerState

AgentName = Annotated[str, Quantity(meaning="The agent's name.")]


@fact
class AgentDescribed(Event):
    """Records an agent: what it hears of, and which jobs it submits; once for each agent, at the
    start."""

    agent: AgentName
    kind: Annotated[str, Quantity(meaning="Its class, as `package.module:Name`.")]
    hears: tuple[Annotated[str, Quantity()], ...]
    """Kinds of events that it hears of."""
    jobs: tuple[Annotated[str, Quantity()], ...]
    """Names of the jobs that it submits."""


@fact
class AgentSubmittedJob(Event):
    """An agent submits a job."""

    agent: AgentName
    job: JobName


@fact
class AgentCancelledJob(Event):
    """An agent cancels a job that it has submitted. Its runs end, and JobKilled follows, unless the
    job is over already."""

    agent: AgentName
    job: JobName


@fact
class AgentTookWorker(Event):
    """An agent takes a worker, as an owner does, and keeps it until it gives it back."""

    agent: AgentName
    worker: WorkerNumber
    state: WorkerState
    """State in which it keeps the worker, unless that is DOWN for another reason: RECLAIMED or
    DOWN."""


@fact
class AgentReturnedWorker(Event):
    """An agent gives back a worker that it has taken: the worker's owner alone has it again."""

    agent: AgentName
    worker: WorkerNumber


@fact
class AgentFailedWorker(Event):
    """An agent makes a worker fail."""

    agent: AgentName
    worker: WorkerNumber
    downtime: Time
    """Time for which the fault keeps the worker DOWN."""


@fact
class AgentHungWorker(Event):
    """An agent makes the run that holds a worker hang, if there is one."""

    agent: AgentName
    worker: WorkerNumber
    detection: Time
    """Time after which the hang is detected."""


@fact
class AgentSetSpeed(Event):
    """An agent changes the speed of a worker."""

    agent: AgentName
    worker: WorkerNumber
    speed: Speed


@fact
class AgentCalledReserve(Event):
    """An agent calls a worker, which its owner keeps RECLAIMED until then."""

    agent: AgentName
    worker: WorkerNumber
