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
    """An actor that ends the simulation at a given time tells itself that this time has come."""


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
    """Ends the simulation, with the outcome CAPPED, at a makespan `time` from which a run counts as
    failed. Work that ends at that time is still complete; then no decision is made any more, and
    all that runs is cancelled."""

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
    """Ends the simulation with an error once `events` events have passed while no work was saved or
    completed and no job was killed.

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
        """Raise Stalled if `events` or more events have passed since a look last found progress:
        work saved or completed, or a job killed. Otherwise set `look_at`, when to look next.
        `unfinished` has a text for each job that is left, for the error."""
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
