"""Writes rows of repairs: where each unit stands that a fault has struck."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import ClassVar

from attrs import define, frozen

from actors.events import (
    FaultBlamed,
    RepairEnded,
    RepairOutcome,
    RepairStarted,
    Struck,
    UnitFailed,
    UnitRetired,
)
from actors.events.quantities import Time, WorkerSet
from actors.events.repair import Kind, StageNumber
from actors.runtime import Event, Record
from sims.history.rows import Seq, Start
from sims.history.workers import Handler
from sims.history.writers import SpellWriter


class RepairStep(enum.Enum):
    """Says where a unit that a fault has struck stands."""

    WAITS = "waits for repair"
    """The unit waits for a repair crew, or until the fault is blamed on a unit."""
    IN_REPAIR = "in repair"
    """A stage of its repair is under way."""
    RETIRED = "retired"
    """The unit does not come back."""


@frozen
class RepairRow:
    """A time for which a unit (a worker, node or rack) that is out of service waits for repair, is
    in one stage of it, or has retired."""

    of: Kind
    workers: WorkerSet
    """Workers of the unit."""
    step: RepairStep
    """Step of the unit in that time."""
    seq: Seq
    start: Start
    stage: StageNumber | None = None
    """Number of the stage of repair, from 0; None if the unit is in none."""
    end: Time | None = None
    """Time at which the step ended; None if the log ends before."""
    outcome: RepairOutcome | None = None
    """Outcome of the stage of repair; None if there is none."""


@define(eq=False)
class RepairWriter(SpellWriter):
    """Writes a row for each step of a unit that a fault has struck, or that a fault is blamed
    on."""

    row: ClassVar[type] = RepairRow

    def handlers(self) -> Mapping[type[Event], Handler]:
        return {
            UnitFailed: self._wait,
            FaultBlamed: self._blame,
            RepairStarted: self._repair,
            RepairEnded: self._end,
            UnitRetired: self._retire,
        }

    def _wait(self, record: Record, event: UnitFailed) -> None:
        self._move(record, event.of, event.workers, RepairStep.WAITS)

    def _blame(self, record: Record, event: FaultBlamed) -> None:
        if event.blamed != event.workers:
            self._close(record, event.of, event.workers)
        if event.blamed is not None and (event.of, event.blamed) not in self._open:
            self._move(record, event.of, event.blamed, RepairStep.WAITS)

    def _repair(self, record: Record, event: RepairStarted) -> None:
        self._move(record, event.of, event.workers, RepairStep.IN_REPAIR, event.stage)

    def _end(self, record: Record, event: RepairEnded) -> None:
        self._close(record, event.of, event.workers, event.outcome)
        if event.outcome is RepairOutcome.PASSED_ON:
            self._move(record, event.of, event.workers, RepairStep.WAITS)

    def _retire(self, record: Record, event: UnitRetired) -> None:
        self._move(record, event.of, event.workers, RepairStep.RETIRED)

    def _move(
        self, record: Record, of: Struck, workers: str, step: RepairStep, stage: int | None = None
    ) -> None:
        self._close(record, of, workers)
        self.begin((of, workers), RepairRow(of, workers, step, record.seq, record.t, stage))

    def _close(
        self, record: Record, of: Struck, workers: str, outcome: RepairOutcome | None = None
    ) -> None:
        self.end((of, workers), end=record.t, outcome=outcome)
