"""`[job]` by the kind of its jobs, and those that `[[job.jobs]]` lists one by one."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from policies.maths.speedup import Fixed, Lockstep, Profile, Rigid, usable
from sims.errors import unfit
from sims.scenario.faults import Failures
from sims.scenario.jobs.drawn import DrawnApplications, Lublin, SyntheticJobs, UniformJobs
from sims.scenario.jobs.logs import Resample, Scale, Selection
from sims.scenario.jobs.sources import SacctFile, StreamSection, WorkloadFile
from sims.scenario.jobs.speedups import AnySpeedup, Application, MoldableSpeedup, Synthetic
from sims.scenario.platform import Platform
from sims.scenario.protection import ProtectionSection
from sims.tables import OneOf, Section
from sims.tables.fields import (
    Accepts,
    Count,
    Drawn,
    Duration,
    DurationOrInf,
    NotNegative,
    Number,
    Time,
    Unacceptable,
)

RESERVED = SCHEDULER, HAZARD, MASTER, CAP, SOURCE = "scheduler", "hazard", "master", "cap", "source"
"""Actors that no job can be called like."""
JobName = Annotated[
    str,
    Accepts(
        f"another name: {', '.join(RESERVED)} are others' in the log",
        check=lambda name: name not in RESERVED,
    ),
]


class ListedJob(Section):
    """What every listed job may say beside its size."""

    name: JobName = ""
    """Default: J1, J2, ..."""
    failures: Failures | None = None
    """Verifications that find an error before one does not; or 1 for each one that does, else 0;
    default: drawn as `[errors]` says."""
    release: Time = 0
    """When it is submitted."""
    deadline: Duration | None = None
    """Time from then by which it is to be completed; default: it is never late."""
    verification: Time | None = None
    """v; default: that of [job]."""
    estimate: Duration | None = None
    """The time that its user requested; default: what it takes."""
    user: str = ""
    """Whose it is; default: not known."""
    group: str = ""
    """Its user's; default: not known."""
    queue: str = ""
    """The site's, into which it is submitted; default: not known."""
    priority: Number = 0
    """Larger is more urgent, to policies that look at it."""
    protection: ProtectionSection | None = None
    """Default: that of the file."""
    program: Time | None = None
    """Default, as of `data` and `image`: that of [master]."""
    data: Time | None = None
    """Of each unit."""
    image: Time | None = None
    """Of one worker."""

    @property
    def verdicts(self) -> tuple[int, ...] | None:
        """Its listed failures; None: they are drawn."""
        failures = self.failures
        return (1,) * failures if isinstance(failures, int) else failures

    @property
    def count(self) -> int | None:
        """f_j: how many runs fail before one succeeds; None: drawn."""
        return None if self.verdicts is None else (*self.verdicts, 0).index(0)


class RigidJob(ListedJob):
    """`[[job.jobs]]`: one rigid job."""

    kind: Literal["rigid"] = "rigid"
    """Default: that of [job]."""
    processors: Count
    """p_j."""
    time: Duration
    """t_j: error-free time of one run, verification excluded."""

    def profile(self, index: int, platform: Platform) -> Profile:
        """t(p) of the job of that index."""
        return Rigid(self.processors, self.time)


class MoldableJob(ListedJob):
    """`[[job.jobs]]`: one moldable job."""

    kind: Literal["moldable"] = "moldable"
    """Default: that of [job]."""
    speedup: MoldableSpeedup
    """`{kind = "amdahl", work = 1000, fraction = 0.1}` and the like."""
    processors: Count | None = None
    """How many it gets, always; default: as many as [policy] allots."""

    def check(self) -> None:
        wanted = self.processors or 1
        if (most := usable(self.speedup.profile(), wanted)) < wanted:
            raise Unacceptable("processors", wanted, f"1 to {most}, for which it has times")

    def profile(self, index: int, platform: Platform) -> Profile:
        """t(p) of the job of that index."""
        profile = self.speedup.profile()
        return Fixed(profile, self.processors) if self.processors else profile


class MalleableEntry(ListedJob):
    """`[[job.jobs]]`: one malleable application."""

    kind: Literal["malleable"] = "malleable"
    footprint: NotNegative
    """m_i: data units."""
    speedup: AnySpeedup = Field(default_factory=Synthetic)
    """How execution times depend on workers."""

    def profile(self, index: int, platform: Platform) -> Profile:
        """t(p) of the job of that index."""
        return Application(self.footprint, self.speedup, platform.size)


class IterativeEntry(ListedJob):
    """`[[job.jobs]]`: one iterative job."""

    kind: Literal["iterative"] = "iterative"
    """Default: that of [job]."""
    tasks: Drawn
    """m: tasks per iteration, in lockstep."""
    iterations: Count
    """Iterations to complete."""
    processors: Count | None = None
    """How many workers it asks a queue for; an enrolment policy chooses itself."""
    task_times: tuple[Duration, ...] = ()
    """w_q of this job by worker; default: the workers' own task_time."""

    def times(self, index: int, platform: Platform) -> tuple[float, ...]:
        """w_q, by worker. Raises InputError where a list is not of the platform's length."""
        if len(self.task_times) not in (0, platform.size):
            raise unfit(
                f"job.jobs.{index}.task_times",
                f"{len(self.task_times)} times",
                f"one for each of {platform.size} workers",
            )
        return self.task_times or tuple(worker.task_time for worker in platform)

    def profile(self, index: int, platform: Platform) -> Profile:
        """t(p) of the job of that index."""
        times = self.times(index, platform)
        return Lockstep(self.processors or 1, self.tasks, sum(times) / len(times))


AnyJob = Annotated[RigidJob | MoldableJob | MalleableEntry | IterativeEntry, OneOf(named=False)]


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

    def drawn(self, workers: int) -> Sequence[Profile]:
        """Those that it draws, for a platform of `workers`."""
        source = getattr(self, "synthetic", None)
        return source.draw() if source else ()

    @property
    def sources(self) -> dict[str, object]:
        """Where jobs may come from."""
        return {key: getattr(self, key) for key in self.SOURCES}


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
        each = self.synthetic.draw() if self.synthetic else ()
        return self.jobs or tuple(RigidJob(processors=it.processors, time=it.length) for it in each)

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
        if self.tasks is None:
            return self.jobs
        own = self.model_dump(include={"name", "tasks", "processors"})
        return (IterativeEntry(**own, iterations=self.iterations or 1),)


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
        return {"jobs": self.jobs, "footprints": self.footprints or self.synthetic}

    def drawn(self, workers: int) -> Sequence[Profile]:
        more = self.synthetic.footprints() if self.synthetic else ()
        return [Application(it, self.speedup, workers) for it in (*self.footprints, *more)]


JobSection = Annotated[
    RigidSection | MoldableSection | MalleableSection | IterativeSection, OneOf()
]
KINDS = ("rigid", "moldable", "malleable", "iterative")
