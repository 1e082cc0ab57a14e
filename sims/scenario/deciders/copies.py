"""The copies' decider: which policy, what speeds, what mean gain (004)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import cast

from actors.runtime import System
from policies.interface import RedundancyPolicy
from policies.maths.gains import Gain
from policies.maths.speeds import Change, SpeedProcess
from policies.redundancy import named
from sims.errors import InputError
from sims.scenario.faults import NoFaults
from sims.scenario.jobs.section import RigidSection
from sims.scenario.jobs.stream import Arrivals, arrivals
from sims.scenario.policies import load_policy
from sims.scenario.scenario import Scenario


def populate(scenario: Scenario, system: System, folder: Path) -> None:
    """Spawn the scenario's actors in `system`; files are looked for from `folder`.

    Raises InputError for what cannot be run.
    """
    check(scenario)
    raise NotImplementedError("the copies' actors are still to come")


def check(scenario: Scenario) -> None:
    """Raises InputError for what means nothing together."""
    pool = scenario.platform
    if pool is None or pool.gain is None:
        return
    if not isinstance(scenario.faults, NoFaults):
        problem = "under a mean gain no worker has a life of its own that could fail"
        raise InputError("scenario", "faults", problem, "platform.gain left out")
    if scenario.policy.name == "SRPT+R-noclone":
        problem = "g(r, t) is the furthest of copies that start from one state, by cloning"
        raise InputError("scenario", "policy.name", problem, "platform.gain left out")


def policy(scenario: Scenario, folder: Path) -> RedundancyPolicy:
    """Raises InputError where there is none of that name."""
    return cast(RedundancyPolicy, load_policy(scenario.policy, named, folder))


def stream(scenario: Scenario, system: System, folder: Path) -> Arrivals | None:
    """The jobs of `[job.stream]`, drawn as they come; None: there is no such table."""
    job = scenario.job
    if not isinstance(job, RigidSection) or job.stream is None:
        return None
    return arrivals(job.stream, scenario.crew.size, system, folder)


def processes(scenario: Scenario, folder: Path) -> list[SpeedProcess]:
    """Each worker's law of speed. Raises InputError."""
    try:
        return [worker.speed.process(folder) for worker in scenario.crew]
    except (ValueError, TypeError) as error:
        accepted = "parameters that its class takes"
        raise InputError("scenario", "platform.speed", str(error), accepted) from None


def paths(scenario: Scenario, system: System, folder: Path) -> list[Iterator[Change]]:
    """One stream per worker, so that all policies meet the same speeds."""
    crew = scenario.crew
    return [
        process.path(system.stream(f"speed/{crew.name(worker)}"))
        for worker, process in enumerate(processes(scenario, folder))
    ]


def gain(scenario: Scenario, system: System, folder: Path) -> Gain | None:
    """g(r, t) under mean semantics; None: every copy progresses as its worker does."""
    pool = scenario.platform
    if pool is None or pool.gain is None:
        return None
    return pool.gain.gain(processes(scenario, folder)[0], system.stream("gain"))
