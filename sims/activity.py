"""Who does what in each slot of a volatile platform: the letters of 002, Figure 1."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import define, field

from actors.events import RunEnded, ScenarioStarted
from actors.runtime import Record
from actors.volatile.events import (
    ComputationStarted,
    ComputationSuspended,
    TransferEnded,
    TransferKind,
    TransferStarted,
    TransferSuspended,
    WorkerChanged,
    WorkerEnrolled,
    WorkerReleased,
)
from policies.availability import WorkerState

LETTERS = {TransferKind.PROGRAM: "P", TransferKind.DATA: "D"}


@define
class Activity:
    """Fold over a run's events: one string per worker, one letter per slot from 0 on.

    P receives the program, D data, C computes, I idle (enrolled and UP), `.` not enrolled or not
    UP. Times are whole slots.
    """

    rows: dict[str, str] = field(factory=dict)
    """Worker -> letters, up to the last event seen."""
    _state: dict[str, WorkerState] = field(factory=dict)
    _enrolled: set[str] = field(factory=set)
    _receiving: dict[str, str] = field(factory=dict)
    _computing: bool = False
    _now: int = 0

    @classmethod
    def of(cls, records: Iterable[Record]) -> Activity:
        """The activity that the records of one run tell."""
        activity = cls()
        for record in records:
            activity(record)
        return activity

    def __call__(self, record: Record) -> None:
        self._pass(int(record.t))
        match record.event:
            case ScenarioStarted(workers=workers):
                self.rows = dict.fromkeys(workers, "")
            case WorkerChanged(worker=worker, state=state):
                self._change(worker, state)
            case WorkerEnrolled(worker=worker):
                self._enrolled.add(worker)
            case WorkerReleased(worker=worker):
                self._enrolled.discard(worker)
            case TransferStarted(worker=worker, kind=kind):
                self._receiving[worker] = LETTERS[kind]
            case TransferSuspended(worker=worker) | TransferEnded(worker=worker):
                self._receiving.pop(worker, None)
            case ComputationStarted() | ComputationSuspended() | RunEnded():
                self._computing = isinstance(record.event, ComputationStarted)

    def _change(self, worker: str, state: WorkerState) -> None:
        self._state[worker] = state
        if state is WorkerState.DOWN:
            self._enrolled.discard(worker)

    def _pass(self, now: int) -> None:
        slots, self._now = now - self._now, now
        if slots:
            for worker in self.rows:
                self.rows[worker] += self._letter(worker) * slots

    def _letter(self, worker: str) -> str:
        if worker not in self._enrolled or self._state[worker] is not WorkerState.UP:
            return "."
        if self._computing:
            return "C"
        return self._receiving.get(worker, "I")
