"""What traces' own words mean for a worker: as scenario files say it, before any trace is read."""

from __future__ import annotations

import enum

from attrs import frozen

from policies.availability import WorkerState


class Origin(enum.Enum):
    """Which epoch time becomes time 0."""

    TRACE = "trace"
    """The earliest start in the file: the nodes keep their common clock."""
    NODE = "node"
    """Each node's own earliest start: every node begins at its first event."""


@frozen
class FtaStates:
    """What the trace's two event types, and its silence, mean for a worker.

    A gap (no event covers it, or the node's first event is still to come) is read as
    unavailable: nobody saw the node up. A trace that lists failures only needs `gap` UP.
    """

    available: WorkerState = WorkerState.UP
    """Of events of type 1."""
    unavailable: WorkerState = WorkerState.DOWN
    """Of events of type 0."""
    gap: WorkerState = WorkerState.DOWN
    """Where no event is."""


@frozen
class ProfileStates:
    """What the values of a profile mean for a worker.

    SimGrid knows two: 0 is off, all others are on. `reclaimed_value` gives one value the meaning
    RECLAIMED: this project's extension, off unless asked for, since SimGrid reads it as on.
    """

    on: WorkerState = WorkerState.UP
    """Of every value but 0."""
    off: WorkerState = WorkerState.DOWN
    """Of 0."""
    reclaimed_value: float | None = None
    """The value that stands for RECLAIMED; none by default."""

    def of(self, value: float) -> WorkerState:
        """The state that `value` stands for."""
        if self.reclaimed_value is not None and value == self.reclaimed_value:
            return WorkerState.RECLAIMED
        return self.on if value else self.off
