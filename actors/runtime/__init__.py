"""The virtual-time runtime: event loop, actors, system, journal and streams of random numbers.

The rest of the project uses the names exported here and does not depend on asyncio's internals.
Coroutine actors (`coroutines`) and plain asyncio programs (`simulate`) are for users' own
simulations: Holdfast's world needs neither, and a run of it does not load them.
"""

from actors.runtime.actor import Actor, Home, constants_as_arguments, handles, message
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
    WorkersRetired,
)
from actors.runtime.journal import Event, Journal, JsonLines, Record, RecordOfActor, Sink, fact
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
    "RecordOfActor",
    "RuntimeFault",
    "Sink",
    "Stalled",
    "System",
    "Timer",
    "UnexpectedMessage",
    "Unresolved",
    "VirtualTimeLoop",
    "WorkersRetired",
    "constants_as_arguments",
    "fact",
    "handles",
    "message",
    "rare_collections",
    "stream",
]
