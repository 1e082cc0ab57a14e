"""The jobs that `[[job.jobs]]` lists one by one, by their kind."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from policies.maths.speedup import Fixed, Lockstep, Profile, Rigid, usable
from sims.errors import InputError
from sims.scenario.jobs.speedups import AnySpeedup, Application, MoldableSpeedup, Synthetic
from sims.scenario.platform import Platform
from sims.scenario.protection import ProtectionSection
from sims.tables.fields import (
    Accepts,
    Count,
    Drawn,
    Duration,
    NotNegative,
    Number,
    Time,
    Unacceptable,
)
from sims.tables.section import OneOf, Section

RESERVED = SCHEDULER, HAZARD, MASTER, CAP, SOURCE = (
    *("scheduler", "hazard", "master", "cap", "source"),
)
"""Actors that no job can be called like."""
MOST_FAILURES = 1_000_000
"""Of one job, in a row: each is a run."""

JobName = Annotated[
    str,
    Accepts(
        f"another name: {', '.join(RESERVED)} are others' in the log",
        check=lambda name: name not in RESERVED,
    ),
]
Failures = Annotated[
    Annotated[int, Field(ge=0, le=MOST_FAILURES)] | tuple[Annotated[int, Field(ge=0, le=1)], ...],
    Accepts(
        f"a whole number from 0 to {MOST_FAILURES:,}, "
        "or a list of 0 and 1, one for each verification"
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
        verdicts = self.verdicts
        if verdicts is None:
            return None
        return verdicts.index(0) if 0 in verdicts else len(verdicts)


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
        profile, wanted = self.speedup.profile(), self.processors or 1
        most = usable(profile, wanted)
        if most < wanted:
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
        if not self.task_times:
            return tuple(worker.task_time for worker in platform)
        if len(self.task_times) != platform.size:
            problem, key = f"{len(self.task_times)} times", f"job.jobs.{index}.task_times"
            accepted = f"one for each of {platform.size} workers"
            raise InputError("scenario", key, problem, accepted)
        return self.task_times

    def profile(self, index: int, platform: Platform) -> Profile:
        """t(p) of the job of that index."""
        times = self.times(index, platform)
        return Lockstep(self.processors or 1, self.tasks, sum(times) / len(times))


AnyJob = Annotated[RigidJob | MoldableJob | MalleableEntry | IterativeEntry, OneOf(named=False)]
