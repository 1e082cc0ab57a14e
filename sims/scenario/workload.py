"""The jobs of a scenario as the scheduler receives them, whatever their source.

The source describes the jobs; those of a log are selected, drawn anew and scaled. Jobs that need
more workers than the platform has are then left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import repeat
from typing import Any

import numpy as np
from attrs import evolve
from numpy.typing import NDArray

from actors.dependencies import Dependence
from actors.events import (
    DeciderKind,
    JobsChanged,
    JobsLeftOut,
    LogDoubted,
    LogReplayed,
)
from actors.runtime import System
from policies.interface.kinds import JobKind
from policies.interface.queue import BatchJob
from policies.maths.speedup import Rigid, Table
from sims.errors import InputError, unfit
from sims.readers import JobLog, repeated
from sims.scenario import Scenario
from sims.scenario.job_set import JobSet
from sims.scenario.jobs import RESERVED, AnyJob, JobSection, RigidSection
from sims.scenario.jobs.files import read_jobs
from sims.scenario.jobs.logs import Replay, Selection
from sims.scenario.jobs.sources import arrivals
from sims.scenario.jobs.speedups import Application
from sims.scenario.parts import PARTS
from sims.scenario.platform import Platform
from sims.scenario.submissions import LeftOut, Submissions, Workload
from sims.telling import counted

ANY_JOB = BatchJob(0, "", Rigid(1, 1.0))
"""Shows what a section asks of mechanisms for all jobs of a log alike."""
Described = tuple[BatchJob, AnyJob | None]
"""A job, and what the scenario says of this job alone; None: nothing."""


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
    own = dict[int, AnyJob]()
    if isinstance(section, RigidSection) and (section.log or section.lublin):
        log = _replay(section, scenario, system)
        names = _named(scenario, log)
        found = JobSet.logged(log.rows, partial(_logged, section))
        log = log.without_rows()
    else:
        described = [*_described(scenario, system)]
        found = JobSet.of(job for job, _ in described)
        own = {job.index: entry for job, entry in described if entry is not None}
    called = found.names
    _refuse_equal_names(called, platform)
    fitting, left_out = _fitting(scenario, found, own, names, log.left_out)
    submissions = Submissions(scenario, fitting, own)
    if scenario.decider is not DeciderKind.PACK and submissions.having(Application):
        submissions = evolve(submissions, jobs=JobSet.of(map(_as_moldable, fitting)))
    waits, changed = dict[int, Dependence](), log.changed
    for part in PARTS:
        found_waits, counts = part.waits(submissions, called, log)
        waits.update(found_waits)
        changed = *changed, *counts
    return Workload(submissions, left_out, changed, log.begins, log.zone, waits, log.doubts)


def _fitting(
    scenario: Scenario,
    found: JobSet,
    own: Mapping[int, AnyJob],
    names: Mapping[str, str],
    left_out: LeftOut,
) -> tuple[JobSet, LeftOut]:
    """Return the jobs that fit on the platform and that no mechanism leaves out, and the counts of
    those left out, with these added. `own` has the entries of listed jobs by index; `names` maps
    jobs of a log to what the log names besides their queue.

    Raises InputError where none fits.
    """
    platform, widths = scenario.full_platform, found.widths
    able = platform.able
    fitting = found.keep(widths <= able)
    if not fitting:
        raise _nothing_left(widths, platform, left_out)
    if wide := len(found) - len(fitting):
        left_out = (*left_out, (f"needs more than the platform's {able} workers", wide))
    for part in PARTS:
        fitting, misfits = part.fitting(scenario, fitting, names, own)
        left_out = (*left_out, *misfits)
        if not fitting:
            raise _nothing_left((), platform, left_out)
    return fitting, left_out


def tell(jobs: Workload, system: System) -> None:
    """Describe the workload in the simulation's log."""
    for left_out in jobs.left_out:
        system.describe(JobsLeftOut, *left_out)
    for changed in jobs.changed:
        system.describe(JobsChanged, *changed)
    for doubt in jobs.doubts:
        system.describe(LogDoubted, doubt)
    if jobs.begins is not None:
        system.describe(LogReplayed, jobs.begins, jobs.zone)
    for part in PARTS:
        part.tell(jobs, system)


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
    if isinstance(section, RigidSection):
        _refuse_changes(section)
        if section.stream:
            arguments = platform.size, system, scenario.folder, section.verification
            found = arrivals(section.stream, *arguments)[0]
            yield from ((_asked(job, section), None) for job in found)
            return
    for index, profile in enumerate(section.drawn(platform.size) if not section.listed else ()):
        kind = JobKind(section.kind)
        name = f"{'T' if kind is JobKind.MALLEABLE else 'J'}{index + 1}"
        about = index, name, profile, section.verification
        yield _asked(BatchJob(*about, kind=kind), section), None
    for index, own in enumerate(section.listed):
        job = BatchJob(
            index,
            own.name or f"J{index + 1}",
            own.profile(index, platform),
            section.verification if own.verification is None else own.verification,
            own.estimate,
            *(own.release, JobKind(own.kind), own.user, own.group, own.queue, own.priority),
        )
        yield _asked(job, section, own), own


