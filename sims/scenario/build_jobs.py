"""The actors of jobs: whole attempts where nothing but a fault can touch a run, else runs."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import evolve, frozen

from actors.attempts import JobOfAttempts
from actors.events import DeciderKind
from actors.hazards import SilentErrors
from actors.protection import ProtectionKind, Rules, protection
from actors.runs import JobOfRuns
from actors.runtime import System
from actors.scheduler import Scheduler
from policies.interface.queue import BatchJob
from policies.maths.silent_errors import draw_failures
from policies.maths.speedup import Asking
from sims.errors import InputError
from sims.scenario.beliefs import with_mtbf
from sims.scenario.faults import Struck
from sims.scenario.jobs.section import Overrun
from sims.scenario.scenario import Scenario
from sims.scenario.workload import Submission, Workload, asked_of, iterative, workload

if TYPE_CHECKING:
    from policies.maths.cosched import Costs

LONGEST = 100
"""Times between faults that a run may take: none of e^100 would end."""


@frozen
class Makers:
    """Whom a job's actor talks to."""

    scheduler: Scheduler
    reports: bool = False
    """Whether jobs tell the scheduler how far their runs are."""
    costs: Mapping[int, Costs] | None = None
    """Of a pack, by job."""
    fatal: bool = True
    """Of a pack: whether every fault counts."""

    def job(
        self,
        scenario: Scenario,
        submission: Submission,
        make: Callable[..., JobOfRuns],
        rules: Rules,
        errors: SilentErrors,
    ) -> JobOfRuns:
        """A job of runs."""
        job = submission.job
        return make(
            *(job.name, job, self.scheduler, killed_at(scenario, job)),
            protection=protection(rules),
            errors=errors,
            needs=submission.needs,
            reports=self.reports,
        )


def plain(scenario: Scenario, submission: Submission) -> bool:
    """Whether nothing can change a run's rate or end but faults."""
    return scenario.bare and _whole(scenario, submission)


def _whole(scenario: Scenario, submission: Submission) -> bool:
    """Whether all its runs compute alike, so that how many fail before one does not can be drawn
    beforehand: one more hazard then shifts nobody's failures."""
    kind, errors = submission.job.kind, scenario.errors
    if kind == "iterative" or scenario.decider in (DeciderKind.PACK, DeciderKind.DEADLINE):
        return False
    if kind != "rigid" and errors.rate:
        return False  # how often its runs fail depends on how many workers they get
    return not scenario.full_platform.varies and submission.protection.plain


def spawn_jobs(scenario: Scenario, system: System, jobs: Workload, makers: Makers) -> None:
    """All of them. Raises InputError for what would never end."""
    counts = _failures(scenario, system, jobs)
    _refuse_hopeless(scenario, jobs)
    density = error_density(scenario, jobs)
    for submission, count in zip(jobs.submissions, counts, strict=True):
        job = submission.job
        if plain(scenario, submission):
            who = job.name, job, makers.scheduler, killed_at(scenario, job)
            system.spawn(JobOfAttempts(*who, failures=count))
        else:
            verdicts = (1,) * count if _whole(scenario, submission) else None
            errors = errors_of(scenario, system, submission, density, verdicts)
            system.spawn(_job_of_runs(scenario, submission, makers, errors))


def killed_at(scenario: Scenario, job: BatchJob) -> float | None:
    """How long a run may last before its job is killed."""
    if scenario.job.overrun is Overrun.KILL and job.estimate is not None:
        return job.estimate + job.verification
    return None


# --- jobs of runs -------------------------------------------------------------------------------


def _job_of_runs(
    scenario: Scenario, submission: Submission, makers: Makers, errors: SilentErrors
) -> JobOfRuns:
    job = submission.job
    _warn_of_single(submission)
    node = scenario.full_platform.node
    make: Callable[..., JobOfRuns] = JobOfRuns
    if makers.costs is not None:
        from actors.malleable_job import MalleableJob
        from sims.scenario.deciders.applications import application

        costs, told = makers.costs[job.index], application(scenario, submission)
        make = partial(MalleableJob, costs=costs, application=told)
        rules = submission.protection.rules_by_size(
            *(job.verification, submission.image, costs, makers.fatal)
        )
    else:
        rules = _rules(scenario, submission)
        if scenario.decider is DeciderKind.DEADLINE:
            rules = evolve(rules, changeover=scenario.policy.changeover)
    rules = evolve(rules, node=node)
    if job.kind == "iterative":
        from actors.iterative_job import IterativeJob

        own = iterative(submission)
        times = own.times(job.index, scenario.full_platform)
        make = partial(IterativeJob, tasks=own.tasks, iterations=own.iterations, task_times=times)
    reuse = scenario.decider is DeciderKind.ENROLMENT and scenario.policy.reuse
    return makers.job(scenario, submission, partial(make, reuse=reuse), rules, errors)


