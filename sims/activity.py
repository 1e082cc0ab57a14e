"""Who does what in each slot: the letters of volatile13, Figure 1."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import define, field

from actors.events import (
    MembersReleased,
    RateChanged,
    RunEnded,
    RunStarted,
    ScenarioStarted,
    Stage,
    StageStarted,
    TransferDropped,
    TransferEnded,
    TransferKind,
    TransferStarted,
    TransferSuspended,
    WorkerChanged,
)
from actors.intervals import numbers_in
from actors.runtime import Event, Record
from policies.availability import WorkerState

LETTERS = {
    TransferKind.PROGRAM: "P",
    TransferKind.DATA: "D",
    TransferKind.IMAGE: "M",
    TransferKind.SAVE: "S",
}
UP = WorkerState.UP
Key = tuple[str, int]
"""(job, run)."""


@define
class Activity:
    """Fold over a run's events: one string per worker, one letter per slot from 0 on.

    P receives the program, D data, M an image, S sends one; C computes, I idle (enrolled and UP),
    `.` not enrolled or not UP. Times are whole slots.
    """

    rows: dict[str, str] = field(factory=dict)
    """Worker -> letters, up to the last event seen."""
    _absent: set[int] = field(factory=set)
    """Workers that are not UP."""
    _members: dict[Key, tuple[int, ...]] = field(factory=dict)
    _run: dict[int, Key] = field(factory=dict)
    """Worker -> the run that holds it."""
    _stage: dict[Key, Stage] = field(factory=dict)
    _computing: dict[Key, bool] = field(factory=dict)
    """Whether a run computes, and advances."""
    _passing: dict[int, str] = field(factory=dict)
    """Worker -> letter of its message that is under way."""
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
                (self._absent.discard if state is UP else self._absent.add)(worker)
            case TransferStarted(worker=worker, kind=kind):
                self._passing[worker] = LETTERS[kind]
            case TransferSuspended(worker=q) | TransferEnded(worker=q) | TransferDropped(worker=q):
                self._passing.pop(q, None)
            case StageStarted() | RateChanged():
                self._advance(record.event)
            case _:
                self._hold(record.event)

    def _advance(self, event: StageStarted | RateChanged) -> None:
        key = event.job, event.run
        if isinstance(event, StageStarted):
            self._stage[key] = event.stage
        self._computing[key] = self._stage.get(key) is Stage.COMPUTING and event.rate > 0

    def _hold(self, event: Event) -> None:
        match event:
            case RunStarted(job=job, run=run, processors=text):
                self._members[job, run] = members = numbers_in(text)
                self._run.update(dict.fromkeys(members, (job, run)))
            case RunEnded(job=job, run=run, kept=kept):
                self._computing.pop((job, run), None)
                if not kept:
                    self._release((job, run))
            case MembersReleased(job=job, run=run):
                self._release((job, run))

    def _release(self, key: Key) -> None:
        for worker in self._members.pop(key):
            if self._run.get(worker) == key:
                del self._run[worker]

    def _pass(self, now: int) -> None:
        slots, self._now = now - self._now, now
        if slots:
            for worker, name in enumerate(self.rows):
                self.rows[name] += self._letter(worker) * slots

    def _letter(self, worker: int) -> str:
        if worker not in self._run or worker in self._absent:
            return "."
        if self._computing.get(self._run[worker]):
            return "C"
        return self._passing.get(worker, "I")
