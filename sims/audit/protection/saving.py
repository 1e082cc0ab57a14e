"""Checks what a job says of how it takes checkpoints: standing still or not, on one level or two,
on notice (rules.md, P8 and P9), and of the members that it replaces."""

from __future__ import annotations

from typing import Any, ClassVar

from attrs import define, evolve

from actors.events import CheckpointingDescribed
from actors.runtime import Event
from sims.audit.facts import DEFAULT_CHECKPOINTING, ExpectedJob
from sims.audit.law import possible
from sims.audit.world import PartRules


@define(eq=False)
class SavingRules(PartRules):
    """The rules of what jobs may say of their checkpoints."""

    job_line: ClassVar = CheckpointingDescribed

    def check_line(self, event: Any) -> None:
        sound = event.slowdown <= 1 and event.images_every != 0
        possible(sound and event != evolve(DEFAULT_CHECKPOINTING, job=event.job))

    def described(self, job: ExpectedJob, event: Event) -> None:
        if isinstance(event, CheckpointingDescribed):
            job.checkpointing = event
