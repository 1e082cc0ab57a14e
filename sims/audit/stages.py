"""The stages that a run must pass through, and how long each is (WORLD.md, L4, R3, P)."""

from __future__ import annotations

import math

from attrs import define

from actors.events import CheckpointTaken, ProtectionKind, RunEnded, Stage
from actors.runtime import Event
from sims.audit.facts import LoggedRun
from sims.audit.packs import checkpoint, closes, moving, period, recovery

STAGING_IN, COMPUTING, VERIFYING = Stage.STAGING_IN, Stage.COMPUTING, Stage.VERIFYING
REDISTRIBUTING = Stage.REDISTRIBUTING
SAVING, CHECKPOINTING, RECOVERING = Stage.SAVING, Stage.CHECKPOINTING, Stage.RECOVERING
ROUNDING = 1e-9

Parts = tuple[tuple[Stage, float], ...]
"""Stages, each with its time."""
Step = Stage | type[Event]
"""A stage, CheckpointTaken, or RunEnded."""


@define(eq=False)
class StagePlan:
    """What a run must do, as its job has described it; stages of length 0 are not told."""

    work: float
    staged_in: bool
    """Whether its members stage in through a master."""
    before: Parts
    """Those between staging in and computing: recovery or a clone's delay, redistribution."""
    period: float | None
    """Work between checkpoints; None: the log does not say."""
    cost: float | None
    """None: every member sends its image."""
    verification: float
    verified: bool
    saves: bool
    """Whether it may take checkpoints at all."""
    closes: bool | None = False
    """Whether a checkpoint closes what comes before computing (malleable17); None: the log does not
    say."""

    def first(self, done: float) -> Step:
        """What it must begin with."""
        return STAGING_IN if self.staged_in else self._before(done)

    def after(self, step: Step | None, done: float) -> Step:
        """What must follow, `done` being the work done."""
        if step is STAGING_IN:
            return self._before(done)
        for k, (part, _) in enumerate(self.before):
            if step is part:
                return self._before(done, k + 1)
        if step is CheckpointTaken:
            return self._compute(done)
        if step is COMPUTING:
            return self._computed(done)
        if step is VERIFYING:
            return RunEnded if self.whole(done) else self._save()
        return CheckpointTaken if step in (SAVING, CHECKPOINTING) else self.first(done)

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
        lengths = {VERIFYING: self.verification, CHECKPOINTING: self.cost or 0, **dict(self.before)}
        return lengths.get(stage, math.inf)

    def ready(self, step: Step | None) -> bool:
        """Whether nothing but a closing checkpoint can come between `step` and computing."""
        return not self.before or step is self.before[-1][0]

    def ahead(self, stage: Stage) -> float:
        """Time of the parts between `stage`, one before computing, and computing."""
        places = [k + 1 for k, (part, _) in enumerate(self.before) if part is stage]
        time = sum(length for _, length in self.before[places[0] if places else 0 :])
        if stage is CHECKPOINTING:
            return 0
        if stage is VERIFYING:
            return self.cost or 0
        return time + self.closing

    @property
    def closing(self) -> float:
        """Time of the checkpoint that closes what comes before computing."""
        if not self.closes:
            return 0
        return (self.cost or 0) + (self.verification if self.verified else 0)

    def _before(self, done: float, passed: int = 0) -> Step:
        for part, length in self.before[passed:]:
            if length > 0:
                return part
        return self._secure() if self.closes else self._compute(done)

    def _compute(self, done: float) -> Step:
        return COMPUTING if self.work > done else self._computed(done)

    def _computed(self, done: float) -> Step:
        if self.whole(done):
            return VERIFYING if self.verification > 0 else RunEnded
        return self._secure()

    def _secure(self) -> Step:
        return VERIFYING if self.verified and self.verification > 0 else self._save()

    def _save(self) -> Step:
        if self.cost is None:
            return SAVING
        return CHECKPOINTING if self.cost > 0 else CheckpointTaken


def plan_of(run: LoggedRun) -> StagePlan:
    """What `run` must do."""
    job, event = run.job, run.event
    rules, messages = job.protection, job.messages
    assert rules is not None
    before, moves = _restored(run), run.copy.holders != run.copy.full
    if moves:
        before = (*before, (REDISTRIBUTING, moving(job, run.copy.holders, run.copy.full)))
    return StagePlan(
        *(event.work, messages is not None, before, period(job, run.copy.full), cost_of(run)),
        *(job.verification, rules.verified, rules.kind is not ProtectionKind.NONE),
        closes(job) if moves else False,
    )


def _restored(run: LoggedRun) -> Parts:
    """What it takes to go on from where it begins."""
    event, job = run.event, run.job
    assert job.protection is not None
    if event.keeps is not None or (run.former is not None and not run.former.computes):
        return ((RECOVERING, recovery(run.copy)),)
    if event.source is None or run.former is not None or job.messages is not None:
        return ()
    return ((RECOVERING, job.protection.recovery or 0 if run.image else job.protection.delay),)


def cost_of(run: LoggedRun) -> float | None:
    """Time of a checkpoint; None: every member sends its image."""
    rules, messages = run.job.protection, run.job.messages
    assert rules is not None
    if rules.kind is ProtectionKind.IMAGES and messages is not None:
        return None if messages.image > 0 else 0
    return checkpoint(run.job, run.copy.full) if rules.cost is None else rules.cost
