"""Whole nodes: a copy of a job in an exclusive partition holds its members' nodes whole (rules.md,
G6).

The rest of them computes nothing. What becomes of it matters to no run, so that no job is told of
it: like that of a free worker, its change of state is known at once.
"""

from __future__ import annotations

from attrs import define

from actors.copy import Copy
from actors.events import NodesHeld
from actors.intervals import text
from actors.messages import StartCopy
from actors.parts.part import Host, Part
from actors.run import Run


@define(eq=False)
class WholeNodes(Part):
    """Logs which workers the job's copies hold besides their members: the rest of their nodes."""

    @classmethod
    def wanted(cls, job: Host) -> bool:
        return bool(job.described.node)

    def started(self, copy: Copy[Run], message: StartCopy, cause: int) -> None:
        if message.rest:
            self.job.record(cause, NodesHeld, self.job.name, copy.last, text(message.rest))
