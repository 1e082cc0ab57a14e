"""Solves OFF-LINE-COUPLED: the optimum of a scheduler that knows every state beforehand
(volatile13, section IV).

There is no communication and all workers are identical. The problem is NP-hard (volatile13, Theorem
4.1): it is solved exactly as a mixed-integer programme, and bounded where the time for that runs
out.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from functools import cache
from math import ceil, inf, isfinite

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, OptimizeResult, milp
from scipy.sparse import coo_array

States = NDArray[np.bool_]
"""Boolean matrix of workers x slots."""
Places = NDArray[np.int64]
"""Indices of variables of the programme."""


@frozen
class Load:
    """One way to share an iteration's tasks evenly: a number of workers, and the slots in which all
    of them have to be UP for the iteration to end."""

    workers: int
    slots: int


def _exactly(total: float, coefficients: NDArray[np.float64]) -> LinearConstraint:
    """Return the constraint that the sum of all variables, weighted with `coefficients`, is
    `total`."""
    return LinearConstraint(coefficients[np.newaxis], [total], [total])


def _at_most(high: float, variables: int, *terms: tuple[float, Places]) -> LinearConstraint:
    """Return one constraint for each position k of the arrays in `terms`: the sum over the terms
    (coefficient, indices) of coefficient x variable number indices[k] is at most `high`.

    All arrays of indices have the same length; `variables` is the number of variables of the
    programme.
    """
    rows = len(terms[0][1])
    values = np.repeat([coefficient for coefficient, _ in terms], rows)
    places = np.tile(np.arange(rows), len(terms)), np.concatenate([columns for _, columns in terms])
    matrix = coo_array((values, places), shape=(rows, variables))
    return LinearConstraint(matrix, np.full(rows, -inf), np.full(rows, high))


def programme(
    up: States, down: States, loads: Sequence[Load]
) -> tuple[NDArray[np.float64], Bounds, list[LinearConstraint]]:
    """Return costs, bounds and constraints of the binary programme that chooses a load, its workers
    and its slots so that the last slot comes as early as possible.

    `up` and `down` are boolean matrices of workers x slots. The binary variables, in this order:
    each worker is chosen; each slot is used; each slot comes no later than the last used one; each
    slot comes no earlier than the first used one; each load is chosen. The objective counts the
    slots up to the last used one.
    """
    workers, slots = up.shape
    size = workers + 3 * slots + len(loads)
    chosen, used, open_, begun, load = np.split(
        np.arange(size), np.cumsum([workers, slots, slots, slots])
    )
    costs, usable, one, staff, time = np.zeros(size), np.ones(size), *np.zeros((3, size))
    costs[open_] = one[load] = staff[chosen] = time[used] = 1
    usable[used] = up.sum(axis=0) >= min(each.workers for each in loads)
    staff[load] = [-each.workers for each in loads]
    time[load] = [-each.slots for each in loads]
    away, lost = np.nonzero(~up), np.nonzero(down)
    constraints = [
        # The rows, in this order: one load; as many workers as it has; as many slots as it needs; a
        # used slot is before the end; so is every earlier one; a used slot is after the beginning;
        # so is every later one; chosen workers are UP in used slots; and not DOWN in between.
        *(_exactly(1, one), _exactly(0, staff), _exactly(0, time)),
        _at_most(0, size, (1, used), (-1, open_)),
        _at_most(0, size, (1, open_[1:]), (-1, open_[:-1])),
        _at_most(0, size, (1, used), (-1, begun)),
        _at_most(0, size, (1, begun[:-1]), (-1, begun[1:])),
        _at_most(1, size, (1, chosen[away[0]]), (1, used[away[1]])),
        _at_most(2, size, (1, chosen[lost[0]]), (1, begun[lost[1]]), (1, open_[lost[1]])),
    ]
    return costs, Bounds(np.zeros(size), usable), constraints


OPTIMAL, INFEASIBLE = 0, 2
"""Statuses of scipy.optimize.milp; any other means that the search was cut short."""


class Bound(enum.Enum):
    """The bound mu on the number of tasks that one worker takes, in the two versions of
    OFF-LINE-COUPLED: 1, or none."""

    ONE = "one"
    UNBOUNDED = "unbounded"


@frozen
class OfflineOptimum:
    """Bounds on the earliest slot at which an iteration can end, which is the slot after its last
    one, and the workers of the best iteration found."""

    lower: int
    """Slot before which no iteration ends; one more than the number of slots if none ends at
    all."""
    upper: int | None
    """Slot at which an iteration ends; None where none was found."""
    workers: tuple[int, ...]
    """Indices of the workers of the iteration that ends at `upper`, ascending."""
    optimal: bool
    """Whether the search was finished: `upper` is `lower`, or None because there is no
    iteration."""


@frozen
class MostIterations:
    """Bounds on the largest number of iterations that fit into the known slots, one after the
    other."""

    lower: int
    upper: int
    optimal: bool
    """Whether `lower` equals `upper`."""


@frozen(eq=False)
class Search:
    """Searches for iterations of `tasks` tasks, which take `speed` slots each on any worker.

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
    """Boolean matrix of the slots in which each worker is DOWN; by default none ever is."""

    @down.default
    def _nowhere(self) -> States:
        return np.zeros_like(self.up)

    def __attrs_post_init__(self) -> None:
        up, down, tasks, speed = self.up, self.down, self.tasks, self.speed
        if up.ndim != 2 or up.shape != down.shape:
            raise ValueError(
                f"States are one matrix of workers x slots each, not {up.shape} and {down.shape}."
            )
        if (up & down).any():
            raise ValueError("A worker cannot be UP and DOWN in the same slot.")
        if tasks < 1 or speed < 1:
            raise ValueError(f"An iteration has at least 1 task of 1 slot, not {tasks} of {speed}.")

    def earliest_end(self, start: int = 0) -> OfflineOptimum:
        """Return bounds on the earliest end of one iteration that begins at slot `start`, in slots
        counted from `start`: an iteration that uses only the slot `start` ends at 1."""
        up, down = self.up[:, start:], self.down[:, start:]
        loads = _loads(self.tasks, self.speed, self.bound, up.shape[0])
        never = OfflineOptimum(up.shape[1] + 1, None, (), True)
        if not loads or min(load.slots for load in loads) > up.shape[1]:
            return never
        costs, bounds, constraints = programme(up, down, loads)
        limit = {"time_limit": self.time_limit} if isfinite(self.time_limit) else {}
        solution = milp(
            costs,
            integrality=np.ones_like(costs),
            bounds=bounds,
            constraints=constraints,
            options={"mip_rel_gap": 0.0} | limit,
        )
        if solution.status == INFEASIBLE:
            return never
        return _optimum(solution, up, down, loads)

    def most_iterations(self) -> MostIterations:
        """Return bounds on how many iterations fit, each of which begins no earlier than the one
        before ends.

        To end each one as early as possible is best, since beginning later never lets one end
        earlier.
        """
        slots, one = self.up.shape[1], cache(self.earliest_end)
        lower = _in_a_row(slots, lambda start: one(start).upper or slots + 1)
        upper = _in_a_row(slots, lambda start: one(start).lower)
        return MostIterations(lower, upper, lower == upper)


