"""Where a policy of copies would have placed them, and how far they would have come (004)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from attrs import define, field

from actors.deciders.copies import Columns, PlacementRule
from actors.deciders.copies.service import NEVER
from actors.events import (
    CopiesPlaced,
    CopiesSettled,
    GainDescribed,
    JobDescribed,
    ScenarioStarted,
    WorkerSpeedChanged,
)
from actors.messages import Submit, WorkerSped
from actors.pool import Pool
from actors.runtime import Record
from policies.copies import named
from policies.interface.queue import BatchJob
from policies.maths.speedup import Rigid
from sims.audit.replay.shadow import Shadow, Told, Unreplayable, as_job, shadow
from sims.scenario.policies import load_policy
from sims.scenario.policy import PolicySection


@define(eq=False)
class CopiesReplay:
    """The array form of the copies' decider, which is itself the account of all copies."""

    section: PolicySection
    started: ScenarioStarted
    jobs: int = 0
    decider: Columns = field(init=False)
    scheduler: Shadow = field(init=False)

    def __attrs_post_init__(self) -> None:
        rule = PlacementRule(self.section.placement or PlacementRule.UNIFORM.value)
        self.decider = Columns(load_policy(self.section, named, Path()), rule)
        pool = Pool(self.started.processors, True, True)
        self.scheduler = shadow(self.started.seed, pool, self.decider)

    def due(self) -> float | None:
        """When a copy ends."""
        return self.decider.due if self.decider.due < NEVER else None

    def instant(self, t: float, records: Sequence[Record]) -> str | None:
        """All that is told of `t`; what the policy would have decided instead."""
        self.scheduler.system.loop.now = t
        for record in records:
            match record.event:
                case JobDescribed() as job:
                    self._submit(job, t)
                case WorkerSpeedChanged(worker=worker, speed=speed):
                    self.scheduler.worker_sped(WorkerSped(worker, speed))
                case GainDescribed():
                    raise Unreplayable("g(r, t), by which copies advance")
        decided = self.scheduler.decides()
        wanted = list(self.scheduler.said) if decided else []
        found = [it.event for it in records if isinstance(it.event, CopiesPlaced | CopiesSettled)]
        return None if wanted == found else f"would tell {wanted}; the log tells {found}"

    def _submit(self, event: JobDescribed, t: float) -> None:
        job = BatchJob(self.jobs, event.job, Rigid(1, event.work), submitted=t)
        self.jobs += 1
        self.scheduler.hear_of(Submit(as_job(Told(job))))
