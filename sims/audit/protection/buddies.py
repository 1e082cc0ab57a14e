"""Derives which members keep each other's checkpoints under buddies, and which faults lose the
saved state (rules.md, P2 and N1)."""

from __future__ import annotations

from sims.audit.facts import ExpectedCopy, ExpectedState
from sims.audit.world import World


def save(copy: ExpectedCopy, state: ExpectedState) -> None:
    """Keep the state of a checkpoint that the copy has completed with its members' buddies."""
    copy.saved, copy.holders = state, copy.full
    if copy.division is not None:
        copy.division.saves()
        copy.given_up = 0
        copy.failed.clear()  # who went DOWN before has the new one, or is of no keeper


def recovered(copy: ExpectedCopy) -> None:
    """Note that a recovery of the copy is over: every member again has its buddies' checkpoints
    (P2)."""
    copy.failed.clear()
    if copy.division is not None:
        copy.division.recovers()
    copy.saved = copy.saved or copy.stored


def forget(copy: ExpectedCopy) -> float:
    """Drop the state that the buddies of the copy's members keep; return the amount of its work, 0
    if there is none."""
    lost, copy.saved = copy.saved, None
    copy.holders = copy.full
    return lost.done if lost is not None else 0


def fatal(w: World, copy: ExpectedCopy, worker: int) -> bool:
    """Note that member `worker` went DOWN; return whether that loses the state that the buddies
    keep.

    It does if a neighbour in the member's pair or ring went DOWN too since the last recovery ended,
    or if there is no neighbour (P2). With groups that hold the whole state each, the last one that
    has the checkpoint must be hit so.
    """
    copy.failed.add(worker)
    # malleable17's own rule: no fault is fatal (section 6.1).
    if w.pack is not None and not w.pack.fatal:
        return False
    copy.rings = copy.rings or rings(w, copy)
    ring = next(ring for ring in copy.rings if worker in ring)
    at = ring.index(worker)
    others = {ring[at - 1], ring[(at + 1) % len(ring)]} - {worker}
    lost = not others or not copy.failed.isdisjoint(others)
    return lost and (copy.division is None or copy.division.loses(worker))


def rings(w: World, copy: ExpectedCopy) -> list[list[int]]:
    """Return the copy's groups of buddies (members that keep each other's checkpoints), each of
    which lies within one group; in each, neighbours in the list, and the first and last, keep
    each other's."""
    if copy.division is None:
        return _rings(w, list(copy.members))
    return [ring for it in copy.division.groups for ring in _rings(w, list(it.members))]


def _rings(w: World, members: list[int]) -> list[list[int]]:
    """Return the groups of buddies among these members: neighbours by number, or of different nodes
    if two members share a node and groups are pairs (N1). A member left over joins another
    group."""
    size = w.pack.pair if w.pack is not None else 2
    nodes = len({n // w.platform.node for n in members})
    # Buddies on one node would fail together.
    across, half = size == 2 and len(members) > nodes, len(members) // 2
    if across:
        members[: 2 * half] = [members[half * (k % 2) + k // 2] for k in range(2 * half)]
    found = [members[k : k + size] for k in range(0, len(members), size)]
    if len(found) > 1 and len(found[-1]) < size:
        odd = found.pop()
        # A member left over makes one group larger, as it needs a neighbour.
        found[0 if across else -1] += odd
    return found
