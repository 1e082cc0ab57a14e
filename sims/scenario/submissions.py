"""The jobs that a scenario submits, each with its protection and the sizes of its messages, and the
counts of the jobs left out.

`workload.py` makes them of whatever source the jobs have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Self, cast, overload

from attrs import evolve, field, frozen

from actors.dependencies import Dependence
from actors.protection import Rules
from actors.worker_messages import Needs
from policies.interface.kinds import JobKind
from policies.interface.queue import BatchJob
from policies.maths.speedup import Asking, usable
from sims.errors import unfit
from sims.scenario import Scenario
from sims.scenario.faults import together
from sims.scenario.job_set import JobSet, asked_of
from sims.scenario.jobs import AnyJob, IterativeEntry
from sims.scenario.protection import ProtectionSection

LeftOut = tuple[tuple[str, int], ...]
"""Pairs of a reason and the number of jobs left out for that reason."""


@frozen
class Submission:
    """One job of a workload, and what the scenario says of this job alone."""

    job: BatchJob
    own: AnyJob | None
    """The job's own entry in the scenario; None: it has none. Iterative jobs always have one."""
    protection: ProtectionSection
    """The job's own protection, or the file's."""
    needs: Needs | None
    """Sizes of the messages that members of the job's runs fetch from the master; None: there is no
    master."""

    @classmethod
    def of(cls, scenario: Scenario, job: BatchJob, own: AnyJob | None = None) -> Self:
        """Return the submission of a job, with the file's protection and message sizes where `own`,
        the job's entry in the scenario, has none; None if it has no entry."""
        master, sizes = scenario.master, (own.program, own.data, own.image) if own else ()
        needs = master.needs(job.name, *sizes) if master else None
        protection = (own.protection if own else None) or scenario.protection
        return cls(job, own, protection, needs)

    @property
    def label(self) -> str:
        """Name of the program that the job's workers hold: jobs with one program share it. It is
        the job's name where there is no master."""
        return self.needs.label if self.needs else self.job.name

    def rules(self, scenario: Scenario) -> Rules:
        """Return the rules of the job's protection, with the period that its formula gives for the
        faults of this scenario.

        Raises InputError for a period that no formula gives.
        """
        faults, platform = scenario.faults, scenario.full_platform
        asked = self.protection.asks_rate
        span = self.span(platform.able) if asked else (0.0, 0.0)
        failing = [
            (platform.unit_size(law.of), law.mtbf_over(*span) / law.part(platform.count(law.of)))
            for law in faults.laws
            if law.part(platform.count(law.of))
        ]
        arguments = self.job.verification, self.image, together(it for _, it in failing), failing
        return self.protection.rules(*arguments, scenario.storage, platform.node)

    def span(self, workers: int) -> tuple[float, float]:
        """Return (time of submission, time at which the job's work ends) if all goes well.

        The job is assumed to start at once, on as many of `workers` as it can use, to meet no fault
        and to compute at speed 1.
        """
        times = self.own.iterations if isinstance(self.own, IterativeEntry) else 1
        work = times * self.job.profile.time(self.size(workers))
        return self.job.submitted, self.job.submitted + work

    def size(self, workers: int) -> int:
        """Return the number of workers that the job requests, or, if it requests none, as many of
        `workers` as it can use."""
        job = self.job
        return asked_of(job) if isinstance(job.profile, Asking) else usable(job.profile, workers)

    @property
    def image(self) -> float | None:
        """Time of a worker's checkpoint image on a channel of the master; None: there is no
        master."""
        return self.needs.image if self.needs else None


