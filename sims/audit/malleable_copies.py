"""Where checkpoints are held, and that they are restored only from there (003, section 3.1)."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import define, field

from actors.events import JobCompleted, RunEnded, RunStarted
from actors.malleable.events import (
    BothCopiesLost,
    CheckpointTaken,
    CopiesLost,
    CopiesRestored,
    FaultStruck,
    PackDescribed,
    ProcessorsJoined,
    Stage,
    StageStarted,
)
from actors.runtime import Record
from sims.audit.law import Law, Violation
from sims.uses.slices import ranges


@define
class _Memory:
    """A processor's two checkpoints, by number; None: none."""

    own: int | None = None
    kept: int | None = None
    known: bool = True
    """False: it joined as promised, and the log does not say since when it has been saving."""


@define
class _Group:
    """The processors of an application."""

    members: dict[int, _Memory] = field(factory=dict)
    struck: dict[int, tuple[int, float]] = field(factory=dict)
    """Processors that have lost their memory and not got it back -> seq and time of the fault."""
    announced: dict[int, int] = field(factory=dict)
    """Struck processors whose loss the log has still to tell -> seq of the fault."""
    stage: Stage | None = None
    recovered: float | None = None
    """When its last recovery was over."""


@define
class CopiesAuditor:
    """Keeps each processor's memory: its own checkpoint, and that of the one before it."""

    width: int = 2
    """Processors in a group of buddies."""
    groups: dict[str, _Group] = field(factory=dict)

    def __call__(self, record: Record) -> Iterator[Violation]:
        event = record.event
        if isinstance(event, PackDescribed):
            self.width = event.pair
            return
        job = getattr(event, "job", None)
        if job is None:
            return
        group = self.groups.setdefault(job, _Group())
        if group.recovered is not None and record.t > group.recovered:
            yield from self._unrestored(group, record.seq)
        match event:
            case CopiesLost():
                yield from self._lose(group, event, record)
            case CopiesRestored():
                yield from self._restore(group, event, record)
            case BothCopiesLost():
                yield from self._both(group, event, record.seq)
            case _:
                yield from self._note(group, record)

    def close(self, last: Record) -> Iterator[Violation]:
        return iter(())

    def _note(self, group: _Group, record: Record) -> Iterator[Violation]:
        match record.event:
            case RunStarted(processors=processors):
                yield from self._untold(group, record.seq)
                held = list(_numbers(processors))
                group.members = {p: group.members.get(p, _Memory()) for p in held}
                group.stage = None
            case ProcessorsJoined(processors=processors):
                group.members.update((p, _Memory(known=False)) for p in _numbers(processors))
            case CheckpointTaken(checkpoint=number):
                kept = number if self.width > 1 else None
                group.members = {p: _Memory(number, kept) for p in group.members}
                group.struck.clear()
            case StageStarted(stage=stage):
                if group.stage is Stage.RECOVERING:
                    group.recovered = record.t
                group.stage = stage
            case FaultStruck(processor=processor):
                yield from self._strike(group, processor, record.seq)
            case RunEnded() | JobCompleted() if group.stage is Stage.RECOVERING:
                group.stage = None

    def _strike(self, group: _Group, processor: int, seq: int) -> Iterator[Violation]:
        if processor in group.announced:
            why = f"processor {processor} is struck again before it has lost anything"
            yield Violation(Law.CHECKPOINT, (group.announced[processor], seq), why)
        group.announced[processor] = seq

    def _untold(self, group: _Group, seq: int) -> Iterator[Violation]:
        for processor, fault in group.announced.items():
            why = f"nothing says what processor {processor} lost"
            yield Violation(Law.CHECKPOINT, (fault, seq), why)
        group.announced.clear()

    def _unrestored(self, group: _Group, seq: int) -> Iterator[Violation]:
        """The recovery is over: who was struck before has its memory again."""
        recovered, group.recovered = group.recovered, None
        for processor, (fault, then) in list(group.struck.items()):
            if recovered is not None and then < recovered and processor in group.members:
                del group.struck[processor]
                if self.width > 1:
                    why = f"processor {processor} got nothing back"
                    yield Violation(Law.CHECKPOINT, (fault, seq), why)

    def _lose(self, group: _Group, event: CopiesLost, record: Record) -> Iterator[Violation]:
        seq = record.seq
        fault = group.announced.pop(event.processor, None)
        if fault is None:
            why = f"no fault has just struck processor {event.processor}"
            yield Violation(Law.CHECKPOINT, (seq,), why)
            return
        memory = group.members.get(event.processor)
        if (
            memory is not None
            and memory.known
            and (memory.own, memory.kept)
            != (
                event.own,
                event.buddys,
            )
        ):
            why = f"it held {memory.own} and {memory.kept}; it says {event}"
            yield Violation(Law.CHECKPOINT, (fault, seq), why)
        group.members[event.processor] = _Memory(known=memory is None or memory.known)
        group.struck[event.processor] = (fault, record.t)

    def _restore(self, group: _Group, event: CopiesRestored, record: Record) -> Iterator[Violation]:
        fault = group.struck.pop(event.processor, None)
        if fault is None or group.recovered != record.t:
            why = f"processor {event.processor} has no recovery that ends now"
            yield Violation(Law.CHECKPOINT, (record.seq,), why)
        if event.buddy != self._holder(event.processor):
            why = f"processor {event.buddy} holds no copy for processor {event.processor}"
            yield Violation(Law.CHECKPOINT, (record.seq,), why)
        buddy = group.members.get(event.buddy)
        if buddy is not None and buddy.known and buddy.kept != event.checkpoint:
            why = f"processor {event.buddy} held {buddy.kept}; it says {event.checkpoint}"
            yield Violation(Law.CHECKPOINT, (record.seq,), why)
        ward = group.members.get(self._ward(event.processor))
        kept = ward.own if ward is not None else None
        known = ward is not None and ward.known
        group.members[event.processor] = _Memory(event.checkpoint, kept, known)

    def _both(self, group: _Group, event: BothCopiesLost, seq: int) -> Iterator[Violation]:
        near = (self._holder(event.processor), self._ward(event.processor))
        if event.buddy not in near or not {event.processor, event.buddy} <= group.struck.keys():
            why = f"processors {event.processor} and {event.buddy} are not both struck buddies"
            yield Violation(Law.CHECKPOINT, (seq,), why)
        group.members = {p: _Memory() for p in group.members}
        group.struck.clear()

    def _holder(self, processor: int) -> int:
        first = processor // self.width * self.width
        return first + (processor - first + 1) % self.width

    def _ward(self, processor: int) -> int:
        first = processor // self.width * self.width
        return first + (processor - first - 1) % self.width


def _numbers(processors: str) -> Iterator[int]:
    for first, last in ranges(processors):
        yield from range(first, last + 1)
