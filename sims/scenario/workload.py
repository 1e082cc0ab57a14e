"""The jobs of a scenario as the scheduler receives them, whatever their source.

The source describes the jobs; those of a log are selected, drawn anew and scaled. Jobs that need
more workers than the platform has are then left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count, repeat
from typing import Any, Self, cast, overload

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from actors.dependencies import Dependence
from actors.events import (
    DeadlineDescribed,
    DeciderKind,
    DependenciesDescribed,
    JobsChanged,
    JobsLeftOut,
    LogDoubted,
    LogReplayed,
)
from actors.protection import Rules
from actors.runtime import System
from actors.worker_messages import Needs
from policies.interface.kinds import JobKind
from policies.interface.queue import BatchJob
from policies.maths.speedup import Asking, Rigid, Table, usable
from sims.errors import InputError, unfit
from sims.readers import JobLog, repeated
from sims.scenario import Scenario
from sims.scenario.dependencies import Chained, Following, chained
from sims.scenario.faults import together
from sims.scenario.jobs import (
    RESERVED,
    AnyJob,
    IterativeEntry,
    RigidJob,
    RigidSection,
)
from sims.scenario.jobs.files import read_jobs
from sims.scenario.jobs.logs import Replay, Rule, Selection
from sims.scenario.jobs.sources import arrivals
from sims.scenario.jobs.speedups import Application
from sims.scenario.limits import within
from sims.scenario.platform import Platform
from sims.scenario.protection import ProtectionSection

MOST_SHARED = 1 << 17
"""Largest number of different values that are kept so that equal ones of a log share one object."""

LeftOut = tuple[tuple[str, int], ...]
"""Pairs of a reason and the number of jobs left out for that reason."""
Described = tuple[BatchJob, AnyJob | None]
"""A job, and what the scenario says of this job alone; None: nothing."""


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
    jobs: tuple[BatchJob, ...]
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
            return evolve(self, jobs=found)
        return Submission.of(self.scenario, found, self.own.get(found.index))

    @property
    def protections(self) -> Iterator[ProtectionSection]:
        """The protection of each job: its own, or the file's."""
        usual, own = self.scenario.protection, self.own
        if not own:
            return repeat(usual, len(self))
        entries = (own.get(job.index) for job in self.jobs)
        return ((entry.protection if entry else None) or usual for entry in entries)

    def protected(self, holds: Callable[[ProtectionSection], bool]) -> Iterator[Submission]:
        """Return the submissions of the jobs for whose protection `holds` is true."""
        alike = not self.own and not holds(self.scenario.protection)
        return iter(()) if alike else (it for it in self if holds(it.protection))


@frozen
class Workload:
    """The jobs of a simulation in the order of their indices, and counts of the jobs left out or
    changed."""

    submissions: Submissions
    left_out: tuple[tuple[str, int], ...] = ()
    """Pairs of a reason and the number of jobs left out for that reason."""
    changed: tuple[tuple[str, int], ...] = ()
    """Pairs of a kind of change and the number of jobs changed."""
    begins: float | None = None
    """Seconds from 1970 to time 0, of a log; None: not known."""
    waits: Mapping[int, Dependence] = field(factory=dict)
    """Maps the index of each job that follows others to the conditions of its submission."""
    doubts: tuple[str, ...] = ()
    """Signs that the log of jobs, or what is said of its machine, is not what it seems."""

    @property
    def jobs(self) -> tuple[BatchJob, ...]:
        """The jobs themselves."""
        return self.submissions.jobs

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

    def tell(self, system: System) -> None:
        """Describe the workload in the simulation's log."""
        for left_out in self.left_out:
            system.describe(JobsLeftOut, *left_out)
        for changed in self.changed:
            system.describe(JobsChanged, *changed)
        for doubt in self.doubts:
            system.describe(LogDoubted, doubt)
        if self.begins is not None:
            system.describe(LogReplayed, self.begins)
        names = {job.index: job.name for job in self.jobs} if self.submissions.own else {}
        for index, own in self.submissions.own.items():
            if index in names and own.deadline is not None:
                system.describe(DeadlineDescribed, names[index], own.deadline)
        self._tell_waits(system)
        self.submissions.scenario.full_platform.partitions.describe_jobs(system, self.jobs)

    def _tell_waits(self, system: System) -> None:
        """Describe in the log which jobs follow others."""
        names = {job.index: job.name for job in self.jobs} if self.waits else {}
        for index, wait in self.waits.items():
            after = tuple(names[before] for before in wait.after)
            system.describe(DependenciesDescribed, names[index], wait.release, after, wait.think)


