"""OFF-LINE-COUPLED: the optimum for a scheduler that knows every state beforehand (volatile13,
section IV).

No communication and identical workers. NP-hard (volatile13, Theorem 4.1): solved exactly as a
mixed-integer programme, bounded where the time for that runs out.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from functools import cache
from math import ceil, inf, isfinite

import numpy as np
from attrs import define, field, frozen
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, OptimizeResult, milp
from scipy.sparse import coo_array

States = NDArray[np.bool_]
"""Workers x slots."""


@frozen
class Load:
    """One way to share the tasks: so many workers, so many common UP slots."""

    workers: int
    slots: int


@frozen
class BinaryProgramme:
    """minimise costs x, x binary, under bounds and constraints."""

    costs: NDArray[np.float64]
    bounds: Bounds
    constraints: LinearConstraint


@define
class _Rows:
    """Sparse constraints, row after row: `low` <= coefficients x <= `high`."""

    row: list[NDArray[np.int64]] = field(factory=list)
    column: list[NDArray[np.int64]] = field(factory=list)
    value: list[NDArray[np.float64]] = field(factory=list)
    low: list[NDArray[np.float64]] = field(factory=list)
    high: list[NDArray[np.float64]] = field(factory=list)
    count: int = 0

    def at_most(self, high: float, *terms: tuple[float, NDArray[np.int64]]) -> None:
        """One row per position: the sum of coefficient x variable is at most `high`."""
        size = len(terms[0][1])
        for coefficient, columns in terms:
            self._put(np.arange(size) + self.count, columns, np.full(size, coefficient))
        self._close(size, -np.inf, high)

    def exactly(self, total: float, columns: NDArray[np.int64], values: Sequence[float]) -> None:
        """One row: the weighted sum is `total`."""
        row = np.full(len(columns), self.count)
        self._put(row, columns, np.array(values, dtype=np.float64))
        self._close(1, total, total)

    def constraint(self, variables: int) -> LinearConstraint:
        parts = np.concatenate(self.row), np.concatenate(self.column)
        matrix = coo_array((np.concatenate(self.value), parts), shape=(self.count, variables))
        return LinearConstraint(matrix.tocsr(), np.concatenate(self.low), np.concatenate(self.high))

    def _put(
        self, row: NDArray[np.int64], column: NDArray[np.int64], value: NDArray[np.float64]
    ) -> None:
        self.row.append(row)
        self.column.append(column)
        self.value.append(value)

    def _close(self, size: int, low: float, high: float) -> None:
        self.low.append(np.full(size, low))
        self.high.append(np.full(size, high))
        self.count += size


def programme(up: States, down: States, loads: Sequence[Load]) -> BinaryProgramme:
    """Choose a load, its workers and its slots, so that the last slot comes as early as possible.

    Binary variables, in this order: each worker is chosen; each slot is used; each slot comes
    before the end; each slot comes after the beginning; each load is chosen. The objective counts
    the slots before the end.
    """
    workers, slots = up.shape
    chosen, used, open_, begun, load = np.split(
        np.arange(workers + 3 * slots + len(loads)),
        np.cumsum([workers, slots, slots, slots]),
    )
    rows = _Rows()
    rows.exactly(1.0, load, [1.0] * len(loads))
    rows.exactly(
        0.0, np.append(chosen, load), [1.0] * workers + [-float(each.workers) for each in loads]
    )
    rows.exactly(0.0, np.append(used, load), [1.0] * slots + [-float(each.slots) for each in loads])
    rows.at_most(0.0, (1.0, used), (-1.0, open_))
    rows.at_most(0.0, (1.0, open_[1:]), (-1.0, open_[:-1]))
    rows.at_most(0.0, (1.0, used), (-1.0, begun))
    rows.at_most(0.0, (1.0, begun[:-1]), (-1.0, begun[1:]))
    worker, slot = np.nonzero(~up)
    rows.at_most(1.0, (1.0, chosen[worker]), (1.0, used[slot]))
    worker, slot = np.nonzero(down)
    rows.at_most(2.0, (1.0, chosen[worker]), (1.0, begun[slot]), (1.0, open_[slot]))
    costs = np.zeros(load[-1] + 1)
    costs[open_] = 1.0
    usable = np.ones_like(costs)
    usable[used] = up.sum(axis=0) >= min(each.workers for each in loads)
    return BinaryProgramme(costs, Bounds(np.zeros_like(costs), usable), rows.constraint(len(costs)))


OPTIMAL, INFEASIBLE = 0, 2
"""Statuses of scipy.optimize.milp; any other means that the search was cut short."""


class Bound(enum.Enum):
    """mu, the most tasks that one worker takes: OFF-LINE-COUPLED's two versions."""

    ONE = "one"
    UNBOUNDED = "unbounded"


