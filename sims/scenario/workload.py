"""The jobs of a scenario, wherever they come from, as the scheduler will know them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Self, cast

from attrs import astuple, evolve, frozen

from actors.events import DeadlineDescribed, DeciderKind, JobsChanged, JobsLeftOut, LogReplayed
from actors.protection import Rules
from actors.runtime import System
from actors.worker_messages import Needs
from policies.interface.queue import BatchJob
from policies.maths.speedup import Asking, Rigid, Table
from sims.errors import InputError
from sims.scenario.jobs.columns import Changes, JobColumns
from sims.scenario.jobs.entries import (
    RESERVED,
    AnyJob,
    IterativeEntry,
    RigidJob,
)
from sims.scenario.jobs.section import (
    IterativeSection,
    JobSection,
    MalleableSection,
    MoldableSection,
    RigidSection,
)
from sims.scenario.jobs.select import Rule, Selection
from sims.scenario.jobs.speedups import Application
from sims.scenario.jobs.stream import StreamSection, arrivals
from sims.scenario.platform import Platform
from sims.scenario.protection import Failing, ProtectionSection
from sims.scenario.scenario import Scenario


@frozen
class Submission:
    """One job of a workload, and what the scenario says of it alone."""

    job: BatchJob
    own: AnyJob | None
    """None: nothing; iterative jobs always have it."""
    protection: ProtectionSection
    """Its own, or the file's."""
    needs: Needs | None
    """What members of its runs fetch; None without a master."""

    @classmethod
    def of(cls, scenario: Scenario, job: BatchJob, own: AnyJob | None = None) -> Self:
        """What a scenario says of a job that says no more."""
        master, said = scenario.master, (own.program, own.data, own.image) if own else ()
        needs = master.needs(job.name, *said) if master else None
        protection = (own.protection if own else None) or scenario.protection
        return cls(job, own, protection, needs)

    @property
    def label(self) -> str:
        """What its program is known by."""
        return self.needs.label if self.needs else self.job.name

    def rules(self, mtbf: float, failing: Failing = ()) -> Rules:
        """How it survives; `mtbf` of the faults. Raises InputError for a period that no formula
        gives."""
        return self.protection.rules(self.job.verification, self.image, mtbf, failing)

    @property
    def image(self) -> float | None:
        """Time of an image on a channel; None without a master."""
        return self.needs.image if self.needs else None


@frozen
class Workload:
    """The jobs of a run, by index, and an account of those left out."""

    submissions: tuple[Submission, ...]
    left_out: tuple[tuple[str, int], ...] = ()
    """(reason, jobs)."""
    changed: tuple[tuple[str, int], ...] = ()
    """(how, jobs)."""
    begins: float | None = None
    """Of a log's: seconds since 1970 at time 0."""

    def tell(self, system: System) -> None:
        """What the run's log begins with."""
        for reason, jobs in self.left_out:
            system.journal.record(system.origin, JobsLeftOut, reason, jobs)
        for how, jobs in self.changed:
            system.journal.record(system.origin, JobsChanged, how, jobs)
        if self.begins is not None:
            system.journal.record(system.origin, LogReplayed, self.begins)
        for it in self.submissions:
            if it.own and it.own.deadline is not None:
                due = it.job.name, it.own.deadline
                system.journal.record(system.origin, DeadlineDescribed, *due)


def workload(scenario: Scenario, system: System, folder: Path) -> Workload:
    """All jobs that the platform can hold. Raises InputError where there are none."""
    found = _all(scenario, system, folder)
    names = [submission.job.name for submission in found.submissions]
    _refuse_twins(names, scenario.full_platform)
    fitting = _fitting(found, scenario.full_platform.able)
    if not fitting.submissions:
        reasons = "; ".join(f"{jobs} left out: {reason}" for reason, jobs in fitting.left_out)
        problem = f"no job is left to schedule ({reasons or 'none is listed'})"
        raise InputError("scenario", "job", problem, "at least one job")
    if scenario.decider is DeciderKind.PACK:
        return fitting
    return evolve(fitting, submissions=tuple(map(_unresized, fitting.submissions)))


def _unresized(submission: Submission) -> Submission:
    """To whoever resizes nobody, a malleable job is a table of times, as a moldable one is."""
    job = submission.job
    if not isinstance(job.profile, Application):
        return submission
    return evolve(submission, job=evolve(job, profile=Table(tuple(job.profile.times))))


def _all(scenario: Scenario, system: System, folder: Path) -> Workload:
    section = scenario.job
    _one_source(section)
    if isinstance(section, RigidSection):
        if section.of_log:
            return _of_log(section, scenario, system, folder)
        _refuse_changes(section)
        if section.stream:
            return _from_stream(section.stream, scenario, system, folder)
    if isinstance(section, MoldableSection) and section.synthetic:
        drawn = enumerate(section.synthetic.draw())
        v = section.verification
        jobs = [BatchJob(k, f"J{k + 1}", it, v, kind="moldable") for k, it in drawn]
        return _workload(scenario, jobs)
    if isinstance(section, MalleableSection) and not section.jobs:
        return _workload(scenario, _pack(section, scenario.full_platform.size))
    return _listed(scenario, _jobs(section))


def _workload(
    scenario: Scenario, jobs: Iterable[BatchJob], changes: Changes | None = None
) -> Workload:
    told = changes or Changes()
    submissions = tuple(Submission.of(scenario, job) for job in jobs)
    return Workload(submissions, tuple(told.left_out), tuple(told.changed), told.begins)


