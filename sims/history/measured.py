"""Writes rows of what real processes took: the parts of runs, and messages, of a live run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from attrs import define, evolve, field, frozen

from actors.events import PartMeasured, Stage, TransferKind
from actors.events.quantities import JobName, RunNumber, Time, Work, WorkerNumber
from actors.runtime import Event, Record
from sims.history.rows import Told
from sims.history.states import Key, Run
from sims.history.workers import Handler
from sims.history.writers import Writer


@frozen
class MeasuredRow:
    """A part of a run, or a message, that real processes have completed."""

    job: JobName
    run: RunNumber
    seq: Told
    length: Time
    """Time that it took, since it began or its rate last changed."""
    busy: Time
    """Longest time for which one of the processes was busy with it, by that process's own clock."""
    worker: WorkerNumber | None = None
    """Worker whose message has passed; None where it is a part of the run."""
    kind: TransferKind | None = None
    """Kind of the message; None where it is a part of the run."""
    stage: Stage | None = None
    """Stage of the run in that part; a checkpoint beside which the run computes is one too."""
    second_level: bool = False
    """Whether the run's last checkpoint to begin is on its second level."""
    clone: bool = False
    """Whether the run began from the state of a run that was under way."""
    work: Work | None = None
    """Work done in a part in which the run computed; None for other parts."""


@define(eq=False)
class MeasuredWriter(Writer):
    """Writes a row for each part and message of a live run; those in which runs compute are
    complete once it is known how far they came."""

    row: ClassVar[type] = MeasuredRow

    _open: dict[Key, MeasuredRow] = field(init=False, factory=dict)
    """Maps runs whose computing has just ended to the rows of these parts."""

    def handlers(self) -> Mapping[type[Event], Handler]:
        return {PartMeasured: self._measure}

    def _measure(self, record: Record, event: PartMeasured) -> None:
        """Take the length of a part or message, which has just ended; its run's state is still that
        of the time that it took."""
        row = MeasuredRow(
            event.job, event.run, record.seq, event.length, event.busy, worker=event.worker
        )
        if event.worker is not None:
            self.over(evolve(row, kind=self.history.message(event.worker).kind))
            return
        run = self.history.runs[event.job, event.run]
        stage = Stage.CHECKPOINTING if event.beside else run.stage
        row = evolve(row, stage=stage, second_level=run.second_level, clone=run.clones)
        if stage is Stage.COMPUTING:
            self._open[run.key] = row
        else:
            self.over(row)

    def run_span(self, run: Run, record: Record, done: float) -> None:
        row = self._open.pop(run.key, None)
        if row is not None:
            self.over(evolve(row, work=done - run.done))

    run_ended = run_span

    def log_ended(self, now: float) -> None:
        for row in self._open.values():
            self.over(row)
