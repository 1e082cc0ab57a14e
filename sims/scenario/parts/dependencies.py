"""Jobs that follow others. Their keys are those of listed jobs, or the chains of a log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from actors.dependencies import Dependence
from actors.dependencies import Dependencies as Submitter
from actors.events import DependenciesDescribed
from actors.runtime import Actor, System
from sims.scenario import Scenario
from sims.scenario.dependencies import Following, chained
from sims.scenario.jobs import DEPENDENCIES
from sims.scenario.jobs.logs import Replay
from sims.scenario.parts.part import Advice, Made, ScenarioPart, Site
from sims.scenario.submissions import LeftOut, Submissions, Workload


class Dependencies(ScenarioPart):
    """The jobs that others follow, and those that follow them."""

    def waits(
        self, fitting: Submissions, names: Sequence[str], log: Replay
    ) -> tuple[Mapping[int, Dependence], LeftOut]:
        listed = [
            Following(it.job, tuple(dict.fromkeys(it.own.after)), it.own.think)
            for it in (fitting if fitting.own else ())
            if it.own is not None and it.own.after
        ]
        if not listed and not log.preceding:
            return {}, ()
        jobs = {job.name: job for job in fitting.jobs}
        found = chained(listed, log.preceding, jobs, set(names) if listed else ())
        return found.waits, found.changed

    def idle(self, scenario: Scenario) -> Iterator[Advice]:
        for number, job in enumerate(scenario.job.jobs):
            if job.think and not job.after:
                yield f"job.jobs.{number}.think", "the job follows no other: it has no `after`"

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
