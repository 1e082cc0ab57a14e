"""How many wrong logs the audit notices, by the kind of line (event) that is wrong.

Apart from them it counts the logs that are not wrong: the scenario, altered as its log was, runs as
that log says, so that the line is an input.

python -m tests.sims.audit.events 6 4              # so many logs a kind, mutants of each change
python -m tests.sims.audit.events 6 4 NoticeGiven  # of this kind only; prints what was missed
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from itertools import islice

from actors.events import VOCABULARY
from actors.runtime import Event, Record
from sims.papers.published.deadline import start
from tests.sims.anything import TABLES
from tests.sims.audit.mutants import OF_ONE
from tests.sims.audit.test_mutants import Verdict, judged_of
from tests.sims.oneworld import Table, records_of

FIRST, TABLES_TRIED = 1000, 6
"""Seed of the first scenario that is drawn, and how many of each kind are looked through."""


def drawn() -> Iterator[Table]:
    """Scenarios of all kinds in turn, and some with deadlines and prices, which no generator
    draws."""
    for k in range(TABLES_TRIED):
        for kind in (it for it in TABLES if it != "reused"):
            yield TABLES[kind](FIRST + k)
        policy = ("greedy", "uniform-progress")[k % 2]
        yield start(k, "fitted chains", policy, 6 + k / 10, 4, 0.1)


def sample(count: int) -> dict[type[Event], list[tuple[Table, list[Record]]]]:
    """So many scenarios with their logs for each kind of line, or as many as there are."""
    found: dict[type[Event], list[tuple[Table, list[Record]]]] = {it: [] for it in VOCABULARY}
    for table in drawn():
        records = records_of(table)
        for kind in {type(record.event) for record in records}:
            if len(found[kind]) < count:
                found[kind].append((table, records))
    return found


def main(count: int, each: int, *only: str) -> None:
    """Print how many were noticed of each kind, the fewest first; what was missed, if asked."""
    rows = []
    for kind, pairs in sample(count).items():
        if only and kind.__name__ not in only:
            continue
        judged = [it for change in OF_ONE for it in judged_of(pairs, change, each, kind)]
        missed = [what for verdict, what in judged if verdict is Verdict.MISSED]
        true = sum(verdict is Verdict.TRUE for verdict, _ in judged)
        wrong = len(judged) - true
        rows.append((1 - len(missed) / wrong if wrong else 1, kind.__name__, wrong, true, missed))
    for share, name, wrong, true, missed in sorted(rows):
        inputs = f", and {true} true logs of other scenarios" if true else ""
        print(f"{share:6.1%} {name}: {wrong - len(missed)} of {wrong}{inputs}", flush=True)
        for what in islice(missed, len(missed) if only else 0):
            print(f"    {what}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