@frozen
class Submissions(Sequence[Submission]):
    """The submissions of a scenario's jobs, each made when it is asked for: a million jobs of a log
    have nothing of their own but themselves."""

    scenario: Scenario
    jobs: JobSet
    own: Mapping[int, AnyJob] = field(factory=dict)
    """Maps the index of each job that has an entry of its own in the scenario to that entry."""

    def __len__(self) -> int:
        return len(self.jobs)

    def __iter__(self) -> Iterator[Submission]:
        own = self.own.get
        return (Submission.of(self.scenario, job, own(job.index)) for job in self.jobs)

    @overload
    def __getitem__(self, place: int) -> Submission: ...
    @overload
    def __getitem__(self, place: slice) -> Submissions: ...
    def __getitem__(self, place: int | slice) -> Submission | Submissions:
        found = self.jobs[place]
        if isinstance(found, tuple):
            return evolve(self, jobs=JobSet.of(found))
        return Submission.of(self.scenario, found, self.own.get(found.index))

    def having(self, *profiles: type) -> JobSet:
        """Return the jobs whose profile is of one of these classes."""
        if self.jobs and not self.own:  # all come from one source, which makes profiles of one kind
            return self.jobs if isinstance(self.jobs[0].profile, profiles) else JobSet()
        return JobSet.of(job for job in self.jobs if isinstance(job.profile, profiles))

    def protected(self, holds: Callable[[ProtectionSection], bool]) -> Iterator[Submission]:
        """Return the submissions of the jobs for whose protection `holds` is true."""
        alike = not self.own and not holds(self.scenario.protection)
        return iter(()) if alike else (it for it in self if holds(it.protection))


@frozen
class Workload:
    """The jobs of a simulation in the order of their indices, and counts of the jobs left out or
    changed."""

    submissions: Submissions
    left_out: LeftOut = ()
    changed: tuple[tuple[str, int], ...] = ()
    """Pairs of a kind of change and the number of jobs changed."""
    begins: float | None = None
    """Seconds from 1970 to time 0, of a log; None: not known."""
    zone: str = "UTC"
    """Time zone of the log's dates, as an IANA name."""
    waits: Mapping[int, Dependence] = field(factory=dict)
    """Maps the index of each job that follows others to the conditions of its submission."""
    doubts: tuple[str, ...] = ()
    """Signs that the log of jobs, or what is said of its machine, is not what it seems."""

    @property
    def jobs(self) -> JobSet:
        """The jobs themselves."""
        return self.submissions.jobs

    @property
    def listed(self) -> Sequence[BatchJob]:
        """The jobs that have entries of their own in the scenario."""
        own = self.submissions.own
        return [job for job in self.jobs if job.index in own] if own else ()

    @property
    def copies(self) -> dict[int, int]:
        """Maps the index of each job that can have several redundant copies to the largest number
        of its runs at once."""
        copied = self.submissions.protected(lambda it: it.copies > 1)
        return {it.job.index: it.protection.copies for it in copied}

    def refuse_others(self, kind: JobKind, why: str, accepted: str) -> None:
        """Raise InputError for the first job that is not of the kind `kind`; `why`, which follows
        its name and kind, and `accepted` go into the message."""
        for job in self.jobs:
            if job.kind is not kind:
                raise unfit("job.kind", f"{job.name} is {job.kind}{why}", accepted)


def period_on(rules: Rules, members: int) -> float:
    """Return the work between two checkpoints of a run on the first `members` workers, time
    units."""
    return rules.period_of(range(members)) if rules.period_of else rules.period(members)


def iterative(submission: Submission) -> IterativeEntry:
    """Return the scenario's entry of an iterative job, which always has one."""
    return cast(IterativeEntry, submission.own)


def work_end(scenario: Scenario, submissions: Iterable[Submission]) -> float:
    """Return the earliest possible end of the work, in time units.

    No job ends before its own time has passed, and the workers together do no more work than their
    number times the time. Speeds count as 1; the scenario's cap bounds the result.
    """
    workers = scenario.full_platform.able
    latest, area = 0.0, 0.0
    for it in submissions:
        since, until = it.span(workers)
        latest, area = max(latest, until), area + (until - since) * asked_of(it.job)
    return min(max(latest, area / workers), scenario.cap)
