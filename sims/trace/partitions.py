"""Says what partitions mean for a waiting job: which workers it may have, and whose jobs are in its
way."""

from __future__ import annotations

from collections.abc import Iterable

from actors.intervals import text
from sims.history.partitions import Partitions
from sims.history.reader import Job


def sharing(partitions: Partitions, me: Job, other: str, of: str) -> str:
    """Return words that say which workers the partition `of` of the job called `other` shares with
    that of the waiting job `me`; only the name where there are no partitions."""
    if not me.partition:
        return other
    if of == me.partition:
        return f"{other} of the same partition"
    shared = text(partitions.shared(me.partition, of)).replace(" ", ", ")
    return f"{other}, whose partition {of} shares workers {shared}"


def rivals(partitions: Partitions, me: Job, others: Iterable[Job]) -> list[Job]:
    """Return those of the other jobs whose partitions share workers with that of `me`; all where
    there are no partitions."""
    if not me.partition:
        return list(others)
    return [it for it in others if partitions.shared(me.partition, it.partition)]
