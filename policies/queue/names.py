"""Maps the papers' names to strategies, orders and allotment rules of a queue (rigid21 and
moldable21)."""

from __future__ import annotations

import enum
import re
from collections.abc import Callable
from functools import partial

from policies.interface.queue import (
    Allocation,
    BatchAllocation,
    Order,
    Strategy,
    TimedOrder,
)
from policies.queue.allocation import LPA, MINAREA, MINTIME
from policies.queue.conservative import Conservative
from policies.queue.lists import InOrder, Reading, RList, Shelves
from policies.queue.orders import LEARNT, PLAIN, TIMED, ByScore

ORDERS: dict[str, Order | TimedOrder] = {
    **PLAIN,
    **TIMED,
    **{name: ByScore(*LEARNT[name]) for name in LEARNT},
}
FIELD: dict[str, Strategy] = {
    "FCFS": InOrder(),
    "EASY": RList(1, Reading.EASY),
    "conservative": Conservative(),
    "greedy": RList(0),
}
"""Strategies by their common names in the field; their order is FCFS where none is given."""
LIST = re.compile(r"R-LIST-(Q|\d+)")
SHELVES = {
    "R-SHELF-B": Shelves(backfilling=True, filling=False),
    "R-SHELF-NB": Shelves(backfilling=False, filling=False),
    "R-SHELFFILL-B": Shelves(backfilling=True, filling=True),
    "R-SHELFFILL-NB": Shelves(backfilling=False, filling=True),
}


ALLOCATIONS: dict[str, Allocation] = {"LPA": LPA, "MINTIME": MINTIME, "MINAREA": MINAREA}
"""Allocations of moldable jobs by their names, without those that decide in batches."""
BATCH = "BATCH"


class AllotmentRule(enum.Enum):
    """Says how BATCH allots processors; the paper's guarantee leaves it open."""

    SCALED = "scaled"
    """Use MT-ALLOTMENT's rounded times with balanced chains."""
    PROGRAMME = "programme"
    """Use MT-ALLOTMENT's rounded times with chains from the full dynamic programme."""
    EXACT = "exact"
    """Use the best allotment whose chains are uniform."""
    MIXED = "mixed"
    """Use the best of all allotments; only for small platforms."""


def is_strategy(name: str) -> bool:
    """Return whether `name` is the name of a strategy of the papers or of the field, such as
    R-LIST-1, EASY or R-SHELF-B."""
    return name in SHELVES or name in FIELD or LIST.fullmatch(name) is not None


def strategy_named(name: str, reading: Reading) -> Strategy:
    """Return the strategy called `name`, such as R-LIST-1, EASY or R-SHELF-B. `reading` says how
    reservations of an R-LIST are understood. Raises ValueError, which lists the names, for any
    other name."""
    found = LIST.fullmatch(name)
    if found:
        return RList(None if found[1] == "Q" else int(found[1]), reading)
    if is_strategy(name):
        return (SHELVES | FIELD)[name]
    raise ValueError(
        f"{name!r} is no strategy; accepted: {', '.join(FIELD)}, R-LIST-Q, R-LIST-0, R-LIST-1, "
        f"R-LIST-m, {', '.join(SHELVES)}, package.module:Name"
    )


def strategy_name(strategy: Strategy) -> str | None:
    """Return the name by which a scenario asks for this strategy; None for a user's own."""
    found = next((name for name, it in (FIELD | SHELVES).items() if it == strategy), None)
    if found is None and isinstance(strategy, RList):
        return f"R-LIST-{'Q' if strategy.reservations is None else strategy.reservations}"
    return found


def default_order(strategy: str) -> str:
    """Return the name of the order in which a queue is sorted under this strategy where none is
    given: FCFS for the field's strategies (FCFS, EASY, conservative, greedy), LPT for the
    papers'."""
    return "FCFS" if strategy in FIELD else "LPT"


def order_named(name: str, first: float = 0.0) -> Order | TimedOrder:
    """Return the order called `name`. `first` is the time at which the first job is submitted, from
    which the orders F1 to F4 count. Raises ValueError, which lists the names, for any other
    name."""
    if name in LEARNT:
        return ByScore(*LEARNT[name], first)
    if name in ORDERS:
        return ORDERS[name]
    accepted = ", ".join(ORDERS)
    raise ValueError(f"{name!r} is no order; accepted: {accepted}, package.module:Name")


def allocation_named(
    name: str, allotment: AllotmentRule, eps: float
) -> Allocation | BatchAllocation:
    """Return moldable21's allocation rule called `name`: LPA, MINTIME, MINAREA or BATCH. For BATCH,
    `allotment` says how attempts are allotted, and `eps` is the rounding parameter of the two rules
    that round times. Raises ValueError, which lists the names, for any other name."""
    if name == BATCH:
        return _in_batches(allotment, eps)
    if name not in ALLOCATIONS:
        accepted = ", ".join((*ALLOCATIONS, BATCH))
        raise ValueError(f"{name!r} is no rule; accepted: {accepted}, package.module:Name")
    return ALLOCATIONS[name]


def _in_batches(allotment: AllotmentRule, eps: float) -> BatchAllocation:
    """Return the allocation BATCH whose attempts are allotted by this rule."""
    from policies.queue.allotments import Mixed, Programme  # only BATCH allots in batches
    from policies.queue.batches import Exact, Scaled

    made: dict[AllotmentRule, Callable[[], BatchAllocation]] = {
        AllotmentRule.SCALED: partial(Scaled, eps),
        AllotmentRule.PROGRAMME: partial(Programme, eps),
        AllotmentRule.EXACT: Exact,
        AllotmentRule.MIXED: Mixed,
    }
    return made[allotment]()
