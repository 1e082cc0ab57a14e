"""Scenarios of rigid jobs under silent errors (001), synthetic, listed, or from real logs."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, cast

from attrs import field, frozen
from attrs.validators import optional

from actors.runtime import System, stream
from policies.batch.allocation import requested
from policies.batch.lists import Reading
from policies.interface.batch import BatchJob, BatchPolicy, Strategy
from policies.maths.speedup import Rigid
from sims.errors import InputError
from sims.readers.batsim import read_batsim_workload
from sims.readers.swf import read_swf
from sims.scenario.batch import (
    HAZARD,
    SCHEDULER,
    BatchScenario,
    Overrun,
    ReleaseFields,
    Submission,
    Workload,
    checked,
    load_order,
    people,
    refuse_twins,
    strategy_named,
)
from sims.scenario.fields import not_negative, positive, range_of_positives
from sims.scenario.policies import PolicySection, load_policy


@frozen(kw_only=True)
class RigidJob(ReleaseFields):
    """`[[job.jobs]]`: one rigid job."""

    processors: int = field(validator=positive)
    """p_j."""
    time: float = field(validator=positive)
    """t_j: error-free time of one attempt, in seconds, verification excluded."""
    estimate: float | None = field(default=None, validator=optional(positive))
    """The user's requested time, in seconds; default: what it takes."""


@frozen(kw_only=True)
class UniformJobs:
    """`[job.synthetic]`: jobs drawn as in 001, section 5.1."""

    count: int = field(default=100, validator=positive)
    """How many jobs."""
    processors: tuple[int, int] = field(default=(50, 2000), validator=range_of_positives)
    """p_j is a uniform integer between these, both included."""
    time: tuple[float, float] = field(default=(100, 20000), validator=range_of_positives)
    """t_j is uniform between these, in seconds."""
    seed: int = field(default=0, validator=not_negative)
    """Which set of jobs is drawn; the scenario's own seed draws their failures."""

    def draw(self) -> list[Rigid]:
        """The set of jobs."""
        rng = stream(self.seed, "jobs")
        low, high = self.processors
        counts = rng.integers(low, high, size=self.count, endpoint=True)
        times = rng.uniform(*self.time, size=self.count)
        return [Rigid(p, t) for p, t in zip(counts.tolist(), times.tolist(), strict=True)]


@frozen(kw_only=True)
class LogFile:
    """`[job.swf]` or `[job.batsim]`: jobs of a real log, arriving as they did."""

    file: str
    """From the scenario's folder; plain or compressed."""
    estimates: bool = True
    """Whether reservations believe the users' requested times; else what the jobs take."""


@frozen(kw_only=True)
class RigidSection:
    """`[job]`: the jobs; exactly one of `jobs`, `synthetic`, `swf` and `batsim`."""

    kind: Literal["rigid"]
    jobs: tuple[RigidJob, ...] = ()
    synthetic: UniformJobs | None = None
    swf: LogFile | None = None
    batsim: LogFile | None = None
    verification: float = field(default=0, validator=not_negative)
    """v: seconds that the detector adds to each attempt."""
    overrun: Overrun = Overrun.FINISH
    """Of an attempt that reaches the user's estimate: `finish` or `kill`."""


@frozen(kw_only=True)
class RigidPolicy(PolicySection):
    """`[policy]`: R-LIST-m (m a number, or Q for all), R-SHELF-B, R-SHELF-NB, R-SHELFFILL-B,
    R-SHELFFILL-NB, or a strategy of your own."""

    order: str = "LPT"
    """LPT, SPT, HPA, LPA, LA, SA, RANDOM, LJF, FCFS, or `package.module:Name`."""
    reading: Reading = Reading.FRESH
    """Of R-LIST's reservations: `fresh` (001's text), `easy` (as usual), `kept` (001's curves)."""


@frozen(kw_only=True)
class RigidScenario(BatchScenario):
    """A whole scenario file with `[job] kind = "rigid"`; times in seconds."""

    job: RigidSection
    policy: RigidPolicy


SCENARIO = RigidScenario


def populate(scenario: RigidScenario, system: System, folder: Path) -> None:
    """Spawn the scenario's actors in `system`; files are looked for from `folder`.

    Raises InputError for what cannot be run.
    """
    section = scenario.policy
    strategy = load_policy(section, lambda name: strategy_named(name, section.reading), folder)
    order = load_order(section.order, folder)
    policy = BatchPolicy(order, cast(Strategy, strategy), requested, section.name)
    workload = _fitting(_workload(scenario.job, folder), scenario.platform.processors)
    people(scenario, system, workload, policy, scenario.job.overrun)


def _fitting(workload: Workload, processors: int) -> Workload:
    profiles = [cast(Rigid, s.job.profile) for s in workload.submissions]
    return checked(workload, processors, [profile.processors for profile in profiles])


def _workload(section: RigidSection, folder: Path) -> Workload:
    sources = (section.jobs, section.synthetic, section.swf, section.batsim)
    if sum(bool(source) for source in sources) != 1:
        accepted = "exactly one of jobs, synthetic, swf, batsim"
        raise InputError("scenario", "job", "no jobs, or several sources of them", accepted)
    if section.swf:
        return _from_swf(section.swf, section.verification, folder)
    if section.batsim:
        return _from_batsim(section.batsim, section.verification, folder)
    return _listed(section)


def _listed(section: RigidSection) -> Workload:
    if section.synthetic:
        listed = [
            RigidJob(processors=r.processors, time=r.length) for r in section.synthetic.draw()
        ]
    else:
        listed = list(section.jobs)
    jobs = [
        BatchJob(
            index,
            job.name or f"J{index + 1}",
            Rigid(job.processors, job.time),
            section.verification,
            job.estimate,
            job.release,
        )
        for index, job in enumerate(listed)
    ]
    refuse_twins([job.name for job in jobs])
    return Workload(tuple(Submission(b, j.failures) for b, j in zip(jobs, listed, strict=True)))


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
    taken = {submission.job.name for submission in jobs} & {SCHEDULER, HAZARD}
    if taken:
        problem = f"a job has the id {min(taken)!r}, which is the {min(taken)}'s in the log"
        raise InputError(str(folder / section.file), "jobs", problem, "another id")
    return Workload(jobs)
