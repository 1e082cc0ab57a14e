"""Says what partitions mean for a waiting job: which workers it may have, and which of them other
jobs may have too."""

from __future__ import annotations

from actors.intervals import text
from sims.history.states import Partition


def of_partition(mine: Partition) -> str:
    """Return words that name the partition to which workers belong."""
    return f" of partition {mine.name}{' in whole nodes' if mine.exclusive else ''}"


def sharing(mine: Partition | None, other: str, its: Partition | None) -> str:
    """Return words that say which workers the partition `its` of the job called `other` shares with
    that of the waiting job, `mine`; only the name where all workers form one pool."""
    if mine is None:
        return other
    if its is mine:
        return f"{other} of the same partition"
    shared = text(mine.shared(its) if its is not None else ()).replace(" ", ", ")
    return f"{other}, whose partition {its.name if its else ''} shares workers {shared}"
