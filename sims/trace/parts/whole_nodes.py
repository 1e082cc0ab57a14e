"""Words for whole nodes."""

from __future__ import annotations

from actors.events import NodesHeld
from sims.trace.parts.about import Words

WORDS: Words = {
    NodesHeld: lambda it, _: f"holds whole nodes: workers {it.processors} of them are idle",
}
"""Words for events of mechanisms."""
