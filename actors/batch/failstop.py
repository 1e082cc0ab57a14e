"""Processors that fail and are repaired, whoever uses them: fail-stop (003, section 3.1)."""

from __future__ import annotations

from attrs import define, field

from actors.batch.events import ProcessorFailed, ProcessorRepaired
from actors.batch.messages import ProcessorCameBack, ProcessorWentDown, RepairDue
from actors.batch.scheduler import BatchScheduler
from actors.hazards import Hazard
from actors.runtime import Phase, handles


@define(eq=False)
class FailStop(Hazard):
    """Takes a processor DOWN when a fault strikes it, for as long as a repair takes; a fault that
    strikes one that is DOWN changes nothing."""

    downtime: float
    """D, in the scenario's unit."""
    scheduler: BatchScheduler = field(repr=False)
    down: set[int] = field(init=False, factory=set)

    def strike(self, processor: int) -> None:
        """See Hazard."""
        until = self.now + self.downtime
        if processor in self.down:
            return
        self.down.add(processor)
        self.record(ProcessorFailed, processor, until)
        self.send(self.scheduler, ProcessorWentDown(processor, until))
        self.at(until, RepairDue(processor), Phase.STATES_CHANGE)

    @handles(RepairDue)
    def repair(self, message: RepairDue) -> None:
        self.down.remove(message.processor)
        self.record(ProcessorRepaired, message.processor)
        self.send(self.scheduler, ProcessorCameBack(message.processor))