def _one_source(section: JobSection) -> None:
    given = [key for key, source in section.sources.items() if source]
    if len(given) != 1:
        accepted = f"exactly one of {', '.join(section.sources)}"
        raise InputError("scenario", "job", "no jobs, or several sources of them", accepted)


def _refuse_changes(section: RigidSection) -> None:
    """Raises InputError for what is asked of a log where there is none."""
    for key in ("select", "resample", "scale"):
        if getattr(section, key) not in (None, Selection()):
            problem = "these jobs are of no log"
            raise InputError(
                "scenario", f"job.{key}", problem, "`swf`, `batsim`, `sacct` or `lublin`"
            )


def _jobs(section: JobSection) -> Sequence[AnyJob]:
    if isinstance(section, RigidSection) and section.synthetic:
        drawn = section.synthetic.draw()
        return [RigidJob(processors=it.processors, time=it.length) for it in drawn]
    if isinstance(section, IterativeSection) and section.tasks is not None:
        return [
            IterativeEntry(
                name=section.name,
                tasks=section.tasks,
                iterations=section.iterations or 1,
                processors=section.processors,
            )
        ]
    return section.jobs


def _listed(scenario: Scenario, jobs: Sequence[AnyJob]) -> Workload:
    v, platform = scenario.job.verification, scenario.full_platform
    return Workload(
        tuple(
            Submission.of(
                scenario,
                BatchJob(
                    index,
                    job.name or f"J{index + 1}",
                    job.profile(index, platform),
                    v if job.verification is None else job.verification,
                    job.estimate,
                    *(job.release, job.kind, job.user, job.group, job.queue, job.priority),
                ),
                job,
            )
            for index, job in enumerate(jobs)
        )
    )


def _of_log(section: RigidSection, scenario: Scenario, system: System, folder: Path) -> Workload:
    """Selected, then drawn anew, then scaled: each as the one before leaves it."""
    jobs, changes = _columns(section, scenario, system, folder)
    workers = scenario.full_platform.size
    jobs = section.select.apply(jobs, changes)
    if section.resample:
        rng = system.stream("workload/resample")
        jobs = section.resample.apply(jobs, changes, rng)
    if section.scale:
        jobs = section.scale.apply(jobs, changes, workers, Rule.CUT_WIDE in section.select.clean)
    jobs = section.select.cut(jobs, changes, workers)
    log, v = section.log, section.verification
    believed = log is None or log.estimates
    rows = zip(*(column.tolist() for column in astuple(jobs, recurse=False)), strict=True)
    submissions = (
        BatchJob(
            *(index, name, Rigid(processors, time), v),
            estimate if believed and estimate == estimate else None,
            *(submitted, "rigid", user, group, queue, priority),
            None if waited != waited else waited,
        )
        for index, (name, submitted, time, processors, estimate, _, *whose) in enumerate(rows)
        for user, group, queue, priority, waited in (whose,)
    )
    return _workload(scenario, submissions, changes)


def _columns(
    section: RigidSection, scenario: Scenario, system: System, folder: Path
) -> tuple[JobColumns, Changes]:
    if section.swf:
        changes, file = Changes(), section.swf.file
        return JobColumns.of_swf(folder / file, file, changes), changes
    if section.batsim:
        return JobColumns.of_batsim(folder / section.batsim.file), Changes()
    if section.sacct:
        changes, log = Changes(), section.sacct
        path = folder / log.file
        return JobColumns.of_sacct(path, log.timezone, log.partition_limit, changes), changes
    assert section.lublin is not None
    rng, size = system.stream("workload/lublin"), scenario.full_platform.size
    return section.lublin.draw(rng, size), Changes()


def _from_stream(
    section: StreamSection, scenario: Scenario, system: System, folder: Path
) -> Workload:
    own = scenario.full_platform.size, system, folder, scenario.job.verification
    return _workload(scenario, arrivals(section, *own)[0])


def _pack(section: MalleableSection, workers: int) -> Iterator[BatchJob]:
    for index, footprint in enumerate(section.pack()):
        profile = Application(footprint, section.speedup, workers)
        yield BatchJob(index, f"T{index + 1}", profile, section.verification, kind="malleable")


def _refuse_twins(names: Sequence[str], platform: Platform) -> None:
    """Raises InputError where two actors have one name: logs could not tell them apart."""
    for name, count in Counter(names).items():
        if count > 1:
            raise InputError("scenario", "job.jobs", f"two jobs are called {name!r}", "other names")
    for name, count in Counter((*RESERVED, *set(names), *platform.names)).items():
        if count > 1:
            problem = f"two of workers, jobs, {', '.join(RESERVED)} are called {name!r}"
            raise InputError("scenario", "workers.name", problem, "another name")


def asked_of(job: BatchJob) -> int:
    """The least workers of a run."""
    return job.profile.processors if isinstance(job.profile, Asking) else 1


def _fitting(found: Workload, workers: int) -> Workload:
    """Leave out, and count, the jobs that need more workers than there are."""
    fitting = [it for it in found.submissions if asked_of(it.job) <= workers]
    wide = len(found.submissions) - len(fitting)
    if not wide:
        return found
    if not fitting:
        problem = f"{workers} are too few for every job"
        least = min(asked_of(it.job) for it in found.submissions)
        accepted = f"at least {least}, which the narrowest job needs"
        raise InputError("scenario", "platform.workers", problem, accepted)
    reason = f"needs more than the platform's {workers} workers"
    return evolve(found, submissions=tuple(fitting), left_out=(*found.left_out, (reason, wide)))


def iterative(submission: Submission) -> IterativeEntry:
    """What the scenario says of an iterative job."""
    return cast(IterativeEntry, submission.own)
