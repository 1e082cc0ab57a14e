"""Images: checkpoints on shared storage at the master, so that a lost run continues on other
workers (WORLD.md, P3)."""

from __future__ import annotations

from attrs import define, evolve

from actors.copy import Copy
from actors.plan import Plan, State
from actors.protection.rules import Protection
from actors.run import Run


@define(eq=False)
class Images(Protection):
    """The master keeps the furthest complete checkpoint of the job, whichever copy sent it."""

    def plan(self, copy: Copy[Run]) -> Plan:
        plan = super().plan(copy)
        image = self.rules.image
        if image is None:
            return plan
        # What has size 0 is with the master at once; else every member sends its own.
        return evolve(plan, cost=None if image else 0)

    def save(self, copy: Copy[Run], state: State) -> None:
        if self.saved is None or state.beyond(self.saved):
            self.saved = state

    def failed(self, copy: Copy[Run]) -> float | None:
        """Unverified images may be as corrupt as the run (P4)."""
        if self.rules.verified or self.saved is None:
            return None
        lost, self.saved = self.saved.done, None
        return lost
