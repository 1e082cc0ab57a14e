"""What a log says of its jobs that decides what their computing was for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import define, field

from actors.events import DeciderKind, JobDescribed, ProtectionDescribed, ScenarioStarted
from actors.runtime import Record


@define(eq=False)
class Described:
    """By job, for as long as it is there."""

    verifications: dict[str, float] = field(init=False, factory=dict)
    """Where there is one."""
    outlives: bool = field(init=False, default=False)
    """Whether states of runs that are cancelled outlive them (redundancy17)."""
    uncloned: set[str] = field(init=False, factory=set)
    """Jobs any of whose cancelled states may be gone on from, not the furthest alone."""

    @property
    def handlers(self) -> dict[type, Callable[[Record, Any], tuple[()]]]:
        """What it wants to be called with; no time is told with it."""
        return {
            ScenarioStarted: self._start,
            JobDescribed: self._describe,
            ProtectionDescribed: self._protect,
        }

    def _start(self, record: Record, event: ScenarioStarted) -> tuple[()]:
        self.outlives = event.decider is DeciderKind.COPIES
        return ()

    def _describe(self, record: Record, event: JobDescribed) -> tuple[()]:
        if event.verification:
            self.verifications[event.job] = event.verification
        return ()

    def _protect(self, record: Record, event: ProtectionDescribed) -> tuple[()]:
        if self.outlives and not event.cloning:
            self.uncloned.add(event.job)
        return ()

    def forget(self, job: str) -> None:
        """It is over."""
        self.verifications.pop(job, None)
        self.uncloned.discard(job)