def workload(scenario: Scenario, system: System) -> Workload:
    """Return all jobs of the scenario that fit on its platform; the random streams of `system` draw
    those that are drawn.

    Raises InputError where there are none, and where the jobs have no source or several.
    """
    section, platform, log = scenario.job, scenario.full_platform, Replay.of(JobLog.of(()))
    given = [key for key, source in section.sources.items() if source]
    if len(given) != 1:
        raise unfit(
            "job",
            "no jobs, or several sources of them",
            f"exactly one of {', '.join(section.sources)}",
        )
    names: Mapping[str, str] = {}
    if isinstance(section, RigidSection) and (section.log or section.lublin):
        log = _replay(section, scenario, system)
        names = log.partitions if platform.partitions else names
        log, pieces = log.taken_apart()
        described: Iterable[Described] = _logged(section, pieces)
    else:
        described = _described(scenario, system)
    found, own = list[BatchJob](), dict[int, AnyJob]()
    for job, entry in described:
        found.append(job)
        if entry is not None:
            own[job.index] = entry
    _refuse_equal_names([job.name for job in found], platform)
    fitting, left_out = _fitting(scenario, found, own, names, log.left_out)
    if scenario.decider is not DeciderKind.PACK:
        fitting = tuple(map(_as_moldable, fitting))
    submissions = Submissions(scenario, fitting, own)
    chains = _chains(submissions, found, log)
    changed = *log.changed, *chains.changed
    return Workload(submissions, left_out, changed, log.begins, chains.waits, log.doubts)


def _fitting(
    scenario: Scenario,
    found: Sequence[BatchJob],
    own: Mapping[int, AnyJob],
    names: Mapping[str, str],
    left_out: LeftOut,
) -> tuple[tuple[BatchJob, ...], LeftOut]:
    """Return the jobs that fit on the platform, in their partitions and within limits, and the
    counts of those left out, with those that do not fit added. `own` has the entries of listed jobs
    by index, `names` the partitions that a log names.

    Raises InputError where none fits.
    """
    platform = scenario.full_platform
    able = platform.able
    fitting = tuple(job for job in found if asked_of(job) <= able)
    if not fitting:
        raise _nothing_left(found, able, left_out)
    if wide := len(found) - len(fitting):
        left_out = (*left_out, (f"needs more than the platform's {able} workers", wide))
    if partitions := platform.partitions:
        fitting, misfits = partitions.fitting(fitting, names, own)
        left_out = (*left_out, *misfits)
        if not fitting:
            raise _nothing_left((), able, left_out)
    kept = within(scenario.policy.limits, fitting, own)
    left_out = (*left_out, *kept.left_out)
    if not kept.jobs:
        raise _nothing_left((), able, left_out)
    return kept.jobs, left_out


def _chains(fitting: Submissions, found: Sequence[BatchJob], log: Replay) -> Chained:
    """Return which of the jobs that fit wait for others of them to end; `found` are all jobs."""
    listed = [
        Following(it.job, tuple(dict.fromkeys(it.own.after)), it.own.think)
        for it in (fitting if fitting.own else ())
        if it.own is not None and it.own.after
    ]
    if not listed and not log.preceding:
        return Chained({})
    jobs = {job.name: job for job in fitting.jobs}
    return chained(listed, log.preceding, jobs, {job.name for job in found})


def _as_moldable(job: BatchJob) -> BatchJob:
    """Return a malleable job as a moldable one, with a table of times, for deciders that resize no
    job; any other job unchanged."""
    if not isinstance(job.profile, Application):
        return job
    return evolve(job, profile=Table(tuple(job.profile.times)))


# --- where they come from -----------------------------------------------------------------------


def _described(scenario: Scenario, system: System) -> Iterator[Described]:
    """Yield each job of a source that is no job log, with its own entry in the file, or None if it
    has none."""
    section, platform = scenario.job, scenario.full_platform
    startup, select = section.startup, section.selecting
    if isinstance(section, RigidSection):
        _refuse_changes(section)
        if section.stream:
            arguments = platform.size, system, scenario.folder, section.verification
            found = arrivals(section.stream, *arguments)[0]
            yield from ((evolve(job, startup=startup, select=select), None) for job in found)
            return
    for index, profile in enumerate(section.drawn(platform.size) if not section.listed else ()):
        kind = JobKind(section.kind)
        name = f"{'T' if kind is JobKind.MALLEABLE else 'J'}{index + 1}"
        about = index, name, profile, section.verification
        yield BatchJob(*about, kind=kind, startup=startup, select=select), None
    for index, own in enumerate(section.listed):
        job = BatchJob(
            index,
            own.name or f"J{index + 1}",
            own.profile(index, platform),
            section.verification if own.verification is None else own.verification,
            own.estimate,
            *(own.release, JobKind(own.kind), own.user, own.group, own.queue, own.priority),
            startup=startup if own.startup is None else own.startup,
            select=select if own.select is None else own.select,
            standbys=getattr(own, "standbys", 0),
            replicas=own.replication if isinstance(own, RigidJob) else None,
        )
        yield job, own


