"""Words for members that are replaced."""

from __future__ import annotations

from actors.events import MemberReplaced
from sims.trace.parts.about import Words

WORDS: Words = {
    MemberReplaced: lambda it, about: (
        f"{about.worker(it.replacement)} replaces {about.worker(it.worker)}"
    ),
}
