"""A whole scenario file: every section once, with one meaning for every kind of job."""

from __future__ import annotations

from functools import cached_property
from math import inf
from typing import Annotated, Self

from pydantic import Field

from actors.events import DeciderKind
from sims.scenario.faults import AnyFaults, ErrorSection, NoFaults
from sims.scenario.header import Header, HeadSection, MeasuresSection, Unit
from sims.scenario.jobs.section import KINDS, JobSection, RigidSection
from sims.scenario.master import LinkSection, MasterSection
from sims.scenario.platform import Platform, PlatformSection, RandomWorkers, WorkerSection
from sims.scenario.policy import PolicySection, decider_kind
from sims.scenario.protection import ProtectionSection
from sims.tables.fields import Accepts, Timed

CAP = 1_000_000
"""Slots at which a run of volatile13 counts as failed."""


Span = Annotated[
    tuple[Annotated[float, Timed()], Annotated[float, Timed()], int],
    Accepts(
        "a time from 0 on, a later finite one, and a worker",
        check=lambda it: 0 <= it[0] < it[1] < inf and it[2] >= 0,
    ),
]


class Scenario(HeadSection):
    """A whole scenario file; all times are in its one unit."""

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

    def __copy__(self) -> Self:
        """Without what was worked out of other sections than a changed copy may have."""
        copied = super().__copy__()
        for name in copied.__dict__.keys() - type(self).model_fields.keys():
            del copied.__dict__[name]
        return copied

    @cached_property
    def full_platform(self) -> Platform:
        """All workers."""
        return Platform.of(self.platform, self.workers, self.random_workers, self.reclaims)

    @cached_property
    def decider(self) -> DeciderKind:
        """Who decides."""
        job = self.job
        streamed = isinstance(job, RigidSection) and job.stream is not None
        return decider_kind(self.policy, job.kind, streamed)

    @property
    def policy_name(self) -> str:
        """As the log has it."""
        default = "none" if self.decider is DeciderKind.PACK else "R-LIST-0"
        return self.policy.name or default

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
        if self.unit is not None:
            return self.unit
        return Unit.SLOT if self.decider is DeciderKind.ENROLMENT else Unit.S

    @property
    def cap(self) -> float:
        """When the run ends, whatever is unfinished."""
        if self.job.cap is not None:
            return self.job.cap
        return CAP if self.decider is DeciderKind.ENROLMENT else float("inf")

    def header(self) -> Header:
        """What the log's first record says."""
        platform = self.full_platform
        unit = self.times.value
        return Header(self.kinds, self.policy_name, platform.size, platform.names, unit)
