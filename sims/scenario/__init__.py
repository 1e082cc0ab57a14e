"""A whole scenario file: every section once, with one meaning for every kind of job; what it begins
with, how its runs are measured, and what their logs say. `holdfast.sections` is this package."""

from __future__ import annotations

import enum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Self

from pydantic import Field, PrivateAttr

from actors.events import DeciderKind, MeasuresDescribed
from actors.runtime import System
from sims.errors import unfit
from sims.scenario.availability import AlwaysUp, Letters, Markov
from sims.scenario.faults import (
    AnyFaults,
    ErrorSection,
    ExponentialFaults,
    ListedFaults,
    NoFaults,
    Weibull,
)
from sims.scenario.jobs import (
    KINDS,
    IterativeEntry,
    IterativeSection,
    JobSection,
    MalleableEntry,
    MalleableSection,
    MoldableJob,
    MoldableSection,
    RigidJob,
    RigidSection,
    speedups,
)
from sims.scenario.jobs import sources as stream
from sims.scenario.jobs.drawn import DrawnApplications, UniformJobs
from sims.scenario.jobs.sources import StreamSection, WorkloadFile
from sims.scenario.platform import LinkSection, MasterSection, Platform
from sims.scenario.policy import PolicySection, decider_kind
from sims.scenario.protection import ProtectionSection
from sims.scenario.trace_files import FtaFile, SimGridFile, SpotFile
from sims.scenario.workers import PlatformSection, RandomWorkers, Span, WorkerSection
from sims.tables import Section
from sims.tables.fields import Accepts, Count, Duration, LogName, Name, NotNegative, Positive, Time

__all__ = [
    "AlwaysUp",
    "DrawnApplications",
    "ErrorSection",
    "ExponentialFaults",
    "FtaFile",
    "IterativeEntry",
    "IterativeSection",
    "Letters",
    "LinkSection",
    "ListedFaults",
    "MalleableEntry",
    "MalleableSection",
    "Markov",
    "MasterSection",
    "MoldableJob",
    "MoldableSection",
    "NoFaults",
    "PlatformSection",
    "PolicySection",
    "ProtectionSection",
    "RandomWorkers",
    "RigidJob",
    "RigidSection",
    "Scenario",
    "SimGridFile",
    "SpotFile",
    "StreamSection",
    "UniformJobs",
    "Unit",
    "Weibull",
    "WorkerSection",
    "WorkloadFile",
    "speedups",
    "stream",
]

if TYPE_CHECKING:
    from sims.metrics.arrivals import Blocks

CAP = 1_000_000
"""Slots at which a run of volatile13 counts as failed."""
SEEDS = range(2**64)
"""What a run can begin with: its log has no larger numbers."""
HOUR = 3600.0

Seed = Annotated[
    int, Accepts("a whole number, 0 or above, below 2**64", {"ge": 0, "le": SEEDS[-1]})
]


class Unit(enum.Enum):
    """What times are counted in."""

    S = "s"
    """Seconds."""
    SLOT = "slot"
    """Slots of a length of one's own."""


class ByState(Section):
    """Of one processor, by what it does."""

    busy: NotNegative = 0
    """A run holds it."""
    idle: NotNegative = 0
    """It is UP and no run holds it."""
    reclaimed: NotNegative = 0
    """Its owner has it."""
    down: NotNegative = 0
    """It is DOWN."""


class MeasuresSection(Section):
    """`[measures]`: how runs are measured; their logs say so too."""

    bound: Duration = 10.0
    """Time units below which bounded slowdown takes no job for shorter: 10 s."""
    prices: ByState | None = None
    """Of an hour; default: nothing has a price, and runs have no cost."""
    watts: ByState | None = None
    """Power; default: it is not known, nor is the energy."""
    hour: Duration | None = None
    """Time units in an hour; default: 3600 where the unit is s."""
    block: Duration | None = None
    """Time units in a block: where a scenario has no randomness, intervals are over blocks of its
    time; default: a week where the unit is s, else none are."""
    warm_up: Time | None = None
    """Time units from the start on, of which those intervals leave out the jobs: the machine fills;
    default: a block."""

    def blocks(self, unit: Unit) -> Blocks | None:
        """Over which intervals are; None: no length is known."""
        from sims.metrics.arrivals import WEEK, Blocks

        length = WEEK if self.block is None and unit is Unit.S else self.block
        if length is None:
            return None
        return Blocks(length, length if self.warm_up is None else self.warm_up)

    def hours(self, unit: Unit, needed: object) -> float | None:
        """Time units in an hour. Raises InputError where that is needed and not known."""
        hour = HOUR if self.hour is None and unit is Unit.S else self.hour
        if hour is None and needed:
            problem = "missing: prices and watts are of hours, and the unit is a slot"
            raise unfit("measures.hour", problem, "slots in an hour")
        return hour

    def tell(self, system: System, unit: Unit) -> None:
        """What the log says of it. Raises InputError where an hour's length is not known."""
        hour = self.hours(unit, self.prices or self.watts)
        rates = (tuple(it.model_dump().values()) if it else () for it in (self.prices, self.watts))
        system.describe(MeasuresDescribed, self.bound, hour, *rates)


