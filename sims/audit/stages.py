"""The stages that a run must pass through, and how long each is (WORLD.md, L4, R3, P)."""

from __future__ import annotations

import math

from attrs import define

from actors.events import CheckpointTaken, RunEnded, Stage
from actors.runtime import Event
from sims.audit.facts import Run

FEEDING, COMPUTING, VERIFYING = Stage.FEEDING, Stage.COMPUTING, Stage.VERIFYING
SAVING, CHECKPOINTING, RECOVERING = Stage.SAVING, Stage.CHECKPOINTING, Stage.RECOVERING
ROUNDING = 1e-9

Step = Stage | type[Event]
"""A stage, CheckpointTaken, or RunEnded."""


@define(eq=False)
class Plan:
    """What a run must do, as its job has described it; stages of length 0 are not told."""

    work: float
    fed: bool
    """Whether its members are fed by a master."""
    before: float
    """Recovery, or a clone's delay."""
    period: float | None
    """Work between checkpoints; None: the log does not say."""
    cost: float | None
    """None: every member sends its image."""
    verification: float
    verified: bool
    saves: bool
    """Whether it may take checkpoints at all."""

    def first(self) -> Step:
        """What it must begin with."""
        return FEEDING if self.fed else self._ready()

    def after(self, step: Step | None, done: float) -> Step:
        """What must follow, `done` being the work done."""
        if step is FEEDING:
            return self._ready()
        if step in (RECOVERING, CheckpointTaken):
            return self._compute(done)
        if step is COMPUTING:
            return self._computed(done)
        if step is VERIFYING:
            return RunEnded if self.whole(done) else self._save()
        return CheckpointTaken if step in (SAVING, CHECKPOINTING) else self.first()

    def whole(self, done: float) -> bool:
        """Whether no work is left."""
        return self.work - done <= ROUNDING * self.work

    def length(self, stage: Stage, done: float) -> float | None:
        """How much a stage takes of what it advances by; None: the log does not say."""
        if stage is COMPUTING:
            left = self.work - done
            if self.period is None:
                return None if self.saves else left
            return min(self.period, left)
        return {VERIFYING: self.verification, CHECKPOINTING: self.cost or 0}.get(
            stage, self.before if stage is RECOVERING else math.inf
        )

    def _ready(self) -> Step:
        return RECOVERING if self.before > 0 else self._compute(0)

    def _compute(self, done: float) -> Step:
        return COMPUTING if self.work > done else self._computed(done)

    def _computed(self, done: float) -> Step:
        if self.whole(done):
            return VERIFYING if self.verification > 0 else RunEnded
        return VERIFYING if self.verified and self.verification > 0 else self._save()

    def _save(self) -> Step:
        if self.cost is None:
            return SAVING
        return CHECKPOINTING if self.cost > 0 else CheckpointTaken


def plan_of(run: Run) -> Plan:
    """What `run` must do."""
    job, event = run.job, run.event
    rules, messages = job.protection, job.messages
    if rules is None:
        return Plan(event.work, messages is not None, 0, None, 0, job.verification, False, False)
    before = rules.recovery if event.keeps is not None else 0.0
    if event.source is not None and event.keeps is None and messages is None:
        before = rules.recovery if run.image else rules.delay
    cost: float | None = rules.cost
    if rules.kind == "images" and messages is not None:
        cost = None if messages.image > 0 else 0
    return Plan(
        *(event.work, messages is not None, before, rules.period, cost),
        *(job.verification, rules.verified, rules.kind != "none"),
    )
