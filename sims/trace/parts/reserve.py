"""Words for workers of the reserve."""

from __future__ import annotations

from actors.events import ReserveCalled
from sims.trace.parts.about import Words

WORDS: Words = {
    ReserveCalled: lambda it, about: f"{about.worker(it.worker)} of the reserve is called for it",
}
