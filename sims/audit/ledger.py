"""The ledger's sum: each processor-second goes to exactly one use."""

from __future__ import annotations

from collections.abc import Iterable
from math import fsum

from attrs import define, field

from actors.events import ScenarioStarted
from actors.runtime import Event, Record
from sims.audit.law import Auditor, Handlers, Law
from sims.audit.world import World
from sims.ledger import Accountant, Slice
from sims.ledger.slices import count

ROUNDING = 1e-9
MANY = 4096
UNFIT = (LookupError, AssertionError, ValueError)


@define(eq=False)
class LedgerAuditor(Auditor):
    """Adds up every slice; the idle rest must not be negative. Of a log that breaks another law no
    account is made. In floats: exact sums would take half of the whole audit."""

    world: World
    accountant: Accountant = field(factory=lambda: Accountant(0))
    busy: list[float] = field(factory=list)
    """Amounts of processor-time not yet added up."""

    @property
    def handlers(self) -> Handlers:
        wanted = dict.fromkeys(self.accountant.wants, self._enter)
        return {**wanted, ScenarioStarted: self._begin}

    def close(self, t: float, seq: int) -> None:
        if self.world.broken:
            return
        self._add(self.accountant.close(t))
        busy, whole = fsum(self.busy), self.world.processors * t
        if busy > whole * (1 + ROUNDING):
            why = f"{busy - whole:g} processor-time more than there was"
            self.world.breaks(Law.LEDGER, (seq,), why)

    def _begin(self, event: ScenarioStarted, t: float, seq: int) -> None:
        self.accountant = Accountant(event.processors)

    def _enter(self, event: Event, t: float, seq: int) -> None:
        if self.world.broken:
            return
        record = self.world.record
        if record is None or record.event is not event:
            record = Record(seq, t, None, event)  # a part of what one line tells
        try:
            slices = self.accountant(record)
            if slices:  # an iterator is true
                self._add(slices)
        except UNFIT as missing:
            why = f"no account can be made of {event}: {missing}"
            self.world.breaks(Law.LEDGER, (seq,), why)

    def _add(self, slices: Iterable[Slice]) -> None:
        busy = self.busy
        for it in slices:
            if it.start > it.end:
                why = f"a slice from {it.start} to {it.end}"
                self.world.breaks(Law.LEDGER, (it.seq,), why)
            busy.append(count(it.processors) * float(it.share) * (it.end - it.start))
        if len(busy) > MANY:
            busy[:] = (fsum(busy),)
