"""Builders that turn a scenario into the actors of its simulation: scheduler, master, workers,
hazards and jobs.

Deciders are imported where they are used, so that no simulation pays for the imports of another
kind.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from math import isinf
from pathlib import Path

from attrs import astuple, frozen

from actors.acts import Act
from actors.decider import Decider
from actors.events import (
    DeciderKind,
    RunStarted,
    WorkerPriced,
)
from actors.job import Source
from actors.limit import Cap
from actors.pool import Pool, Take, compact, lowest
from actors.runtime import Actor, System, rare_collections
from actors.scheduler import Scheduler
from actors.worker import Worker, WorkerRegistry
from sims.errors import unfit
from sims.scenario import MeasuresSection, Scenario
from sims.scenario.builders.hazards import describe_faults, ignores_faults, spawn_hazards
from sims.scenario.builders.jobs import Counterparts, JobMaker, plain_jobs, with_mtbf
from sims.scenario.builders.progress import limit_resolution
from sims.scenario.deciders import DECIDERS
from sims.scenario.faults import NoFaults
from sims.scenario.job_set import asked_of
from sims.scenario.jobs import CAP, MASTER, SCHEDULER, SOURCE
from sims.scenario.parts import PARTS
from sims.scenario.parts.part import Choice, Made, Site
from sims.scenario.policy import ALIKE
from sims.scenario.submissions import Workload
from sims.scenario.workload import tell, workload


@frozen
class Populated:
    """The jobs of a simulation whose actors have been made by `populate`, as far as they are known
    before it begins."""

    jobs: int
    """Number of jobs that will be submitted."""
    workload: Workload | None
    """The jobs of the simulation; None: each is made when it arrives, and nothing happens to their
    runs (redundant copies on workers that change their speed only)."""


def populate(scenario: Scenario, system: System, folder: Path, simulated: bool = True) -> Populated:
    """Make the scenario's actors (scheduler, master, workers, hazards, jobs) in `system`.

    Files and a user's code are looked for in `folder`. `simulated` says whether the simulation is
    going to run; if it is only checked, jobs that need no further check get no actor. Raises
    InputError for a scenario that cannot be simulated.
    """
    with rare_collections(), _warnings_once_accepted():
        return _populated(scenario, system, folder, simulated)


@contextmanager
def _warnings_once_accepted() -> Iterator[None]:
    """Show the warnings of the block only once it is over, so that a scenario that is refused is
    refused without warnings."""
    with warnings.catch_warnings(record=True) as held:
        warnings.simplefilter("always")
        yield
    for it in held:
        warnings.warn_explicit(it.message, it.category, it.filename, it.lineno, source=it.source)


def _populated(scenario: Scenario, system: System, folder: Path, simulated: bool) -> Populated:
    scenario = scenario.within(folder)
    scenario = scenario.model_copy(update={"faults": scenario.faults.loaded(folder)})
    platform = scenario.full_platform
    _check(scenario)
    if not platform.plain:
        scenario = with_mtbf(scenario)
    if scenario.decider is DeciderKind.COPIES:
        return _copies(scenario, system)
    jobs = workload(scenario, system)
    _warn_of_copies(jobs, platform.size)
    limit_resolution(scenario, system, jobs)
    tell(jobs, system)
    submits = _submits(scenario, jobs)
    _describe_platform(scenario, system, submits)
    decider, count = _decider(scenario, system, jobs), len(jobs.jobs)
    choice, programmed = _choice(scenario), dict[str, set[int]]()
    pool = _pool(scenario, system, jobs, _take(scenario, jobs, system, programmed, choice))
    site = _site(scenario, system, decider, choice, jobs, submits)
    others = _spawn_platform(site, decider, pool, count, programmed)
    JobMaker(scenario, system, jobs, decider, others, simulated).spawn()
    for part in PARTS:
        part.last(scenario, system)
    return Populated(count, jobs)


def _check(scenario: Scenario) -> None:
    """Raise InputError where keys contradict each other."""
    for part in PARTS:
        part.check(scenario)
    measures = scenario.measures or MeasuresSection()
    measures.hours(scenario.times, scenario.rents or measures.prices or measures.watts)
    platform = scenario.full_platform
    if not platform.size:
        raise unfit(
            "platform.workers", "there are 0", "[platform], [[workers]] or [random_workers]"
        )
    if not platform.plain:
        platform.refuse_mixed()
    if scenario.decider is not DeciderKind.QUEUE:
        for key, why, otherwise in (it for part in PARTS for it in part.of_queues(scenario)):
            accepted = f"a queue's policy, such as FCFS or EASY, or {otherwise}"
            raise unfit(key, f"{scenario.policy_name} {why}", accepted)


def _copies(scenario: Scenario, system: System) -> Populated:
    """Make the actors of a scenario in which a policy of copies decides."""
    from sims.scenario.builders import copies

    limit_resolution(scenario, system, None)
    decider, count, coming, known = copies.prepared(scenario, system)
    _describe_platform(scenario, system, _submits(scenario, None))
    platform = scenario.full_platform
    pool = Pool(platform.able, numbered=True, changing=True, spares=platform.pool.spares)
    site = _site(scenario, system, decider, _choice(scenario), known, {})
    others = _spawn_platform(site, decider, pool, count, {})
    system.spawn(Source(SOURCE, coming(others)))
    for part in PARTS:
        part.last(scenario, system)
    return Populated(count, known)


def _submits(scenario: Scenario, jobs: Workload | None) -> dict[str, str]:
    """Map the name of each job that an actor of the user's submits to that actor's name."""
    found = dict[str, str]()
    for part in PARTS:
        found.update(part.submits(scenario, jobs))
    return found


def _site(
    scenario: Scenario,
    system: System,
    decider: Decider,
    choice: Choice,
    jobs: Workload | None,
    submits: Mapping[str, str],
) -> Site:
    """Return the simulation as its parts build on it."""
    registry = WorkerRegistry(system, _maker(scenario, system, decider.wants_holdings))
    ignored, refused = ignores_faults(scenario, decider), dict[Act, str]()
    for part in PARTS:
        refused.update(part.acts_refused(scenario, ignored))
    return Site(scenario, system, registry, choice, jobs, submits, refused, ignored)


def _decider(scenario: Scenario, system: System, jobs: Workload) -> Decider:
    match scenario.decider:
        case DeciderKind.PACK:
            from sims.scenario.builders import pack

            return pack.decider(scenario, jobs, system)
        case DeciderKind.ENROLMENT:
            from sims.scenario.builders import members

            return members.enrolment(scenario, jobs)
        case DeciderKind.DEADLINE:
            from sims.scenario.builders import members

            return members.deadlines(scenario, jobs)
    from sims.scenario.builders import queue

    return queue.decider(scenario, jobs)


def _warn_of_copies(jobs: Workload, workers: int) -> None:
    """Warn, in one line, of jobs that may have several redundant copies and are so wide that no two
    copies fit on `workers` workers."""
    copied = jobs.copies
    able = [job for job in jobs.jobs if job.index in copied] if copied else ()
    asked = [(job.name, asked_of(job)) for job in able]
    wide = [(name, width) for name, width in asked if 2 * width > workers]
    if wide:
        (name, width), more = wide[0], f", and so for {len(wide) - 1:,} more" if wide[1:] else ""
        text = f"protection.copies has no effect for {name}: a second copy of a job that is "
        warnings.warn(f"{text}{width} wide never fits on {workers} workers{more}", stacklevel=2)


# --- the platform ---------------------------------------------------------------------------------


def _choice(scenario: Scenario) -> Choice:
    """Return the choice among workers by their records, where the scenario keeps any.

    Raises InputError for a placement by records where none are kept.
    """
    kept = (part.records(scenario) for part in PARTS)
    records = next((it for it in kept if it is not None), None)
    if scenario.decider is DeciderKind.COPIES:  # places copies by rules of its own
        return Choice(records)
    if scenario.policy.placement in ALIKE:
        return Choice(records)
    from sims.scenario.builders import queue

    measure = queue.badness_of(scenario, records)
    workers = range(scenario.full_platform.size if measure else 0)
    return Choice(records, measure, [measure(worker) for worker in workers] if measure else [])


def _take(
    scenario: Scenario,
    jobs: Workload,
    system: System,
    programmed: Mapping[str, Collection[int]],
    choice: Choice,
) -> Take:
    """Return the function that chooses which free workers a run gets."""
    if scenario.policy.placement in ALIKE:
        return compact if scenario.policy.placement == "compact" else lowest
    from sims.scenario.builders import queue

    return queue.take(scenario, jobs, system, programmed, choice)


def _pool(scenario: Scenario, system: System, jobs: Workload, take: Take) -> Pool:
    """Return the pool, the scheduler's account of free workers, from which `take` takes those of a
    run. It tracks workers' numbers only where hazards, owners, speeds, a placement or the log need
    them, otherwise it counts them."""
    platform, placement = scenario.full_platform, scenario.policy.placement
    able, spares = platform.able, platform.pool.spares
    if DECIDERS[scenario.decider].numbered:
        return Pool(able, numbered=True, changing=True, take=take, spares=spares, named=True)
    changing = not (isinstance(scenario.faults, NoFaults) and platform.plain)
    changing = changing or bool(scenario.acts - {Act.SUBMIT, Act.CANCEL})
    placed = placement not in ALIKE or any(part.numbers(scenario) for part in PARTS)
    numbered = changing or placed or system.journal.wants(RunStarted)
    if not numbered:
        numbered = not plain_jobs(scenario, jobs.submissions).all()
    return Pool(able, numbered, changing, take, spares)


def _describe_platform(scenario: Scenario, system: System, submits: Mapping[str, str]) -> None:
    """Describe in the log who takes part, and what the mechanisms make of the platform."""
    for part in PARTS:
        part.introduce(scenario, system, submits)
    for part in PARTS:
        part.describe(scenario, system)


def _spawn_platform(
    site: Site, decider: Decider, pool: Pool, jobs: int, programmed: dict[str, set[int]]
) -> Counterparts:
    """Make the actors of the scheduler, the master, the workers whose state or speed can change
    (all, where there is a master), the hazards and the mechanisms; return those to which jobs
    report. `jobs` is the number of jobs to come, and `programmed` maps the label of a program to
    the workers that hold it.

    Raises InputError where one of them cannot be made.
    """
    scenario, system, registry = site.scenario, site.system, site.workers
    platform, linked = scenario.full_platform, scenario.master is not None
    made = Made(tuple(system.spawn(it) for part in PARTS for it in part.before(site)))
    scheduler = Scheduler(
        *(SCHEDULER, pool, decider, jobs),
        workers=registry,
        linked=linked,
        given=tuple(it for part in PARTS for it in part.of_scheduler(site, made)),
        programmed=programmed,
    )
    system.spawn(scheduler)
    _spawn_master(scenario, system)
    if platform.varies:
        pool.change_speed(0, 1.0)  # speeds differ from 1 before the first job is made
    if linked or not platform.plain:
        for worker in range(platform.size):
            if linked or platform.alive(worker):
                registry(worker)
    describe_faults(scenario, system)
    told = next((it for part in PARTS if (it := part.hears_faults(scenario, made))), None)
    clocks = spawn_hazards(scenario, system, registry, told, ignores_faults(scenario, decider))
    clocks += [it for part in PARTS if (it := part.hears_computing(scenario, made))]
    if not isinf(scenario.cap):
        system.spawn(Cap(CAP, scenario.cap, scheduler))
    others = (system.spawn(it) for part in PARTS for it in part.after(site))
    made = Made((*made.actors, *others))
    submitters, awaiting = dict[int, Actor](), dict[int, Actor]()
    for part in PARTS:
        submitters.update(part.submitters(site, made))
        awaiting.update(part.awaiting(site, made))
    return Counterparts(scheduler, made, tuple(clocks), submitters, awaiting)


def _spawn_master(scenario: Scenario, system: System) -> None:
    """Make the actor of the master, if there is one."""
    section = scenario.master
    if section is None:
        return
    order = section.service(scenario.full_platform, scenario.cap)
    from actors.master import Master  # a world without a link needs none

    system.spawn(Master(MASTER, section.channels, order))


def _maker(scenario: Scenario, system: System, reports: bool) -> Callable[[int], Worker]:
    """Return the function that makes the actor of a worker from its number, with its owner's
    changes, notices and speeds. `reports`: workers report what they hold."""
    platform = scenario.full_platform

    def make(index: int) -> Worker:
        # A pool's workers have numbers only.
        called = platform.name(index) if platform.own else f"worker {index}"
        master = None if scenario.master is None else system.find(MASTER)
        about = called, index, system.find(SCHEDULER), master, reports
        if platform.plain or not platform.alive(index):
            return Worker(*about)
        section, name = platform[index], platform.name(index)
        speeds, notices = None, None
        availability, stream = section.availability, f"availability/{name}"
        owner = platform.changes(index, system.stream(stream))
        if availability.notice:
            announced = platform.announced(index, system.stream(stream))
            notices = availability.noticed(announced)
        if section.price is None and (priced := availability.priced(index)):
            system.describe(WorkerPriced, *astuple(priced))
        if section.varies:
            speeds = section.speeds(system.stream(f"speed/{name}"), scenario.folder)
        return Worker(*about, owner, speeds, notices, index in platform.kept)

    return make
