"""Re-execution: a lost or failed run leaves nothing (WORLD.md, P1; 001, section 3.2)."""

from __future__ import annotations

from attrs import define

from actors.copy import Copy
from actors.protection.rules import Protection
from actors.run import Run


@define(eq=False)
class ReExecution(Protection):
    """The default."""

    def save(self, run: Run) -> None:
        """See Protection."""
        raise AssertionError("nothing is saved under re-execution")

    def failed(self, copy: Copy) -> float | None:
        """See Protection."""
        return None
