"""Builders that turn a scenario into the actors of its simulation: scheduler, master, workers,
hazards and jobs.

Deciders are imported where they are used, so that no simulation pays for the imports of another
kind.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from math import isinf
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from attrs import astuple, field, frozen

from actors.agents.acts import Act
from actors.chance import Chance
from actors.computing_faults import ComputingFaults
from actors.events import (
    DeciderKind,
    FaultsDescribed,
    FaultsExpected,
    FaultsFitted,
    FaultsReplayed,
    LinkDescribed,
    MaintenancePlanned,
    OwnersDescribed,
    PlatformDescribed,
    ReserveDescribed,
    RunStarted,
    Struck,
    WorkerPriced,
    WorkerRented,
)
from actors.hazards import Faults, Hazard, Outages, PaperFaults, Spread
from actors.intervals import intervals_of, text
from actors.job import Source
from actors.limit import Cap
from actors.parts import SchedulerHost, SchedulerPart
from actors.parts.detection import HiddenFaults
from actors.parts.repair import RepairReports
from actors.parts.standbys import StandbyIntake
from actors.pool import Pool, Take
from actors.records import Records
from actors.repair import Repairs
from actors.runtime import Actor, System, rare_collections
from actors.scheduler import Decider, Scheduler
from actors.worker import Worker, WorkerRegistry, always_up, no_notices
from actors.worker_messages import Fail, Hang
from sims.errors import unfit
from sims.scenario import MeasuresSection, Scenario
from sims.scenario.builders import queue
from sims.scenario.builders.agents import (
    describe_agents,
    spawn_agents,
    spawn_door,
    submitted_by,
)
from sims.scenario.builders.jobs import Counterparts, JobMaker, plain, with_mtbf
from sims.scenario.builders.limits import limit_resolution
from sims.scenario.builders.repair import (
    check_repair,
    describe_repair,
    hazard_name,
    recorded,
    records_of,
    spawn_repairs,
)
from sims.scenario.builders.storage import check_storage, spawn_storage
from sims.scenario.deciders import DECIDERS
from sims.scenario.expectations import expected
from sims.scenario.fault_laws import gap_of
from sims.scenario.faults import AnyFault, NoFaults, ReplayedFaults
from sims.scenario.jobs import CAP, MASTER, SCHEDULER, SOURCE
from sims.scenario.workload import Workload, asked_of, workload

if TYPE_CHECKING:
    from actors.deciders.pack import PackDecider


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
    """Show the warnings of the block only once it is over: of a scenario that is refused its
    refusal alone is told."""
    with warnings.catch_warnings(record=True) as held:
        warnings.simplefilter("always")
        yield
    for it in held:
        warnings.warn_explicit(it.message, it.category, it.filename, it.lineno, source=it.source)


def _populated(scenario: Scenario, system: System, folder: Path, simulated: bool) -> Populated:
    scenario = scenario.within(folder)
    scenario = scenario.model_copy(update={"faults": scenario.faults.loaded(folder)})
    platform = scenario.full_platform
    check_storage(scenario)
    check_repair(scenario)
    if scenario.measures is not None:
        scenario.measures.tell(system, scenario.times)
    if not platform.size:
        raise unfit(
            "platform.workers", "there are 0", "[platform], [[workers]] or [random_workers]"
        )
    if not platform.plain:
        platform.refuse_mixed()
        scenario = with_mtbf(scenario)
    if scenario.decider is not DeciderKind.QUEUE:
        for key, why, otherwise in _of_queues(scenario):
            accepted = f"a queue's policy, such as FCFS or EASY, or {otherwise}"
            raise unfit(key, f"{scenario.policy_name} {why}", accepted)
    if scenario.decider is DeciderKind.COPIES:
        from sims.scenario.builders import copies

        limit_resolution(scenario, system, None)
        decider, count, coming, known = copies.prepared(scenario, system)
        describe_agents(scenario, system, submitted_by(scenario, None))
        _describe_platform(scenario, system)
        spares = platform.pool.spares
        pool = Pool(platform.able, numbered=True, changing=True, spares=spares)
        deciding = Deciding(pool, decider, count, records_of(scenario))
        others = _spawn_platform(scenario, system, deciding, {})
        system.spawn(Source(SOURCE, coming(others)))
        spawn_agents(scenario, system)
        return Populated(count, known)
    jobs = workload(scenario, system)
    _warn_of_copies(jobs, platform.size)
    limit_resolution(scenario, system, jobs)
    jobs.tell(system)
    submits = submitted_by(scenario, jobs)
    describe_agents(scenario, system, submits)
    _describe_platform(scenario, system)
    decider, count = _decider(scenario, system, jobs), len(jobs.jobs)
    deciding = _deciding(scenario, system, jobs, decider)
    others = _spawn_platform(scenario, system, deciding, submits)
    JobMaker(scenario, system, jobs, decider, others, submits, simulated).spawn()
    spawn_agents(scenario, system)
    return Populated(count, jobs)


def _of_queues(scenario: Scenario) -> Iterator[tuple[str, str, str]]:
    """Yield (dotted key, reason, what to write instead) for each key that is set and has no meaning
    where another kind of decider than a queue decides."""
    refused = {
        "standbys": (0, "no job keeps any between two runs", "no standbys"),
        "replicas": (1, "a run ends with any of them", "replicas = 1"),
    }
    for index, job in enumerate(scenario.job.jobs):
        for key, (off, why, otherwise) in refused.items():
            if getattr(job, key, off) != off:
                reason = f"chooses the workers of each run itself, and {why}"
                yield f"job.jobs.{index}.{key}", reason, otherwise
    if scenario.policy.limits:
        yield "policy.limits", "has no queue in which jobs could be held back", "no limits"
    if scenario.full_platform.windows:
        reason = "plans no starts, so that it cannot keep jobs out of windows"
        yield "platform.maintenance", reason, "the same times as `availability`"
    if scenario.full_platform.partitions:
        yield "platform.partitions", "has no queue whose jobs name one", "no partitions"
    if scenario.full_platform.reserve:
        yield "platform.reserve", "has no queue whose first job could lack workers", "no reserve"


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
    return queue.decider(scenario, jobs)


def _warn_of_copies(jobs: Workload, workers: int) -> None:
    """Warn, in one line, of jobs that may have several redundant copies and are so wide that no two
    copies fit on `workers` workers."""
    copied = jobs.copies
    asked = [(job.name, asked_of(job)) for job in jobs.jobs if job.index in copied]
    wide = [(name, width) for name, width in asked if 2 * width > workers]
    if wide:
        (name, width), more = wide[0], f", and so for {len(wide) - 1:,} more" if wide[1:] else ""
        text = f"protection.copies has no effect for {name}: a second copy of a job that is "
        warnings.warn(f"{text}{width} wide never fits on {workers} workers{more}", stacklevel=2)


# --- the platform ---------------------------------------------------------------------------------


@frozen
class Deciding:
    """Objects that a scheduler gets as it is made."""

    pool: Pool
    """Account of the free workers."""
    decider: Decider
    jobs: int
    """Number of jobs to come."""
    records: Records | None
    """Records of workers, kept by the actor that repairs; None where nothing is repaired."""
    standbys: bool = False
    """Whether any job has standbys."""
    measure: Callable[[int], Any] | None = None
    """How bad a worker's record is, where the placement chooses by records."""
    badness: list[Any] = field(factory=list)
    """How bad each worker's record is, as it is reported to the scheduler."""
    programmed: dict[str, set[int]] = field(factory=dict)
    """Maps the label of a program to the workers that hold it."""


