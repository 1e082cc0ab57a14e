"""Buddies keep each other's checkpoints in memory (WORLD.md, P2; 003, section 3.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from attrs import define, evolve

from actors.copy import Copy
from actors.events import Stage
from actors.protection.rules import Protection
from actors.run import Plan, Run, State


def groups(members: Sequence[int]) -> list[tuple[int, ...]]:
    """Pairs by increasing number; an odd last member makes a ring of three with the pair before
    it; one alone is a group of its own."""
    pairs = [tuple(members[k : k + 2]) for k in range(0, len(members), 2)]
    if len(pairs) > 1 and len(pairs[-1]) == 1:
        pairs[-2:] = [(*pairs[-2], *pairs[-1])]
    return pairs


@define(eq=False)
class Buddies(Protection):
    """A copy keeps its members; what they saved is gone once two of a group have gone DOWN before
    a recovery was over."""

    keeps: ClassVar[bool] = True

    def resumed(self, copy: Copy) -> Plan:
        """See Protection: the recovery is spent from scratch, too."""
        before = ((Stage.RECOVERING, self.rules.recovery),)
        return evolve(self.plan(copy), begins=copy.saved, before=before)

    def save(self, run: Run) -> None:
        """See Protection."""
        run.copy.saved = State(run.number, run.base, run.work, run.exposed)

    def struck(self, copy: Copy, worker: int) -> float | None:
        """See Protection: the same member twice is not fatal, but for one that has no buddy."""
        copy.struck.add(worker)
        group = next(group for group in groups(copy.members) if worker in group)
        if len(group) > 1 and len(copy.struck.intersection(group)) < 2:
            return None
        return self._give_up(copy)

    def recovered(self, copy: Copy) -> None:
        """See Protection."""
        copy.struck.clear()

    def failed(self, copy: Copy) -> float | None:
        """See Protection: what this copy keeps (P4)."""
        return None if self.rules.verified else self._give_up(copy)

    @staticmethod
    def _give_up(copy: Copy) -> float:
        lost = copy.saved.done if copy.saved else 0
        copy.saved = None
        return lost
