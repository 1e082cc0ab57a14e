"""Logs of random scenarios of all kinds, of which each must break no law.

python -m tests.sound 500 7     # 500 logs of seed 7; prints which laws are broken, and where
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial

from hypothesis import HealthCheck, Phase, given, seed, settings

from actors.decisions import BadDecision
from actors.runtime import ActorFailed, Record, system
from sims.audit.audit import audit
from sims.scenario.loader import read
from tests.conftest import CheckedJournal
from tests.sims import anything
from tests.sims.audit.anything import (
    Table,
    believed,
    cell,
    enrolled,
    overlaid,
    pack,
    practised,
    queue,
    reused,
    runs,
    shares,
    varied_pack,
)
from tests.sims.audit.anything import records_of as records_of_table

BY_SEED: dict[str, Callable[[int], Table]] = {
    "queue": queue,
    "believed": believed,
    "reused": reused,
    "pack": pack,
    "varied pack": varied_pack,
    "shares": shares,
    "runs": runs,
    "enrolled": enrolled,
    "practised": practised,
    "overlaid": overlaid,
    **{
        f"{kind} cells": partial(cell, kind)
        for kind in ("rigid", "moldable", "malleable", "iterative")
    },
}
"""What is drawn from a seed."""


def tables(kind: str, count: int, first: int) -> Iterator[Table]:
    """So many scenarios of a kind, the same ones for the same seed."""
    if kind in BY_SEED:
        yield from (BY_SEED[kind](first * count + k) for k in range(count))
        return
    drawn: list[Table] = []

    @seed(first)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(anything.TABLES[kind])
    def draw(table: Table) -> None:
        drawn.append(table)

    draw()
    yield from drawn


def small(count: int) -> Iterator[tuple[str, Table]]:
    """So many fixed scenarios, of all kinds that are drawn from a seed."""
    kinds = [kind for kind in BY_SEED if kind != "reused"]
    for k in range(count):
        kind = kinds[k % len(kinds)]
        yield kind, BY_SEED[kind](20 + k // len(kinds))


def records_of(kind: str, table: Table) -> list[Record]:
    """The log of its run."""
    if kind in BY_SEED:
        return records_of_table(table)
    return anything.records_of(read(table, "sound"))


def wrong(kind: str, table: Table) -> list[str]:
    """What its log breaks."""
    try:
        return [str(violation) for violation in audit(records_of(kind, table))]
    except (AssertionError, BadDecision, ActorFailed) as broken:
        return [f"while it ran: {broken}"]


def main(count: int, first: int) -> int:
    """Tries them; how many logs broke a law."""
    kinds = [*anything.TABLES, *BY_SEED]
    tried = alarms = 0
    for kind in kinds:
        for table in tables(kind, -(-count // len(kinds)), first):
            found = wrong(kind, table)
            tried += 1
            if found:
                alarms += 1
                print(kind, json.dumps(table, default=repr), *found[:3], sep="\n  ", flush=True)
    print(f"{alarms} of {tried} logs break a law")
    return alarms


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    system.Journal = CheckedJournal  # type: ignore[misc]
    sys.exit(min(main(int(sys.argv[1]), int(sys.argv[2])), 1))
