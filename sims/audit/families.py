"""Which auditors check which kind of log."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from actors.events import ScenarioStarted
from actors.runtime import Record
from sims.audit.batch import BatchAuditor
from sims.audit.capacity import HoldingAuditor, LedgerAuditor
from sims.audit.enrolment import EnrolmentAuditor
from sims.audit.failstop import FailStopAuditor
from sims.audit.frame import LifeAuditor, OrderAuditor
from sims.audit.iterations import IterationAuditor
from sims.audit.law import Auditor, Law, Violation
from sims.audit.malleable import MalleableAuditor
from sims.audit.malleable_copies import CopiesAuditor
from sims.audit.malleable_decisions import MoveAuditor, PackHoldingAuditor
from sims.audit.pool import PoolAuditor
from sims.audit.queue import QueueAuditor
from sims.audit.redundant import RedundantAuditor
from sims.audit.volatile import VolatileAuditor
from sims.parts import parts

all_there = partial(LifeAuditor, arriving=False)

AUDITORS: dict[str, tuple[Callable[[], Auditor], ...]] = {
    "iterative": (all_there, HoldingAuditor, VolatileAuditor, EnrolmentAuditor, IterationAuditor),
    "rigid": (LifeAuditor, PoolAuditor, BatchAuditor, QueueAuditor, FailStopAuditor),
    "moldable": (LifeAuditor, PoolAuditor, BatchAuditor, QueueAuditor, FailStopAuditor),
    "malleable": (all_there, PackHoldingAuditor, MalleableAuditor, MoveAuditor, CopiesAuditor),
    "redundant": (partial(LifeAuditor, many=True), RedundantAuditor),
}
"""Kind of job -> auditors beside those of every log."""


def audit(records: Iterable[Record]) -> Iterator[Violation]:
    """Everything that the records break, in order; nothing for a run of this simulator."""
    auditors: list[Auditor] = [OrderAuditor(), LedgerAuditor()]
    last: Record | None = None
    for record in records:
        if isinstance(record.event, ScenarioStarted) and last is None:
            auditors += [make() for make in AUDITORS[record.event.kind]]
        try:
            parts(record)
        except ValueError as misfit:
            yield Violation(Law.FRAME, (record.seq,), f"its columns do not fit: {misfit}")
            continue
        for auditor in auditors:
            yield from auditor(record)
        last = record
    if last is not None:
        for auditor in auditors:
            yield from auditor.close(last)
