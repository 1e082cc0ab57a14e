"""Jobs that follow others. Their keys are those of listed jobs, or the chains of a log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from actors.dependencies import Dependencies as Submitter
from actors.events import DependenciesDescribed
from actors.runtime import Actor, System
from sims.scenario.jobs import DEPENDENCIES
from sims.scenario.parts.part import Made, ScenarioPart, Site
from sims.scenario.submissions import Workload


class Dependencies(ScenarioPart):
    """The jobs that others follow, and those that follow them."""

    def tell(self, jobs: Workload, system: System) -> None:
        """Describe in the log which jobs follow others."""
        names = {job.index: job.name for job in jobs.jobs} if jobs.waits else {}
        for index, wait in jobs.waits.items():
            after = tuple(names[before] for before in wait.after)
            system.describe(DependenciesDescribed, names[index], wait.release, after, wait.think)

    def after(self, site: Site) -> Iterator[Actor]:
        if site.jobs is not None and site.jobs.waits:
            yield Submitter(DEPENDENCIES, site.jobs.waits)

    def submitters(self, site: Site, made: Made) -> Mapping[int, Actor]:
        submitter = made.of(Submitter)
        if submitter is None or site.jobs is None:
            return {}
        return dict.fromkeys(site.jobs.waits, submitter)

    def awaiting(self, site: Site, made: Made) -> Mapping[int, Actor]:
        submitter = made.of(Submitter)
        if submitter is None or site.jobs is None:
            return {}
        return {before: submitter for wait in site.jobs.waits.values() for before in wait.after}
