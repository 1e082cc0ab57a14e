"""Spot-instance traces: how many instances could be had at each tick."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from attrs import frozen

from policies.availability import WorkerState
from sims.errors import InputError
from sims.readers.json_value import JsonValue
from sims.readers.timeline import Timeline


@frozen
class SpotTrace:
    """Counts of instances at regular ticks; what a count means for a worker is the caller's."""

    source: str
    gap_seconds: float
    """Seconds from one tick to the next."""
    counts: tuple[int, ...]
    """Instances at each tick, the first at time 0; a count holds until the next tick."""
    prices: tuple[float, ...] = ()
    """Of an hour of an instance, from each tick to the next; empty: the file has none."""

    def mapped(self, states: Mapping[int, WorkerState]) -> Timeline:
        """One worker whose state each count names; times in seconds.

        Raises InputError for a count of the trace that `states` does not map, naming it.
        """
        for tick, instances in enumerate(self.counts):
            if instances not in states:
                raise self._unmapped(tick, states)
        return self._timeline([states[instances] for instances in self.counts])

    def nodes(self) -> tuple[Timeline, ...]:
        """As many workers as the most instances seen, at least one; worker k (from 0) is UP while
        more than k instances are there, else DOWN.

        The trace tells how many instances are there, not which: the highest-numbered worker is
        taken to leave first, so that a drop by one takes one worker.
        """
        up, down = WorkerState.UP, WorkerState.DOWN
        return tuple(
            self._timeline([up if instances > worker else down for instances in self.counts])
            for worker in range(max(1, *self.counts))
        )

    def _timeline(self, states: list[WorkerState]) -> Timeline:
        return Timeline.of_slots(states, self.gap_seconds)

    def _unmapped(self, tick: int, states: Mapping[int, WorkerState]) -> InputError:
        accepted = "a mapping for each of " + ", ".join(map(str, sorted(set(self.counts))))
        given = ", ".join(map(str, sorted(states))) or "none"
        problem = f"no worker state is given for trace state {self.counts[tick]} (given: {given})"
        return InputError(self.source, f"data[{tick}]", problem, accepted)


def read_spot_trace(path: Path) -> SpotTrace:
    """`{"metadata": {"gap_seconds": 195}, "data": [0, 1, ...]}`, plain or compressed; it may have
    `prices`, one for each of `data`.

    Raises InputError where the file is unreadable, a field is missing, the gap is not above 0,
    a count is not a whole number of at least 0, or prices are negative or not as many.
    """
    root = JsonValue.read(path)
    gap = root.field("metadata").field("gap_seconds").positive()
    counts = tuple(value.whole(0) for value in root.field("data").items())
    listed = root.optional("prices")
    prices = tuple(value.not_negative() for value in listed.items()) if listed else ()
    if listed and len(prices) != len(counts):
        problem = f"{len(prices)} prices for {len(counts)} ticks"
        raise listed.refused(problem, "one for each of `data`")
    return SpotTrace(str(path), gap, counts, prices)
