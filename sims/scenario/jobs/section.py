"""`[job]`, by the kind of the jobs that say no other."""

from __future__ import annotations

import enum
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from sims.scenario.jobs.drawn import DrawnApplications, Lublin, SyntheticJobs, UniformJobs
from sims.scenario.jobs.entries import AnyJob, IterativeEntry, RigidJob
from sims.scenario.jobs.logs import Resample, Scale, Selection
from sims.scenario.jobs.speedups import AnySpeedup, Synthetic
from sims.scenario.jobs.stream import StreamSection
from sims.tables.fields import Accepts, Count, Drawn, Duration, DurationOrInf, NotNegative, Time
from sims.tables.section import OneOf, Section


class Overrun(enum.Enum):
    """What becomes of a run that reaches the user's estimate."""

    FINISH = "finish"
    """It goes on; only reservations believe the estimate."""
    KILL = "kill"
    """It is cancelled and its job is gone."""


class JobFields(Section):
    """What `[job]` has for every kind."""

    SOURCES: ClassVar[tuple[str, ...]] = ("jobs", "synthetic")
    """Keys of which exactly one says where its jobs come from."""

    jobs: tuple[AnyJob, ...] = ()
    """Listed one by one; of the section's kind where they say no other."""
    verification: Time = 0
    """v: time units that the detector adds to each run."""
    overrun: Overrun = Overrun.FINISH
    """Of a run that reaches the user's estimate: `finish` or `kill`."""
    cap: DurationOrInf | None = None
    """Time at which the run ends, whatever is unfinished; `inf`: never; default: never, but
    1,000,000 where an enrolment policy decides."""

    @property
    def listed(self) -> tuple[AnyJob, ...]:
        """The jobs that it describes one by one."""
        return self.jobs

    @property
    def sources(self) -> dict[str, object]:
        """Where jobs may come from."""
        return {key: getattr(self, key) for key in self.SOURCES}


class WorkloadFile(Section):
    """`[job.swf]` or `[job.batsim]`: jobs of a real log, arriving as they did."""

    file: str
    """From the scenario's folder; plain or compressed."""
    estimates: bool = True
    """Whether reservations believe the users' requested times; else what the jobs take."""


def _is_zone(name: str) -> bool:
    from sims.readers.sacct import zone

    return zone(name) is not None


class SacctFile(WorkloadFile):
    """`[job.sacct]`: jobs of a Slurm cluster, as `sacct -P` prints them."""

    timezone: Annotated[str, Accepts("an IANA name such as Europe/Paris", check=_is_zone)] = "UTC"
    """Whose local time the file tells: sacct prints no offset."""
    partition_limit: Duration | None = None
    """What the limit `Partition_Limit` means."""


class RigidSection(JobFields):
    """`[job]`: rigid jobs (rigid21); exactly one of `jobs`, `synthetic`, `swf`, `batsim`, `sacct`,
    `lublin`, `stream`. Those of a log and of `lublin` are selected, then drawn anew, then
    scaled."""

    SOURCES = ("jobs", "synthetic", "swf", "batsim", "sacct", "lublin", "stream")

    kind: Literal["rigid"] = "rigid"
    synthetic: UniformJobs | None = None
    swf: WorkloadFile | None = None
    batsim: WorkloadFile | None = None
    sacct: SacctFile | None = None
    lublin: Lublin | None = None
    stream: StreamSection | None = None
    select: Selection = Field(default_factory=Selection)
    resample: Resample | None = None
    scale: Scale | None = None

    @property
    def listed(self) -> tuple[AnyJob, ...]:
        """See JobFields."""
        drawn = self.synthetic.draw() if self.synthetic else ()
        return self.jobs or tuple(
            RigidJob(processors=it.processors, time=it.length) for it in drawn
        )

    @property
    def of_log(self) -> bool:
        """Whether its jobs are columns that can be selected from, drawn anew and scaled."""
        return bool(self.log or self.lublin)

    @property
    def log(self) -> WorkloadFile | None:
        """The real log that the jobs come from."""
        return self.swf or self.batsim or self.sacct


class MoldableSection(JobFields):
    """`[job]`: moldable jobs (moldable21); either `jobs` or `synthetic`."""

    kind: Literal["moldable"] = "moldable"
    synthetic: SyntheticJobs | None = None


class IterativeSection(JobFields):
    """`[job]`: an iterative application (volatile13, section III.A), or several in `jobs`."""

    SOURCES = ("jobs", "tasks")

    kind: Literal["iterative"] = "iterative"
    name: str = "application"
    """What the log calls it."""
    tasks: Drawn | None = None
    """m: tasks per iteration, in lockstep."""
    iterations: Count | None = None
    """Iterations to complete; default: 1."""
    processors: Count | None = None
    """How many workers it asks a queue for; an enrolment policy chooses itself."""

    @property
    def listed(self) -> tuple[AnyJob, ...]:
        """See JobFields."""
        if self.tasks is None:
            return self.jobs
        own = IterativeEntry(
            name=self.name,
            tasks=self.tasks,
            iterations=self.iterations or 1,
            processors=self.processors,
        )
        return (own,)


class MalleableSection(JobFields):
    """`[job]`: a pack of malleable applications that start together (malleable17, section 3)."""

    kind: Literal["malleable"] = "malleable"
    pair: Count = 2
    """Workers per group of buddies; 1: each keeps its own checkpoint only."""
    footprints: tuple[NotNegative, ...] = ()
    """m_i: data units of each application."""
    synthetic: DrawnApplications | None = None
    """More applications, drawn at random."""
    speedup: AnySpeedup = Field(default_factory=Synthetic)
    """How execution times depend on workers."""

    @property
    def sources(self) -> dict[str, object]:
        """Where jobs may come from."""
        return {"jobs": self.jobs, "footprints": self.footprints or self.synthetic}

    def pack(self) -> tuple[float, ...]:
        """All footprints, those listed first."""
        return (*self.footprints, *(self.synthetic.footprints() if self.synthetic else ()))


JobSection = Annotated[
    RigidSection | MoldableSection | MalleableSection | IterativeSection, OneOf()
]
KINDS = ("rigid", "moldable", "malleable", "iterative")
