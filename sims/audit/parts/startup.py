"""Derives the time in which workers are chosen, and processes start, before a run's members fetch
anything (rules.md, R5). Workers that a copy has kept are not chosen again."""

from __future__ import annotations

from attrs import define, frozen

from sims.audit.facts import ExpectedJob
from sims.audit.scenario import Table, amount
from sims.audit.world import PartRules


@frozen
class GivenStartup:
    """Times that a job's runs take to start up, as the scenario gives them."""

    startup: float
    """Time in which the processes of each run start."""
    select: float
    """Time in which workers are chosen for a run on members that its job has not kept."""


@define(eq=False)
class StartupRules(PartRules):
    """The rules of start-up."""

    def asked(self, own: Table) -> GivenStartup | None:
        section = self.w.given.section("job")
        choice = section.get("select", 0)
        if isinstance(choice, dict):  # of rigid jobs, `select` says which jobs of a log take part
            choice = choice.get("choosing", 0)
        table = {"startup": section.get("startup", 0), "select": choice, **own}
        asked = GivenStartup(amount(table, "startup"), amount(table, "select"))
        return asked if asked.startup or asked.select else None

    def described(self, job: ExpectedJob) -> None:
        job.preparation = self.before(job, first=True)

    def before(self, job: ExpectedJob, first: bool) -> float:
        asked: GivenStartup | None = job.asked.of.get(StartupRules)
        if asked is None:
            return 0
        return asked.startup + (asked.select if first else 0)
