"""Lists the words for events of mechanisms."""

from __future__ import annotations

from sims.trace.parts import (
    detection,
    hangs,
    replacement,
    replicas,
    reserve,
    standbys,
    whole_nodes,
)
from sims.trace.parts.about import Words

OF_MECHANISMS: Words = {
    **detection.WORDS,
    **hangs.WORDS,
    **replacement.WORDS,
    **replicas.WORDS,
    **reserve.WORDS,
    **standbys.WORDS,
    **whole_nodes.WORDS,
}
"""Words for the events of all mechanisms; an event is in no two of them."""
