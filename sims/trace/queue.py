"""What the queue's deciders promise a job."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from actors.events import ReservationMade
from actors.runtime import Event
from sims.telling import counted


def _promise(event: ReservationMade, job: str) -> str | None:
    title = f"promised {counted(event.processors, 'worker')} from {event.start:g} on"
    return title if event.job == job else None


TITLES: Mapping[type[Event], Callable[[Any, str], str | None]] = {ReservationMade: _promise}
