"""A timeline's states at any times."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from policies.availability import WorkerState
from sims.readers.timeline import Timeline


def states_at(timeline: Timeline, times: Sequence[float]) -> list[WorkerState]:
    """The state at each of the times, which rise, where the timeline is known."""
    changes = timeline.clipped(times[-1] + 1).changes
    return [changes[bisect_right(changes, it, key=lambda change: change[0]) - 1][1] for it in times]
