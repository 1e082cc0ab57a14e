"""The actors of jobs: whole attempts where nothing but a fault can touch a run, else runs."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, cast

from attrs import evolve

from actors.events import DeciderKind
from actors.hazards import SilentErrors
from actors.job import JobOfAttempts
from actors.protection import ProtectionKind, Rules, protection
from actors.runs import JobOfRuns
from actors.runtime import System
from actors.scheduler import Scheduler
from policies.interface.queue import BatchJob
from policies.maths.silent_errors import draw_failures
from policies.maths.speedup import Asking
from sims.errors import unfit
from sims.scenario import Scenario
from sims.scenario.jobs import Overrun
from sims.scenario.protection import ProtectionSection
from sims.scenario.workload import Submission, Workload, asked_of, iterative, workload

if TYPE_CHECKING:
    from actors.deciders.pack import PackDecider

LONGEST = 100
"""Times between faults that a run may take: none of e^100 would end."""

Make = Callable[..., JobOfRuns]


def spawn_jobs(scenario: Scenario, system: System, jobs: Workload, scheduler: Scheduler) -> None:
    """All of them. Raises InputError for what would never end."""
    counts, density = _failures(scenario, system, jobs), error_density(scenario, jobs)
    for submission, count in zip(jobs.submissions, counts, strict=True):
        job = submission.job
        if plain(scenario, submission):
            _refuse_hopeless(scenario, job)
            who = job.name, job, scheduler, _killed_at(scenario, job)
            system.spawn(JobOfAttempts(*who, failures=count))
        else:
            _warn_of_single(submission)
            if _whole(scenario, submission):
                errors = SilentErrors(iter((1,) * count))
            else:
                errors = errors_of(scenario, system, submission, density)
            make, rules = _of_kind(scenario, submission, scheduler)
            system.spawn(job_of_runs(scenario, submission, scheduler, make, rules, errors))


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


def _killed_at(scenario: Scenario, job: BatchJob) -> float | None:
    """How long a run may last before its job is killed."""
    if scenario.job.overrun is Overrun.KILL and job.estimate is not None:
        return job.estimate + job.verification
    return None


# --- jobs of runs -------------------------------------------------------------------------------


def job_of_runs(
    scenario: Scenario,
    submission: Submission,
    scheduler: Scheduler,
    make: Make,
    rules: Rules,
    errors: SilentErrors,
) -> JobOfRuns:
    """What `make` makes of it."""
    job = submission.job
    return make(
        *(job.name, job, scheduler, _killed_at(scenario, job)),
        protection=protection(rules),
        errors=errors,
        needs=submission.needs,
        reports=scheduler.decider.wants_progress,
        reuse=scenario.decider is DeciderKind.ENROLMENT and scenario.policy.reuse,
    )


def _of_kind(
    scenario: Scenario, submission: Submission, scheduler: Scheduler
) -> tuple[Make, Rules]:
    """What makes a job of its kind, and how it survives."""
    job = submission.job
    if scenario.decider is DeciderKind.PACK:
        from actors.malleable_job import MalleableJob
        from sims.scenario.builders.pack import application

        pack = cast("PackDecider", scheduler.decider)
        costs, told = pack.costs[job.index], application(scenario, submission)
        about = job.verification, submission.image, costs, pack.fatal
        rules = evolve(
            submission.protection.rules_by_size(*about), node=scenario.full_platform.node
        )
        return partial(MalleableJob, costs=costs, application=told), rules
    rules = submission.rules(scenario)
    if scenario.decider is DeciderKind.DEADLINE:
        rules = evolve(rules, changeover=scenario.policy.changeover)
    if job.kind != "iterative":
        return JobOfRuns, rules
    from actors.iterative_job import IterativeJob

    own = iterative(submission)
    times = own.times(job.index, scenario.full_platform)
    made = partial(IterativeJob, tasks=own.tasks, iterations=own.iterations, task_times=times)
    return made, rules


def period_by(formula: str, scenario: Scenario, folder: Path) -> float:
    """The period that `young` or `daly` gives the first job on its least workers, whatever the
    scenario says. Raises InputError where it gives none."""
    asked = scenario.protection.model_copy(update={"period": formula})
    scenario = with_mtbf(scenario.model_copy(update={"protection": asked}), folder)
    first = workload(scenario, System(scenario.seed), folder).submissions[0]
    rules, members = first.rules(scenario), range(asked_of(first.job))
    return rules.period_of(members) if rules.period_of else rules.period(len(members))


def with_mtbf(scenario: Scenario, folder: Path) -> Scenario:
    """Where Young's or Daly's period has no MTBF but that of the workers' traces, with that one."""
    own = [it.protection for it in scenario.job.jobs if it.protection]
    asking = [it for it in (scenario.protection, *own) if it.mtbf is None and it.by_formula]
    if not asking or scenario.faults.mtbf < inf:
        return scenario
    mtbf = scenario.full_platform.mtbf(folder)
    if mtbf == inf:
        return scenario

    def said(section: ProtectionSection | None) -> ProtectionSection | None:
        return section.model_copy(update={"mtbf": mtbf}) if section in asking else section

    jobs = tuple(
        it.model_copy(update={"protection": said(it.protection)}) for it in scenario.job.jobs
    )
    job = scenario.job.model_copy(update={"jobs": jobs})
    return scenario.model_copy(update={"protection": said(scenario.protection), "job": job})


