"""Builders of the jobs' actors: one attempt after another where only faults can end a run early,
otherwise full runs."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from actors.decider import Decider
from actors.events import DeciderKind
from actors.hazards import SilentErrors
from actors.job import JobOfAttempts
from actors.parts import Host, Part
from actors.parts.clocks import Clocks
from actors.parts.reuse import Reuse
from actors.protection import ProtectionKind, Rules, protection
from actors.runs import JobOfRuns
from actors.runtime import Actor, System
from actors.scheduler import Scheduler
from policies.interface.kinds import JobKind
from policies.interface.queue import BatchJob
from policies.maths.silent_errors import draw_failures
from policies.maths.speedup import Asking
from sims.errors import unfit
from sims.scenario import Scenario
from sims.scenario.builders.progress import refuse_tiny_period
from sims.scenario.faults import together
from sims.scenario.job_set import asked_of
from sims.scenario.jobs import Overrun
from sims.scenario.parts import PARTS
from sims.scenario.parts.part import Made
from sims.scenario.protection import ProtectionSection
from sims.scenario.submissions import Submission, Submissions, Workload, iterative, period_on
from sims.scenario.workload import workload

if TYPE_CHECKING:
    from actors.deciders.pack import PackDecider

MOST_FAULTS = 100
"""Largest mean number of faults during a run; of e^100 runs that long, on average one would end
without a fault."""

Make = Callable[..., JobOfRuns]


@frozen
class Counterparts:
    """The actors to which jobs report."""

    scheduler: Scheduler
    made: Made = field(factory=Made)
    """The actors of the mechanisms."""
    clocks: tuple[Actor, ...] = ()
    """Actors that are told when runs compute, such as hazards whose clocks pass only then."""
    submitters: Mapping[int, Actor] = field(factory=dict)
    """Maps the index of each job that does not come at a time of its own to the actor that submits
    it."""
    awaiting: Mapping[int, Actor] = field(factory=dict)
    """Maps the index of each job for whose end an actor waits to that actor."""


@frozen
class JobMaker:
    """Makes the actors of all jobs of a scenario for one simulation."""

    scenario: Scenario
    system: System
    jobs: Workload
    decider: Decider
    others: Counterparts
    simulated: bool = True
    """Whether the jobs will be simulated. If they are only checked, jobs of whole attempts get no
    actor."""

    def spawn(self) -> None:
        """Make the actors of all jobs: one attempt after another for a job to which only faults can
        happen, otherwise full runs.

        Raises InputError for a job that would never end.
        """
        counts, plain = self._failures(), plain_jobs(self.scenario, self.jobs.submissions)
        self._refuse_hopeless(plain)
        if plain.all() and not self.simulated:
            return
        each = zip(self.jobs.jobs, plain.tolist(), counts, strict=True)
        for place, (job, is_plain, count) in enumerate(each):
            if is_plain:
                if self.simulated:
                    self.system.spawn(self._of_attempts(job, count))
                continue
            it = self.jobs.submissions[place]
            _warn_of_single(it)
            listed = (1,) * count if _whole(self.scenario, job, it.protection) else None
            self.system.spawn(self.of_runs(it, *self._maker_and_rules(it), listed))

    def _refuse_hopeless(self, plain: NDArray[np.bool_]) -> None:
        """Raise InputError for the first of the jobs under the mask `plain` of which hardly a run
        would end without a fault."""
        mtbf = _everywhere(self.scenario)
        for place in np.flatnonzero(plain & (self._works >= MOST_FAULTS * mtbf))[:1]:
            job = self.jobs.jobs[place]
            raise unfit(
                "faults.mtbf",
                f"at {mtbf!r} no run of {job.name}, whose work is {job.profile.work!r} "
                f"on one worker, would end without a fault",
                "more time, or less work",
            )

    def _of_attempts(self, job: BatchJob, failures: int) -> JobOfAttempts:
        """Make the actor of a job whose attempts are one timer each, and of which so many attempts
        fail before one succeeds."""
        return JobOfAttempts(
            *self._common(job),
            failures=failures,
            submitter=self.others.submitters.get(job.index),
            awaited_by=self.others.awaiting.get(job.index),
        )

    def _common(self, job: BatchJob) -> tuple[str, BatchJob, Scheduler, float | None]:
        """Return the arguments that the actors of all kinds of jobs take: the job's name, its
        description, the scheduler, and the time after which a run is killed (None: never)."""
        asked = job.estimate if self.scenario.job.overrun is Overrun.KILL else None
        killed = None if asked is None else asked + job.overhead
        return job.name, job, self.others.scheduler, killed

    def of_runs(
        self, submission: Submission, make: Make, rules: Rules, listed: Sequence[int] | None = None
    ) -> JobOfRuns:
        """Make the actor of a job whose runs have stages, by calling `make`, under the protection
        `rules`. `listed` gives the outcomes of its verifications, 1 for an error, where they are
        known beforehand; None where the job's errors are as the scenario says."""
        index = submission.job.index
        if submission.job.kind in (JobKind.RIGID, JobKind.MOLDABLE):
            refuse_tiny_period(rules, submission.job)
        return make(
            *self._common(submission.job),
            submitter=self.others.submitters.get(index),
            awaited_by=self.others.awaiting.get(index),
            protection=protection(rules),
            errors=self._errors(submission) if listed is None else SilentErrors(iter(listed)),
            needs=submission.needs,
            reports=self.decider.wants_progress,
            given=tuple(self._parts(rules)),
        )

    def _parts(self, rules: Rules) -> Iterator[Callable[[Host], Part]]:
        """Yield makers of the parts of jobs that follow from the platform, for a job with these
        rules of protection."""
        scenario, others = self.scenario, self.others
        if scenario.decider is DeciderKind.ENROLMENT and scenario.policy.reuse:
            yield Reuse
        if others.clocks:
            yield partial(Clocks, clocks=others.clocks)
        for part in PARTS:
            yield from part.of_job(scenario, rules, others.made)

    def _maker_and_rules(self, submission: Submission) -> tuple[Make, Rules]:
        """Return the function that makes the actor of a job of this kind under this decider, and
        the rules of its protection."""
        scenario, job = self.scenario, submission.job
        if scenario.decider is DeciderKind.PACK:
            from actors.malleable_job import MalleableJob
            from sims.scenario.builders.pack import application

            pack = cast("PackDecider", self.decider)
            costs, described = pack.costs[job.index], application(scenario, submission)
            about = job.verification, submission.image, costs, pack.fatal, scenario.storage
            rules = submission.protection.rules_by_size(*about, scenario.full_platform.node)
            return partial(MalleableJob, costs=costs, application=described), rules
        rules = submission.rules(scenario)
        if scenario.decider is DeciderKind.DEADLINE:
            rules = evolve(rules, changeover=scenario.policy.changeover)
        if job.kind is not JobKind.ITERATIVE:
            return JobOfRuns, rules
        from actors.iterative_job import IterativeJob

        own = iterative(submission)
        times = own.times(job.index, scenario.full_platform)
        made = partial(IterativeJob, tasks=own.tasks, iterations=own.iterations, task_times=times)
        return made, rules

    # --- silent errors ----------------------------------------------------------------------------

    @cached_property
    def _works(self) -> NDArray[np.float64]:
        return self.jobs.jobs.works

    @cached_property
    def _density(self) -> float:
        """Silent errors per unit of work, where the scenario gives the rate of errors that way;
        otherwise 0."""
        return self.scenario.errors.per_unit(self._works)

    def _errors(self, submission: Submission) -> SilentErrors:
        """Return the silent errors of a job's runs: as the scenario lists them for the job, or
        drawn from a random stream of the job's own."""
        listed = submission.own.verdicts if submission.own else None
        if listed is not None:
            return SilentErrors(iter(listed))
        own = partial(self.system.stream, f"errors/{submission.job.name}")
        return SilentErrors(rate=self.scenario.errors.rate or 0, per_work=self._density, stream=own)

    def _failures(self) -> list[int]:
        """Return, for each job, the number of its runs that fail by a silent error before one
        succeeds.

        Numbers are drawn for every job, also for those with a number of their own, so that setting
        one does not change the others'. Raises InputError where every run of a job would fail.
        """
        jobs, errors = self.jobs.jobs, self.scenario.errors
        self._refuse_endless(np.zeros(len(jobs)))
        probabilities = errors.probabilities(self._works)
        for place in np.flatnonzero(probabilities >= 1)[:1]:
            job, [(key, value)] = jobs[place], errors.given.items()
            problem = f"at {value!r} every run of {job.name}, whose work is "
            problem += f"{job.profile.work!r}, fails: the probability rounds to 1"
            raise unfit(f"errors.{key}", problem, "a lower value, or less work")
        counts = draw_failures(probabilities, self.system.stream("failures"))
        if entries := self.jobs.submissions.own:
            own = (entries[job.index].count if job.index in entries else None for job in jobs)
            counts = [n if it is None else it for n, it in zip(counts, own, strict=True)]
        if any(counts):
            self._refuse_endless(counts)
        return counts

    def _refuse_endless(self, failures: Sequence[int] | NDArray[np.float64]) -> None:
        """Raise InputError where the work of all jobs, with failures[i] failed runs of job i, and
        the times of their submissions sum to infinity."""
        jobs = self.jobs.jobs
        total = jobs.overheads
        with np.errstate(over="ignore"):
            total += self._works
            total *= np.asarray(failures, float) + 1
            total += jobs.submitted
            np.cumsum(total, out=total)
        for place in np.flatnonzero(~np.isfinite(total))[:1]:
            job = jobs[place]
            raise unfit(
                "job",
                f"with {job.name}, whose work is {job.profile.work!r}, the work sums to inf",
                "jobs whose work sums to a finite number",
            )


