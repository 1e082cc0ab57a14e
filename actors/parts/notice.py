"""Notice: an owner announces that it will take a member DOWN, and the run may save its state in
time (rules.md, O1).

Notices of an instant are acted on together, by run number, so that the log does not depend on which
worker is told first.
"""

from __future__ import annotations

from typing import ClassVar

from attrs import define, field

from actors.job import AT_WORK
from actors.messages import MemberHasNotice
from actors.parts.part import Part
from actors.runtime import NOTHING, Phase, handles, message
from actors.steps import NOTICE


@message
class ActOnNotices:
    """A job tells itself to act on all notices given at this instant, by which owners announce that
    they will take members DOWN. A notice can make a checkpoint due."""


ACT_ON_NOTICES = ActOnNotices()


@define(eq=False)
class Notices(Part):
    """Passes owners' notices on to the runs that compute on their workers."""

    late: ClassVar = (MemberHasNotice,)
    _given: list[tuple[int, int, int]] = field(init=False, factory=list)
    """Each notice that an owner has given at this instant: copy, worker, and the event's number."""

    @handles(MemberHasNotice, during=AT_WORK)
    def give(self, message: MemberHasNotice, cause: int) -> None:
        """Note a notice that is given at this instant."""
        if not self._given:
            self.job.later(ACT_ON_NOTICES, NOTHING, Phase.NOTICES)
        self._given.append((message.copy, message.worker, cause))

    @handles(ActOnNotices)
    def act(self, _: ActOnNotices, __: int) -> None:
        """Have the runs react, by run number, to all notices that owners have given at this instant
        for members that these runs compute on: such a notice can make a checkpoint due."""
        given, self._given = self._given, []
        known = ((self.job.copies.get(copy), worker, cause) for copy, worker, cause in given)
        # A notice changes nothing if the run does not depend on the worker.
        found = ((it.run, cause) for it, worker, cause in known if it and it.depends_on(worker))
        noticed = [(run, cause) for run, cause in found if run is not None]
        for run, cause in sorted(noticed, key=lambda it: it[0].number):
            if not run.ended:
                self.job.report_progress(run.copy, run.react(NOTICE, cause))
