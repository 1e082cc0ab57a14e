"""The `[job]` section for each kind of job, and the entries of `[[job.jobs]]` that list jobs one by
one."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from actors.acts import DOOR
from policies.interface.queue import Replication
from policies.maths.speedup import Fixed, Lockstep, Profile, Rigid, usable
from sims.errors import unfit
from sims.scenario.dependencies import FollowingJob
from sims.scenario.faults import Failures
from sims.scenario.jobs.drawn import DrawnApplications, Lublin, SyntheticJobs, UniformJobs
from sims.scenario.jobs.logs import Resample, Scale, Selection
from sims.scenario.jobs.sources import JobFile, SacctFile, StreamSection, WorkloadFile
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
    Natural,
    NotNegative,
    Number,
    Time,
    Unacceptable,
)

RESERVED = (
    *(SCHEDULER := "scheduler", HAZARD := "hazard", MASTER := "master"),
    *(CAP := "cap", SOURCE := "source", STORAGE := "shared storage", REPAIRS := "repairs"),
    (DEPENDENCIES := "dependencies of jobs"),
    DOOR,
)
"""Names that no job may have, because other actors in the log use them."""


def hazard_name(number: int) -> str:
    """Return the name of the actor that makes the faults of the law with this number happen."""
    return f"{HAZARD}/{number}" if number else HAZARD


JobName = Annotated[
    str,
    Accepts(
        "a name that is not empty and has no control characters; "
        f"{', '.join(RESERVED)} are others' in the log",
        check=lambda name: bool(name) and name.isprintable() and name not in RESERVED,
    ),
]


class ListedJob(FollowingJob):
    """The keys that every listed job has, whatever its kind."""

    name: JobName | None = None
    """Name of the job in the log; default: J1, J2, ... in the order of the list."""
    failures: Failures | None = None
    """Number of verifications that find an error before the first that does not; or a list with,
    for each verification, 1 if it finds an error and 0 if not. Default: errors are drawn as
    `[errors]` says."""
    release: Time = 0
    """Time at which the job is submitted, time units."""
    deadline: Duration | None = None
    """Time from its submission by which the job should be completed, time units; default: it is
    never late."""
    verification: Time | None = None
    """v: time that the detector adds to each run of this job, time units; default: that of `[job]`.
    """
    estimate: Duration | None = None
    """The run time that the user requested, time units; default: the time that the job takes."""
    user: str = ""
    """User who submitted the job; default: not known."""
    group: str = ""
    """Group of the user; default: not known."""
    queue: str = ""
    """Queue of the site into which the job is submitted; default: not known."""
    priority: Number = 0
    """Priority, larger is more urgent; only some policies consider it."""
    protection: ProtectionSection | None = None
    """Protection of this job; default: that of `[protection]`."""
    startup: Time | None = None
    """s: time in which each run of this job starts up before its members fetch anything, time
    units; default: that of `[job]`."""
    select: Time | None = None
    """c: time in which workers are chosen for a run of this job, before it starts up, time units;
    default: that of `[job]`."""
    program: Time | None = None
    """Time to send the job's program to one worker, time units; default, as of `data` and `image`:
    that of `[master]`."""
    data: Time | None = None
    """Time to send the input data of one unit (a task), time units."""
    image: Time | None = None
    """Time to send the checkpoint (image) of one worker, time units."""

    @property
    def verdicts(self) -> tuple[int, ...] | None:
        """Outcomes of the job's verifications as the scenario lists them, in order, 1 for an error;
        None if they are drawn."""
        failures = self.failures
        return (1,) * failures if isinstance(failures, int) else failures

    @property
    def count(self) -> int | None:
        """Number f_j of the job's runs that fail before the first that does not, as the scenario
        gives it; None if it is drawn."""
        return None if self.verdicts is None else (*self.verdicts, 0).index(0)


class RigidJob(ListedJob):
    """`[[job.jobs]]`: one rigid job."""

    kind: Literal["rigid"] = "rigid"
    """Default: that of [job]."""
    processors: Count
    """p_j: number of processors."""
    time: Duration
    """t_j: error-free time of one run, without verification, time units."""
    standbys: Natural = 0
    """k: largest number of workers that each copy of the job holds besides its own, ready to take
    the places of members that go DOWN."""
    replicas: Count = 1
    """g: number of groups of the job's processors that hold its whole state each. With more than
    one a run goes on with the groups that are left when members fail, and slower accordingly."""
    least: Count = 1
    """Number of groups that a run needs; with fewer left it is lost."""
    regroup: Time = 0
    """Time for which a run pauses as groups drop out, time units; without effect for one group."""
    rejoin: Time = 0
    """Time for which a run pauses as groups rejoin, time units; without effect for one group."""

    def check(self) -> None:
        if self.processors % self.replicas:
            parts = "a number that divides processors"
            raise Unacceptable("replicas", self.replicas, f"{parts} ({self.processors})")
        if self.least > self.replicas:
            raise Unacceptable("least", self.least, f"1 to replicas ({self.replicas})")

    @property
    def replication(self) -> Replication | None:
        """How the job's processors are divided into groups that each hold its whole state; None if
        they are one group."""
        if self.replicas == 1:
            return None
        return Replication(self.replicas, self.least, self.regroup, self.rejoin)

    def profile(self, index: int, platform: Platform) -> Profile:
        """Return t(p), the job's execution time on its own number of processors, the only p that it
        has; neither `index` nor `platform` matters."""
        return Rigid(self.processors, self.time)


class MoldableJob(ListedJob):
    """`[[job.jobs]]`: one moldable job."""

    kind: Literal["moldable"] = "moldable"
    """Default: that of [job]."""
    speedup: MoldableSpeedup
    """Execution time by number of processors, such as `{kind = "amdahl", work = 1000, fraction =
    0.1}`."""
    processors: Count | None = None
    """Fixed number of processors; default: as many as `[policy]` allots."""
    standbys: Natural = 0
    """k: largest number of workers that each copy of the job holds besides its own, ready to take
    the places of members that go DOWN."""

    def check(self) -> None:
        wanted = self.processors or 1
        if (most := usable(self.speedup.profile(), wanted)) < wanted:
            raise Unacceptable("processors", wanted, f"1 to {most}, for which it has times")

    def profile(self, index: int, platform: Platform) -> Profile:
        """Return t(p), the job's execution time as a function of its number of processors p, which
        the profile fixes where the job does; neither `index` nor `platform` matters."""
        profile = self.speedup.profile()
        return Fixed(profile, self.processors) if self.processors else profile


class MalleableEntry(ListedJob):
    """`[[job.jobs]]`: one malleable application."""

    kind: Literal["malleable"] = "malleable"
    footprint: NotNegative
    """m_i: memory footprint, data units."""
    speedup: AnySpeedup = Field(default_factory=Synthetic)
    """Execution time by number of workers."""

    def profile(self, index: int, platform: Platform) -> Profile:
        """Return t(p), the application's execution time as a function of its number of workers p,
        up to the size of `platform`; `index` does not matter."""
        return Application(self.footprint, self.speedup, platform.size)


class IterativeEntry(ListedJob):
    """`[[job.jobs]]`: one iterative job."""

    kind: Literal["iterative"] = "iterative"
    """Default: that of [job]."""
    tasks: Drawn
    """m: tasks in each iteration; they compute in lockstep."""
    iterations: Count
    """Number of iterations to complete."""
    processors: Count | None = None
    """Number of workers that the job requests from a queue; an enrolment policy chooses the number
    itself."""
    task_times: tuple[Duration, ...] = ()
    """w_q: slots that worker q computes a task of this job, one number for each worker; default:
    the workers' own `task_time`."""

    def times(self, index: int, platform: Platform) -> tuple[float, ...]:
        """Return w_q, the time of one task of this job on each worker of `platform`, by number.
        `index` is the job's place in `job.jobs`, for errors.

        Raises InputError where `task_times` has not one entry for each worker.
        """
        if len(self.task_times) not in (0, platform.size):
            raise unfit(
                f"job.jobs.{index}.task_times",
                f"{len(self.task_times)} times",
                f"one for each of {platform.size} workers",
            )
        return self.task_times or tuple(worker.task_time for worker in platform)

    def profile(self, index: int, platform: Platform) -> Profile:
        """Return t(p), an estimate of the time of one iteration on p workers, from the mean of the
        task times on `platform`'s workers; p is fixed to the number that the job requests, or 1.
        `index` is the job's place in `job.jobs`, for errors."""
        times = self.times(index, platform)
        return Lockstep(self.processors or 1, self.tasks, sum(times) / len(times))


