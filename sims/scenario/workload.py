"""The jobs of a scenario, wherever they come from, as the scheduler will know them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import isfinite
from pathlib import Path
from typing import cast

from attrs import evolve, frozen

from actors.runtime import System
from policies.interface.queue import BatchJob
from policies.maths.speedup import Asking, Fixed, Lockstep, Profile, Rigid, Table
from sims.errors import InputError
from sims.readers.batsim import read_batsim_workload
from sims.readers.swf import read_swf
from sims.scenario.jobs.common import RESERVED
from sims.scenario.jobs.files import LogFile
from sims.scenario.jobs.iterative import IterativeJob
from sims.scenario.jobs.malleable import Application, MalleableJob
from sims.scenario.jobs.moldable import MoldableJob
from sims.scenario.jobs.rigid import RigidJob
from sims.scenario.jobs.section import (
    AnyJob,
    IterativeSection,
    JobSection,
    MalleableSection,
    MoldableSection,
    RigidSection,
)
from sims.scenario.jobs.stream import StreamSection, arrivals
from sims.scenario.platform import Platform
from sims.scenario.policy import DeciderKind
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


def workload(scenario: Scenario, system: System, folder: Path) -> Workload:
    """All jobs that the platform can hold. Raises InputError where there are none."""
    found = _all(scenario, system, folder)
    names = [submission.job.name for submission in found.submissions]
    _refuse_twins(names, scenario.crew)
    fitting = _fitting(found, scenario.crew.size)
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
        if section.swf:
            return _from_swf(section.swf, section.verification, folder)
        if section.batsim:
            return _from_batsim(section.batsim, section.verification, folder)
        if section.stream:
            return _from_stream(section.stream, scenario, system, folder)
    if isinstance(section, MoldableSection) and section.synthetic:
        drawn = enumerate(section.synthetic.draw())
        v = section.verification
        jobs = [BatchJob(k, f"J{k + 1}", it, v, kind="moldable") for k, it in drawn]
        return Workload(tuple(map(Submission, jobs)))
    if isinstance(section, MalleableSection) and not section.jobs:
        return Workload(tuple(map(Submission, _pack(section, scenario.crew.size))))
    return _listed(_jobs(section), section, scenario.crew)


def _one_source(section: JobSection) -> None:
    given = [key for key, source in section.sources.items() if source]
    if len(given) != 1:
        accepted = f"exactly one of {', '.join(section.sources)}"
        raise InputError("scenario", "job", "no jobs, or several sources of them", accepted)


def _jobs(section: JobSection) -> Sequence[AnyJob]:
    if isinstance(section, RigidSection) and section.synthetic:
        drawn = section.synthetic.draw()
        return [RigidJob(processors=it.processors, time=it.length) for it in drawn]
    if isinstance(section, IterativeSection) and section.tasks is not None:
        return [
            IterativeJob(
                name=section.name,
                tasks=section.tasks,
                iterations=section.iterations or 1,
                processors=section.processors,
            )
        ]
    return section.jobs


def _listed(jobs: Sequence[AnyJob], section: JobSection, crew: Platform) -> Workload:
    return Workload(
        tuple(
            Submission(
                BatchJob(
                    index,
                    job.name or f"J{index + 1}",
                    _profile(index, job, crew),
                    section.verification if job.verification is None else job.verification,
                    job.estimate,
                    job.release,
                    job.kind,
                ),
                job,
            )
            for index, job in enumerate(jobs)
        )
    )


def _profile(index: int, job: AnyJob, crew: Platform) -> Profile:
    if isinstance(job, RigidJob):
        return Rigid(job.processors, job.time)
    if isinstance(job, MoldableJob):
        profile = job.speedup.profile()
        return Fixed(profile, job.processors) if job.processors else profile
    if isinstance(job, MalleableJob):
        return Application(job.footprint, job.profile, 0, crew.size)
    times = task_times(index, job, crew)
    return Lockstep(job.processors or 1, job.tasks, sum(times) / len(times))


def task_times(index: int, job: IterativeJob, crew: Platform) -> tuple[float, ...]:
    """w_q, by worker. Raises InputError where a list is not of the platform's length."""
    if not job.task_times:
        return tuple(worker.task_time for worker in crew)
    if len(job.task_times) != crew.size:
        problem = f"{len(job.task_times)} times"
        key = f"job.jobs.{index}.task_times"
        raise InputError("scenario", key, problem, f"one for each of {crew.size} workers")
    return job.task_times


def _from_swf(section: LogFile, verification: float, folder: Path) -> Workload:
    log = read_swf(folder / section.file)
    jobs = tuple(
        Submission(
            BatchJob(
                index,
                f"J{job.number}",
                Rigid(job.processors, job.run),
                verification,
                job.requested_time or None if section.estimates else None,
                job.submit,
            )
        )
        for index, job in enumerate(log.jobs)
    )
    return Workload(jobs, tuple((reason.value, n) for reason, n in log.skipped.items()))


def _from_batsim(section: LogFile, verification: float, folder: Path) -> Workload:
    workload = read_batsim_workload(folder / section.file)
    jobs = tuple(
        Submission(
            BatchJob(
                index,
                job.id,
                Rigid(job.processors, job.delay),
                verification,
                job.walltime if section.estimates else None,
                job.submission_time,
            )
        )
        for index, job in enumerate(workload.jobs)
    )
    taken = {submission.job.name for submission in jobs}.intersection(RESERVED)
    if taken:
        problem = f"a job has the id {min(taken)!r}, which is the {min(taken)}'s in the log"
        raise InputError(str(folder / section.file), "jobs", problem, "another id")
    return Workload(jobs)


def _from_stream(
    section: StreamSection, scenario: Scenario, system: System, folder: Path
) -> Workload:
    coming = arrivals(section, scenario.crew.size, system, folder)
    v = scenario.job.verification
    return Workload(
        tuple(
            Submission(BatchJob(index, it.name, Rigid(1, it.size), v, None, it.time))
            for index, it in enumerate(coming.jobs)
        )
    )


def _pack(section: MalleableSection, workers: int) -> Iterator[BatchJob]:
    for index, footprint in enumerate(section.pack()):
        profile = Application(footprint, section.profile, index, workers)
        yield BatchJob(index, f"T{index + 1}", profile, section.verification, kind="malleable")


# --- what cannot be -----------------------------------------------------------------------------


def _refuse_twins(names: Sequence[str], crew: Platform) -> None:
    """Raises InputError where two actors have one name: logs could not tell them apart."""
    for name, count in Counter(names).items():
        if count > 1:
            raise InputError("scenario", "job.jobs", f"two jobs are called {name!r}", "other names")
    for name, count in Counter((*RESERVED, *set(names), *crew.names)).items():
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
    return Workload(tuple(fitting), (*found.left_out, (reason, wide)))


def refuse_endless(jobs: Sequence[BatchJob], failures: Sequence[int]) -> None:
    """Raises InputError where the work does not sum to a finite time."""
    total = 0.0
    for job, count in zip(jobs, failures, strict=True):
        total += (job.profile.work + job.verification) * (count + 1) + job.submitted
        if not isfinite(total):
            problem = f"with {job.name}, whose work is {job.profile.work!r}, the work sums to inf"
            raise InputError("scenario", "job", problem, "jobs whose work sums to a finite number")


def iterative(submission: Submission) -> IterativeJob:
    """What the scenario says of an iterative job."""
    return cast(IterativeJob, submission.own)