def _rules(scenario: Scenario, submission: Submission) -> Rules:
    node, faults = scenario.full_platform.node, scenario.faults
    failing = [(node if law.of is Struck.NODES else 1, law.mtbf) for law in faults.laws]
    return submission.rules(faults.mtbf, failing)


def period_by(formula: str, scenario: Scenario, folder: Path) -> float:
    """The period that `young` or `daly` gives the first job on its least workers, whatever the
    scenario says. Raises InputError where it gives none."""
    asked = scenario.protection.model_copy(update={"period": formula})
    scenario = with_mtbf(scenario.model_copy(update={"protection": asked}), folder)
    first = workload(scenario, System(scenario.seed), folder).submissions[0]
    rules, members = _rules(scenario, first), range(asked_of(first.job))
    return rules.period_of(members) if rules.period_of else rules.period(len(members))


def errors_of(
    scenario: Scenario,
    system: System,
    submission: Submission,
    density: float,
    drawn: tuple[int, ...] | None = None,
) -> SilentErrors:
    """Listed, drawn beforehand, or drawn as they come from a stream of the job's own."""
    listed = submission.own.verdicts if submission.own else None
    verdicts = drawn if listed is None else listed
    if verdicts is not None:
        return SilentErrors(iter(verdicts))
    name = submission.job.name
    return SilentErrors(
        rate=scenario.errors.rate or 0,
        per_work=density,
        stream=lambda: system.stream(f"errors/{name}"),
    )


def error_density(scenario: Scenario, jobs: Workload) -> float:
    """Errors per unit of work, where that is what is given."""
    return scenario.errors.per_unit([it.job.profile.work for it in jobs.submissions])


def _warn_of_single(submission: Submission) -> None:
    job = submission.job
    alone = isinstance(job.profile, Asking) and job.profile.processors == 1
    if alone and submission.protection.kind is ProtectionKind.BUDDIES:
        text = f"{job.name} has one worker, and no buddy: whenever it goes DOWN, all is lost"
        warnings.warn(text, stacklevel=2)


# --- failures that are drawn beforehand ---------------------------------------------------------


def _failures(scenario: Scenario, system: System, jobs: Workload) -> list[int]:
    """Drawn for every job, so that a job's own count does not shift the others'."""
    described = [it.job for it in jobs.submissions]
    _refuse_endless(described, [0] * len(described))
    probabilities = scenario.errors.probabilities([job.profile.work for job in described])
    _refuse_certain(scenario, described, probabilities)
    drawn = draw_failures(probabilities, system.stream("failures"))
    own = [it.own.count if it.own else None for it in jobs.submissions]
    counts = [n if given is None else given for n, given in zip(drawn, own, strict=True)]
    _refuse_endless(described, counts)
    return counts


def _refuse_endless(jobs: Sequence[BatchJob], failures: Sequence[int]) -> None:
    """Raises InputError where the work does not sum to a finite time."""
    total = 0.0
    for job, count in zip(jobs, failures, strict=True):
        total += (job.profile.work + job.verification) * (count + 1) + job.submitted
        if not isfinite(total):
            problem = f"with {job.name}, whose work is {job.profile.work!r}, the work sums to inf"
            raise InputError("scenario", "job", problem, "jobs whose work sums to a finite number")


def _refuse_certain(
    scenario: Scenario, jobs: Sequence[BatchJob], probabilities: Sequence[float]
) -> None:
    key = scenario.errors.key
    for job, probability in zip(jobs, probabilities, strict=True):
        if probability >= 1:
            problem = (
                f"at {scenario.errors.of(key)!r} every run of {job.name}, whose work is "
                f"{job.profile.work!r}, fails: the probability rounds to 1"
            )
            raise InputError("scenario", f"errors.{key}", problem, "a lower value, or less work")


def _refuse_hopeless(scenario: Scenario, jobs: Workload) -> None:
    mtbf = scenario.faults.mtbf
    for submission in jobs.submissions:
        job = submission.job
        if not plain(scenario, submission):
            continue
        if job.profile.work >= LONGEST * mtbf:
            problem = (
                f"at {mtbf!r} no run of {job.name}, whose work is {job.profile.work!r} "
                f"on one worker, would end without a fault"
            )
            raise InputError("scenario", "faults.mtbf", problem, "more time, or less work")