class LiveSection(Section):
    """`[live]`: how `holdfast live` and `reality` carry the scenario out; other commands ignore
    it. Its times are in seconds of the wall clock."""

    scale: Positive = 1.0
    """Seconds per time unit."""
    pace: Positive = 0.05
    """Seconds between two steps of a computation, at speed 1."""
    bandwidth: Positive = 1.0
    """Megabytes a second through a channel of the master."""
    tolerance: Positive = 0.05
    """How many seconds late work may be complete that counts as on time."""
    patience: Positive = 20.0
    """How many seconds late it may be at most: a run whose work is later has failed."""
    function: str | None = None
    """`package.module:name` of a function (state, number of the step) -> state, both states bytes:
    a step of the computation; default: a hash."""


class Scenario(Section):
    """A whole scenario file; all times are in its one unit."""

    name: Name
    """What the run is called, and by default its log."""
    seed: Seed = 0
    """The run's one seed."""
    log: LogName | None = None
    """What `holdfast run` calls the log, a file in logs/; default: the run's name and .jsonl;
    `none`: no log is written."""
    stalled_after: Count | None = None
    """Events in which no work is saved or completed after which a run ends with an error, unless it
    has a `job.cap`, `--until` or a trace at whose end it ends; default: 1,000,000, or 1,000 for
    each worker if that is more."""
    unit: Unit | None = None
    """Of every time in the file; default: `slot` where an enrolment policy decides, else `s`."""
    platform: PlatformSection | None = None
    workers: tuple[WorkerSection, ...] = ()
    random_workers: RandomWorkers | None = None
    reclaims: tuple[Span, ...] = ()
    """[from, until, worker]: an owner takes this worker back then, whatever else it does."""
    faults: AnyFaults = Field(default_factory=NoFaults)
    """Whether and when workers fail."""
    errors: ErrorSection = Field(default_factory=ErrorSection)
    master: MasterSection | None = None
    link: LinkSection = Field(default_factory=LinkSection)
    job: JobSection
    """The jobs, by their kind."""
    protection: ProtectionSection = Field(default_factory=ProtectionSection)
    """How jobs survive, those that have no table of their own."""
    policy: PolicySection = Field(default_factory=PolicySection)
    measures: MeasuresSection | None = None
    live: LiveSection = Field(default_factory=LiveSection)

    _folder: Path = PrivateAttr(Path())

    @property
    def folder(self) -> Path:
        """Where files that it names, and code, are sought."""
        return self._folder

    def within(self, folder: Path) -> Self:
        """The same, whose files are sought in `folder`."""
        copied = self if folder == self._folder else self.model_copy()
        copied._folder = folder
        return copied

    def __copy__(self) -> Self:
        """Without what was worked out of other sections than a changed copy may have."""
        copied = super().__copy__()
        for name in copied.__dict__.keys() - type(self).model_fields.keys():
            del copied.__dict__[name]
        return copied

    @cached_property
    def full_platform(self) -> Platform:
        """All workers."""
        return Platform.of(
            self.platform or PlatformSection(),
            *(self.workers, self.random_workers, self.reclaims),
            *(self.times is Unit.S, self.seed, self._folder),
        )

    @cached_property
    def bare(self) -> bool:
        """Whether nothing but faults that are heard of at once befalls its workers, and nothing is
        sent to them."""
        heard = not any(law.detection for law in self.faults.laws)
        return heard and self.full_platform.plain and self.master is None

    @cached_property
    def decider(self) -> DeciderKind:
        """Who decides."""
        job = self.job
        streamed = isinstance(job, RigidSection) and job.stream is not None
        due = any(it.deadline is not None for it in job.jobs)
        return decider_kind(self.policy, job.kind, streamed, due)

    @property
    def policy_name(self) -> str:
        """As the log has it."""
        return self.policy.name or ("none" if self.decider is DeciderKind.PACK else "R-LIST-0")

    @property
    def named_policy(self) -> PolicySection:
        """`[policy]` with its name, the default one too."""
        return self.policy.model_copy(update={"name": self.policy_name})

    @property
    def kinds(self) -> tuple[str, ...]:
        """Of its jobs."""
        job = self.job
        own: set[str] = {each.kind for each in job.jobs}
        if any(source for key, source in job.sources.items() if key != "jobs"):
            own.add(job.kind)
        return tuple(kind for kind in KINDS if kind in own)

    @property
    def times(self) -> Unit:
        """Unit of every time."""
        usual = Unit.SLOT if self.decider is DeciderKind.ENROLMENT else Unit.S
        return self.unit or usual

    @property
    def cap(self) -> float:
        """When the run ends, whatever is unfinished."""
        usual = CAP if self.decider is DeciderKind.ENROLMENT else float("inf")
        return usual if self.job.cap is None else self.job.cap
