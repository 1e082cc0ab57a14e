"""A timeline's state at any one time, found without going through those before it."""

from __future__ import annotations

from bisect import bisect_right

from policies.availability import WorkerState
from sims.readers.timeline import Timeline


def state_at(timeline: Timeline, time: float) -> WorkerState:
    """The state at `time`, where the timeline is known."""
    assert time >= 0 and (timeline.end is None or time < timeline.end)
    shift = lap_of(timeline, time) * timeline.period if timeline.period is not None else 0.0
    index = bisect_right(timeline.changes, time, key=lambda change: change[0] + shift)
    return timeline.changes[index - 1][1]


def lap_of(timeline: Timeline, time: float) -> int:
    """How many periods lie between the first lap and the one that holds `time`."""
    start, period = timeline.cycle_start, timeline.period
    if period is None or time < start:
        return 0
    lap = int((time - start) / period)
    # The division rounds: one lap too many or too few puts a change on the wrong side.
    if start + lap * period > time:
        return lap - 1
    return lap + (start + (lap + 1) * period <= time)
