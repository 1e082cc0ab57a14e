"""Records of workers: the faults blamed on them, their repairs, their computing time, and when they
came back (rules.md, R8 and R9)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import inf
from typing import cast

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from actors.decisions import answer, refusal
from actors.intervals import Intervals, Members, intervals_of, without
from policies.interface.retirement import FleetView, RetirementPolicy, ScoringPolicy

TRUTHS = (bool, np.bool_)
"""Types of answers to whether a unit retires."""


@define
class Record:
    """The record of one worker: the times at which faults were blamed on it, its number of repairs,
    the time for which it has computed, and that at which it last came back from repair (satisfies
    policies.interface.retirement.WorkerRecord)."""

    faults: Sequence[float]
    repairs: int
    computed: float
    back: float | None = None


def ask(policy: RetirementPolicy, workers: Sequence[int], view: FleetView) -> bool:
    """Ask a retirement policy whether the unit with these workers is DOWN for ever after its
    repair, and return the answer. Raises BadDecision unless it is True or False."""
    answered = answer(policy.retires, workers, view)
    if not isinstance(answered, TRUTHS):
        problem = "an answer is True (it does not come back) or False"
        raise refusal(policy, repr(answered), problem, f"workers {list(workers)} at {view.now!r}")
    return bool(answered)


@define(eq=False)
class Records:
    """Keeps the faults, repairs and computing time of a fleet's workers, and asks the retirement
    policy which units do not come back from repair (satisfies
    policies.interface.retirement.FleetView)."""

    able: int
    """Number of workers, spares excluded."""
    policy: RetirementPolicy
    needed: int = field(init=False, default=0)
    """Number of workers that the largest unfinished job needs."""
    now: float = field(init=False, default=0)
    retired: set[int] = field(init=False, factory=set)
    scoring: ScoringPolicy | None = field(init=False, repr=False)
    """The retirement policy if it keeps scores of workers, else None."""
    _faults: dict[int, list[float]] = field(init=False, factory=dict)
    _repairs: dict[int, int] = field(init=False, factory=dict)
    _back: dict[int, float] = field(init=False, factory=dict)
    """Maps each worker that has come back from a repair to the time at which it last did."""
    _computed: NDArray[np.float64] = field(init=False, factory=lambda: np.zeros(0))

    def __attrs_post_init__(self) -> None:
        self.scoring = cast(ScoringPolicy, self.policy) if hasattr(self.policy, "ran") else None

    @property
    def left(self) -> int:
        """Number of workers that are neither retired nor spares."""
        return self.able - sum(worker < self.able for worker in self.retired)

    def record(self, worker: int) -> Record:
        """Return the faults, repairs, computing time and last return recorded of this worker."""
        computed = float(self._computed[worker]) if worker < len(self._computed) else 0.0
        faults, repairs = tuple(self._faults.get(worker, ())), self._repairs.get(worker, 0)
        return Record(faults, repairs, computed, self._back.get(worker))

    def faults(self, worker: int) -> int:
        """Return the number of faults blamed on a worker."""
        return len(self._faults.get(worker, ()))

    def back(self, worker: int) -> float:
        """Return the time at which a worker last came back from a repair; -inf if it never has."""
        return self._back.get(worker, -inf)

    def returned(self, workers: Sequence[int], now: float) -> None:
        """Record that these workers, those of a unit (worker, node or rack), come back from a
        repair at the time `now`."""
        for worker in workers:
            self._back[worker] = now

    def blame(self, workers: Sequence[int], now: float) -> None:
        """Record that a fault is blamed, at the time `now`, on the unit (worker, node or rack) with
        these workers; a policy that keeps scores is told too."""
        for worker in workers:
            self._faults.setdefault(worker, []).append(now)
        if self.scoring is not None:
            self.scoring.blamed(workers, now)

    def repaired(self, workers: Sequence[int]) -> None:
        """Add one repair to the record of each of these workers, the workers of a unit (worker,
        node or rack) whose repair has ended."""
        for worker in workers:
            self._repairs[worker] = self._repairs.get(worker, 0) + 1

    def ran(self, members: Sequence[int], computed: float, blamed: Collection[int]) -> None:
        """Record that a run is over which computed for `computed` time units on these members.
        `blamed` are the workers on which the faults that ended it are blamed: their computing time
        counts, but a policy that keeps scores gives them no credit for it."""
        held = members.intervals if isinstance(members, Members) else intervals_of(sorted(members))
        if computed and held:
            more = held[-1][1] + 1 - len(self._computed)
            if more > 0:
                self._computed = np.concatenate((self._computed, np.zeros(more)))
            for first, last in held:
                self._computed[first : last + 1] += computed
        if self.scoring is not None:
            spans: Intervals = without(held, blamed) if blamed else held
            self.scoring.ran(spans, computed)

    def retires(self, workers: Sequence[int], now: float) -> bool:
        """Ask the retirement policy, at the time `now`, whether the unit (worker, node or rack)
        with these workers is DOWN for ever after its repair. If so, record that its workers are
        retired. Return the answer."""
        self.now = now
        retires = ask(self.policy, workers, self)
        if retires:
            self.retired.update(workers)
        return retires
