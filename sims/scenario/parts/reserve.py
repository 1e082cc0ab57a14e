"""The reserve: workers that their owner keeps until they are called for the first job of a queue
(rules.md, P11). Its keys are those of `[platform]`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from actors.acts import Act
from actors.parts.queue_part import QueuePart
from actors.parts.reserve import Reserve as ReserveOfQueue
from policies.interface.queue import BatchPolicy
from policies.maths.speedup import Asking
from sims.errors import unfit
from sims.scenario import Scenario
from sims.scenario.parts.part import Advice, Refusal, ScenarioPart, Timed
from sims.scenario.submissions import Workload


class Reserve(ScenarioPart):
    """The reserve of a platform."""

    def of_queues(self, scenario: Scenario) -> Iterator[Refusal]:
        if scenario.full_platform.kept:
            why = "has no queue whose first job could lack workers"
            yield "platform.reserve", why, "no reserve"

    def check_queue(self, scenario: Scenario, jobs: Workload, policy: BatchPolicy) -> None:
        """Raise InputError for a reserve that leaves no other worker, or where a job requests no
        number of workers, so that it never lacks any."""
        platform = scenario.full_platform
        if not platform.pool.reserve:
            return
        if platform.pool.reserve >= platform.able:
            problem = f"{platform.pool.reserve:,} of {platform.able:,} workers that are no spares"
            raise unfit("platform.reserve", problem, f"a number below {platform.able:,}")
        for job in jobs.jobs:
            if not isinstance(job.profile, Asking):
                problem = f"{job.name} wants no number of workers, so that none can be lacking"
                raise unfit("platform.reserve", problem, "rigid jobs, or no reserve")

    def of_queue(self, scenario: Scenario, policy: BatchPolicy) -> Iterator[QueuePart]:
        platform = scenario.full_platform
        if platform.kept:
            yield ReserveOfQueue(list(platform.kept), platform.pool.reserve_delay)

    def acts_refused(self, scenario: Scenario, ignored: bool) -> Mapping[Act, str]:
        if scenario.full_platform.kept:
            return {}
        return {Act.CALL: "there is no reserve to call; accepted: a scenario with platform.reserve"}

    def simulated(self, scenario: Scenario) -> Iterator[str]:
        if scenario.full_platform.kept:
            yield "platform.reserve"

    def idle(self, scenario: Scenario) -> Iterator[Advice]:
        platform = scenario.full_platform
        if platform.pool.reserve_delay and not platform.kept:
            yield "platform.reserve_delay", "there is no reserve to call (platform.reserve)"

    def lengths(self, scenario: Scenario) -> Iterator[Timed]:
        yield scenario.full_platform.pool.reserve_delay, "platform.reserve_delay"
