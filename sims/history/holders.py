"""Which run holds a worker."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from attrs import define, field

from actors.intervals import count_in, numbers_in, spans_in, within
from sims.history.states import Run


@define(eq=False)
class Holders:
    """Runs by worker, once they are `kept`: who never asks does not pay."""

    _held: np.ndarray[Any, Any] | None = field(init=False, default=None)
    """By worker: the run that holds all of it, or None."""
    _shared: list[Run] = field(init=False, factory=list)
    """Runs that have parts of workers."""
    _busy: int = field(init=False, default=0)
    """Workers that a run holds all of."""

    @property
    def kept(self) -> bool:
        """Whether they are."""
        return self._held is not None

    def keep(self, processors: int, runs: Iterable[Run]) -> None:
        """From now on; `runs`: those that hold workers already."""
        self._held = np.full(processors, None, object)
        for run in runs:
            self.take(run, run.processors)

    def take(self, run: Run, processors: str) -> None:
        """`run` holds these workers, too."""
        if self._held is None:
            return
        if run.event.share != 1:
            self._shared.append(run)
            return
        self._busy += count_in(processors)
        for first, last in spans_in(processors):
            self._held[first : last + 1] = run

    def give(self, run: Run) -> None:
        """`run` holds nothing any more."""
        if self._held is None:
            return
        if run.event.share != 1:
            self._shared.remove(run)
            return
        self._busy -= count_in(run.processors)
        for first, last in spans_in(run.processors):
            self._held[first : last + 1] = None

    def of(self, worker: int) -> list[Run]:
        """The runs that hold this worker."""
        assert self._held is not None
        whole = self._held[worker]
        shared = [run for run in self._shared if within(run.processors, worker)]
        return shared if whole is None else [whole, *shared]

    def free(self, away: Iterable[int]) -> int:
        """How many workers no run holds, those `away` left out."""
        assert self._held is not None
        shared = {worker for run in self._shared for worker in numbers_in(run.processors)}
        gone = shared.union(worker for worker in away if self._held[worker] is None)
        return len(self._held) - self._busy - len(gone)
