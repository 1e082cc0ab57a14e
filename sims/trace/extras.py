"""Events of one mechanism alone, told in a line each, by the mechanism's own module."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from actors.runtime import Event
from sims.trace import pack, queue

Titles = Mapping[type[Event], Callable[[Any, str], str | None]]
"""What to say of an event of this class in the life of a job; None where it is not concerned."""

EXTRAS: Titles = {**queue.TITLES, **pack.TITLES}
