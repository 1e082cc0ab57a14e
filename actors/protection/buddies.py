"""Buddies keep each other's checkpoints in memory (rules.md, P2; malleable17, section 3.1)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from attrs import define, field

from actors.copy import Copy, Group
from actors.events import Stage
from actors.protection.plan import Plan, State
from actors.protection.protection import Protection
from actors.protection.rules import on


def groups(members: Sequence[int], size: int = 2) -> list[tuple[int, ...]]:
    """Return the rings of buddies, members that keep each other's checkpoints: `size` members each,
    in the given order. Members that are left over join the last ring (an odd last one makes a ring
    of three with a pair); if there is no other ring, they form one of their own (P2)."""
    rings = [tuple(members[k : k + size]) for k in range(0, len(members), size)]
    if len(rings) > 1 and len(rings[-1]) < size:
        rings[-2:] = [(*rings[-2], *rings[-1])]
    return rings


def across(members: Sequence[int], node: int) -> list[tuple[int, ...]]:
    """Return pairs of buddies (members that keep each other's checkpoints) on different nodes, of
    `node` workers each, as far as that can be done: of n members in the given order, the i-th with
    the (i + h)-th, h = floor(n/2). An odd last member joins the first pair. If no two members share
    a node, or there is one member only, return what `groups` returns (rules.md, N1)."""
    half = len(members) // 2
    if not half or len({n // node for n in members}) == len(members):
        return groups(members)
    pairs = [*zip(members[:half], members[half:], strict=False)]
    return [(*pairs[0], *members[2 * half :]), *pairs[1:]]


def buddies(rings: Sequence[Sequence[int]], worker: int) -> set[int]:
    """Return the neighbours of the member `worker` in its ring of buddies, which is one of `rings`:
    each holds the member's checkpoint in its memory, or the member holds theirs. Empty for a ring
    of one."""
    ring = next(ring for ring in rings if worker in ring)
    place = ring.index(worker)
    return {ring[place - 1], ring[(place + 1) % len(ring)]} - {worker}


@define(eq=False)
class Kept:
    """The memory of one copy's members, as far as they keep checkpoints for each other in it."""

    saved: State | None = None
    """The last checkpoint that buddies keep; None: there is none."""
    stored: State | None = None
    """The last checkpoint that is at the master too (rules.md, P9); None: there is none."""
    fetches: bool = False
    """Whether the next run begins from `stored`, which the members then fetch."""
    failed: set[int] = field(factory=set)
    """Members that have gone DOWN since the last recovery ended."""
    rings: Sequence[Sequence[int]] | None = None
    """Rings of members that keep each other's checkpoints; None while they have not been
    computed."""
    keepers: list[Group] | None = None
    """Groups of members, each of which holds the whole state, in which buddies still have the last
    checkpoint; None: all of them."""
    given_up: float = 0
    """Saved work that has been lost while the run goes on, which does not need it. It is given up
    if the run is lost before its next checkpoint."""


@define(eq=False)
class Buddies(Protection):
    """Protection by checkpoints that members keep for each other in memory (P2). A copy keeps its
    members when its run is lost. Its checkpoint is lost once two neighbours of a ring have gone
    DOWN before a recovery was over; any two of a pair or of a ring of three are neighbours.

    Where a job was resized, the rings are those of its present members. The protection keeps
    account of what members have in memory: a message for each member and checkpoint would cost more
    than all else of a run of malleable17.
    """

    keeps: ClassVar[bool] = True
    _kept: defaultdict[int, Kept] = field(init=False, factory=lambda: defaultdict(Kept))
    """Maps the number of each copy to what its members keep."""

    def resumed(self, copy: Copy[Any]) -> Plan:
        """Return the plan of the next run on the members that the copy has kept: from its last
        checkpoint or, if there is none, from scratch. The recovery takes its time in both cases
        (P2)."""
        kept, plan = self._kept[copy.number], self.plan(copy)
        before = ((Stage.RECOVERING, on(self.rules.recovery, copy.holders)),)
        loads = 0 if kept.fetches and self.rules.bytes is not None else None
        fetches = kept.fetches and loads is None
        return plan.beginning(kept.saved, before, fetches, loads)

    def save(self, copy: Copy[Any], state: State) -> None:
        kept = self._kept[copy.number]
        kept.saved, copy.holders, kept.fetches = state, len(copy.members), False
        if copy.division is not None:
            kept.keepers = [group for group in copy.division.groups if not group.out]
            kept.given_up = 0
            kept.failed.clear()  # members of keepers have the new one, whatever befell them before

    def store(self, copy: Copy[Any], state: State) -> None:
        self._kept[copy.number].stored = state

    def member_failed(self, copy: Copy[Any], worker: int) -> float | None:
        """Discard the copy's checkpoint if this member goes DOWN and a neighbour of it in its ring
        has gone DOWN, too, since the last recovery ended, or if it has no neighbour. Return the
        saved work that is lost, 0 if there was none; None if nothing is discarded.

        A second failure of the same member loses nothing, unless it has no buddy (P2). Where groups
        hold the whole state each, each that took the checkpoint keeps a whole one, so that only the
        last of them to lose it matters (E1); a run that goes on then lacks nothing, and what is
        lost is given up only if that run is lost before its next checkpoint.
        """
        kept, division = self._kept[copy.number], copy.division
        kept.failed.add(worker)
        if not self.rules.fatal:
            return None
        others = buddies(self._rings(copy, kept), worker)
        if others and kept.failed.isdisjoint(others):
            return None
        if division is None:
            return self._discard(copy, kept)
        keepers = list(division.groups) if kept.keepers is None else kept.keepers
        kept.keepers = [group for group in keepers if group is not division.of(worker)]
        if kept.keepers or not keepers:
            return None
        lost = self._discard(copy, kept)
        if copy.run is None or not copy.run.computes:
            return lost
        kept.given_up = lost
        return 0

    def failed_members(self, copy: Copy[Any]) -> Iterable[int]:
        return self._kept[copy.number].failed

    def lost(self, copy: Copy[Any]) -> float:
        kept = self._kept[copy.number]
        given_up, kept.given_up = kept.given_up, 0
        return given_up

    def _rings(self, copy: Copy[Any], kept: Kept) -> Sequence[Sequence[int]]:
        if kept.rings is None:
            division = copy.division
            each = [copy.members] if division is None else [it.members for it in division.groups]
            kept.rings = [ring for members in each for ring in self._ringed(members)]
            copy.places_count = True
        return kept.rings

    def _ringed(self, members: Sequence[int]) -> Sequence[Sequence[int]]:
        rules = self.rules
        spread = rules.node > 1 and rules.group == 2
        return across(members, rules.node) if spread else groups(members, rules.group)

    def replaced(self, copy: Copy[Any], worker: int, other: int) -> None:
        """Give the newcomer `other` the member's place among the buddies. If the member had gone
        DOWN since the last recovery ended, the newcomer counts as having gone DOWN too: it does not
        hold its buddy's checkpoint yet (P10)."""
        kept = self._kept[copy.number]
        if kept.rings is not None:
            kept.rings = [[other if n == worker else n for n in ring] for ring in kept.rings]
        if worker in kept.failed:
            kept.failed.add(other)
            kept.failed.discard(worker)

    def exchanged(self, copy: Copy[Any], left: Iterable[int]) -> None:
        kept = self._kept[copy.number]
        kept.failed.difference_update(left)
        kept.rings = None

    def left(self, copy: Copy[Any]) -> None:
        self._kept.pop(copy.number, None)

    def recovered(self, copy: Copy[Any]) -> None:
        kept = self._kept[copy.number]
        kept.failed.clear()
        kept.fetches = False
        kept.keepers = None

    def failed(self, copy: Copy[Any]) -> float | None:
        """Discard what this copy has saved, as a verification has found an error, unless its
        checkpoints were verified (P4). Return the saved work that is given up, 0 if there was none;
        None if all is kept."""
        if self.rules.verified:
            return None
        kept = self._kept[copy.number]
        lost = kept.saved or kept.stored
        kept.stored = None
        self._discard(copy, kept)
        return lost.done if lost else 0

    @staticmethod
    def _discard(copy: Copy[Any], kept: Kept) -> float:
        """Replace the copy's checkpoint by its last one that is at the master too, as images (P9),
        or, without one, by nothing. Return the saved work that is lost: 0 if there was none, or if
        images are at the master."""
        lost = kept.saved.done if kept.saved and not kept.stored else 0
        kept.saved, copy.holders = kept.stored, len(copy.members)
        kept.fetches = kept.stored is not None
        return lost
