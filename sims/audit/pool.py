"""Which processors of a pool an attempt gets."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from attrs import define, field

from actors.batch.events import ProcessorFailed, ProcessorRepaired
from actors.events import RunEnded, RunStarted
from actors.runtime import Record
from sims.audit.capacity import HoldingAuditor
from sims.audit.law import Law, Violation
from sims.uses.slices import Range, count, ranges


@define
class PoolAuditor(HoldingAuditor):
    """Each attempt takes what its job's last attempt has just given back; else, until one gap of
    free processors holds all it still wants, the largest gap (the highest of equals), and then the
    head of the smallest that does (the lowest of equals). What is DOWN is in no gap."""

    former: dict[str, tuple[float, str]] = field(factory=dict)
    """Job -> when its last attempt ended, and on which processors."""
    down: set[int] = field(factory=set)

    def __call__(self, record: Record) -> Iterator[Violation]:
        match record.event:
            case RunStarted(job=job, processors=processors):
                yield from self._choose(job, processors, record)
            case RunEnded(job=job, run=run) if (job, run) in self.open:
                self.former[job] = (record.t, self.open[job, run][0])
            case ProcessorFailed(processor=processor):
                self.down.add(processor)
            case ProcessorRepaired(processor=processor):
                self.down.discard(processor)
                self._give(str(processor))
        yield from HoldingAuditor.__call__(self, record)
        self._keep_down()

    def _keep_down(self) -> None:
        """What is DOWN is not free, whoever gave it back."""
        for processor in self.down:
            self.held[processor : processor + 1] = True

    def _choose(self, job: str, processors: str, record: Record) -> Iterator[Violation]:
        ended, former = self.former.get(job, (record.t, ""))
        if ended == record.t and count(former) == count(processors) and self._free(former):
            if processors != former:
                why = f"{job} had {former} a moment ago and gets {processors}"
                yield Violation(Law.POOL, (record.seq,), why)
        else:
            due = self._fewest_gaps(count(processors))
            if ranges(processors) != due:
                fewest = " ".join(f"{first}-{last}" for first, last in due)
                why = f"{job} gets {processors}, where the fewest gaps are {fewest}"
                yield Violation(Law.POOL, (record.seq,), why)

    def _free(self, processors: str) -> bool:
        return not any(self.held[first : last + 1].any() for first, last in ranges(processors))

    def _fewest_gaps(self, wanted: int) -> tuple[Range, ...]:
        """As many processors as are free, at most `wanted`."""
        edges = np.flatnonzero(np.diff(self.held, prepend=True, append=True)).tolist()
        pairs = zip(edges[::2], edges[1::2], strict=True)
        gaps = sorted((end - first, first) for first, end in pairs)
        taken = list[Range]()
        while gaps and gaps[-1][0] < wanted:
            size, first = gaps.pop()
            taken.append((first, first + size - 1))
            wanted -= size
        for size, first in gaps:
            if size >= wanted > 0:
                taken.append((first, first + wanted - 1))
                break
        return tuple(sorted(taken))
