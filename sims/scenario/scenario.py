"""A whole scenario file: every section once, with one meaning for every kind of job."""

from __future__ import annotations

from functools import cached_property
from math import inf

from attrs import Factory, field, frozen
from attrs.validators import deep_iterable

from actors.events import DeciderKind
from sims.scenario.errors import ErrorSection
from sims.scenario.faults import AnyFaults, NoFaults
from sims.scenario.fields import Unacceptable
from sims.scenario.header import Header, HeadSection, Unit
from sims.scenario.jobs.section import KINDS, JobSection, RigidSection
from sims.scenario.link import LinkSection
from sims.scenario.master import MasterSection
from sims.scenario.measures import MeasuresSection
from sims.scenario.platform import Platform, PlatformSection, RandomWorkers, WorkerSection
from sims.scenario.policy import PolicySection, decider_kind
from sims.scenario.protection import ProtectionSection

CAP = 1_000_000
"""Slots at which a run of volatile13 counts as failed."""


def _span(_: object, attribute: object, value: tuple[float, float, int]) -> None:
    """attrs validator: a time from 0 on, a later one, and a worker."""
    start, end, worker = value
    if not (0 <= start < end < inf and worker >= 0):
        accepted = "a time from 0 on, a later finite one, and a worker"
        raise Unacceptable("reclaims", value, accepted)


@frozen(kw_only=True)
class Scenario(HeadSection):
    """A whole scenario file; all times are in its one unit."""

    platform: PlatformSection | None = None
    workers: tuple[WorkerSection, ...] = ()
    random_workers: RandomWorkers | None = None
    reclaims: tuple[tuple[float, float, int], ...] = field(
        default=(), validator=deep_iterable(_span)
    )
    """[from, until, worker]: an owner takes this worker back then, whatever else it does."""
    faults: AnyFaults = field(factory=NoFaults)
    """Whether and when workers fail."""
    errors: ErrorSection = Factory(ErrorSection)
    master: MasterSection | None = None
    link: LinkSection = Factory(LinkSection)
    job: JobSection
    """The jobs, by their kind."""
    protection: ProtectionSection = Factory(ProtectionSection)
    """How jobs survive, those that have no table of their own."""
    policy: PolicySection = Factory(PolicySection)
    measures: MeasuresSection | None = None

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
