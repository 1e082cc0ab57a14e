"""Derives which free workers a start gets, by the placements that no record and no chance decides
(rules.md, D2 and N2)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain, groupby

from sims.audit.workers import Free, Spans, extent, joined, numbers
from sims.audit.world import World

Rule = Callable[[World, Free, int, Spans], Spans]
"""Chooses the workers of a start from the given free ones."""


def compact(w: World, free: Free, wanted: int, former: Spans) -> Spans:
    """Return `wanted` of the free workers: those in `former`, which a copy of the job has just
    released, if they are free and as many; else workers from as few intervals of free workers as
    possible."""
    if extent(former) == wanted and free.has(former):
        return former
    return free.fewest_gaps(wanted)


def nodes(w: World, free: Free, wanted: int, former: Spans) -> Spans:
    """Return `wanted` of the free workers by nodes: whole free nodes first, the lowest first; the
    rest from the node with the fewest free workers that suffice, or else the lowest free ones (N2).
    `former` does not matter."""
    return joined(by_node(w, free, wanted))


def by_node(w: World, those: Free, wanted: int) -> list[int]:
    """Return the workers that `nodes` chooses, in the order in which it takes them."""
    size, taken, others = w.platform.node, list[int](), list[list[int]]()
    for node, members in groupby(numbers(those.spans), key=lambda n: n // size):
        free, whole = list(members), min(size, w.able - node * size)
        if len(free) == whole <= wanted - len(taken):
            taken += free
        else:
            others.append(free)
    left = wanted - len(taken)
    enough = [free for free in others if len(free) >= left]
    return taken + min(enough, key=len, default=[*chain(*others)])[:left]


RULES: dict[str, Rule] = {
    "lowest": lambda w, free, wanted, _: free.lowest(wanted),
    "compact": compact,
    "nodes": nodes,
}