def _deciding(scenario: Scenario, system: System, jobs: Workload, decider: Decider) -> Deciding:
    """Return the objects that the scheduler of these jobs gets as it is made.

    Raises InputError for a placement that cannot be had.
    """
    records = records_of(scenario)
    measure, programmed = queue.badness_of(scenario, records), dict[str, set[int]]()
    workers = range(scenario.full_platform.size if measure else 0)
    badness = [measure(worker) for worker in workers] if measure else []
    take = queue.take(scenario, jobs, system, programmed, badness)
    pool = _pool(scenario, system, jobs, take)
    standbys = any(job.standbys for job in jobs.jobs)
    count = len(jobs.jobs)
    return Deciding(pool, decider, count, records, standbys, measure, badness, programmed)


def _pool(scenario: Scenario, system: System, jobs: Workload, take: Take) -> Pool:
    """Return the pool, the scheduler's account of free workers, from which `take` takes those of a
    run. It tracks workers' numbers only where hazards, owners, speeds, a placement or the log need
    them, otherwise it counts them."""
    platform, placement = scenario.full_platform, scenario.policy.placement
    able, spares = platform.able, platform.pool.spares
    if DECIDERS[scenario.decider].numbered:
        return Pool(able, numbered=True, changing=True, take=take, spares=spares, named=True)
    changing = not (isinstance(scenario.faults, NoFaults) and platform.plain)
    changing = changing or bool(scenario.acts - {Act.SUBMIT})
    placed = placement not in queue.ANY or bool(platform.partitions)
    numbered = changing or placed or system.journal.wants(RunStarted)
    if not numbered:
        numbered = not all(map(plain(scenario), jobs.jobs, jobs.submissions.protections))
    return Pool(able, numbered, changing, take, spares)


