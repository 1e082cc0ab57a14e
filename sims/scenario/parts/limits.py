"""Limits by user, group or queue (rules.md, G3). Their table is `[[policy.limits]]`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from actors.parts.queue_part import QueuePart
from policies.interface.queue import BatchAllocation, BatchPolicy
from sims.errors import unfit
from sims.scenario import Scenario
from sims.scenario.job_set import JobSet
from sims.scenario.jobs import AnyJob
from sims.scenario.limits import allotted_within, limits_of, within
from sims.scenario.parts.part import Refusal, Rule, ScenarioPart
from sims.scenario.submissions import LeftOut


class Limits(ScenarioPart):
    """The limits of a queue's policy."""

    def of_queues(self, scenario: Scenario) -> Iterator[Refusal]:
        if scenario.policy.limits:
            yield "policy.limits", "has no queue in which jobs could be held back", "no limits"

    def of_queue(self, scenario: Scenario, policy: BatchPolicy) -> Iterator[QueuePart]:
        section = scenario.policy
        if section.limits:
            yield limits_of(section.limits, policy.name, section.reading)

    def allotting(self, scenario: Scenario, rule: Rule, all_ask: bool) -> Rule:
        section = scenario.policy
        if not section.limits:
            return rule
        if not isinstance(rule, BatchAllocation):
            return allotted_within(section.limits, rule)
        if not all_ask:
            problem = "a batch's allotments are made for all its jobs together"
            raise unfit("policy.limits", problem, "LPA, MINTIME, MINAREA, or no limits")
        return rule

    def fitting(
        self,
        scenario: Scenario,
        jobs: JobSet,
        names: Mapping[str, str],
        listed: Mapping[int, AnyJob],
    ) -> tuple[JobSet, LeftOut]:
        if not scenario.policy.limits:
            return jobs, ()
        kept = within(scenario.policy.limits, jobs.made, listed)
        return JobSet.of(kept.jobs), kept.left_out
