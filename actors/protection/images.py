"""Images: checkpoints at the master or on shared storage (rules.md, P3)."""

from __future__ import annotations

from typing import Any

from attrs import define

from actors.copy import Copy
from actors.protection.plan import State
from actors.protection.protection import Protection
from actors.protection.rules import on


@define(eq=False)
class Images(Protection):
    """Protection by images, checkpoints at the master or on shared storage, from which a run on
    other workers can continue. The furthest complete checkpoint of the job is kept, whichever copy
    took it (P3)."""

    def _cost(self, members: int) -> float | None:
        return self.rules.time_of_images(on(self.rules.cost, members))

    def save(self, copy: Copy[Any], state: State) -> None:
        if self.saved is None or state.beyond(self.saved):
            self.saved = state

    def failed(self, copy: Copy[Any]) -> float | None:
        """Discard the job's checkpoint, as a verification has found an error, unless it was
        verified: it may be as corrupt as the run (P4). Return the saved work that is given up; None
        if none is."""
        if self.rules.verified or self.saved is None:
            return None
        lost, self.saved = self.saved.done, None
        return lost