def _describe_platform(scenario: Scenario, system: System) -> None:
    """Describe in the log what the platform has of nodes, spares, late detection of faults, a
    reserve, windows of maintenance, and owners of workers."""
    platform = scenario.full_platform
    spares = platform.pool.spares
    detections = tuple(law.detection for law in scenario.faults.laws if not law.hangs)
    if platform.node > 1 or spares or any(detections):
        delays = detections if any(detections) else ()
        system.describe(PlatformDescribed, platform.node, spares, delays)
    if platform.reserve:
        named = text(((platform.reserve[0], platform.reserve[-1]),))
        system.describe(ReserveDescribed, named, platform.pool.reserve_delay)
    for section in platform.pool.maintenance:
        start, end = section.span
        workers = text(intervals_of(section.workers(platform.size)))
        system.describe(MaintenancePlanned, start, None if isinf(end) else end, workers)
    platform.partitions.describe(system)
    if platform.reserve or scenario.repair is not None or Act.TAKE in scenario.acts:
        system.describe(OwnersDescribed, text(intervals_of(platform.owned_workers)))


def _spawn_platform(
    scenario: Scenario, system: System, deciding: Deciding, submits: Mapping[str, str]
) -> Counterparts:
    """Make the actors of the scheduler, the master, the workers whose state or speed can change
    (all, where there is a master), the repairs, the hazards, the door of the agents and the
    storage; return those to which jobs report. `submits` has the jobs that agents submit.

    Raises InputError where one of them cannot be made.
    """
    platform, decider = scenario.full_platform, deciding.decider
    linked = scenario.master is not None
    registry = WorkerRegistry(system, _maker(scenario, system, decider.wants_holdings))
    repairs = spawn_repairs(scenario, system, registry, deciding.records, deciding.measure)
    scheduler = Scheduler(
        *(SCHEDULER, deciding.pool, decider, deciding.jobs),
        workers=registry,
        linked=linked,
        given=tuple(_parts(scenario, deciding, repairs)),
        programmed=deciding.programmed,
    )
    system.spawn(scheduler)
    _spawn_master(scenario, system)
    describe_repair(scenario, system)
    if platform.varies:
        deciding.pool.change_speed(0, 1.0)  # speeds differ from 1 before the first job is made
    _rent(scenario, system)
    if linked or not platform.plain:
        for worker in range(platform.size):
            if linked or platform.alive(worker):
                registry(worker)
    _describe_faults(scenario, system)
    clocks = _spawn_hazards(scenario, system, decider, registry, repairs)
    spawn_door(scenario, system, registry, submits, _ignores_faults(scenario, decider))
    if repairs is not None and recorded(scenario):  # records need the time for which runs compute
        clocks.append(repairs)
    if not isinf(scenario.cap):
        system.spawn(Cap(CAP, scenario.cap, scheduler))
    return Counterparts(scheduler, tuple(clocks), repairs, spawn_storage(scenario, system))


