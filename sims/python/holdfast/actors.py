"""Actors of your own in virtual time, on the runtime on which Holdfast's own world runs:
`from holdfast.actors import Actor, System, handles, message`.

The names are those of the runtime. Promises that hold for every program: an actor handles one
message at a time; what is sent at one instant arrives in the order in which it was sent; timers of
one instant come by phase, then in the order in which they were set; the same program with the same
seed has the same events, in the same order, in every run.
"""

import sims  # noqa: F401  # makes Holdfast's packages found, whatever lies beside the notebook
from actors.runtime import (
    NOTHING,
    Actor,
    ActorFailed,
    Deadlock,
    Event,
    IllegalTransition,
    Journal,
    Livelock,
    Phase,
    Record,
    System,
    Timer,
    UnexpectedMessage,
    handles,
    message,
    stream,
)
from actors.runtime.coroutines import CoroutineActor

__all__ = [
    "NOTHING",
    "Actor",
    "ActorFailed",
    "CoroutineActor",
    "Deadlock",
    "Event",
    "IllegalTransition",
    "Journal",
    "Livelock",
    "Phase",
    "Record",
    "System",
    "Timer",
    "UnexpectedMessage",
    "handles",
    "message",
    "stream",
]
