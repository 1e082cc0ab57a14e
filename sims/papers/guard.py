"""Whether every table and figure still says what it said, at smoke size."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite
from pathlib import Path
from time import process_time

from attrs import Factory, frozen

from sims.campaign.engine import execute
from sims.campaign.executors import Workers
from sims.campaign.plan import Cells
from sims.papers.catalogue import SIZES, Item
from sims.papers.values import Value
from sims.summary import Summary
from sims.world import run as simulate

STORED = Path(__file__).parent / "stored.json"
MOST, ENOUGH = 60, 20.0
"""Of a table's cells, how many are run to tell what it costs at a size, and after how many seconds
no more."""
APART = 0.6180339887
"""Part of all cells between two of them, of the golden section: no step of whole numbers, which
would meet the same variants again and again."""
ROUNDING = 1e-9
"""Relative; of what has no interval."""

Interval = tuple[float, float]


@frozen
class Stored:
    """What was found when it was stored."""

    intervals: Mapping[str, Interval] = Factory(dict)
    """By key of the value."""
    seconds: Mapping[str, float] = Factory(dict)
    """CPU time by size, measured on a sample of its runs."""


def stored(path: Path = STORED) -> dict[str, Stored]:
    """By name of the table or figure."""
    table = json.loads(path.read_text(encoding="utf-8"))
    return {name: Stored(**one) for name, one in table.items()}


def smoke(item: Item, workers: Workers) -> list[Value]:
    """What it says at smoke size. A run that raises is missing, or has no value."""
    return item.values(execute(item.campaign("smoke"), workers) if item.drawn else None)


def said(item: Item, workers: Workers, path: Path = STORED) -> list[str]:
    """What of it is not as it was: a line each."""
    known = stored(path).get(item.name, Stored())
    return list(complaints(smoke(item, workers), known.intervals))


def complaints(values: Sequence[Value], known: Mapping[str, Interval]) -> Iterator[str]:
    """What is not as it was: a line each."""
    keys = {value.key for value in values}
    yield from (f"{key}: gone" for key in known if key not in keys)
    for value in values:
        if value.key not in known:
            yield f"{value.key}: new"
            continue
        low, high = known[value.key]
        if not low <= value.ours.mean <= high:
            yield f"{value.key}: {value.ours.mean:.6g}, was {low:.6g} to {high:.6g}"


def interval(value: Value) -> Interval:
    """To store: its interval, or itself where it has none."""
    ours, slack = value.ours, ROUNDING * abs(value.ours.mean)
    low, high = (ours.low, ours.high) if isfinite(ours.half) else (ours.mean, ours.mean)
    return low - slack, high + slack


# --- storing ----------------------------------------------------------------------------------


def store(items: Iterable[Item], workers: Workers, path: Path = STORED) -> None:
    """Store anew what these say and cost; the others stay."""
    table = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    for item in items:
        intervals = {it.key: interval(it) for it in smoke(item, workers)}
        table[item.name] = {"intervals": intervals, "seconds": costs(item)}
        path.write_text(json.dumps(table, indent=1), encoding="utf-8")


def costs(item: Item) -> dict[str, float]:
    """CPU seconds by size: some of its runs, taken from all over, times how many there are; `full`
    has more of the default's."""
    if not item.drawn:
        began = process_time()
        item.values(None)
        return dict.fromkeys(SIZES, round(process_time() - began, 3))
    plans = {size: Cells(item.campaign(size)) for size in SIZES}
    each = {size: _each(plans[size]) for size in ("smoke", "default")}
    each["full"] = each["default"]
    runs = {size: len(plan) * plan.campaign.most for size, plan in plans.items()}
    return {size: round(each[size] * runs[size], 3) for size in SIZES}


def _each(plan: Cells) -> float:
    spent, count = 0.0, 0
    while count < min(MOST, len(plan)) and spent < ENOUGH:
        case = plan[int(len(plan) * (APART * count % 1))]
        began = process_time()
        simulate(case.scenario(0), [Summary()], case.folder, until=plan.campaign.until)
        spent, count = spent + process_time() - began, count + 1
    return spent / count
