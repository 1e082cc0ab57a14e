"""Which accountant retells which kind of log."""

from __future__ import annotations

from collections.abc import Callable

from sims.uses.batch import BatchAccountant
from sims.uses.malleable import MalleableAccountant
from sims.uses.redundant import RedundantAccountant
from sims.uses.slices import Accountant
from sims.uses.volatile import VolatileAccountant

ACCOUNTANTS: dict[str, Callable[[], Accountant]] = {
    "iterative": VolatileAccountant,
    "rigid": BatchAccountant,
    "moldable": BatchAccountant,
    "malleable": MalleableAccountant,
    "redundant": RedundantAccountant,
}


def accountant(kind: str) -> Accountant:
    """A fresh accountant for a log of jobs of `kind` (ScenarioStarted.kind)."""
    return ACCOUNTANTS[kind]()
