"""Standbys: workers that a copy holds ready beside its members (rules.md, P12). Their key is one of
listed jobs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from attrs import evolve

from actors.parts.standbys import StandbyIntake
from policies.interface.queue import BatchJob, BatchPolicy
from sims.errors import unfit
from sims.scenario import Scenario
from sims.scenario.jobs import AnyJob, JobSection
from sims.scenario.parts.part import Advice, Made, Making, Refusal, ScenarioPart, Site
from sims.scenario.submissions import Workload


class Standbys(ScenarioPart):
    """The standbys of listed jobs."""

    unplayable: ClassVar[str] = "standbys"

    def asked(self, job: BatchJob, section: JobSection, own: AnyJob | None) -> BatchJob:
        count = self.held_ready(own) if own is not None else 0
        return evolve(job, held_ready=count) if count else job

    def held_ready(self, own: AnyJob) -> int:
        return int(getattr(own, "standbys", 0))

    def simulated(self, scenario: Scenario) -> Iterator[str]:
        if any(map(self.held_ready, scenario.job.jobs)):
            yield "job.jobs.standbys"

    def of_queues(self, scenario: Scenario) -> Iterator[Refusal]:
        why = "chooses the workers of each run itself, and no job keeps any between two runs"
        for index, own in enumerate(scenario.job.jobs):
            if self.held_ready(own):
                yield f"job.jobs.{index}.standbys", why, "no standbys"

    def check_queue(self, scenario: Scenario, jobs: Workload, policy: BatchPolicy) -> None:
        """Raise InputError where a shelf, or a plan of all starts, counts on workers that standbys
        would take."""
        name = scenario.policy_name
        if not ("SHELF" in name or name == "conservative"):
            return
        for job in jobs.listed:
            if job.held_ready:
                key = f"job.jobs.{job.index}.standbys"
                problem = f"{name} plans with workers that standbys would take from the plan"
                raise unfit(key, problem, "FCFS, EASY, greedy or R-LIST, say, or no standbys")

    def warnings(self, scenario: Scenario) -> Iterator[Advice]:
        for index, own in enumerate(scenario.job.jobs):
            if self.held_ready(own) and not scenario.can_go_down:
                why = "no worker ever goes DOWN: they only keep workers from other jobs"
                yield f"job.jobs.{index}.standbys", why

    def of_scheduler(self, site: Site, made: Made) -> Iterator[Making]:
        if site.jobs is not None and any(job.held_ready for job in site.jobs.listed):
            yield StandbyIntake
