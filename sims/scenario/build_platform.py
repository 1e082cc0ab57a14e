"""From a scenario to its scheduler, its master, its workers, and what befalls them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import isinf
from pathlib import Path
from typing import TYPE_CHECKING, cast

from attrs import astuple

from actors.events import (
    DeciderKind,
    FaultsFitted,
    LinkDescribed,
    PlatformDescribed,
    WorkerPriced,
    WorkerRented,
)
from actors.hazards import Hazard, PaperFaults
from actors.limit import Cap
from actors.pool import Pool
from actors.runtime import System
from actors.scheduler import Decider, Scheduler
from actors.worker import Worker
from actors.worker_messages import Fail
from actors.worker_registry import WorkerRegistry
from sims.scenario.availability import Overlaid
from sims.scenario.build_jobs import Makers
from sims.scenario.faults import AnyFault, Struck
from sims.scenario.jobs.entries import CAP, HAZARD, MASTER, SCHEDULER
from sims.scenario.platform import Platform
from sims.scenario.scenario import MeasuresSection, Scenario
from sims.scenario.trace_files import SpotFile

if TYPE_CHECKING:
    from actors.deciders.pack import PackDecider
    from actors.master import Master


def spawn_platform(
    scenario: Scenario,
    system: System,
    folder: Path,
    pool: Pool,
    decider: Decider,
    jobs: int,
) -> Makers:
    """Spawn the scheduler, the master, the workers that have a life of their own, and what befalls
    them; `jobs`: how many will come. Raises InputError where one of them cannot be."""
    scheduler = system.spawn(Scheduler(SCHEDULER, pool, decider, jobs))
    master = _master(scenario, system)
    make = _maker(scenario, system, scheduler, master, folder, decider.wants_holdings)
    registry = WorkerRegistry(system, make)
    scheduler.workers, scheduler.linked = registry, master is not None
    if scenario.full_platform.varies:
        pool.change_speed(0, 1.0)  # that they differ from 1 is known before the first job is made
    _rent(scenario, system)
    for worker in _living(scenario):
        registry(worker)
    ignored = decider if scenario.decider is DeciderKind.PACK else None
    for number, law in enumerate(scenario.faults.laws):
        if law.fit is not None:
            system.journal.record(system.origin, FaultsFitted, number, *astuple(law.fit))
        system.spawn(_hazard(scenario, system, law, number, ignored, scheduler, registry))
    if not isinf(scenario.cap):
        system.spawn(Cap(CAP, scenario.cap, scheduler))
    if scenario.decider is not DeciderKind.PACK:
        return Makers(scheduler, reports=decider.wants_progress)
    pack = cast("PackDecider", decider)
    return Makers(scheduler, costs=pack.costs, fatal=pack.fatal)


def describe_platform(scenario: Scenario, system: System) -> None:
    """What the log says of nodes, spares and detection, where there are any."""
    platform, laws = scenario.full_platform, scenario.faults.laws
    spares, detections = platform.size - platform.able, tuple(law.detection for law in laws)
    if platform.node > 1 or spares or any(detections):
        told = detections if any(detections) else ()
        system.journal.record(system.origin, PlatformDescribed, platform.node, spares, told)


def _hazard(
    scenario: Scenario,
    system: System,
    law: AnyFault,
    number: int,
    decider: Decider | None,
    scheduler: Scheduler,
    registry: WorkerRegistry,
) -> Hazard:
    """The first one's stream is called as if it were the only one."""
    nodes = scenario.full_platform.nodes if law.of is Struck.NODES else None
    own = f"/{number}" if number else ""
    count = len(nodes) if nodes else scenario.full_platform.size
    faults = law.faults(system.stream(f"faults{own}"), count)
    about = f"{HAZARD}{own}", faults, registry, Fail(law.downtime, law.detection), nodes
    if decider is not None and not cast("PackDecider", decider).fatal:
        return PaperFaults(*about, scheduler=scheduler)
    return Hazard(*about)


def _master(scenario: Scenario, system: System) -> Master | None:
    section = scenario.master
    if section is None:
        return None
    system.journal.record(system.origin, LinkDescribed, section.channels, section.served)
    order = section.service(scenario.full_platform, scenario.cap)
    from actors.master import Master

    return system.spawn(Master(MASTER, section.channels, order))


def _living(scenario: Scenario) -> Iterator[int]:
    """Workers with an owner, a speed of their own, or a memory that a master fills."""
    platform = scenario.full_platform
    if scenario.master is None and platform.plain:
        return
    for worker in range(platform.size):
        if scenario.master is not None or not platform[worker].plain:
            yield worker


def _maker(
    scenario: Scenario,
    system: System,
    scheduler: Scheduler,
    master: Master | None,
    folder: Path,
    reports: bool,
) -> Callable[[int], Worker]:
    platform = scenario.full_platform

    def make(index: int) -> Worker:
        section, name = platform[index], platform.name(index)
        worker = Worker(actor_name(platform, index), index, scheduler, master, reports)
        if not section.plain:
            stream, availability = f"availability/{name}", section.availability
            worker.owner = availability.changes(system.stream(stream), folder)
            if availability.notice:
                worker.notices = availability.notices(system.stream(stream), folder)
            if section.price is None:
                _price(section.availability, index, system, folder)
        if section.varies:
            worker.speeds = section.speeds(system.stream(f"speed/{name}"), folder)
        return worker

    return make


def _rent(scenario: Scenario, system: System) -> None:
    platform, measures = scenario.full_platform, scenario.measures or MeasuresSection()
    if any(section.price is not None for section in platform.sections):
        hour = measures.hours(scenario.times, needed=True)
        for worker, section in enumerate(platform):
            if section.price is not None and hour:
                system.journal.record(system.origin, WorkerRented, worker, section.price / hour)


def _price(availability: object, worker: int, system: System, folder: Path) -> None:
    under = availability.under if isinstance(availability, Overlaid) else availability
    priced = under.priced(worker, folder) if isinstance(under, SpotFile) else None
    if priced is not None:
        system.journal.record(system.origin, WorkerPriced, *astuple(priced))


def actor_name(platform: Platform, worker: int) -> str:
    """A pool's workers have numbers only."""
    return platform.name(worker) if platform.own else f"worker {worker}"
