"""Who was chosen is who is enrolled, and nobody else; slots are whole (002, III)."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import define, field

from actors.events import Outcome, RunEnded, RunStarted, ScenarioStarted
from actors.runtime import Record
from actors.volatile.events import (
    ConfigurationChosen,
    IterationCompleted,
    TransferEnded,
    TransferStarted,
    TransferSuspended,
    WorkerChanged,
    WorkerEnrolled,
    WorkerReleased,
)
from policies.availability import WorkerState
from sims.audit.law import Law, Violation
from sims.uses.slices import ranges


@define
class EnrolmentAuditor:
    """Compares, whenever an instant is over, the workers' runs with the configuration."""

    names: tuple[str, ...] = ()
    enrolled: dict[str, int] = field(factory=dict)
    """Worker -> its run."""
    receiving: set[str] = field(factory=set)
    """Workers in the middle of a transfer."""
    away: set[str] = field(factory=set)
    """Workers that are not UP."""
    chosen: ConfigurationChosen | None = None
    """Of the run that is going on."""
    seq: int = 0
    """Of what changed it last."""
    now: float = 0
    last: Record | None = None

    def __call__(self, record: Record) -> Iterator[Violation]:
        if record.t > self.now:
            yield from self._pass(record)
        yield from self._follow(record)
        match record.event:
            case ScenarioStarted(workers=names):
                self.names = names
            case ConfigurationChosen():
                self.chosen, self.seq = record.event, record.seq
            case RunEnded():
                self.chosen, self.seq = None, record.seq
            case _:
                self._note(record)
        self.last = record

    def _note(self, record: Record) -> None:
        match record.event:
            case WorkerEnrolled(worker=worker, run=run):
                self.enrolled[worker] = run
            case WorkerReleased(worker=worker):
                self.enrolled.pop(worker, None)
            case WorkerChanged(worker=worker, state=state):
                self.away.discard(worker)
                if state is not WorkerState.UP:
                    self.away.add(worker)
                if state is WorkerState.DOWN:
                    self.enrolled.pop(worker, None)
            case TransferStarted(worker=worker):
                self.receiving.add(worker)
            case TransferSuspended(worker=worker) | TransferEnded(worker=worker):
                self.receiving.discard(worker)

    def close(self, last: Record) -> Iterator[Violation]:
        return iter(())

    def _pass(self, record: Record) -> Iterator[Violation]:
        self.now = record.t
        if record.t != int(record.t):
            yield Violation(Law.ORDER, (record.seq,), f"{record.t} is no slot")
        for name in sorted(self.receiving & self.away):
            why = f"{name} is not UP and receives on"
            yield Violation(Law.TRANSFER, (self.seq, record.seq), why)
        it = self.chosen
        wanted = {name: it.run for name, _ in it.members} if it is not None else {}
        if self.enrolled != wanted:
            why = f"{self.enrolled} are enrolled, and {wanted} were chosen"
            yield Violation(Law.DECISION, (self.seq, record.seq), why)

    def _follow(self, record: Record) -> Iterator[Violation]:
        """What belongs together stands together."""
        last, event = self.last, record.event
        before = last.event if last is not None and last.t == record.t else None
        start = before if isinstance(before, RunStarted) else None
        if (start is None) == isinstance(event, ConfigurationChosen):
            why = "a run and its configuration are not told together"
            yield Violation(Law.FRAME, (record.seq,), why)
        elif start is not None and isinstance(event, ConfigurationChosen):
            yield from self._same(start, event, record.seq)
        done = isinstance(before, RunEnded) and before.outcome is Outcome.COMPLETED
        if done != isinstance(event, IterationCompleted):
            why = "a run that completes and its iteration are not told together"
            yield Violation(Law.FRAME, (record.seq,), why)

    def _same(self, start: RunStarted, event: ConfigurationChosen, seq: int) -> Iterator[Violation]:
        members = sorted(self.names.index(name) for name, _ in event.members if name in self.names)
        held = sorted(p for a, b in ranges(start.processors) for p in range(a, b + 1))
        if start.run != event.run or members != held:
            why = f"run {start.run} holds {held}; run {event.run} has chosen {members}"
            yield Violation(Law.DECISION, (seq - 1, seq), why)
