"""Follows replacements: a standby or a spare takes the place of a member."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from attrs import frozen

from actors.events import MemberReplaced
from actors.intervals import added, spans_in, text, within, without
from actors.runtime import Event, Record
from sims.history.runs import Part
from sims.history.workers import Handler


@frozen(eq=False)
class Replacement(Part):
    """The part of a history that exchanges a member of a run for its replacement."""

    holds: ClassVar[frozenset[type[Event]]] = frozenset((MemberReplaced,))

    def handlers(self) -> Mapping[type[Event], Handler]:
        return {MemberReplaced: self._replace}

    def _replace(self, record: Record, event: MemberReplaced) -> None:
        run, gone, came = self.history.run_of(event), event.worker, event.replacement
        aside = spans_in(run.aside)
        if run.dropped and within(run.dropped, gone):
            run.dropped = text(added(without(spans_in(run.dropped), (gone,)), came))
            aside = added(without(aside, (gone, came)), came)
            self.history.regroup(run, record, run.processors, text(aside))
        else:
            left = added(without(spans_in(run.processors), (gone,)), came)
            self.history.regroup(run, record, text(left), text(without(aside, (came,))))
