"""Words for workers of the reserve."""

from __future__ import annotations

from collections.abc import Iterator

from actors.events import AgentCalledReserve, ReserveCalled
from sims.history.summary import Repairs
from sims.telling import counted, worker_of
from sims.trace.parts.about import Acts, Words

WORDS: Words = {
    ReserveCalled: lambda it, about: f"{about.worker(it.worker)} of the reserve is called for it",
}
ACTS: Acts = {
    AgentCalledReserve: lambda it, started: f"calls {worker_of(started, it.worker)} of the reserve",
}


def rows(repairs: Repairs) -> Iterator[tuple[str, str]]:
    """Yield how many workers were called, if any."""
    if repairs.called:
        yield "reserve", f"{counted(repairs.called, 'worker')} called"
