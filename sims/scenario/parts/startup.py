"""Start-up: the times in which workers are chosen for a run, and it starts up (rules.md, R5). The
keys are those of `[job]`, and of listed jobs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from attrs import evolve

from policies.interface.queue import BatchJob
from sims.scenario import Scenario
from sims.scenario.jobs import AnyJob, JobSection
from sims.scenario.parts.part import ScenarioPart, Timed
from sims.telling import about


class Startup(ScenarioPart):
    """Start-up of runs: the times that pass before a run's members fetch anything."""

    unplayable: ClassVar[str] = "start-up"

    def asked(self, job: BatchJob, section: JobSection, own: AnyJob | None) -> BatchJob:
        startup, select = section.startup_of(own), section.selecting_of(own)
        return evolve(job, startup=startup, select=select) if startup or select else job

    def simulated(self, scenario: Scenario) -> Iterator[str]:
        section = scenario.job
        own = any(it.startup or it.select for it in section.jobs)
        if section.startup or section.selecting or own:
            yield "job.startup"

    def each_run(self, section: JobSection, own: AnyJob | None) -> Iterator[Timed]:
        yield section.startup_of(own), "job.startup"

    def conditions(self, scenario: Scenario) -> Iterator[str]:
        time = scenario.job.startup
        yield f"a start-up of {about(time, scenario.times.value)}" if time else "no start-up"

    def lengths(self, scenario: Scenario) -> Iterator[Timed]:
        section = scenario.job
        yield section.startup, "job.startup"
        yield section.selecting, "job.select"
        for number, own in enumerate(section.listed):
            yield own.startup or 0, f"job.jobs.{number}.startup"
            yield own.select or 0, f"job.jobs.{number}.select"