@frozen
class OfflineOptimum:
    """How early an iteration can end: the first slot after its last one."""

    lower: int
    """No iteration ends before this slot: one more than there are slots if none ends at all."""
    upper: int | None
    """One ends at this slot; None where none was found."""
    workers: tuple[int, ...]
    """The workers of that iteration, ascending."""
    optimal: bool
    """The search was finished: `upper` is `lower`, or None because there is no iteration."""


@frozen
class MostIterations:
    """How many iterations fit, one after the other."""

    lower: int
    upper: int
    optimal: bool
    """`lower` = `upper`."""


@frozen(eq=False)
class Search:
    """Iterations of `tasks` tasks, `speed` slots each on any worker.

    The chosen workers compute in the slots where all of them are UP (`up`). Between the first and
    the last of these slots none of them may be DOWN (`down`), or the iteration would be lost.
    Raises ValueError unless the matrices have one shape, no worker is UP and DOWN at once, and
    tasks and speed are positive.
    """

    up: States
    tasks: int
    speed: int
    bound: Bound
    time_limit: float = inf
    """Seconds that the solver may take for one iteration."""
    down: States = field()
    """Default: none is ever."""

    @down.default
    def _nowhere(self) -> States:
        return np.zeros_like(self.up)

    def __attrs_post_init__(self) -> None:
        _check(self.up, self.down, self.tasks, self.speed)

    def earliest_end(self, start: int = 0) -> OfflineOptimum:
        """The earliest end of one iteration, in slots from `start`, where it begins."""
        up, down = self.up[:, start:], self.down[:, start:]
        loads = _loads(self.tasks, self.speed, self.bound, up.shape[0])
        never = OfflineOptimum(up.shape[1] + 1, None, (), True)
        if not loads or min(load.slots for load in loads) > up.shape[1]:
            return never
        model = programme(up, down, loads)
        limit = {"time_limit": self.time_limit} if isfinite(self.time_limit) else {}
        solution = milp(
            model.costs,
            integrality=np.ones_like(model.costs),
            bounds=model.bounds,
            constraints=model.constraints,
            options={"mip_rel_gap": 0.0} | limit,
        )
        if solution.status == INFEASIBLE:
            return never
        return _optimum(solution, up, down, loads)

    def most_iterations(self) -> MostIterations:
        """How many iterations can end, each beginning no earlier than the one before ends.

        Ending each as early as possible is best, since beginning later never ends earlier.
        """
        slots, one = self.up.shape[1], cache(self.earliest_end)
        lower = _in_a_row(slots, lambda start: one(start).upper or slots + 1)
        upper = _in_a_row(slots, lambda start: one(start).lower)
        return MostIterations(lower, upper, lower == upper)


def _in_a_row(slots: int, length: Callable[[int], int]) -> int:
    """How many iterations fit into the slots; `length`: slots that one takes from its start."""
    count = start = 0
    while (start := start + length(start)) <= slots:
        count += 1
    return count


def _check(up: States, down: States, tasks: int, speed: int) -> None:
    if up.ndim != 2 or up.shape != down.shape:
        raise ValueError(
            f"States are one matrix of workers x slots each, not {up.shape} and {down.shape}."
        )
    if (up & down).any():
        raise ValueError("A worker cannot be UP and DOWN in the same slot.")
    if tasks < 1 or speed < 1:
        raise ValueError(f"An iteration has at least 1 task of 1 slot, not {tasks} of {speed}.")


def _loads(tasks: int, speed: int, bound: Bound, workers: int) -> list[Load]:
    """The ways to share the tasks: ceil(m / x) workers with at most x tasks each, x w slots."""
    if bound is Bound.ONE:
        return [Load(tasks, speed)] if tasks <= workers else []
    least = {ceil(tasks / each): each for each in range(tasks, 0, -1)}
    return [Load(count, each * speed) for count, each in least.items() if count <= workers]


def _optimum(
    solution: OptimizeResult, up: States, down: States, loads: Sequence[Load]
) -> OfflineOptimum:
    least = min(load.slots for load in loads)
    bounded = solution.mip_dual_bound is not None and isfinite(solution.mip_dual_bound)
    lower = max(least, ceil(solution.mip_dual_bound - 1e-6)) if bounded else least
    if solution.x is None:
        return OfflineOptimum(lower, None, (), False)
    workers = tuple(int(q) for q in np.nonzero(solution.x[: up.shape[0]] > 0.5)[0])
    slots = next(load.slots for load in loads if load.workers == len(workers))
    upper = end_of(workers, slots, up, down)
    done = solution.status == OPTIMAL
    return OfflineOptimum(upper if done and upper is not None else lower, upper, workers, done)


def end_of(workers: Sequence[int], slots: int, up: States, down: States) -> int | None:
    """The first slot after `slots` common UP ones of these workers; None if there is none.

    They begin again whenever one of them was DOWN.
    """
    members = list(workers)
    together = np.logical_and.reduce(up[members])
    lost = np.logical_or.reduce(down[members])
    done = 0
    for slot in range(up.shape[1]):
        done = 0 if lost[slot] else done + int(together[slot])
        if done == slots:
            return slot + 1
    return None
