"""The virtual-time runtime: loop, actors, system, journal, randomness.

The rest of the project uses these names and knows nothing of asyncio's insides.
"""

from actors.runtime.actor import Actor, Home, handles, message
from actors.runtime.entries import NOTHING, Phase, Timer
from actors.runtime.errors import (
    ActorFailed,
    Deadlock,
    IllegalTransition,
    Livelock,
    OutsideWorldError,
    RuntimeFault,
    Stalled,
    UnexpectedMessage,
    Unresolved,
)
from actors.runtime.journal import Event, Journal, JsonLines, Record, Sink
from actors.runtime.loop import VirtualTimeLoop
from actors.runtime.system import System, rare_collections, stream

__all__ = [
    "NOTHING",
    "Actor",
    "ActorFailed",
    "Deadlock",
    "Event",
    "Home",
    "IllegalTransition",
    "Journal",
    "JsonLines",
    "Livelock",
    "OutsideWorldError",
    "Phase",
    "Record",
    "RuntimeFault",
    "Sink",
    "Stalled",
    "System",
    "Timer",
    "UnexpectedMessage",
    "Unresolved",
    "VirtualTimeLoop",
    "handles",
    "message",
    "rare_collections",
    "stream",
]
