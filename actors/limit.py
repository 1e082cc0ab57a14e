"""Limits on virtual time, on the makespan, and on events without progress."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import define, field, frozen

from actors.events import (
    CheckpointStored,
    CheckpointTaken,
    End,
    IterationCompleted,
    JobCompleted,
    JobKilled,
)
from actors.messages import CapReached
from actors.runtime import Actor, Phase, Stalled, System, handles


@frozen
class TimeIsUp:
    """An actor that limits the run tells itself that its time has come."""


@define(eq=False)
class TimeLimit(Actor):
    """Ends the simulation, as CAPPED, once all that happens at the time `time` has happened."""

    time: float

    def started(self) -> None:
        self.at(self.time, TimeIsUp(), self.system.origin, Phase.SERVICE)

    @handles(TimeIsUp)
    def end(self, _: TimeIsUp, cause: int) -> None:
        self.system.finish(cause, End.CAPPED)


@define(eq=False)
class Cap(Actor):
    """Ends the simulation, as CAPPED, at a makespan from which it counts as failed: work that ends
    at that time is complete, no decision is made any more, and what runs is cancelled."""

    time: float
    scheduler: Actor

    def started(self) -> None:
        self.at(self.time, TimeIsUp(), self.system.origin, Phase.DECISION)

    @handles(TimeIsUp)
    def end(self, _: TimeIsUp, cause: int) -> None:
        self.send(self.scheduler, CapReached(), cause)


PROGRESS = (JobCompleted, JobKilled, IterationCompleted, CheckpointTaken, CheckpointStored)
"""Events that count as progress: work is saved or completed, or a job is killed."""


@define(eq=False)
class ProgressLimit:
    """Ends the simulation with an error if many events pass while no work is saved or completed.

    The scheduler calls `look` each time that a tenth of these events has passed. In between it
    costs a comparison for each decision and each change of a worker.
    """

    system: System
    events: int
    """Number of events that may pass without progress."""
    advice: tuple[str, ...]
    """Text for the error: who decides, and what a user can do about it."""
    look_at: int = field(init=False)
    """Number of events in the journal at which to look next."""
    _since: int = field(init=False, default=0)
    """Number of events in the journal when a look last found progress."""
    _progress: bool = field(init=False, default=True)

    def __attrs_post_init__(self) -> None:
        self.look(())

    def look(self, unfinished: Iterable[str]) -> None:
        """Raise Stalled if too many events have passed since work was last saved or completed.
        `unfinished` describes the jobs that are left, for the error."""
        length = self.system.journal.length
        if self._progress:
            self._progress, self._since = False, length
            self.system.journal.once(PROGRESS, self._saved)
        elif length - self._since >= self.events:
            now = self.system.loop.now
            raise Stalled(now, length - self._since, (*unfinished, *self.advice))
        self.look_at = length + self.events // 10

    def _saved(self) -> None:
        self._progress = True