AnyJob = Annotated[RigidJob | MoldableJob | MalleableEntry | IterativeEntry, OneOf(named=False)]


class Overrun(enum.Enum):
    """Treatment of a run that reaches the user's estimate."""

    FINISH = "finish"
    """The run goes on; only reservations rely on the estimate."""
    KILL = "kill"
    """The run is cancelled and its job leaves the system."""


class JobFields(Section):
    """The keys that `[job]` has for every kind of job."""

    SOURCES: ClassVar[tuple[str, ...]] = ("jobs", "synthetic")
    """Keys of which the section sets exactly one: the source of the jobs."""

    jobs: tuple[AnyJob, ...] = ()
    """Jobs listed one by one; a job without a `kind` is of the section's kind."""
    verification: Time = 0
    """v: time that the detector adds to each run, time units."""
    startup: Time = 0
    """s: time in which each run starts up before its members fetch anything, time units."""
    overrun: Overrun = Overrun.FINISH
    """Treatment of a run that reaches the user's estimate: `finish` or `kill`."""
    cap: DurationOrInf | None = None
    """Time at which the simulation ends even if jobs are unfinished, time units; `inf`: never;
    default: never, but 1,000,000 where an enrolment policy decides."""

    @property
    def selecting(self) -> float:
        """Time that the choice of workers for a run takes before it starts up, time units."""
        select: Selection | float = getattr(self, "select", 0)
        return select.choosing if isinstance(select, Selection) else select

    def startup_of(self, own: ListedJob | None) -> float:
        """Return the time in which each run of a job starts up; `own` is its entry if it is
        listed."""
        asked = None if own is None else own.startup
        return self.startup if asked is None else asked

    def selecting_of(self, own: ListedJob | None) -> float:
        """Return the time that the choice of workers for a run of a job takes before it starts up;
        `own` is its entry if it is listed."""
        asked = None if own is None else own.select
        return self.selecting if asked is None else asked

    def before(self, own: ListedJob | None, first: bool) -> float:
        """Return the time that passes before the members of a run of a job fetch anything. `own` is
        the job's entry if it is listed; `first`: the run takes over no kept members."""
        startup = self.startup_of(own)
        return self.selecting_of(own) + startup if first else startup

    @property
    def listed(self) -> tuple[AnyJob, ...]:
        """The jobs that the section describes one by one."""
        return self.jobs

    def drawn(self, workers: int) -> Sequence[Profile]:
        """Draw the jobs that the section describes by a law, for a platform of `workers` workers;
        return their profiles (execution times by number of processors), none if it has no law."""
        source = getattr(self, "synthetic", None)
        return _profiles(source) if source else ()

    @property
    def sources(self) -> dict[str, object]:
        """Maps each key from which the section's jobs can come to its value; exactly one of the
        values is set in a valid section."""
        return {key: getattr(self, key) for key in self.SOURCES}


