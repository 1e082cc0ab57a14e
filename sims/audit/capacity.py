"""Capacity: who holds which processors, and a ledger that sums to processors x makespan."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from actors.events import RunEnded, RunStarted, ScenarioStarted
from actors.runtime import Record
from sims.audit.law import Law, Violation
from sims.ledger import Ledger
from sims.parts import parts
from sims.uses.families import accountant
from sims.uses.slices import Accountant, Slice, Use, ranges


@define
class HoldingAuditor:
    """No processor is held by two runs at once; for runs that keep what they started with."""

    held: NDArray[np.bool_] = field(factory=lambda: np.zeros(0, bool))
    open: dict[tuple[str, int], tuple[str, int]] = field(factory=dict)

    def __call__(self, record: Record) -> Iterator[Violation]:
        match record.event:
            case ScenarioStarted(processors=processors):
                self.held = np.zeros(processors, bool)
            case RunStarted(job=job, run=run, processors=processors):
                self.open[job, run] = (processors, record.seq)
                yield from self._take(processors, record.seq)
            case RunEnded(job=job, run=run):
                processors, _ = self.open.pop((job, run), ("", 0))
                self._give(processors)

    def close(self, last: Record) -> Iterator[Violation]:
        return iter(())

    def _give(self, processors: str) -> None:
        for first, last in ranges(processors):
            self.held[first : last + 1] = False

    def _take(self, processors: str, seq: int) -> Iterator[Violation]:
        for first, last in ranges(processors):
            if not first <= last < len(self.held):
                why = f"processors {first}-{last} of {len(self.held)}"
                yield Violation(Law.CAPACITY, (seq,), why)
            elif self.held[first : last + 1].any():
                why = f"processors {first}-{last} are not all free"
                yield Violation(Law.CAPACITY, (seq,), why)
            self.held[first : last + 1] = True


@define
class LedgerAuditor:
    """Enters every slice in a ledger; the idle rest must not be negative."""

    slices: Accountant | None = None
    ledger: Ledger | None = None

    def __call__(self, record: Record) -> Iterator[Violation]:
        if isinstance(record.event, ScenarioStarted):
            self.slices = accountant(record.event.kind)
            self.ledger = Ledger(record.event.processors)
        if self.slices is not None:
            try:
                for part in parts(record):
                    for it in self.slices(part):
                        yield from self._enter(it)
            except LookupError as missing:
                # Other laws say what is wrong; no account can be made of such a log.
                why = f"nothing is known of {missing} that it is about"
                yield Violation(Law.LEDGER, (record.seq,), why)

    def close(self, last: Record) -> Iterator[Violation]:
        if self.slices is None or self.ledger is None:
            return
        for it in self.slices.close(last.t):
            yield from self._enter(it)
        self.ledger.close(last.t)
        idle = self.ledger.total[Use.IDLE]
        if idle < 0:
            why = f"{float(-idle):g} processor-time more than there was"
            yield Violation(Law.LEDGER, (last.seq,), why)

    def _enter(self, it: Slice) -> Iterator[Violation]:
        assert self.ledger is not None
        self.ledger.add((it,))
        if it.start > it.end:
            yield Violation(Law.LEDGER, (it.seq,), f"a slice from {it.start} to {it.end}")
