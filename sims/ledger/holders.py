"""Who holds a worker: asked when something of its own begins or ends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from actors.intervals import within
from sims.ledger.slices import ranges

Key = tuple[str, int]
"""A run: job, number."""
NOBODY = -1


@define(eq=False)
class Holders:
    """Runs by worker: made when the first worker does something of its own, else it costs."""

    processors: int
    _held: NDArray[np.int32] | None = field(init=False, default=None)
    """By worker: place in `_runs` of who holds all of it."""
    _runs: dict[int, Key] = field(init=False, factory=dict)
    _places: dict[Key, int] = field(init=False, factory=dict)
    _shared: dict[Key, str] = field(init=False, factory=dict)
    """Runs that have parts of workers, and which."""
    _next: int = field(init=False, default=0)

    @property
    def asked(self) -> bool:
        """Whether they are kept."""
        return self._held is not None

    def keep(self, runs: Iterable[tuple[Key, str, bool]]) -> None:
        """From now on; `runs`: those that are open, on which workers, and whether they share."""
        self._held = np.full(self.processors, NOBODY, np.int32)
        for run, processors, shares in runs:
            self.take(run, processors, shares)

    def take(self, run: Key, processors: str, shares: bool) -> None:
        """`run` holds these workers from now on, with others where it shares them."""
        if shares:
            self._shared[run] = processors
            return
        assert self._held is not None
        place = self._places.get(run)
        if place is None:
            place = self._places[run] = self._next
            self._runs[place] = run
            self._next += 1
        for first, last in ranges(processors):
            self._held[first : last + 1] = place

    def give(self, run: Key, processors: str) -> None:
        """`run` has ended."""
        if self._shared.pop(run, None) is not None or self._held is None:
            return
        del self._runs[self._places.pop(run)]
        for first, last in ranges(processors):
            self._held[first : last + 1] = NOBODY

    def of(self, worker: int) -> Iterator[Key]:
        """The runs that hold this worker."""
        assert self._held is not None
        run = self._runs.get(int(self._held[worker]))
        if run is not None:
            yield run
        for run, processors in self._shared.items():
            if within(processors, worker):
                yield run
