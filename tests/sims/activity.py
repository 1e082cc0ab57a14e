"""Who does what in each slot: the letters of volatile13, Figure 1."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import define, field

from actors.events import ScenarioStarted, Stage, TransferKind
from actors.runtime import Record
from policies.availability import WorkerState
from sims.history.reader import History, Listener

LETTERS = {
    TransferKind.PROGRAM: "P",
    TransferKind.DATA: "D",
    TransferKind.IMAGE: "M",
    TransferKind.SAVE: "S",
}


@define(eq=False)
class Activity(Listener):
    """Fold over a run's events: one string per worker, one letter per slot from 0 on.

    P receives the program, D data, M an image, S sends one; C computes, I idle (enrolled and UP),
    `.` not enrolled or not UP. Times are whole slots.
    """

    rows: dict[str, str] = field(factory=dict)
    """Worker -> letters, up to the last event seen."""
    _history: History = field(init=False, factory=History)

    def __attrs_post_init__(self) -> None:
        self._history.listen(self)
        self._history.on(ScenarioStarted, self._begin)

    @classmethod
    def of(cls, records: Iterable[Record]) -> Activity:
        """The activity in the records of one run."""
        activity = cls()
        for record in records:
            activity(record)
        return activity

    def __call__(self, record: Record) -> None:
        self._history.apply(record)

    def _begin(self, record: Record, event: ScenarioStarted) -> None:
        self.rows = dict.fromkeys(event.workers, "")

    def time_passed(self, until: float) -> None:
        slots = int(until) - int(self._history.now)
        for number, name in enumerate(self.rows):
            self.rows[name] += self._letter(number) * slots

    def _letter(self, number: int) -> str:
        worker, runs = self._history.workers.get(number), self._history.holders(number)
        if not runs or (worker is not None and worker.state is not WorkerState.UP):
            return "."
        if runs[0].outcome is None and runs[0].stage is Stage.COMPUTING and runs[0].rate:
            return "C"
        return LETTERS[worker.transfer.kind] if worker and worker.transfer else "I"
