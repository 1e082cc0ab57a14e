"""From a scenario to the actors that live it.

Deciders are imported where they are asked for: no run waits for what others need.
"""

from __future__ import annotations

import warnings
from pathlib import Path

from actors.events import DeciderKind, RunStarted
from actors.pool import Pool, compact, lowest
from actors.runtime import System
from actors.scheduler import Decider
from sims.errors import InputError
from sims.scenario.build_jobs import plain, spawn_jobs
from sims.scenario.build_platform import describe_platform, spawn_platform
from sims.scenario.deciders import queue
from sims.scenario.faults import NoFaults
from sims.scenario.scenario import Scenario
from sims.scenario.workload import Workload, asked_of, workload


def populate(scenario: Scenario, system: System, folder: Path) -> int:
    """Spawn the scenario's actors in `system`; files are looked for from `folder`. Returns how many
    jobs will come.

    Raises InputError for what cannot be run.
    """
    if scenario.measures is not None:
        scenario.measures.tell(system, scenario.times)
    if not scenario.full_platform.size:
        accepted = "[platform], [[workers]] or [random_workers]"
        raise InputError("scenario", "platform.workers", "there are 0", accepted)
    if not scenario.full_platform.plain:
        from sims.scenario import beliefs

        beliefs.refuse_mixed(scenario.full_platform, folder)
        scenario = beliefs.with_mtbf(scenario, folder)
    if scenario.decider is DeciderKind.COPIES:
        from sims.scenario.deciders import copies

        return copies.populate(scenario, system, folder)
    return _populate(scenario, system, folder)


def _populate(scenario: Scenario, system: System, folder: Path) -> int:
    jobs, platform = workload(scenario, system, folder), scenario.full_platform
    _warn_of_copies(jobs, platform.size)
    jobs.tell(system)
    describe_platform(scenario, system)
    decider: Decider
    if scenario.decider is DeciderKind.PACK:
        from sims.scenario.deciders import pack

        decider = pack.decider(scenario, jobs, system, folder)
    elif scenario.decider is DeciderKind.ENROLMENT:
        from sims.scenario.deciders import enrolment

        decider = enrolment.decider(scenario, platform, jobs, folder)
    elif scenario.decider is DeciderKind.DEADLINE:
        from sims.scenario.deciders import deadline

        decider = deadline.decider(scenario, platform, jobs, folder)
    else:
        decider = queue.decider(scenario, platform, jobs, folder)
    pool, count = _pool(scenario, system, jobs), len(jobs.submissions)
    scheduler = spawn_platform(scenario, system, folder, pool, decider, count)
    pool.take = queue.take(scenario, jobs, scheduler, folder) or pool.take
    spawn_jobs(scenario, system, jobs, scheduler)
    return count


def _warn_of_copies(jobs: Workload, workers: int) -> None:
    """One line for jobs of which no two copies fit."""
    asked = [(it.job.name, asked_of(it.job)) for it in jobs.submissions if it.protection.copies > 1]
    wide = [(name, width) for name, width in asked if 2 * width > workers]
    if wide:
        (name, width), more = wide[0], f", and so for {len(wide) - 1:,} more" if wide[1:] else ""
        text = f"protection.copies has no effect for {name}: a second copy of a job that is "
        warnings.warn(f"{text}{width} wide never fits on {workers} workers{more}", stacklevel=2)


def _pool(scenario: Scenario, system: System, jobs: Workload) -> Pool:
    """Numbers are looked up only where they matter: to a hazard, a placement, a log."""
    platform = scenario.full_platform
    able, spares = platform.able, platform.size - platform.able
    if scenario.decider in (DeciderKind.ENROLMENT, DeciderKind.DEADLINE):
        return Pool(able, numbered=True, changing=True, spares=spares, named=True)
    faults = not isinstance(scenario.faults, NoFaults)
    changing = faults or not platform.plain
    whole = all(plain(scenario, it) for it in jobs.submissions)
    placed = scenario.policy.placement not in (None, "lowest", "compact")
    numbered = changing or placed or not whole or system.journal.wants(RunStarted)
    take = compact if scenario.policy.placement == "compact" else lowest
    return Pool(able, numbered, changing, take, spares)
