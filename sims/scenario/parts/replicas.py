"""Replicas: groups of a job's processors that each hold its whole state. Their keys are those of
rigid jobs that are listed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from attrs import evolve

from policies.interface.queue import BatchJob
from sims.scenario import Scenario
from sims.scenario.jobs import AnyJob, JobSection, RigidJob
from sims.scenario.parts.part import Advice, Refusal, ScenarioPart


class Replicas(ScenarioPart):
    """The replicas of listed jobs."""

    unplayable: ClassVar[str] = "replicas"

    def asked(self, job: BatchJob, section: JobSection, own: AnyJob | None) -> BatchJob:
        divided = own.replication if isinstance(own, RigidJob) else None
        return job if divided is None else evolve(job, replication=divided)

    def of_queues(self, scenario: Scenario) -> Iterator[Refusal]:
        why = "chooses the workers of each run itself, and a run ends with any of them"
        for index, own in enumerate(scenario.job.jobs):
            if isinstance(own, RigidJob) and own.replicas != 1:
                yield f"job.jobs.{index}.replicas", why, "replicas = 1"

    def simulated(self, scenario: Scenario) -> Iterator[str]:
        if any(isinstance(it, RigidJob) and it.replicas > 1 for it in scenario.job.jobs):
            yield "job.jobs.replicas"

    def idle(self, scenario: Scenario) -> Iterator[Advice]:
        for index, own in enumerate(scenario.job.jobs):
            if isinstance(own, RigidJob) and own.replicas == 1:
                for key in filter(own.differs, ("regroup", "rejoin")):
                    yield f"job.jobs.{index}.{key}", "replicas is 1: no group drops out"

    def assumed(self, job: BatchJob) -> Iterator[str]:
        if job.divided:
            yield "that each fault stops the job, as with replicas few of them do"
