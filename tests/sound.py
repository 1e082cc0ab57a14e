"""Logs of random scenarios of all kinds, of which each must break no law.

python -m tests.sound 500 7     # 500 logs of seed 7; prints which laws are broken, and where
python -m tests.sound 2000 5617 acted    # 2000 logs with agents
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterator, Sequence

from actors.decisions import BadDecision
from actors.runtime import ActorFailed, system
from actors.runtime.errors import Stalled, WorkersRetired
from sims.audit.audit import audit
from sims.errors import InputError
from tests.conftest import CheckedJournal
from tests.sims.anything import TABLES
from tests.sims.oneworld import Table, records_of


def generators(count: int) -> list[str]:
    """Which of TABLES makes each of so many fixed scenarios, in turn."""
    kinds = [kind for kind in TABLES if kind not in ("reused", "acted", "acted groups")]
    return [kinds[k % len(kinds)] for k in range(count)]


def small(count: int) -> Iterator[Table]:
    """So many fixed scenarios, of all kinds."""
    kinds = generators(count)
    for k, kind in enumerate(kinds):
        yield TABLES[kind](20 + kinds[:k].count(kind))


def wrong(table: Table) -> list[str]:
    """What its log breaks; nothing where its jobs never end, because a run says so, too many
    workers retire, or the scenario is refused."""
    try:
        return [str(violation) for violation in audit(records_of(table))]
    except (InputError, Stalled, WorkersRetired):
        return []
    except (AssertionError, BadDecision, ActorFailed) as broken:
        return [f"while it ran: {broken}"]


def main(count: int, first: int, kinds: Sequence[str] = tuple(TABLES)) -> int:
    """Tries them, of these kinds; how many logs broke a law."""
    each = -(-count // len(kinds))
    tried = [(kind, TABLES[kind](first * each + k)) for kind in kinds for k in range(each)]
    alarms = 0
    for kind, table in tried:
        found = wrong(table)
        if found:
            alarms += 1
            print(kind, json.dumps(table, default=repr), *found[:3], sep="\n  ", flush=True)
    print(f"{alarms} of {len(tried)} logs break a law")
    return alarms


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    system.Journal = CheckedJournal  # type: ignore[misc]
    sys.exit(min(main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:] or tuple(TABLES)), 1))
