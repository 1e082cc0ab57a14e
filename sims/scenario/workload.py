"""The jobs of a scenario, wherever they come from, as the scheduler will know them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import cast

from attrs import astuple, evolve, frozen

from actors.events import DeciderKind, JobsChanged, JobsLeftOut
from actors.runtime import System
from policies.interface.queue import BatchJob
from policies.maths.speedup import Asking, Fixed, Lockstep, Profile, Rigid, Table
from sims.errors import InputError
from sims.scenario.jobs.columns import Changes, JobColumns
from sims.scenario.jobs.entries import (
    RESERVED,
    AnyJob,
    IterativeEntry,
    MalleableEntry,
    MoldableJob,
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
from sims.scenario.protection import ProtectionSection
from sims.scenario.scenario import Scenario


@frozen
class Submission:
    """One job of a workload, and what the scenario says of it alone."""

    job: BatchJob
    own: AnyJob | None = None
    """None: nothing; iterative jobs always have it."""


@frozen
class Workload:
    """The jobs of a run, by index, and an account of those left out."""

    submissions: tuple[Submission, ...]
    left_out: tuple[tuple[str, int], ...] = ()
    """(reason, jobs)."""
    changed: tuple[tuple[str, int], ...] = ()
    """(how, jobs)."""

    def tell(self, system: System) -> None:
        """What the run's log begins with."""
        for reason, jobs in self.left_out:
            system.journal.record(system.origin, JobsLeftOut, reason, jobs)
        for how, jobs in self.changed:
            system.journal.record(system.origin, JobsChanged, how, jobs)


def workload(scenario: Scenario, system: System, folder: Path) -> Workload:
    """All jobs that the platform can hold. Raises InputError where there are none."""
    found = _all(scenario, system, folder)
    names = [submission.job.name for submission in found.submissions]
    _refuse_twins(names, scenario.full_platform)
    fitting = _fitting(found, scenario.full_platform.size)
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
        return Workload(tuple(map(Submission, jobs)))
    if isinstance(section, MalleableSection) and not section.jobs:
        return Workload(tuple(map(Submission, _pack(section, scenario.full_platform.size))))
    return _listed(_jobs(section), section, scenario.full_platform)


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
            raise InputError("scenario", f"job.{key}", problem, "`swf`, `batsim` or `lublin`")


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


def _listed(jobs: Sequence[AnyJob], section: JobSection, platform: Platform) -> Workload:
    return Workload(
        tuple(
            Submission(
                BatchJob(
                    index,
                    job.name or f"J{index + 1}",
                    _profile(index, job, platform),
                    section.verification if job.verification is None else job.verification,
                    job.estimate,
                    *(job.release, job.kind, job.user, job.group, job.queue, job.priority),
                ),
                job,
            )
            for index, job in enumerate(jobs)
        )
    )


def _profile(index: int, job: AnyJob, platform: Platform) -> Profile:
    if isinstance(job, RigidJob):
        return Rigid(job.processors, job.time)
    if isinstance(job, MoldableJob):
        profile = job.speedup.profile()
        return Fixed(profile, job.processors) if job.processors else profile
    if isinstance(job, MalleableEntry):
        return Application(job.footprint, job.speedup, platform.size)
    times = task_times(index, job, platform)
    return Lockstep(job.processors or 1, job.tasks, sum(times) / len(times))


def task_times(index: int, job: IterativeEntry, platform: Platform) -> tuple[float, ...]:
    """w_q, by worker. Raises InputError where a list is not of the platform's length."""
    if not job.task_times:
        return tuple(worker.task_time for worker in platform)
    if len(job.task_times) != platform.size:
        problem = f"{len(job.task_times)} times"
        key = f"job.jobs.{index}.task_times"
        raise InputError("scenario", key, problem, f"one for each of {platform.size} workers")
    return job.task_times


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
    log, v = section.swf or section.batsim, section.verification
    believed = log is None or log.estimates
    rows = zip(*(column.tolist() for column in astuple(jobs, recurse=False)), strict=True)
    submissions = (
        BatchJob(
            *(index, name, Rigid(processors, time), v),
            estimate if believed and estimate == estimate else None,
            *(submitted, "rigid", user, group, queue, priority),
        )
        for index, (name, submitted, time, processors, estimate, _, *whose) in enumerate(rows)
        for user, group, queue, priority in (whose,)
    )
    return Workload(
        tuple(map(Submission, submissions)), tuple(changes.left_out), tuple(changes.changed)
    )


def _columns(
    section: RigidSection, scenario: Scenario, system: System, folder: Path
) -> tuple[JobColumns, Changes]:
    if section.swf:
        from sims.readers.swf import read_swf

        log = read_swf(folder / section.swf.file)
        skipped = [(reason.value, jobs) for reason, jobs in log.skipped.items()]
        try:
            return JobColumns.of_swf(log.jobs), Changes(skipped)
        except OverflowError:
            problem = "a whole number beyond 64 bits"
            raise InputError(section.swf.file, "", problem, "numbers of a log") from None
    if section.batsim:
        from sims.readers.batsim import read_batsim_workload

        path = folder / section.batsim.file
        jobs = JobColumns.of_batsim(read_batsim_workload(path).jobs)
        _refuse_reserved(jobs.names, path)
        return jobs, Changes()
    assert section.lublin is not None
    return section.lublin.draw(
        system.stream("workload/lublin"), scenario.full_platform.size
    ), Changes()


def _refuse_reserved(names: Iterable[str], path: Path) -> None:
    taken = sorted(set(RESERVED).intersection(names))
    if taken:
        problem = f"a job has the id {taken[0]!r}, which is the {taken[0]}'s in the log"
        raise InputError(str(path), "jobs", problem, "another id")


def _from_stream(
    section: StreamSection, scenario: Scenario, system: System, folder: Path
) -> Workload:
    coming = arrivals(section, scenario.full_platform.size, system, folder)
    v = scenario.job.verification
    return Workload(
        tuple(
            Submission(BatchJob(index, it.name, Rigid(1, it.size), v, None, it.time))
            for index, it in enumerate(coming.jobs)
        )
    )


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


def _asked(job: BatchJob) -> int:
    return job.profile.processors if isinstance(job.profile, Asking) else 1


def _fitting(found: Workload, workers: int) -> Workload:
    """Leave out, and count, the jobs that need more workers than there are."""
    fitting = [it for it in found.submissions if _asked(it.job) <= workers]
    wide = len(found.submissions) - len(fitting)
    if not wide:
        return found
    if not fitting:
        problem = f"{workers} are too few for every job"
        least = min(_asked(it.job) for it in found.submissions)
        accepted = f"at least {least}, which the narrowest job needs"
        raise InputError("scenario", "platform.workers", problem, accepted)
    reason = f"needs more than the platform's {workers} workers"
    return evolve(found, submissions=tuple(fitting), left_out=(*found.left_out, (reason, wide)))


def iterative(submission: Submission) -> IterativeEntry:
    """What the scenario says of an iterative job."""
    return cast(IterativeEntry, submission.own)


def protection_of(scenario: Scenario, submission: Submission) -> ProtectionSection:
    """The job's own, or the file's."""
    return (submission.own.protection if submission.own else None) or scenario.protection
