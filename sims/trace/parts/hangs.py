"""Words for members that hang."""

from __future__ import annotations

from actors.events import HangDetected, RunHung
from sims.trace.parts.about import Words

WORDS: Words = {
    RunHung: lambda it, about: (
        f"hangs on {about.worker(it.worker)}: no work is done until that is detected"
    ),
    HangDetected: lambda it, about: f"the hang on {about.worker(it.worker)} is detected",
}
