"""Who holds which processors of a pack, and whether decisions are carried out (003, section 5)."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import define, field

from actors.events import JobCompleted, RunStarted
from actors.malleable.events import (
    FaultIgnored,
    FaultStruck,
    PackDescribed,
    ProcessorsJoined,
    ProcessorsReleased,
    ProgressSettled,
    RedistributionDecided,
    WhyIgnored,
)
from actors.runtime import Record
from policies.interface.malleable import Cause
from sims.audit.capacity import HoldingAuditor
from sims.audit.law import Law, Violation
from sims.telling import counted
from sims.uses.slices import count, ranges


@define
class PackHoldingAuditor(HoldingAuditor):
    """As for all runs, and processors that were promised join a run when they are free."""

    struck: dict[str, float] = field(factory=dict)
    """Application -> its last fault; a second one at that instant finds its run ended."""

    def __call__(self, record: Record) -> Iterator[Violation]:
        match record.event:
            case ProcessorsJoined(job=job, run=run, processors=processors):
                held, seq = self.open.get((job, run), ("", record.seq))
                yield from self._take(processors, record.seq)
                self.open[job, run] = (f"{held} {processors}".strip(), seq)
            case FaultStruck(job=job, processor=processor):
                again, self.struck[job] = self.struck.get(job) == record.t, record.t
                inside = 0 <= processor < len(self.held)
                if not (again or (inside and self.held[processor])):
                    yield Violation(Law.CAPACITY, (record.seq,), f"nobody holds {processor}")
        yield from HoldingAuditor.__call__(self, record)


@define
class MoveAuditor:
    """Sizes change only as decided; faults are ignored only on whom they cannot hurt."""

    fatal: bool = False
    sizes: dict[str, int] = field(factory=dict)
    """Of the applications that run, promised processors included."""
    held: dict[str, str] = field(factory=dict)
    """Application -> the processors of its run that are its own already."""
    since: dict[str, float] = field(factory=dict)
    promised: dict[str, str] = field(factory=dict)
    """Application that will end soon -> the processors that it has promised."""
    freed: set[int] = field(factory=set)
    """Promised processors whose application has ended."""
    struck: dict[str, float] = field(factory=dict)
    ended: dict[str, float] = field(factory=dict)
    due: dict[str, tuple[Record, int]] = field(factory=dict)
    """Application -> the decision to be carried out at this instant, and its new size."""

    def __call__(self, record: Record) -> Iterator[Violation]:
        yield from self._check_due(record)
        match record.event:
            case PackDescribed(fatal=fatal):
                self.fatal = fatal
            case RedistributionDecided():
                yield from self._decide(record.event, record)
            case RunStarted(job=job, processors=processors):
                self.held[job] = processors
            case ProgressSettled():
                yield from self._resize(record.event, record)
            case FaultIgnored():
                yield from self._ignore(record.event, record)
            case _:
                yield from self._note(record)

    def close(self, last: Record) -> Iterator[Violation]:
        return iter(())

    def _note(self, record: Record) -> Iterator[Violation]:
        match record.event:
            case ProcessorsReleased(job=job, processors=processors):
                if processors != self.held.get(job) or self.fatal:
                    why = f"{job} promises {processors} and holds {self.held.get(job)}"
                    yield Violation(Law.CAPACITY, (record.seq,), why)
                self.promised[job] = processors
            case ProcessorsJoined(job=job, processors=processors):
                yield from self._join(job, processors, record.seq)
            case FaultStruck(job=job):
                self.struck[job] = record.t
            case JobCompleted(job=job):
                self.ended[job] = record.t
                self.sizes.pop(job, None)
                self.held.pop(job, None)
                for first, last in ranges(self.promised.pop(job, "")):
                    self.freed.update(range(first, last + 1))

    # --- decisions ----------------------------------------------------------------------------

    def _decide(self, event: RedistributionDecided, record: Record) -> Iterator[Violation]:
        answered = self.struck if event.why is Cause.FAULT else self.ended
        if answered.get(event.job) != record.t:
            why = f"it answers {event.job}'s {event.why.value}, which is not now"
            yield Violation(Law.DECISION, (record.seq,), why)
        for job, before, after in event.moves:
            if before != self.sizes.get(job):
                why = f"{job} has {self.sizes.get(job)}, not {counted(before, 'processor')}"
                yield Violation(Law.DECISION, (record.seq,), why)
            if job in self.due:
                why = f"{job}'s size is decided twice"
                yield Violation(Law.DECISION, (self.due[job][0].seq, record.seq), why)
            self.due[job] = (record, after)

    def _check_due(self, record: Record) -> Iterator[Violation]:
        late = [job for job, (decision, _) in self.due.items() if record.t > decision.t]
        for job in late:
            decision, after = self.due.pop(job)
            why = f"{job} was to go to {counted(after, 'processor')} and did not"
            yield Violation(Law.DECISION, (decision.seq, record.seq), why)

    def _resize(self, event: ProgressSettled, record: Record) -> Iterator[Violation]:
        job, size = event.job, event.processors
        before = self.sizes.get(job, size)
        decision, after = self.due.pop(job, (None, before))
        if size != after:
            events = (decision.seq, record.seq) if decision else (record.seq,)
            why = f"{job} has {counted(size, 'processor')}, decided were {after}"
            yield Violation(Law.DECISION, events, why)
        present = count(self.held.get(job, ""))
        if present > size or (present < size and not self.promised):
            why = f"{job} has {counted(size, 'processor')} and holds {present}"
            yield Violation(Law.REDISTRIBUTION, (record.seq,), why)
        self.sizes[job], self.since[job] = size, event.since

    def _join(self, job: str, processors: str, seq: int) -> Iterator[Violation]:
        joining = {p for first, last in ranges(processors) for p in range(first, last + 1)}
        present = count(self.held.get(job, "")) + len(joining)
        if not joining <= self.freed or present > self.sizes.get(job, 0):
            why = f"{processors} were not promised to {job}, or are not free yet"
            yield Violation(Law.CAPACITY, (seq,), why)
        self.freed -= joining
        self.held[job] = f"{self.held.get(job, '')} {processors}".strip()

    # --- faults -------------------------------------------------------------------------------

    def _ignore(self, event: FaultIgnored, record: Record) -> Iterator[Violation]:
        job = event.job
        if event.why is WhyIgnored.IDLE:
            holders = [name for name, text in self.held.items() if _holds(text, event.processor)]
            if job is not None or (holders and holders[0] not in self.promised):
                why = f"{holders[0] if holders else job} holds processor {event.processor}"
                yield Violation(Law.STATE, (record.seq,), why)
        elif job is None or self.fatal or not self._busy(job, record.t):
            why = f"{job} computes since {self.since.get(job or '')}, and the fault is ignored"
            yield Violation(Law.STATE, (record.seq,), why)
        elif not _holds(self.held.get(job, ""), event.processor) and not self.promised:
            why = f"{job} does not hold processor {event.processor}"
            yield Violation(Law.CAPACITY, (record.seq,), why)

    def _busy(self, job: str, now: float) -> bool:
        # Struck at this very instant: what it will be busy with is decided when all is heard.
        return now < self.since.get(job, now) or self.struck.get(job) == now


def _holds(processors: str, number: int) -> bool:
    return any(first <= number <= last for first, last in ranges(processors))
