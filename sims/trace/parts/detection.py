"""Words for faults that are detected late."""

from __future__ import annotations

from actors.events import FaultDetected
from sims.trace.parts.about import Words

WORDS: Words = {
    FaultDetected: lambda it, about: f"the fault of {about.worker(it.worker)} is detected",
}
