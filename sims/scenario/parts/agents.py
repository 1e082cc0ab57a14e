"""Agents: actors of a user's own in the world, and the door through which they act. Their table is
`agents`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from actors.acts import DOOR, Act
from actors.decisions import name_of
from actors.events import AgentDescribed, DeciderKind
from actors.runtime import Actor, Sink, System, VirtualTimeLoop
from sims.errors import unfit
from sims.scenario import Scenario, Unit
from sims.scenario.agents import submitters
from sims.scenario.jobs import SCHEDULER
from sims.scenario.parts.part import Made, ScenarioPart, Site
from sims.scenario.submissions import Workload


class Agents(ScenarioPart):
    """The agents of a run."""

    def submits(self, scenario: Scenario, jobs: Workload | None) -> dict[str, str]:
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

    def code(self, scenario: Scenario) -> Mapping[str, str]:
        return {f"agents.{k}.name": it.name for k, it in enumerate(scenario.agents)}

    def without_code(self, scenario: Scenario) -> Mapping[str, Any]:
        return {"agents": ()}

    def introduce(self, scenario: Scenario, system: System, submits: Mapping[str, str]) -> None:
        """Describe the agents in the log, with the jobs that each submits."""
        for agent in scenario.present:
            hears = tuple(kind.__name__ for kind in agent.hears())
            jobs = tuple(job for job, name in submits.items() if name == agent.name)
            system.describe(AgentDescribed, agent.name, name_of(agent), hears, jobs)

    def sinks(self, scenario: Scenario, loop: VirtualTimeLoop) -> Iterator[Sink]:
        """Yield the sink that lets the agents hear of events."""
        if scenario.present:
            from actors.agents.agent import Ears  # a run without agents needs none

            yield Ears.of(loop, scenario.present)

    def disturbs(self, scenario: Scenario) -> Iterator[str]:
        if scenario.acts:
            yield "agents"

    def acts_refused(self, scenario: Scenario, ignored: bool) -> Mapping[Act, str]:
        if not ignored:
            return {}
        reason = "the pack ignores faults; accepted: protection.fatal = 'possible'"
        return {Act.HANG: reason}

    def after(self, site: Site) -> Iterator[Actor]:
        """Make the door through which the agents act, if there are any."""
        scenario = site.scenario
        if not scenario.present:
            return
        from actors.agents.agent import Surroundings  # a world without agents needs none
        from actors.agents.door import Door

        platform = scenario.full_platform
        delays = [law.detection for law in scenario.faults.laws if not law.hangs]
        around = Surroundings(
            platform.size, platform.node, platform.kept, scenario.times is Unit.SLOT
        )
        own = enumerate(platform) if platform.acts and platform.sections else ()
        changing = frozenset(worker for worker, section in own if section.varies)
        detection, differ = delays[0] if delays else 0, len(set(delays)) > 1
        about = detection, differ, site.submits, changing, site.system.find(SCHEDULER)
        yield Door(DOOR, around, site.workers, *about, site.ignores, dict(site.refused))

    def submitters(self, site: Site, made: Made) -> Mapping[int, Actor]:
        if site.jobs is None or not site.submits:
            return {}
        door = site.system.find(DOOR)
        return {job.index: door for job in site.jobs.jobs if job.name in site.submits}

    def kind_of_own(self, actor: Actor | None) -> str:
        from actors.agents.agent import Agent  # few runs fail

        own = isinstance(actor, Agent) and not type(actor).__module__.startswith("actors.")
        return "agent" if own else ""

    def last(self, scenario: Scenario, system: System) -> None:
        """Make the agents of the scenario, once all other actors are there."""
        for agent in scenario.present:
            if agent.name in system.actors:
                problem = f"{agent.name!r} is the name of another actor"
                raise unfit("agents", problem, "`name` in its parameters")
            system.spawn(agent)