def plain_jobs(scenario: Scenario, submissions: Submissions) -> NDArray[np.bool_]:
    """Return a mask of the jobs of which nothing but faults can change the rate or the end of a
    run, so that each attempt is a single timer."""
    jobs = submissions.jobs
    if not scenario.bare:
        return np.zeros(len(jobs), dtype=np.bool_)
    if not submissions.own:  # jobs of a log differ at most in what mechanisms they ask for
        return jobs.bare & _unchanging(scenario, jobs[0], scenario.protection)
    each = (_whole(scenario, it.job, it.protection) for it in submissions)
    return np.fromiter(each, np.bool_, len(jobs))


def _whole(scenario: Scenario, job: BatchJob, protection: ProtectionSection) -> bool:
    """Return whether each run of the job, under its protection, executes the whole job at an
    unchanging speed, without stages such as checkpoints, messages or a start-up.

    The number of failed runs can then be drawn beforehand, so that adding a hazard changes no job's
    failures.
    """
    return job.bare and _unchanging(scenario, job, protection)


def _unchanging(scenario: Scenario, job: BatchJob, protection: ProtectionSection) -> bool:
    """Return whether each run of a job of this kind, if the job asks for no mechanism, executes the
    whole job at an unchanging speed."""
    kind, errors = job.kind, scenario.errors
    if kind is JobKind.ITERATIVE or scenario.decider in (DeciderKind.PACK, DeciderKind.DEADLINE):
        return False
    if any(law.by_computing for law in scenario.faults.laws):
        return False  # a job of attempts does not say when it computes
    if kind is not JobKind.RIGID and errors.rate:
        return False  # how often its runs fail depends on how many workers they get
    return not scenario.full_platform.varies and protection.plain


