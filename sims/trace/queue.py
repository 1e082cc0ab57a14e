"""What the queue's deciders promise a job."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from actors.events import ReservationMade
from actors.runtime import Event
from sims.telling import counted


def _promise(event: ReservationMade) -> str:
    return f"promised {counted(event.processors, 'worker')} from {event.start:g} on"


TITLES: Mapping[type[Event], Callable[[Any], str]] = {ReservationMade: _promise}
