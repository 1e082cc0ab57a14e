"""What the log records: the events that every kind of scenario shares.

Each family of actors adds its own in its `events` module; together they are the closed vocabulary
of the log (`sims.decoding.VOCABULARY`). A run is one execution of (part of) a job's work on one
allocation of workers: an attempt, an enrolled configuration, a stretch between two
redistributions, a copy. Its identity is (job, run), runs counting from 0 within their job.
"""

from __future__ import annotations

import enum
from abc import abstractmethod
from collections.abc import Iterator

from attrs import frozen

from actors.runtime import Event

SCHEMA = 2
"""Version of the log's format; a reader refuses one that it does not know. Since 2 one line tells
all copies of a placement, or of a checkpoint."""


class Outcome(enum.Enum):
    """How a run ended."""

    COMPLETED = "completed"
    FAILED = "failed"
    """A silent error was found at its end."""
    LOST = "lost"
    """A worker went DOWN, or a fault struck a processor."""
    WITHDRAWN = "withdrawn"
    """The scheduler changed its mind, or had the job killed."""


class End(enum.Enum):
    """How a scenario ended."""

    COMPLETED = "completed"
    CAPPED = "capped"
    """The cap on the makespan was reached with work unfinished."""
    DIVERGED = "diverged"
    """The policy kept changing its mind without any progress."""


@frozen
class ScenarioStarted(Event):
    """The first record of every log."""

    schema: int
    scenario: str
    seed: int
    kind: str
    """The kind of job: iterative, rigid, moldable, malleable, redundant."""
    policy: str
    processors: int
    """Size of the platform, in processors (or workers, or servers)."""
    workers: tuple[str, ...]
    """Their names where they have some; a pool's processors have numbers only."""
    unit: str
    """Unit of every time in this log: `s` or `slot`."""
    settings: tuple[str, ...] = ()
    """What the scenario's policy section says beside the name: `key=value`, defaults left out."""


@frozen
class ScenarioEnded(Event):
    """The last record of a log that was not interrupted."""

    end: End


@frozen
class JobSubmitted(Event):
    """A job asks to be scheduled."""

    job: str


@frozen
class JobCompleted(Event):
    """A job has done all its work."""

    job: str


@frozen
class RunStarted(Event):
    """A run of `job` holds its processors from now on."""

    job: str
    run: int
    processors: str
    """Interval set of processor (worker, server) numbers, such as `0-3 5`."""


@frozen
class RunEnded(Event):
    """A run gives its processors back."""

    job: str
    run: int
    outcome: Outcome


@frozen
class Compound(Event):
    """One line of the log that tells many events of one instant, in columns: where the run itself
    moves many things in one go, a line for each would cost more than the run."""

    @abstractmethod
    def parts(self) -> Iterator[Event]:
        """The events that it tells. Raises ValueError where its columns do not fit together."""


@frozen
class StaleMessage(Event):
    """A delayed message came after what it was about had ended; it was dropped."""

    debug = True

    actor: str
    message: str


VOCABULARY: tuple[type[Event], ...] = (
    ScenarioStarted,
    ScenarioEnded,
    JobSubmitted,
    JobCompleted,
    RunStarted,
    RunEnded,
    StaleMessage,
)
