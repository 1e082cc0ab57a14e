"""Which processors of a pool an attempt gets."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from attrs import define, field

from actors.events import RunEnded, RunStarted
from actors.runtime import Record
from sims.audit.capacity import HoldingAuditor
from sims.audit.law import Law, Violation
from sims.uses.slices import count, ranges


@define
class PoolAuditor(HoldingAuditor):
    """Each attempt takes the lowest free processors, or those that its job's last attempt has just
    given back."""

    former: dict[str, tuple[float, str]] = field(factory=dict)
    """Job -> when its last attempt ended, and on which processors."""

    def __call__(self, record: Record) -> Iterator[Violation]:
        match record.event:
            case RunStarted(job=job, processors=processors):
                yield from self._choose(job, processors, record)
            case RunEnded(job=job, run=run) if (job, run) in self.open:
                self.former[job] = (record.t, self.open[job, run][0])
        yield from HoldingAuditor.__call__(self, record)

    def _choose(self, job: str, processors: str, record: Record) -> Iterator[Violation]:
        ended, former = self.former.get(job, (record.t, ""))
        if ended == record.t and count(former) == count(processors) and self._free(former):
            if processors != former:
                why = f"{job} had {former} a moment ago and gets {processors}"
                yield Violation(Law.POOL, (record.seq,), why)
        elif not self._lowest(processors):
            why = f"{processors} are not the lowest free processors"
            yield Violation(Law.POOL, (record.seq,), why)

    def _free(self, processors: str) -> bool:
        return not any(self.held[first : last + 1].any() for first, last in ranges(processors))

    def _lowest(self, processors: str) -> bool:
        highest = max((last for _, last in ranges(processors)), default=-1)
        free = highest + 1 - int(np.count_nonzero(self.held[: highest + 1]))
        return free == count(processors)