def _parts(
    scenario: Scenario, deciding: Deciding, repairs: Repairs | None
) -> Iterator[Callable[[SchedulerHost], SchedulerPart]]:
    """Yield makers of the parts of the scheduler that follow from the scenario."""
    if deciding.standbys:
        yield StandbyIntake
    if any(law.detection for law in scenario.faults.laws):
        yield partial(HiddenFaults, repaired=repairs is not None)
    if repairs is not None:
        yield partial(RepairReports, repairs=repairs, badness=deciding.badness)


def _spawn_hazards(
    scenario: Scenario,
    system: System,
    decider: Decider,
    registry: WorkerRegistry,
    repairs: Repairs | None,
) -> list[Actor]:
    """Make, for each law of faults, the actor that makes its faults happen on the workers of
    `registry`. Return those whose clocks pass only while workers compute."""
    faulty, clocks = _faulty_units(scenario, system), list[Actor]()
    ignored = _ignores_faults(scenario, decider)
    for number, law in enumerate(scenario.faults.laws):
        about = law, number, faulty[number], registry, repairs, ignored
        hazard = system.spawn(_hazard(scenario, system, *about))
        if isinstance(hazard, ComputingFaults):
            clocks.append(hazard)
    return clocks


def _ignores_faults(scenario: Scenario, decider: Decider) -> bool:
    """Return whether a pack decides that ignores some faults, as malleable17 has it."""
    return scenario.decider is DeciderKind.PACK and not cast("PackDecider", decider).fatal


def _describe_faults(scenario: Scenario, system: System) -> None:
    """Describe in the log the laws of faults that were fitted to logs, and the expected numbers of
    faults where `expected` gives them."""
    for number, law in enumerate(scenario.faults.laws):
        if law.fit is not None:
            system.describe(FaultsFitted, number, *astuple(law.fit))
    for about in expected(scenario):
        system.describe(FaultsExpected, *about)


def _faulty_units(scenario: Scenario, system: System) -> list[tuple[int, ...] | None]:
    """Return, for each law of faults, the numbers of the units (workers, nodes or racks) that it
    strikes, or None if it strikes all; describe in the log those of laws that strike only some."""
    platform, found = scenario.full_platform, []
    for number, law in enumerate(scenario.faults.laws):
        nodes = platform.units(law.of)
        total = platform.size if nodes is None else len(nodes)
        units = law.units_of(total, partial(system.stream, f"share/{number}"))
        if units is not None:
            system.describe(FaultsDescribed, number, total, text(intervals_of(units)))
        found.append(units)
    return found


