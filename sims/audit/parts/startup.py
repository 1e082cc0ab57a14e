"""Derives the time in which workers are chosen, and processes start, before a run's members fetch
anything (rules.md, R5). Workers that a copy has kept are not chosen again."""

from __future__ import annotations

from typing import ClassVar

from attrs import define

from actors.events import StartupDescribed
from actors.runtime import Event
from sims.audit.facts import ExpectedJob
from sims.audit.world import PartRules


@define(eq=False)
class StartupRules(PartRules):
    """The rules of start-up."""

    job_line: ClassVar = StartupDescribed
    early: ClassVar = True

    def described(self, job: ExpectedJob, event: Event) -> None:
        if isinstance(event, StartupDescribed):
            job.lead += event.startup + event.select

    def before(self, job: ExpectedJob, first: bool) -> float:
        said = job.told.get(StartupDescribed)
        if said is None:
            return 0
        return said.startup + (said.select if first else 0)  # type: ignore[no-any-return]
