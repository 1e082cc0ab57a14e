"""How a log begins and ends, and what it says of the runtime itself."""

from __future__ import annotations

import enum
from abc import abstractmethod
from collections.abc import Iterator

from attrs import frozen

from actors.runtime import Event

SCHEMA = 3
"""Version of the log's format; a reader refuses one that it does not know. Since 2 one line tells
all copies of a placement; since 3 one vocabulary serves every kind of job."""


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
    kinds: tuple[str, ...]
    """The kinds of its jobs: iterative, rigid, moldable, malleable."""
    policy: str
    processors: int
    """Size of the platform, in workers."""
    workers: tuple[str, ...]
    """Their names where they have some; a pool's workers have numbers only."""
    unit: str
    """Unit of every time in this log: `s` or `slot`."""
    settings: tuple[str, ...] = ()
    """What the scenario's policy section says beside the name: `key=value`, defaults left out."""
    decider: str = "queue"
    """Who decides: queue, enrolment, pack or copies. A queue withdraws no run that has begun."""


@frozen
class ScenarioEnded(Event):
    """The last record of a log that was not interrupted."""

    end: End


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


VOCABULARY: tuple[type[Event], ...] = (ScenarioStarted, ScenarioEnded, StaleMessage)