def _hazard(
    scenario: Scenario,
    system: System,
    law: AnyFault,
    number: int,
    faulty: Sequence[int] | None,
    registry: WorkerRegistry,
    repairs: Repairs | None,
    ignored: bool,
) -> Hazard:
    """Make the actor that makes the faults of `law`, which has number `number`, happen. `ignored`:
    a pack ignores some of them.

    `faulty` has the numbers of the units that the law strikes; None means all. The first law's
    random stream has no number in its name, so that adding a law does not change its draws.
    """
    platform, own = scenario.full_platform, f"/{number}" if number else ""
    nodes = platform.units(law.of)
    units = len(nodes) if nodes else platform.size
    faults: Faults | Outages
    if isinstance(law, ReplayedFaults):
        begin, records = law.drawn(system.stream, number, units)
        names = tuple(f"{it.platform}/{it.node}" for it in records)
        system.describe(FaultsReplayed, number, begin, names)
        faults = law.replay(begin, records)
    else:
        rng = system.stream(f"faults{own}")
        faults = law.faults(rng, units) if faulty is None else law.faults_of(faulty, rng, units)
    if law.by_computing or (faulty is not None and not faulty):
        faults = iter(())
    fault = _effect(scenario, law, number)
    spread = None
    if law.spread and law.of is Struck.NODES:
        streams = partial(system.unit_stream, f"spread/{number}")
        spread = Spread(platform.rack, Chance(law.spread), streams)
    about = hazard_name(number), faults, registry, fault, nodes, spread, repairs
    if ignored:
        _refuse_others_than_papers(law)
        if repairs is not None:
            problem = "stands beside a pack that ignores faults, whose paper has a downtime"
            raise unfit("repair", problem, "protection.fatal = 'possible', or no [repair]")
    if law.by_computing:
        units_of = faulty if faulty is not None else range(units)
        gap = gap_of(law, partial(system.unit_stream, f"fault/{number}"))
        size = platform.unit_size(law.of)
        return ComputingFaults(*about, gap=gap, units=units_of, unit_size=size)
    if ignored:
        return PaperFaults(*about, scheduler=system.find(SCHEDULER))
    return Hazard(*about)


def _effect(scenario: Scenario, law: AnyFault, number: int) -> Fail | Hang:
    """Return the message that tells a worker of a unit that law number `number` strikes what
    happens to it: it fails, or it hangs."""
    if law.hangs:
        return Hang(law.detection, number)
    differ = len({it.detection for it in scenario.faults.laws if not it.hangs}) > 1
    downtime = 0 if scenario.repair is not None else law.downtime or 0
    return Fail(downtime, law.detection, differ, number)


def _refuse_others_than_papers(law: AnyFault) -> None:
    """Raise InputError where a pack may ignore faults, as malleable17's own rule has it, and the
    law makes hangs, or faults by computing time, which that rule does not know."""
    others = ("effect", law.hangs, "fault"), ("clock", law.by_computing, "calendar")
    for key, found, usual in others:
        if found:
            own = "a pack that ignores faults has those of malleable17"
            problem = f"{getattr(law, key).value!r}: {own}"
            raise unfit(f"faults.{key}", problem, f"{usual!r}, or protection.fatal = 'possible'")


def _spawn_master(scenario: Scenario, system: System) -> None:
    """Make the actor of the master, if there is one, and describe its link in the log."""
    section = scenario.master
    if section is None:
        return
    system.describe(LinkDescribed, section.channels, section.served)
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
        if platform.plain:
            return Worker(*about)
        section, name = platform[index], platform.name(index)
        owner, speeds, notices = always_up(), None, no_notices()
        if platform.alive(index):
            availability, stream = section.availability, f"availability/{name}"
            owner = platform.changes(index, system.stream(stream))
            if availability.notice:
                announced = platform.announced(index, system.stream(stream))
                notices = availability.noticed(announced)
            if section.price is None and (priced := availability.priced(index)):
                system.describe(WorkerPriced, *astuple(priced))
        if section.varies:
            speeds = section.speeds(system.stream(f"speed/{name}"), scenario.folder)
        return Worker(*about, owner, speeds, notices, index in platform.reserve)

    return make


def _rent(scenario: Scenario, system: System) -> None:
    platform, measures = scenario.full_platform, scenario.measures or MeasuresSection()
    if any(section.price is not None for section in platform.sections):
        hour = measures.hours(scenario.times, needed=True)
        for worker, section in enumerate(platform):
            if section.price is not None and hour:
                system.describe(WorkerRented, worker, section.price / hour)
