"""Events of the present instant that can cause a run to start."""

from __future__ import annotations

from attrs import define, field

from actors.intervals import Intervals, meet
from actors.runtime import NOTHING


@define(eq=False)
class CauseTracker:
    """Jobs that have asked for workers at this instant, and workers freed at it, with the seq of
    those events.

    The cause of a start is the shelf or batch that it starts in; else what its job wants workers
    since, if that is of this instant; else what freed some of them.
    """

    wants: dict[int, int] = field(init=False, factory=dict)
    """By job index."""
    freed: list[tuple[int, Intervals]] = field(init=False, factory=list)
    opened: int = field(init=False, default=NOTHING)
    """The shelf or batch that was opened at this instant, if one was."""
    _at: float = field(init=False, default=-1)

    def want(self, now: float, index: int, seq: int) -> None:
        """A job was submitted, or has come to the end of a run."""
        self._renew(now)
        self.wants[index] = seq

    def free(self, now: float, numbers: Intervals, seq: int) -> None:
        """Workers are free now, or UP."""
        self._renew(now)
        self.freed.append((seq, numbers))

    def called(self, now: float, otherwise: int) -> int:
        """The shelf or batch opened at this instant, else the last event that freed workers."""
        self._renew(now)
        if self.opened != NOTHING:
            return self.opened
        return self.freed[-1][0] if self.freed else otherwise

    def why(self, now: float, index: int, numbers: Intervals) -> int:
        """The cause of a start of this job on these workers, or NOTHING of the kind."""
        self._renew(now)
        seq = self.wants.get(index, NOTHING) if self.opened == NOTHING else self.opened
        if seq != NOTHING or not self.freed:
            return seq
        return next((seq for seq, freed in self.freed if meet(freed, numbers)), NOTHING)

    def _renew(self, now: float) -> None:
        if now != self._at:
            self._at, self.opened = now, NOTHING
            self.wants.clear()
            self.freed.clear()
