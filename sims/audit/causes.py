"""The law of causes: every event is caused by one that may cause it (actors/events/causes.py)."""

from __future__ import annotations

from attrs import define, field

from actors.events.causes import CauseLaw
from actors.runtime import Record
from sims.audit.law import Law
from sims.audit.world import World


@define(eq=False)
class CauseAuditor:
    """It is asked of each record; causes that are none by their number are the order's business."""

    world: World
    law: CauseLaw = field(factory=CauseLaw)

    def check(self, record: Record) -> None:
        """Report a cause that cannot be that of `record`, the next one."""
        problem = self.law.check(record)
        cause = record.cause
        if problem is not None and cause is not None and 0 <= cause < record.seq:
            self.world.breaks(Law.CAUSE, (cause, record.seq), problem)
