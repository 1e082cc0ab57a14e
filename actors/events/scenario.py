"""The first and last events of a log, and events about the runtime itself."""

from __future__ import annotations

import enum
from abc import abstractmethod
from collections.abc import Iterator
from typing import Annotated, ClassVar

from actors.events.quantities import Quantity, Time, WorkerCount
from actors.runtime import Event, fact
from policies.interface.kinds import JobKind

SCHEMA = 6
"""Version of the log's format; a reader refuses a version that it does not know. Since 2 one line
stands for all copies of a placement; since 3 one vocabulary serves every kind of job; since 4
values carry the field's names (`cancelled`, `staging_in`); since 5 the first line has the whole
scenario; since 6 later lines do not repeat it."""


class End(enum.Enum):
    """Says how a scenario ended."""

    COMPLETED = "completed"
    CAPPED = "capped"
    """The cap on the makespan was reached with work unfinished."""
    DIVERGED = "diverged"
    """The policy kept changing its decisions without any progress."""
    DEPLETED = "ran out of workers"
    """Workers retired, and too few are left for a job, which can never end."""


class DeciderKind(enum.Enum):
    """Says which kind of decider (the part of the scheduler that asks the policy) runs a policy."""

    QUEUE = "queue"
    """Jobs wait in a queue and start as lists or shelves say (rigid21, moldable21)."""
    ENROLMENT = "enrolment"
    """Workers are enrolled for each iteration, with tasks (volatile13)."""
    PACK = "pack"
    """Jobs that started together exchange workers (malleable17)."""
    COPIES = "copies"
    """All workers serve copies of jobs, allocated afresh at each arrival and end (redundancy17)."""
    DEADLINE = "deadline"
    """Each job with a deadline is moved from one kind of worker to another (Wu et al. 2024)."""


@fact
class ScenarioStarted(Event):
    """Opens every log and names the scenario, its seed, policy, platform and unit."""

    whole_file: ClassVar[str] = "text"

    schema: Annotated[int, Quantity()]
    """Version of the log's format."""
    scenario: str
    """Name of the scenario."""
    seed: Annotated[int, Quantity()]
    """Seed of the run."""
    kinds: tuple[JobKind, ...]
    """Kinds of the scenario's jobs: iterative, rigid, moldable, malleable."""
    policy: str
    """Name of the policy."""
    processors: WorkerCount
    """Size of the platform, in workers."""
    workers: tuple[str, ...]
    """Names of the workers where they have some; a pool's workers have numbers only."""
    unit: str
    """Unit of every time in this log: `s` or `slot`."""
    settings: tuple[str, ...] = ()
    """Settings of the scenario's policy section besides the name, as `key=value`, defaults left
    out."""
    decider: DeciderKind = DeciderKind.QUEUE
    """Kind of the decider."""
    version: str = ""
    """Version of Holdfast that made the log."""
    text: str = ""
    """The scenario as a file in TOML: all keys that its file or an option sets; others have the
    defaults of this version. An object that a Python program gave has its name in angle
    brackets."""
    inputs: tuple[tuple[str, Annotated[int, Quantity("bytes")], str], ...] = ()
    """Files, and modules of the user's own code, that the scenario names: the name as it is there,
    the size, and the SHA-256 checksum in hexadecimal."""
    until: Time | None = None
    """Time at which `--until` ends the run; None without that option."""
    debugged: bool = False
    """Whether the log has the events for debugging, too."""
    late: Time | None = None
    """Largest delay that an activity carried out by real processes may have; left out where
    activities are simulated, and end on time."""

    # Only runs with real processes have it, so that all other logs stay as they are.
    optional: ClassVar[str] = "late"

    @property
    def cancels(self) -> bool:
        """Whether the scenario's decider may cancel a run under way. A queue does so only where it
        is preemptive, or where a policy of the user decides."""
        return self.decider is not DeciderKind.QUEUE or self.preempts or ":" in self.policy

    @property
    def preempts(self) -> bool:
        """Whether the decider is one of the built-in preemptive queues, in which running jobs give
        way to more urgent ones."""
        # A policy `module:Name` is the user's own, of which the settings say nothing.
        preemptive = "preemption=True" in self.settings
        return self.decider is DeciderKind.QUEUE and preemptive and ":" not in self.policy


@fact
class ProcessesDescribed(Event):
    """Real processes carry the run out, and each part and message takes what it takes: it ends with
    its `PartMeasured`. Its nominal time says only how much work it is."""

    scale: Annotated[float, Quantity("s")]
    """Seconds of the wall clock in a time unit."""


@fact
class ScenarioEnded(Event):
    """Closes every log that was neither interrupted nor ended by an error of the run."""

    end: End
    """How the run of the scenario ended."""


@fact
class Compound(Event):
    """One line of the log that stands for many events of one instant, in columns. For vectorised
    copies a line for each event would cost more than the simulation."""

    @abstractmethod
    def parts(self) -> Iterator[Event]:
        """Return the events that the line stands for, in order. Raises ValueError where its columns
        do not fit together."""
