"""Builders of agents: the door through which they act, and what of it has no meaning in a
scenario."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from actors.agents.acts import DOOR, Act
from actors.decisions import name_of
from actors.events import AgentDescribed, DeciderKind
from actors.runtime import Actor, System
from sims.errors import unfit
from sims.scenario import Scenario, Unit
from sims.scenario.agents import submitters
from sims.scenario.jobs import SCHEDULER
from sims.scenario.workload import Workload


def submitted_by(scenario: Scenario, jobs: Workload | None) -> dict[str, str]:
    """Map the name of each job that an agent submits to the agent's name.

    Raises InputError where a job cannot be left to an agent.
    """
    agents = scenario.present
    if jobs is None or scenario.decider is DeciderKind.COPIES:
        if any(agent.jobs for agent in agents):
            problem = f"{scenario.policy_name} gets each job as it arrives"
            raise unfit("agents", problem, "agents that submit no jobs")
        return {}
    found = submitters(agents, [job.name for job in jobs.jobs]) if agents else {}
    for job in jobs.jobs if found else ():
        if job.index in jobs.waits and job.name in found:
            problem = f"{found[job.name]} submits {job.name}, which follows others"
            raise unfit("agents", problem, "jobs without `after`")
    return found


def describe_agents(scenario: Scenario, system: System, submits: Mapping[str, str]) -> None:
    """Describe the agents in the log, with the jobs that each submits."""
    for agent in scenario.present:
        hears = tuple(kind.__name__ for kind in agent.hears())
        jobs = tuple(job for job, name in submits.items() if name == agent.name)
        system.describe(AgentDescribed, agent.name, name_of(agent), hears, jobs)


def spawn_door(
    scenario: Scenario,
    system: System,
    workers: Callable[[int], Actor],
    submits: Mapping[str, str],
    ignored: bool,
) -> None:
    """Make the door through which the agents of the scenario act, if it has any. `ignored`: a pack
    ignores some faults."""
    if not scenario.present:
        return
    from actors.agents.agent import Surroundings  # a world without agents needs none
    from actors.agents.door import Door

    platform = scenario.full_platform
    delays = [law.detection for law in scenario.faults.laws if not law.hangs]
    around = Surroundings(
        platform.size, platform.node, platform.reserve, scenario.times is Unit.SLOT
    )
    own = enumerate(platform) if platform.acts and platform.sections else ()
    changing = frozenset(worker for worker, section in own if section.varies)
    detection, differ = delays[0] if delays else 0, len(set(delays)) > 1
    scheduler, refused = system.find(SCHEDULER), _refused(scenario, ignored)
    about = detection, differ, submits, changing, scheduler, refused
    system.spawn(Door(DOOR, around, workers, *about))


def spawn_agents(scenario: Scenario, system: System) -> None:
    """Make the agents of the scenario, once all others are there."""
    for agent in scenario.present:
        if agent.name in system.actors:
            problem = f"{agent.name!r} is the name of another actor"
            raise unfit("agents", problem, "`name` in its parameters")
        system.spawn(agent)


def _refused(scenario: Scenario, ignored: bool) -> dict[Act, str]:
    """Map the acts that have no meaning in this scenario to the reason. `ignored`: a pack ignores
    some faults."""
    found = dict[Act, str]()
    if ignored:
        reason = "the pack ignores faults; accepted: protection.fatal = 'possible'"
        found |= dict.fromkeys((Act.FAIL, Act.HANG), reason)
    if scenario.repair is not None:
        reason = "with [repair] a law of faults strikes units; accepted: taking the worker DOWN"
        found |= dict.fromkeys((Act.FAIL, Act.HANG), reason)
    if not scenario.full_platform.reserve:
        found[Act.CALL] = "there is none; accepted: a scenario with platform.reserve"
    return found
