"""Words for standbys."""

from __future__ import annotations

from actors.events import StandbyJoined, StandbyLost, StandbysHeld
from sims.trace.parts.about import Words

WORDS: Words = {
    StandbysHeld: lambda it, _: f"has workers {it.processors} as standbys",
    StandbyJoined: lambda it, about: f"{about.worker(it.worker)}, repaired, becomes a standby",
    StandbyLost: lambda it, about: f"standby {about.worker(it.worker)} goes DOWN and leaves",
}
