"""The `agents` of a scenario: actors of a user's own in its world."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field, SkipValidation

from actors.decisions import name_of
from sims.errors import unfit
from sims.scenario.own_code import OWN, imported, own
from sims.tables import Section
from sims.tables.refusals import not_accepted

if TYPE_CHECKING:
    from actors.agents.agent import Agent


class AgentSection(Section):
    """An entry of `agents`: an actor of the user's own that lives in the world."""

    name: str
    """`package.module:Name` of a class of agents; such as `actors.agents.user:ClosedLoopUser`."""
    parameters: dict[str, Any] = Field(default_factory=dict)
    """Arguments of the class's constructor. Every agent takes `name`, its name in the log, and
    `jobs`, the names of the jobs that it submits."""

    def loaded(self, folder: Path, place: str) -> Agent:
        """Return the agent, made of the class, which is looked for in `folder`; `place` is the key
        of the entry.

        Raises InputError where the class cannot be loaded, or is no class of agents.
        """
        from actors.agents.agent import Agent  # a scenario without agents needs none

        key = f"{place}.name"
        kind = imported(self.name, folder, key)
        if not (isinstance(kind, type) and issubclass(kind, Agent)):
            raise unfit(key, f"{self.name!r} is no class of agents", f"{OWN} of an Agent")
        made: Agent = own(self.name, self.parameters, folder, key)
        return made


class GivenAgent(AgentSection):
    """An entry of `agents` that is an object which a program gives."""

    given: SkipValidation[Any]

    def loaded(self, folder: Path, place: str) -> Agent:
        """Return the program's own object, which lives in one run. Raises InputError where it has
        been in another."""
        if hasattr(self.given, "system"):
            problem = f"{self.given.name} has been in a run"
            raise unfit("actors", problem, "a new agent for each run")
        found: Agent = self.given
        return found


def given(agent: Any) -> AgentSection:
    """Return the entry of `agents` that stands for an agent that a program gives. Raises TypeError
    where it is none."""
    from actors.agents.agent import Agent

    if not isinstance(agent, Agent):
        raise TypeError(f"actors: {agent!r} is no agent; accepted: objects of holdfast.Agent")
    return GivenAgent(name=name_of(agent), given=agent)


def agents_of(entries: Iterable[AgentSection], folder: Path) -> tuple[Agent, ...]:
    """Return the agents of a run, made of a scenario's entries; code is looked for in `folder`.

    Raises InputError where one cannot be made.
    """
    return checked(it.loaded(folder, f"agents.{k}") for k, it in enumerate(entries))


def checked(agents: Iterable[Agent]) -> tuple[Agent, ...]:
    """Return the agents of one run, in order.

    Raises InputError where an agent handles events of which nobody in the world knows, where one
    has no name that a job could have, and where two agents have one name.
    """
    found = tuple(agents)
    if not found:
        return found
    from actors.agents.agent import SECRET

    for agent in found:
        if not (isinstance(agent.name, str) and agent.name.isprintable()):
            raise unfit("agents", not_accepted(agent.name), "names without control characters")
        for kind in agent.hears():
            if kind in SECRET:
                problem = (
                    f"{agent.name} hears of {kind.__name__}, of which nobody in the world knows"
                )
                raise unfit("agents", problem, "handlers of other events")
    names = [agent.name for agent in found]
    if twin := next((name for name in names if names.count(name) > 1), None):
        raise unfit("agents", f"two agents are called {twin!r}", "`name` in their parameters")
    return found


def submitters(agents: Sequence[Agent], jobs: Iterable[str]) -> dict[str, str]:
    """Map the name of each of these jobs that an agent submits to the agent's name.

    Raises InputError where two agents submit one job, and for an agent that names no job.
    """
    known, found = list(jobs), dict[str, str]()
    for agent in agents:
        for pattern in agent.jobs:
            own = [name for name in known if fnmatchcase(name, pattern)]
            if not own:
                raise unfit("agents", f"{agent.name} submits {pattern!r}", "names of jobs, or `*`")
            for name in own:
                if found.setdefault(name, agent.name) != agent.name:
                    problem = f"{found[name]} and {agent.name} both submit {name}"
                    raise unfit("agents", problem, "each job with one of them")
    return found
