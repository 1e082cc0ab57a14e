"""Processors that fail and are repaired, whoever uses them: fail-stop (003, section 3.1)."""

from __future__ import annotations

from attrs import define, field

from actors.batch.events import ProcessorFailed, ProcessorRepaired
from actors.batch.messages import FaultDue, ProcessorCameBack, ProcessorWentDown, RepairDue
from actors.batch.scheduler import BatchScheduler
from actors.hazards import Faults
from actors.runtime import Actor, Phase, handles


@define(eq=False)
class FailStop(Actor):
    """Takes a processor DOWN when a fault strikes it, for as long as a repair takes; a fault that
    strikes one that is DOWN changes nothing. It knows nothing of jobs."""

    faults: Faults
    downtime: float
    """D, in the scenario's unit."""
    scheduler: BatchScheduler = field(repr=False)
    down: set[int] = field(init=False, factory=set)

    def started(self) -> None:
        self._await_fault()

    def _await_fault(self) -> None:
        fault = next(self.faults, None)
        if fault is not None:
            time, processor = fault
            self.at(time, FaultDue(processor), Phase.STATES_CHANGE)

    @handles(FaultDue)
    def strike(self, message: FaultDue) -> None:
        # First: no fault is caused by the one before.
        self._await_fault()
        processor, until = message.processor, self.now + self.downtime
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
