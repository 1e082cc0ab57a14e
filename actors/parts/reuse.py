"""Reuse: a member of a run that ended early, enrolled again at that very decision, keeps its data
and the part of a message that has passed (volatile13).

The job therefore waits for the scheduler's decision of the instant before it dismisses such
members.
"""

from __future__ import annotations

from attrs import define, field

from actors.copy import Copy
from actors.messages import FormerMembersWait, ReleaseFormer, StartCopy
from actors.parts.part import Part
from actors.run import Run
from actors.runtime import handles


@define(eq=False)
class Reuse(Part):
    """Keeps the members of runs that ended early at this instant until the scheduler has
    decided."""

    _former: dict[int, tuple[Copy[Run], int]] = field(init=False, factory=dict)
    """Maps each former member of a run that ended early at this instant to its copy and to the
    number of the event that ended the run."""

    def placed(self, copy: Copy[Run], message: StartCopy) -> None:
        # While a run starts up its members receive nothing, and do not keep what they have
        # received.
        starts_up = self.job.described.preparation
        for worker in copy.members if self._former and not starts_up else ():
            self._former.pop(worker, None)

    def released(self, copy: Copy[Run], end: int) -> bool:
        self._former.update(dict.fromkeys(copy.members, (copy, end)))
        self.job.send(self.job.scheduler, FormerMembersWait(copy.job), end)
        return True

    @handles(ReleaseFormer)
    def release(self, _: ReleaseFormer, __: int) -> None:
        """Have the members of runs that ended early at this instant leave these runs. They discard
        what they fetched for them, except programs. Members that the scheduler's decision has
        enrolled again stay as they are."""
        for worker, (copy, end) in self._former.items():
            copy.dismiss((worker,), end, keep=False)
        self._former.clear()
