"""Settings by which a trace is read: the worker states that its values stand for, and the names of
its nodes. Scenario files give them before any trace is read."""

from __future__ import annotations

import enum

from attrs import frozen

from policies.availability import WorkerState


class Origin(enum.Enum):
    """Choices of the time in a trace that becomes time 0 of the timelines."""

    TRACE = "trace"
    """The earliest start in the file is time 0, so that nodes keep their common clock."""
    NODE = "node"
    """Each node's own earliest start is time 0, so that every node begins at its first event."""


@frozen
class FtaStates:
    """Worker states that the two event types of a trace, and its gaps, stand for.

    A gap is a time that no event of the node covers, or the time before its first event. By default
    it is read as unavailable, since no event shows the node up. A trace that lists only failures
    has no events for the times between them and therefore needs `gap`.
    """

    available: WorkerState = WorkerState.UP
    """Worker state during events of type 1."""
    unavailable: WorkerState = WorkerState.DOWN
    """Worker state during events of type 0."""
    gap: WorkerState | None = None
    """Worker state in gaps: u, r or d; the default is d if some event stands for UP."""


@frozen
class ProfileStates:
    """Worker states that the values of a SimGrid profile stand for.

    In SimGrid 0 is off and all other values are on. `reclaimed_value` makes one value mean
    RECLAIMED: an extension of this project, off by default, since SimGrid reads the value as on.
    """

    on: WorkerState = WorkerState.UP
    """Worker state for every value but 0."""
    off: WorkerState = WorkerState.DOWN
    """Worker state for the value 0."""
    reclaimed_value: float | None = None
    """Value that stands for RECLAIMED; by default none."""

    def of(self, value: float) -> WorkerState:
        """Return the worker state that `value` stands for."""
        if self.reclaimed_value is not None and value == self.reclaimed_value:
            return WorkerState.RECLAIMED
        return self.on if value else self.off


@frozen(order=True)
class NodeId:
    """Identifies a node by its platform and its number, which is unique within the platform
    only."""

    platform: int
    node: int
