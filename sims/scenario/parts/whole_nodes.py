"""Whole nodes, which each job of an exclusive partition holds (rules.md, G6). Their key is
`exclusive`, of a partition."""

from __future__ import annotations

from policies.interface.queue import BatchPolicy
from sims.errors import unfit
from sims.scenario import Scenario
from sims.scenario.parts.part import ScenarioPart
from sims.scenario.submissions import Workload

WHERE = "a job of an exclusive partition holds whole nodes, of which"


class WholeNodes(ScenarioPart):
    """The jobs of a platform that hold whole nodes."""

    def check_queue(self, scenario: Scenario, jobs: Workload, policy: BatchPolicy) -> None:
        """Raise InputError where a job that holds whole nodes would get single workers in place of
        members."""
        for job in jobs.listed:
            if job.node and job.held_ready:
                problem = f"{job.name}: {WHERE} none are standbys"
                raise unfit(f"job.jobs.{job.index}.standbys", problem, "no standbys")
        for it in jobs.submissions.protected(lambda it: it.replace_after is not None):
            if it.job.node:
                problem = f"{it.job.name}: {WHERE} no single worker takes a member's place"
                raise unfit("protection.replace_after", problem, "no replacement")
