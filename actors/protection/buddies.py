"""Buddies keep each other's checkpoints in memory (rules.md, P2; malleable17, section 3.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from attrs import define, evolve

from actors.copy import Copy
from actors.events import Stage
from actors.protection.plan import Plan, State
from actors.protection.protection import Protection
from actors.protection.rules import on
from actors.replicas import Group


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
class Buddies(Protection):
    """Protection by checkpoints that members keep for each other in memory (P2). A copy keeps its
    members when its run is lost. Its checkpoint is lost once two neighbours of a ring have gone
    DOWN before a recovery was over; any two of a pair or of a ring of three are neighbours.

    Where a job was resized, the rings are those of its present members. A `Copy` keeps account of
    what its members have in memory: a message for each member and checkpoint would cost more than
    all else of a run of malleable17.
    """

    keeps: ClassVar[bool] = True

    def resumed(self, copy: Copy[Any]) -> Plan:
        """Return the plan of the next run on the members that the copy has kept: from its last
        checkpoint or, if there is none, from scratch. The recovery takes its time in both cases
        (P2)."""
        before = ((Stage.RECOVERING, on(self.rules.recovery, copy.holders)),)
        loads = 0 if copy.fetches and self.rules.bytes is not None else None
        fetches, plan = copy.fetches and loads is None, self.plan(copy)
        return evolve(plan, begins=copy.saved, fetches=fetches, loads=loads, before=before)

    def save(self, copy: Copy[Any], state: State) -> None:
        copy.saved, copy.holders = state, len(copy.members)
        copy.fetches = False
        if copy.replicas is not None:
            copy.keepers, copy.given_up = copy.replicas.left(), 0

    def member_failed(self, copy: Copy[Any], worker: int) -> float | None:
        """Discard the copy's checkpoint if this member goes DOWN and a neighbour of it in its ring
        has gone DOWN, too, since the last recovery ended, or if it has no neighbour. Return the
        saved work that is lost, 0 if there was none; None if nothing is discarded.

        A second failure of the same member loses nothing, unless it has no buddy (P2). Each replica
        that took the checkpoint keeps a whole one, so that only the last of them to lose it matters
        (E1).
        """
        copy.failed_members.add(worker)
        if not self.rules.fatal:
            return None
        others = buddies(self._groups(copy), worker)
        if others and copy.failed_members.isdisjoint(others):
            return None
        if copy.replicas is not None:
            group = copy.replicas.of(worker)
            if group not in copy.keepers:
                return None
            copy.keepers.remove(group)
            if copy.keepers:
                return None
        return self._discard(copy)

    def _groups(self, copy: Copy[Any]) -> Sequence[Sequence[int]]:
        if copy.groups is None:
            replicas = copy.replicas
            each = [copy.members] if replicas is None else [it.members for it in replicas.groups]
            copy.groups = [ring for members in each for ring in self._rings(members)]
        return copy.groups

    def _rings(self, members: Sequence[int]) -> Sequence[Sequence[int]]:
        rules = self.rules
        spread = rules.node > 1 and rules.group == 2
        return across(members, rules.node) if spread else groups(members, rules.group)

    def recovered(self, copy: Copy[Any]) -> None:
        copy.failed_members.clear()
        copy.fetches = False
        if copy.replicas is not None:
            copy.keepers = list(copy.replicas.groups)

    def rejoined(self, copy: Copy[Any], group: Group) -> None:
        copy.failed_members.difference_update(group.members)

    def failed(self, copy: Copy[Any]) -> float | None:
        """Discard what this copy has saved, as a verification has found an error, unless its
        checkpoints were verified (P4). Return the saved work that is given up, 0 if there was none;
        None if all is kept."""
        if self.rules.verified:
            return None
        lost = copy.saved or copy.stored
        copy.stored = None
        self._discard(copy)
        return lost.done if lost else 0

    @staticmethod
    def _discard(copy: Copy[Any]) -> float:
        """Replace the copy's checkpoint by its last one that is at the master too, as images (P9),
        or, without one, by nothing. Return the saved work that is lost: 0 if there was none, or if
        images are at the master."""
        lost = copy.saved.done if copy.saved and not copy.stored else 0
        copy.saved, copy.holders = copy.stored, len(copy.members)
        copy.fetches = copy.stored is not None
        return lost