@lru_cache(maxsize=4)
def _drawn(source: UniformJobs) -> tuple[RigidJob, ...]:
    """Return the jobs that the section draws by its own seed. A run asks for them several times,
    and all runs of a campaign have the same ones, which makes a sixth of its time."""
    return tuple(RigidJob(processors=it.processors, time=it.length) for it in source.draw())


@lru_cache(maxsize=4)
def _profiles(source: SyntheticJobs) -> tuple[Profile, ...]:
    """Return the profiles that the section draws by its own seed. The variants of a campaign share
    them and run one after the other, so that most runs find them drawn."""
    return tuple(source.draw())


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
        return self.jobs or (_drawn(self.synthetic) if self.synthetic else ())

    @property
    def log(self) -> JobFile | None:
        """The job log that the section names; None: jobs come from elsewhere."""
        return self.swf or self.batsim or self.sacct


class MoldableSection(JobFields):
    """`[job]`: moldable jobs (moldable21); either `jobs` or `synthetic`."""

    kind: Literal["moldable"] = "moldable"
    select: Time = 0
    """c: time in which workers are chosen for a run, before it starts up, time units."""
    synthetic: SyntheticJobs | None = None


class IterativeSection(JobFields):
    """`[job]`: an iterative application (volatile13, section III.A), or several in `jobs`."""

    SOURCES = ("jobs", "tasks")

    kind: Literal["iterative"] = "iterative"
    select: Time = 0
    """c: time in which workers are chosen for a run, before it starts up, time units."""
    name: JobName = "application"
    """Name of the application in the log."""
    tasks: Drawn | None = None
    """m: tasks in each iteration; they compute in lockstep."""
    iterations: Count | None = None
    """Number of iterations to complete; default: 1."""
    processors: Count | None = None
    """Number of workers that the application requests from a queue; an enrolment policy chooses the
    number itself."""

    @property
    def listed(self) -> tuple[AnyJob, ...]:
        if self.tasks is None:
            return self.jobs
        own = self.model_dump(include={"name", "tasks", "processors"})
        return (IterativeEntry(**own, iterations=self.iterations or 1),)


class MalleableSection(JobFields):
    """`[job]`: a pack of malleable applications that start together (malleable17, section 3)."""

    kind: Literal["malleable"] = "malleable"
    select: Time = 0
    """c: time in which workers are chosen for a run, before it starts up, time units."""
    pair: Count = 2
    """Workers in a group of buddies, which keep each other's checkpoints; 1: each worker keeps its
    own only."""
    footprints: tuple[NotNegative, ...] = ()
    """m_i: memory footprint of each application, data units."""
    synthetic: DrawnApplications | None = None
    """Applications drawn at random, in addition to those of `footprints`."""
    speedup: AnySpeedup = Field(default_factory=Synthetic)
    """Execution time by number of workers."""

    @property
    def sources(self) -> dict[str, object]:
        return {"jobs": self.jobs, "footprints": self.footprints or self.synthetic}

    def drawn(self, workers: int) -> Sequence[Profile]:
        more = self.synthetic.footprints() if self.synthetic else ()
        return [Application(it, self.speedup, workers) for it in (*self.footprints, *more)]


JobSection = Annotated[
    RigidSection | MoldableSection | MalleableSection | IterativeSection, OneOf()
]