def _asked(job: BatchJob, section: JobSection, own: AnyJob | None = None) -> BatchJob:
    """Return the job with what its section, or its own entry, asks of mechanisms."""
    for part in PARTS:
        job = part.asked(job, section, own)
    return job


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
        log = section.scale.apply(log, partial(_load, section, scenario))
    return section.select.cut(log, workers)


def _named(scenario: Scenario, log: Replay) -> Mapping[str, str]:
    """Map jobs of a log to what the log names besides their queue, where a mechanism asks."""
    return next(filter(None, (part.named(scenario, log) for part in PARTS)), {})


def _load(section: RigidSection, scenario: Scenario, log: Replay) -> float:
    """Return the load of those jobs of a log that will take part, cut to the platform's size where
    the section says so. Raises InputError where none will."""
    workers = scenario.full_platform.size
    log = section.select.cut(log, workers)
    found = JobSet.logged(log.rows, partial(_logged, section))
    fitting, _ = _fitting(scenario, found, {}, _named(scenario, log), log.left_out)
    return evolve(log, rows=log.rows[fitting.places]).load(workers)


def _logged(
    section: RigidSection, rows: NDArray[np.void], places: NDArray[np.int_]
) -> Iterable[BatchJob]:
    """Return the jobs of rows that have these positions among all of the section's log."""
    relies = section.log is None or section.log.estimates
    times, estimates, waits = (_shared(rows[it]) for it in ("times", "estimates", "waits"))
    jobs: Iterator[BatchJob] = map(
        BatchJob,
        *(places.tolist(), rows["names"].tolist()),
        map(Rigid, rows["processors"].tolist(), times),
        repeat(section.verification),
        estimates if relies else repeat(None),
        *(rows["submitted"].tolist(), repeat(JobKind.RIGID)),
        *(rows[column].tolist() for column in ("users", "groups", "queues")),
        *(_shared(rows["priorities"]), waits),
    )
    for part in PARTS:
        if part.asked(ANY_JOB, section, None) is not ANY_JOB:
            jobs = map(part.asked, jobs, repeat(section), repeat(None))
    return jobs


def _shared(column: NDArray[np.float64]) -> list[Any]:
    """Return the numbers of a column, with None for nan, which is not known. Equal numbers are one
    object: of a million jobs few have times of their own."""
    found, places = np.unique(column, return_inverse=True)
    numbers = [None if it != it else it for it in found.tolist()]
    shared: list[Any] = np.array(numbers, dtype=object)[places].tolist()
    return shared


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
    widths: Collection[float], platform: Platform, left_out: Sequence[tuple[str, int]]
) -> InputError:
    if len(widths):
        least, able, size = min(widths), platform.able, platform.size
        if able < least <= size:
            left = f"{size - able} leave {able} of {counted(size, 'worker')}"
            problem = f"{left}, too few for every job"
            accepted = f"at most {size - least:.0f}: the narrowest job needs {least:.0f}"
            return unfit("platform.spares", problem, accepted)
        accepted = f"at least {least + size - able:.0f}, which the narrowest job needs"
        accepted += f" with {counted(size - able, 'spare')}" if able < size else ""
        return unfit("platform.workers", f"{able} are too few for every job", accepted)
    reasons = "; ".join(f"{jobs} left out: {reason}" for reason, jobs in left_out)
    return unfit(
        "job", f"no job is left to schedule ({reasons or 'none is listed'})", "at least one job"
    )
