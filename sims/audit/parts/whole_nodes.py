"""Derives which workers copies hold because they are of their members' nodes (rules.md, G6)."""

from __future__ import annotations

from attrs import define

from actors.events import NodesHeld
from sims.audit import cells
from sims.audit.facts import ExpectedRun
from sims.audit.turns import Script
from sims.audit.workers import joined, numbers, written
from sims.audit.world import PartRules


@define(eq=False)
class WholeNodeRules(PartRules):
    """The rules of whole nodes."""

    def started(self, run: ExpectedRun) -> Script:
        """Expect the line of the rest of the nodes of a starting copy's members, if its partition
        is exclusive and there is such a rest."""
        w, copy = self.w, run.copy
        if not cells.is_exclusive(copy.job):
            return
        members = set(numbers(copy.spans))
        nodes = {n // w.platform.node for n in members}
        whole = {n for node in nodes for n in cells.node_of(w, node)}
        rest = joined(whole - members)
        if rest:
            w.holdings.take(copy, rest)
            copy.rest = numbers(rest)
            w.holdings.resting.update(copy.rest)
            yield NodesHeld(copy.job.name, run.number, written(rest)), run.started
