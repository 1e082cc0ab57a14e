"""From a scenario to its scheduler, its master, its workers, and what befalls them."""

from __future__ import annotations

from math import isinf
from pathlib import Path
from typing import TYPE_CHECKING, cast

from attrs import astuple, frozen

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
from actors.worker import Worker, WorkerRegistry
from actors.worker_messages import Fail
from sims.scenario.faults import AnyFault, Struck
from sims.scenario.jobs.entries import CAP, HAZARD, MASTER, SCHEDULER
from sims.scenario.platform import Platform
from sims.scenario.scenario import MeasuresSection, Scenario
from sims.scenario.trace_files import SpotFile

if TYPE_CHECKING:
    from actors.deciders.pack import PackDecider
    from actors.master import Master


def describe_platform(scenario: Scenario, system: System) -> None:
    """What the log says of nodes, spares and detection, where there are any."""
    platform, laws = scenario.full_platform, scenario.faults.laws
    spares, detections = platform.size - platform.able, tuple(law.detection for law in laws)
    if platform.node > 1 or spares or any(detections):
        told = detections if any(detections) else ()
        system.journal.record(system.origin, PlatformDescribed, platform.node, spares, told)


def spawn_platform(
    scenario: Scenario, system: System, folder: Path, pool: Pool, decider: Decider, jobs: int
) -> Scheduler:
    """Spawn the scheduler, the master, the workers that have a life of their own, and what befalls
    them; `jobs`: how many will come. Raises InputError where one of them cannot be."""
    platform = scenario.full_platform
    scheduler = system.spawn(Scheduler(SCHEDULER, pool, decider, jobs))
    master = _master(scenario, system)
    registry = WorkerRegistry(system, _Maker(platform, system, folder, scheduler, master))
    scheduler.workers, scheduler.linked = registry, master is not None
    if platform.varies:
        pool.change_speed(0, 1.0)  # that they differ from 1 is known before the first job is made
    _rent(scenario, system)
    if master or not platform.plain:
        for worker in range(platform.size):
            if master or platform.alive(worker):
                registry(worker)
    for number, law in enumerate(scenario.faults.laws):
        if law.fit is not None:
            system.journal.record(system.origin, FaultsFitted, number, *astuple(law.fit))
        system.spawn(_hazard(scenario, system, law, number, scheduler, registry))
    if not isinf(scenario.cap):
        system.spawn(Cap(CAP, scenario.cap, scheduler))
    return scheduler


def _hazard(
    scenario: Scenario,
    system: System,
    law: AnyFault,
    number: int,
    scheduler: Scheduler,
    registry: WorkerRegistry,
) -> Hazard:
    """The first one's stream is called as if it were the only one."""
    nodes = scenario.full_platform.nodes if law.of is Struck.NODES else None
    own = f"/{number}" if number else ""
    count = len(nodes) if nodes else scenario.full_platform.size
    faults = law.faults(system.stream(f"faults{own}"), count)
    about = f"{HAZARD}{own}", faults, registry, Fail(law.downtime, law.detection), nodes
    pack = scenario.decider is DeciderKind.PACK
    if pack and not cast("PackDecider", scheduler.decider).fatal:
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


@frozen
class _Maker:
    """Makes a worker's actor."""

    platform: Platform
    system: System
    folder: Path
    scheduler: Scheduler
    master: Master | None

    def __call__(self, index: int) -> Worker:
        section, name = self.platform[index], self.platform.name(index)
        reports = self.scheduler.decider.wants_holdings
        called = name if self.platform.own else f"worker {index}"  # a pool's have numbers only
        worker = Worker(called, index, self.scheduler, self.master, reports)
        if self.platform.alive(index):
            stream = f"availability/{name}"
            worker.owner = self.platform.changes(index, self.system.stream(stream), self.folder)
            if section.availability.notice:
                rng = self.system.stream(stream)
                worker.notices = section.availability.notices(rng, self.folder)
            if section.price is None and isinstance(section.availability, SpotFile):
                self._price(index, section.availability)
        if section.varies:
            worker.speeds = section.speeds(self.system.stream(f"speed/{name}"), self.folder)
        return worker

    def _price(self, worker: int, trace: SpotFile) -> None:
        if priced := trace.priced(worker, self.folder):
            journal, origin = self.system.journal, self.system.origin
            journal.record(origin, WorkerPriced, *astuple(priced))


def _rent(scenario: Scenario, system: System) -> None:
    platform, measures = scenario.full_platform, scenario.measures or MeasuresSection()
    if any(section.price is not None for section in platform.sections):
        hour = measures.hours(scenario.times, needed=True)
        for worker, section in enumerate(platform):
            if section.price is not None and hour:
                system.journal.record(system.origin, WorkerRented, worker, section.price / hour)
