"""003's own faults: those that it ignores leave their workers as they are (section 6.1)."""

from __future__ import annotations

from attrs import define

from actors.deciders.pack.decider import PackDecider
from actors.events import FaultIgnored
from actors.hazards import FaultDue, Hazard
from actors.runtime import handles


@define(eq=False)
class PaperFaults(Hazard):
    """Strikes nobody who is idle, or whose application is still busy with its last fault or
    redistribution: the books of the pack say so."""

    decider: PackDecider

    @handles(FaultDue)
    def strike(self, message: FaultDue) -> None:
        ignored = self.decider.ignores(message.worker)
        if ignored is None:
            super().strike(message)
            return
        self._await_fault()
        self.record(FaultIgnored, message.worker, *ignored)
