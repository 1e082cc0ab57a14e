"""Actors of your own in virtual time, on the runtime on which Holdfast's own world runs:
`from holdfast.actors import Actor, System, handles, message`.

What holds for every program: an actor handles one message at a time; what is sent at one instant
arrives in the order in which it was sent; timers of one instant come by phase, then in the order in
which they were set; times that differ by less than 1e-12 of their value are one instant; the same
program with the same seed has the same events, in the same order, in every run.
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
from sims.actor_log import ActorLog
from sims.log_writer import LogWriter

__all__ = [
    "NOTHING",
    "Actor",
    "ActorFailed",
    "ActorLog",
    "CoroutineActor",
    "Deadlock",
    "Event",
    "IllegalTransition",
    "Journal",
    "Livelock",
    "LogWriter",
    "Phase",
    "Record",
    "System",
    "Timer",
    "UnexpectedMessage",
    "handles",
    "message",
    "stream",
]
