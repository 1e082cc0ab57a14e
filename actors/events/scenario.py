"""The first and last events of a log, and those about the runtime itself."""

from __future__ import annotations

import enum
from abc import abstractmethod
from collections.abc import Iterator
from typing import Annotated, ClassVar

from attrs import frozen

from actors.events.quantities import Quantity, Time, WorkerCount
from actors.runtime import Event

SCHEMA = 4
"""Version of the log's format; a reader refuses one that it does not know. Since 2 one line tells
all copies of a placement; since 3 one vocabulary serves every kind of job;
since 4 values carry the field's names (`cancelled`, `staging_in`)."""


class End(enum.Enum):
    """How a scenario ended."""

    COMPLETED = "completed"
    CAPPED = "capped"
    """The cap on the makespan was reached with work unfinished."""
    DIVERGED = "diverged"
    """The policy kept changing its mind without any progress."""


class DeciderKind(enum.Enum):
    """Which way of deciding a policy belongs to."""

    QUEUE = "queue"
    """Jobs wait in a queue and start as lists or shelves say (rigid21, moldable21)."""
    ENROLMENT = "enrolment"
    """Workers are enrolled for each iteration, with tasks (volatile13)."""
    PACK = "pack"
    """Jobs that started together exchange workers (malleable17)."""
    COPIES = "copies"
    """All workers serve copies of jobs, allotted anew at each arrival and end (redundancy17)."""
    DEADLINE = "deadline"
    """Each job with a deadline is moved from one kind of worker to another (Wu et al. 2024)."""


@frozen
class ScenarioStarted(Event):
    """The first record of every log."""

    schema: Annotated[int, Quantity()]
    """Version of the log's format."""
    scenario: str
    """The scenario's name."""
    seed: Annotated[int, Quantity()]
    """The run's seed."""
    kinds: tuple[str, ...]
    """The kinds of its jobs: iterative, rigid, moldable, malleable."""
    policy: str
    """Name of the policy."""
    processors: WorkerCount
    """Size of the platform, in workers."""
    workers: tuple[str, ...]
    """Their names where they have some; a pool's workers have numbers only."""
    unit: str
    """Unit of every time in this log: `s` or `slot`."""
    settings: tuple[str, ...] = ()
    """What the scenario's policy section says beside the name: `key=value`, defaults left out."""
    decider: DeciderKind = DeciderKind.QUEUE
    """The kind of decider."""
    late: Time | None = None
    """How long after its time what takes real time may end, where processes carry it out; left out
    where it is simulated, and ends on time."""

    optional: ClassVar[str] = "late"

    @property
    def cancels(self) -> bool:
        """Whether its decider may cancel a run under way: a queue does so only where it is
        preemptive, or a policy of the user's decides."""
        return self.decider is not DeciderKind.QUEUE or self.preempts or ":" in self.policy

    @property
    def preempts(self) -> bool:
        """Whether it is one of the built-in preemptive queues, in which running jobs make way for
        more urgent ones."""
        preemptive = "preemption=True" in self.settings
        return self.decider is DeciderKind.QUEUE and preemptive and ":" not in self.policy


@frozen
class MeasuresDescribed(Event):
    """How the run is to be measured, where its scenario says so."""

    bound: Time
    """Time units below which bounded slowdown takes no job for shorter."""
    hour: Time | None
    """Time units in an hour; None: not known, and nothing is counted by it."""
    prices: tuple[Annotated[float, Quantity("per processor-hour")], ...]
    """Of an hour of a processor that is busy, idle, reclaimed, down; empty: not known."""
    watts: tuple[Annotated[float, Quantity("W")], ...]
    """Of such a processor; empty: not known."""


@frozen
class ScenarioEnded(Event):
    """The last record of a log that was not interrupted."""

    end: End
    """How the run of the scenario ended."""


@frozen
class Compound(Event):
    """One line of the log that stands for many events of one instant, in columns: for vectorised
    copies a line each would cost more than the simulation."""

    @abstractmethod
    def parts(self) -> Iterator[Event]:
        """The events that it stands for. Raises ValueError where its columns do not fit
        together."""


@frozen
class StaleMessage(Event):
    """A delayed message came after what it was about had ended; it was dropped."""

    debug = True

    actor: str
    """The actor that the message was for."""
    message: str
    """Its kind."""