def _warn_of_single(submission: Submission) -> None:
    job = submission.job
    alone = isinstance(job.profile, Asking) and job.profile.processors == 1
    if alone and submission.protection.kind is ProtectionKind.BUDDIES:
        text = f"{job.name} has one worker, and no buddy: whenever it goes DOWN, all is lost"
        warnings.warn(text, stacklevel=2)


# --- silent errors ------------------------------------------------------------------------------


def errors_of(
    scenario: Scenario, system: System, submission: Submission, density: float
) -> SilentErrors:
    """Listed, or drawn as they come from a stream of the job's own."""
    listed = submission.own.verdicts if submission.own else None
    if listed is not None:
        return SilentErrors(iter(listed))
    own = partial(system.stream, f"errors/{submission.job.name}")
    return SilentErrors(rate=scenario.errors.rate or 0, per_work=density, stream=own)


def error_density(scenario: Scenario, jobs: Workload) -> float:
    """Errors per unit of work, where that is what is given."""
    return scenario.errors.per_unit([it.job.profile.work for it in jobs.submissions])


def _failures(scenario: Scenario, system: System, jobs: Workload) -> list[int]:
    """Drawn for every job, so that a job's own count does not shift the others'."""
    described, errors = [it.job for it in jobs.submissions], scenario.errors
    _refuse_endless(described, [0] * len(described))
    probabilities = errors.probabilities([job.profile.work for job in described])
    for job, probability in zip(described, probabilities, strict=True):
        if probability >= 1:
            [(key, value)] = errors.given.items()
            raise unfit(
                f"errors.{key}",
                f"at {value!r} every run of {job.name}, whose work is "
                f"{job.profile.work!r}, fails: the probability rounds to 1",
                "a lower value, or less work",
            )
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
            raise unfit(
                "job",
                f"with {job.name}, whose work is {job.profile.work!r}, the work sums to inf",
                "jobs whose work sums to a finite number",
            )


def _refuse_hopeless(scenario: Scenario, job: BatchJob) -> None:
    mtbf = scenario.faults.mtbf
    if job.profile.work >= LONGEST * mtbf:
        raise unfit(
            "faults.mtbf",
            f"at {mtbf!r} no run of {job.name}, whose work is {job.profile.work!r} "
            f"on one worker, would end without a fault",
            "more time, or less work",
        )