def _refuse_changes(section: RigidSection) -> None:
    """Raise InputError where the section wants a log's jobs selected, drawn anew or scaled, for a
    source of jobs that is no log."""
    for key in ("select", "resample", "scale"):
        if getattr(section, key) not in (None, Selection(choosing=section.selecting)):
            raise unfit(
                f"job.{key}", "these jobs are of no log", "`swf`, `batsim`, `sacct` or `lublin`"
            )


def _replay(section: RigidSection, scenario: Scenario, system: System) -> Replay:
    """Return the jobs of the section's log, or of the model of Lublin and Feitelson: selected, then
    drawn anew, then scaled, then cut to the platform's size, each step applied to the result of the
    one before.

    Raises InputError where a number in the log does not fit in 64 bits.
    """
    workers = scenario.full_platform.size
    if section.log is None:
        assert section.lublin is not None
        log = Replay.of(section.lublin.draw(system.stream("workload/lublin"), workers))
    else:
        from sims.readers.plausibility import doubts

        log = Replay.of(read_jobs(section, scenario.folder))
        log = evolve(log, doubts=tuple(doubts(log.rows, workers))).zeroed(section.log)
    log = section.select.apply(log)
    if section.resample:
        log = section.resample.apply(log, system.stream("workload/resample"))
    if section.scale:
        log = section.scale.apply(log, workers, Rule.CUT_WIDE in section.select.clean)
    return section.select.cut(log, workers)


def _logged(section: RigidSection, pieces: Iterator[NDArray[np.void]]) -> Iterator[Described]:
    """Yield each job of a log's rows, which come in pieces.

    Equal times share one object: of a million jobs few have times of their own.
    """
    relies, index = section.log is None or section.log.estimates, 0
    known = dict[Any, Any]()
    for rows in pieces:
        times, estimates, waits = (
            [known.setdefault(it, it) for it in numbers]
            for numbers in (_known(rows[column]) for column in ("times", "estimates", "waits"))
        )
        jobs: Iterator[BatchJob] = map(
            BatchJob,
            *(count(index), rows["names"].tolist()),
            map(Rigid, rows["processors"].tolist(), times),
            repeat(section.verification),
            estimates if relies else repeat(None),
            *(rows["submitted"].tolist(), repeat(JobKind.RIGID)),
            *(rows[column].tolist() for column in ("users", "groups", "queues")),
            *(_known(rows["priorities"]), waits),
            *(repeat(section.startup), repeat(section.selecting)),
        )
        yield from zip(jobs, repeat(None, len(rows)), strict=False)
        index += len(rows)
        if len(known) > MOST_SHARED:  # what is kept must not take more than the sharing saves
            known = {}


def _known(column: NDArray[np.float64]) -> list[Any]:
    """Return the numbers of a column, with None for nan, which is not known, and one object for
    all if they are equal."""
    if len(column) and (column == column[0]).all():
        return [float(column[0])] * len(column)
    unknown = np.isnan(column)
    if not unknown.any():
        return list(column.tolist())
    found = column.astype(object)
    found[unknown] = None
    return list(found.tolist())


# --- what cannot be -----------------------------------------------------------------------------


def _refuse_equal_names(names: Sequence[str], platform: Platform) -> None:
    """Raise InputError where two of jobs (`names`), workers and the world's other actors have the
    same name, because logs could not tell them apart."""
    if repeated(names):
        twin = next(name for name, count in Counter(names).items() if count > 1)
        raise unfit("job.jobs", f"two jobs are called {twin!r}", "other names")
    others = Counter((*RESERVED, *platform.names))
    known = {name for name in names if name in others}
    for name, times in others.items():
        if times > 1 or name in known:
            raise unfit(
                "workers.name",
                f"two of workers, jobs, {', '.join(RESERVED)} are called {name!r}",
                "another name",
            )


def _nothing_left(
    found: Sequence[BatchJob], workers: int, left_out: Sequence[tuple[str, int]]
) -> InputError:
    if found:
        least = min(map(asked_of, found))
        return unfit(
            "platform.workers",
            f"{workers} are too few for every job",
            f"at least {least}, which the narrowest job needs",
        )
    reasons = "; ".join(f"{jobs} left out: {reason}" for reason, jobs in left_out)
    return unfit(
        "job", f"no job is left to schedule ({reasons or 'none is listed'})", "at least one job"
    )


def asked_of(job: BatchJob) -> int:
    """Return the least number of workers that a run of the job can have: the number that it
    requests, or 1."""
    return job.profile.processors if isinstance(job.profile, Asking) else 1


def period_on(rules: Rules, members: int) -> float:
    """Return the work between two checkpoints of a run on the first `members` workers, time
    units."""
    return rules.period_of(range(members)) if rules.period_of else rules.period(members)


def iterative(submission: Submission) -> IterativeEntry:
    """Return the scenario's entry of an iterative job, which always has one."""
    return cast(IterativeEntry, submission.own)
