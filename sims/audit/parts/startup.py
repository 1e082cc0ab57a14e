"""Derives the time in which workers are chosen, and processes start, before a run's members fetch
anything (rules.md, R5). Workers that a copy has kept are not chosen again."""

from __future__ import annotations

from attrs import define

from sims.audit.facts import ExpectedJob
from sims.audit.world import PartRules


@define(eq=False)
class StartupRules(PartRules):
    """The rules of start-up."""

    def before(self, job: ExpectedJob, first: bool) -> float:
        return job.asked.startup + (job.asked.select if first else 0)
