"""Agents of your own in the world: `from holdfast.agents import Act, Agent, events, handles`.

An agent is an actor that hears of the events that its handlers name and acts on workers and jobs.
`holdfast.run(scenario, actors=[...])` puts it into a run, `[[agents]]` into a scenario file.
"""

import sims  # noqa: F401  # makes Holdfast's packages found, whatever lies beside the notebook
from actors import events
from actors.acts import Act
from actors.agents.adversary import Adversary
from actors.agents.agent import Agent, Reminder, Surroundings
from actors.agents.autoscaler import Autoscaler
from actors.agents.operator import Operator
from actors.agents.user import ClosedLoopUser
from actors.intervals import numbers_in
from actors.runtime import handles, message
from policies.availability import WorkerState

__all__ = [
    "Act",
    "Adversary",
    "Agent",
    "Autoscaler",
    "ClosedLoopUser",
    "Operator",
    "Reminder",
    "Surroundings",
    "WorkerState",
    "events",
    "handles",
    "message",
    "numbers_in",
]
