"""Retirement policies: which units do not come back from their repair (rules.md, R8)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from math import floor

import numpy as np
from attrs import define, field, frozen
from numpy.typing import NDArray

from policies.interface.retirement import FleetView, Spans
from policies.maths.tolerance import ROUNDING


@frozen
class Never:
    """Lets every unit come back."""

    def retires(self, workers: Sequence[int], view: FleetView) -> bool:
        return False


@frozen
class FaultsWithin:
    """Retires a unit on which at least `faults` faults were blamed within the last `window` time
    units."""

    faults: int
    window: float
    """Length of the window, in time units; a fault at the very start of it does not count."""

    def retires(self, workers: Sequence[int], view: FleetView) -> bool:
        times = view.record(workers[0]).faults
        # A fault at its very start is one in decimals too: 4.1 - 3 is below 1.1.
        begin = view.now * (1 + ROUNDING) - self.window
        return len(times) - bisect_right(times, begin) >= self.faults


@define(eq=False)
class Score:
    """Retires a unit once the score of one of its workers is `threshold` or below. Each fault
    blamed on a unit costs its workers `penalty`, and a run earns its workers `credit` for each
    whole `period` for which it computes, unless the fault that ended it is blamed on them."""

    initial: float
    penalty: float
    credit: float
    period: float
    """Computing time of a run that earns the credit, time units."""
    threshold: float
    """Score at or below which a unit retires."""
    _scores: NDArray[np.float64] = field(init=False, factory=lambda: np.empty(0))
    """Score of each worker, up to the highest number for which one has changed; all others have the
    initial score."""

    def retires(self, workers: Sequence[int], view: FleetView) -> bool:
        return min(map(self.score, workers)) <= self.threshold

    def blamed(self, workers: Sequence[int], now: float) -> None:
        self._scores_up_to(workers[-1])[workers[0] : workers[-1] + 1] -= self.penalty

    def ran(self, workers: Spans, computed: float) -> None:
        periods = floor(computed / self.period * (1 + ROUNDING))
        if periods and workers:
            scores = self._scores_up_to(workers[-1][1])
            for first, last in workers:
                scores[first : last + 1] += self.credit * periods

    def score(self, worker: int) -> float:
        return float(self._scores[worker]) if worker < len(self._scores) else self.initial

    def _scores_up_to(self, worker: int) -> NDArray[np.float64]:
        more = worker + 1 - len(self._scores)
        if more > 0:
            self._scores = np.concatenate((self._scores, np.full(more, float(self.initial))))
        return self._scores
