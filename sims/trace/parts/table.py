"""Lists the words for events and counts of mechanisms."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sims.history.summary import Repairs
from sims.trace.parts import (
    detection,
    hangs,
    repair,
    replacement,
    replicas,
    reserve,
    standbys,
    whole_nodes,
)
from sims.trace.parts.about import Acts, Words

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
ACTS_OF_MECHANISMS: Acts = reserve.ACTS
"""Words for what an agent does with mechanisms."""
ROWS: tuple[Callable[[Repairs], Iterator[tuple[str, str]]], ...] = (
    *(replicas.rows, repair.rows, reserve.rows),
)
"""Functions that yield the rows of a summary about mechanisms, as pairs of a name and a text, in
the order of the summary."""