def period_by(formula: str, scenario: Scenario, folder: Path) -> tuple[float, bool]:
    """Return the checkpoint period, in work units, that the formula `young` or `daly` gives for the
    first job on as few workers as it can have, whatever period the scenario sets; and whether a
    checkpoint stops that job, as the formulas assume.

    Raises InputError where the formula gives none.
    """
    asked = scenario.protection.model_copy(update={"period": formula})
    scenario = with_mtbf(scenario.within(folder).model_copy(update={"protection": asked}))
    first = workload(scenario, System(scenario.seed)).submissions[0]
    rules = first.rules(scenario)
    return period_on(rules, asked_of(first.job)), rules.blocking


def with_mtbf(scenario: Scenario) -> Scenario:
    """Return a scenario in which Young's and Daly's periods take the MTBF of the workers' traces
    where the scenario has no other; the scenario itself where no period needs one."""
    job = scenario.job
    asking = any(it.asks_rate for it in scenario.protections.values())
    if not asking or scenario.mtbf < inf:
        return scenario
    mtbf = scenario.full_platform.mtbf()
    jobs = (
        it.model_copy(update={"protection": it.protection and it.protection.failing(mtbf)})
        for it in job.jobs
    )
    update = {
        "protection": scenario.protection.failing(mtbf),
        "job": job.model_copy(update={"jobs": tuple(jobs)}),
    }
    return scenario.model_copy(update=update)


def _warn_of_single(submission: Submission) -> None:
    job = submission.job
    alone = isinstance(job.profile, Asking) and job.profile.processors == 1
    if alone and submission.protection.kind is ProtectionKind.BUDDIES:
        text = f"{job.name} has one worker, and no buddy: whenever it goes DOWN, all is lost"
        warnings.warn(text, stacklevel=2)


def _everywhere(scenario: Scenario) -> float:
    """Return the mean time between a worker's faults by those laws that strike all units together;
    inf if no law strikes all.

    Other laws do not count, as a job may find workers that they do not strike.
    """
    count = scenario.full_platform.count
    return together(it.mtbf for it in scenario.faults.laws if it.part(count(it.of)) == 1)
