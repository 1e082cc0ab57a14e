"""Events of one mechanism alone, told in a line each, by the mechanism's own module."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from actors.runtime import Event
from sims.trace import queue

Titles = Mapping[type[Event], Callable[[Any], str]]
"""What to say of an event of this class that names the job (and maybe a run of it)."""

EXTRAS: Titles = {**queue.TITLES}
