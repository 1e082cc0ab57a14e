"""Faults that strike processors at work, or idle ones (003, sections 3.1 and 6.1)."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import define, field

from actors.hazards import Faults
from actors.malleable.messages import FaultDue, Strike
from actors.malleable.processor import Processor
from actors.runtime import Actor, Phase, handles


@define(eq=False)
class Hazard(Actor):
    """Strikes processors at the times that `faults` yields; it knows nothing of applications."""

    faults: Faults
    processors: Sequence[Processor] = field(repr=False)

    def started(self) -> None:
        self._await_fault()

    def _await_fault(self) -> None:
        fault = next(self.faults, None)
        if fault is not None:
            time, processor = fault
            self.at(time, FaultDue(processor), Phase.STATES_CHANGE)

    @handles(FaultDue)
    def strike(self, message: FaultDue) -> None:
        self.send(self.processors[message.processor], Strike())
        self._await_fault()
