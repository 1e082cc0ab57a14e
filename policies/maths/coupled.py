"""The mixed-integer programme of OFF-LINE-COUPLED: a bi-clique of workers and slots (volatile13,
section IV)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from attrs import define, field, frozen
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint
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
