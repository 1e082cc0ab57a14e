"""`[job]`, by the kind of the jobs that say no other."""

from __future__ import annotations

import enum
from typing import Literal

from attrs import Factory, field, frozen
from attrs.validators import deep_iterable, optional

from sims.scenario.fields import countable, not_negative, positive, positive_or_inf
from sims.scenario.jobs.files import WorkloadFile
from sims.scenario.jobs.iterative import IterativeEntry
from sims.scenario.jobs.lublin import Lublin
from sims.scenario.jobs.malleable import DrawnApplications, MalleableEntry
from sims.scenario.jobs.moldable import MoldableJob, SyntheticJobs
from sims.scenario.jobs.resample import Resample
from sims.scenario.jobs.rigid import RigidJob, UniformJobs
from sims.scenario.jobs.scale import Scale
from sims.scenario.jobs.select import Selection
from sims.scenario.jobs.speedups import AnySpeedup, Synthetic
from sims.scenario.jobs.stream import StreamSection

AnyJob = RigidJob | MoldableJob | MalleableEntry | IterativeEntry


class Overrun(enum.Enum):
    """What becomes of a run that reaches the user's estimate."""

    FINISH = "finish"
    """It goes on; only reservations believe the estimate."""
    KILL = "kill"
    """It is cancelled and its job is gone."""


@frozen(kw_only=True)
class JobFields:
    """What `[job]` has for every kind."""

    jobs: tuple[AnyJob, ...] = ()
    """Listed one by one; of the section's kind where they say no other."""
    verification: float = field(default=0, validator=not_negative)
    """v: time units that the detector adds to each run."""
    overrun: Overrun = Overrun.FINISH
    """Of a run that reaches the user's estimate: `finish` or `kill`."""
    cap: float | None = field(default=None, validator=optional(positive_or_inf))
    """Time at which the run ends, whatever is unfinished; `inf`: never; default: never, but
    1,000,000 where an enrolment policy decides."""


@frozen(kw_only=True)
class RigidSection(JobFields):
    """`[job]`: rigid jobs (rigid21); exactly one of `jobs`, `synthetic`, `swf`, `batsim`, `lublin`,
    `stream`. Those of `swf`, `batsim` and `lublin` are selected, then drawn anew, then scaled."""

    kind: Literal["rigid"]
    synthetic: UniformJobs | None = None
    swf: WorkloadFile | None = None
    batsim: WorkloadFile | None = None
    lublin: Lublin | None = None
    stream: StreamSection | None = None
    select: Selection = Factory(Selection)
    resample: Resample | None = None
    scale: Scale | None = None

    @property
    def sources(self) -> dict[str, object]:
        """Where jobs may come from."""
        keys = ("jobs", "synthetic", "swf", "batsim", "lublin", "stream")
        return {key: getattr(self, key) for key in keys}

    @property
    def of_log(self) -> bool:
        """Whether its jobs are columns that can be selected from, drawn anew and scaled."""
        return bool(self.swf or self.batsim or self.lublin)


@frozen(kw_only=True)
class MoldableSection(JobFields):
    """`[job]`: moldable jobs (moldable21); either `jobs` or `synthetic`."""

    kind: Literal["moldable"]
    synthetic: SyntheticJobs | None = None

    @property
    def sources(self) -> dict[str, object]:
        """Where jobs may come from."""
        return {"jobs": self.jobs, "synthetic": self.synthetic}


@frozen(kw_only=True)
class IterativeSection(JobFields):
    """`[job]`: an iterative application (volatile13, section III.A), or several in `jobs`."""

    kind: Literal["iterative"]
    name: str = "application"
    """What the log calls it."""
    tasks: int | None = field(default=None, validator=optional(countable))
    """m: tasks per iteration, in lockstep."""
    iterations: int | None = field(default=None, validator=optional(positive))
    """Iterations to complete; default: 1."""
    processors: int | None = field(default=None, validator=optional(positive))
    """How many workers it asks a queue for; an enrolment policy chooses itself."""

    @property
    def sources(self) -> dict[str, object]:
        """Where jobs may come from."""
        return {"jobs": self.jobs, "tasks": self.tasks}


@frozen(kw_only=True)
class MalleableSection(JobFields):
    """`[job]`: a pack of malleable applications that start together (malleable17, section 3)."""

    kind: Literal["malleable"]
    pair: int = field(default=2, validator=positive)
    """Workers per group of buddies; 1: each keeps its own checkpoint only."""
    footprints: tuple[float, ...] = field(default=(), validator=deep_iterable(not_negative))
    """m_i: data units of each application."""
    synthetic: DrawnApplications | None = None
    """More applications, drawn at random."""
    speedup: AnySpeedup = Factory(Synthetic)
    """How execution times depend on workers."""

    @property
    def sources(self) -> dict[str, object]:
        """Where jobs may come from."""
        return {"jobs": self.jobs, "footprints": self.footprints or self.synthetic}

    def pack(self) -> tuple[float, ...]:
        """All footprints, those listed first."""
        return (*self.footprints, *(self.synthetic.footprints() if self.synthetic else ()))


JobSection = RigidSection | MoldableSection | MalleableSection | IterativeSection
KINDS = ("rigid", "moldable", "malleable", "iterative")