def _in_a_row(slots: int, length: Callable[[int], int]) -> int:
    """Return how many iterations fit into `slots` slots one after the other; `length` maps the
    first slot of an iteration to the number of slots that it takes."""
    count = start = 0
    while (start := start + length(start)) <= slots:
        count += 1
    return count


def _loads(tasks: int, speed: int, bound: Bound, workers: int) -> list[Load]:
    """Return the ways to share m = `tasks` tasks among at most `workers` workers: for each x,
    ceil(m / x) workers with at most x tasks of w = `speed` slots each, which need x w common slots.

    With Bound.ONE x is 1 only. Of several with the same number of workers the one with the fewest
    slots is returned; the list is empty where there are too few workers.
    """
    if bound is Bound.ONE:
        return [Load(tasks, speed)] if tasks <= workers else []
    # Of loads with the same number of workers, the one with the fewest slots is the last written.
    least = {ceil(tasks / each): each for each in range(tasks, 0, -1)}
    return [Load(count, each * speed) for count, each in least.items() if count <= workers]


def _optimum(
    solution: OptimizeResult, up: States, down: States, loads: Sequence[Load]
) -> OfflineOptimum:
    least = min(load.slots for load in loads)
    bounded = solution.mip_dual_bound is not None and isfinite(solution.mip_dual_bound)
    # The solver's bound is a float: 1e-6 below a whole number of slots is that number.
    lower = max(least, ceil(solution.mip_dual_bound - 1e-6)) if bounded else least
    if solution.x is None:
        return OfflineOptimum(lower, None, (), False)
    workers = tuple(int(q) for q in np.nonzero(solution.x[: up.shape[0]] > 0.5)[0])
    slots = next(load.slots for load in loads if load.workers == len(workers))
    upper = end_of(workers, slots, up, down)
    done = solution.status == OPTIMAL
    return OfflineOptimum(upper if done and upper is not None else lower, upper, workers, done)


def end_of(workers: Sequence[int], slots: int, up: States, down: States) -> int | None:
    """Return the first slot after these workers (row indices of the matrices `up` and `down`) have
    all been UP in `slots` slots; None if that never comes.

    The count begins again from 0 whenever one of them is DOWN.
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
