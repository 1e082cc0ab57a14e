"""From a scenario to the actors that live it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import isinf
from pathlib import Path

from actors.deciders.pack import PackDecider, PaperFaults
from actors.events import JobsLeftOut, LinkDescribed, RunStarted
from actors.hazards import Hazard
from actors.limit import Cap
from actors.master import Master
from actors.pool import Pool, compact, lowest
from actors.runtime import System
from actors.scheduler import Decider, Scheduler
from actors.worker import Worker
from actors.workforce import Workforce
from sims.errors import InputError
from sims.scenario.build_jobs import Makers, plain, spawn_jobs
from sims.scenario.deciders import copies, enrolment, pack, queue
from sims.scenario.faults import NoFaults
from sims.scenario.jobs.common import CAP, HAZARD, MASTER, SCHEDULER
from sims.scenario.platform import Platform
from sims.scenario.policy import DeciderKind
from sims.scenario.scenario import Scenario
from sims.scenario.speeds import Constant
from sims.scenario.workload import Workload, workload


def populate(scenario: Scenario, system: System, folder: Path) -> None:
    """Spawn the scenario's actors in `system`; files are looked for from `folder`.

    Raises InputError for what cannot be run.
    """
    scenario.errors.check()
    if not scenario.crew.size:
        accepted = "[platform], [[workers]] or [random_workers]"
        raise InputError("scenario", "platform", "there are no workers", accepted)
    if scenario.decider is DeciderKind.COPIES:
        copies.populate(scenario, system, folder)
    else:
        _populate(scenario, system, folder)


def _populate(scenario: Scenario, system: System, folder: Path) -> None:
    jobs, crew = workload(scenario, system, folder), scenario.crew
    for reason, count in jobs.left_out:
        system.journal.describe(JobsLeftOut, reason, count)
    workers: dict[int, Worker] = {}
    decider: Decider
    if scenario.decider is DeciderKind.PACK:
        decider = pack.decider(scenario, jobs, system, folder)
    elif scenario.decider is DeciderKind.ENROLMENT:
        decider = enrolment.decider(scenario, crew, jobs, folder, workers)
    else:
        decider = queue.decider(scenario, crew, jobs, folder, workers)
    people(scenario, system, jobs, decider, folder, workers)


def people(
    scenario: Scenario,
    system: System,
    jobs: Workload,
    decider: Decider,
    folder: Path,
    workers: dict[int, Worker],
) -> Scheduler:
    """Spawn the scheduler, the master, the workers that have a life of their own, what befalls
    them, and the jobs; `workers` gets each worker that has an actor, by number. Raises InputError
    where one of them cannot be."""
    pool = _pool(scenario, system, jobs)
    scheduler = Scheduler(SCHEDULER, pool, decider, len(jobs.submissions))
    pool.take = queue.take(scenario, jobs, scheduler, folder) or pool.take
    system.spawn(scheduler)
    master = _master(scenario, system)
    workforce = Workforce(system, _maker(scenario, system, scheduler, master, folder), workers)
    if any(section.speed != Constant() for section in scenario.crew.sections):
        pool.change_speed(0, 1.0)  # that they differ from 1 is known before the first job is made
    for worker in _living(scenario):
        workforce(worker)
    if not isinstance(scenario.faults, NoFaults):
        faults = scenario.faults.faults(system.stream("faults"), scenario.crew.size)
        who = HAZARD, faults, workforce
        if isinstance(decider, PackDecider) and not pack.fatal(scenario):
            system.spawn(PaperFaults(*who, decider))
        else:
            system.spawn(Hazard(*who))
    if not isinf(scenario.cap):
        system.spawn(Cap(CAP, scenario.cap, scheduler))
    spawn_jobs(scenario, system, jobs, _makers(scenario, scheduler, workforce))
    return scheduler


def _makers(scenario: Scenario, scheduler: Scheduler, workforce: Workforce) -> Makers:
    speeds, decider = scheduler.pool.speeds, scheduler.decider
    if isinstance(decider, PackDecider):
        return Makers(scheduler, workforce, speeds, decider.costs, pack.fatal(scenario))
    return Makers(scheduler, workforce, speeds)


def _pool(scenario: Scenario, system: System, jobs: Workload) -> Pool:
    """Numbers are looked up only where they matter; where they are only names, a run gets the
    fewest intervals of them."""
    faults = not isinstance(scenario.faults, NoFaults)
    changing = faults or not all(section.plain for section in scenario.crew.sections)
    whole = all(plain(scenario, it) for it in jobs.submissions)
    placed = scenario.policy.placement not in (None, "lowest", "compact")
    numbered = changing or placed or not whole or system.journal.wants(RunStarted)
    named = {None: compact if whole and not changing else lowest, "compact": compact}
    take = named.get(scenario.policy.placement, lowest)
    return Pool(scenario.crew.size, numbered, changing, take)


def _master(scenario: Scenario, system: System) -> Master | None:
    section = scenario.master
    if section is None:
        return None
    system.journal.describe(LinkDescribed, section.channels)
    order = section.service(scenario.crew, scenario.cap)
    return system.spawn(Master(MASTER, section.channels, order))


def _living(scenario: Scenario) -> Iterator[int]:
    """Workers with an owner, a speed of their own, or a memory that a master fills."""
    crew = scenario.crew
    if scenario.master is None and all(section.plain for section in crew.sections):
        return
    for worker in range(crew.size):
        if scenario.master is not None or not crew[worker].plain:
            yield worker


def _maker(
    scenario: Scenario,
    system: System,
    scheduler: Scheduler,
    master: Master | None,
    folder: Path,
) -> Callable[[int], Worker]:
    crew, downtime = scenario.crew, scenario.faults.downtime

    def make(index: int) -> Worker:
        section, name = crew[index], crew.name(index)
        worker = Worker(actor_name(crew, index), index, scheduler, master, downtime=downtime)
        if not section.plain:
            rng = system.stream(f"availability/{name}")
            worker.owner = section.availability.changes(rng, folder)
        if section.speed != Constant():
            rng = system.stream(f"speed/{name}")
            worker.speeds = section.speed.process(folder).path(rng)
        return worker

    return make


def actor_name(crew: Platform, worker: int) -> str:
    """A pool's workers have numbers only."""
    return crew.name(worker) if crew.own else f"worker {worker}"
