"""What the audit notices when one thing in a log is wrong, by mechanism.

Of 100 mutants at least 95 are noticed, but for what no later event contradicts, so that a world in
which it was so is as lawful (run with `-s` for the list of a run):

- the speed of a worker that is free, or not the slowest of its run; when it changed;
- when a free worker was reclaimed or came back;
- n_com one higher, or the platform one larger, than was ever asked for; what a job's protection
  would have cost or allowed and never did (a recovery that no run spends, copies never placed);
- a message that could have begun earlier or later: the order of service is a policy;
- two events of one instant that belong to one job, told in the other order, where the laws do not
  say which comes first;
- a rigid job's estimate where nothing acts on it; a promise to a job that starts before, or after
  something was late;
- where copies are placed all at once: the speed of a worker while it has none, which is most of
  what `shares` misses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice

import pytest
from numpy.random import default_rng

from actors.runtime import Record
from sims.audit.audit import audit
from tests.sims.audit.anything import Table, pack, queue, shares
from tests.sims.audit.anything import records_of as records_of_table
from tests.sims.audit.mutants import Change, Mutant, mutants
from tests.sims.audit.oneworld import cases, mechanisms, records_of

MECHANISMS = (
    *("owner", "faults", "speeds", "link", "iterative"),
    *("buddies", "images", "copies", "cloning", "errors"),
    *("queue", "pack", "shares"),
)
LOGS = 10
"""Scenarios a mechanism."""
TRIED = 10
"""Mutants of each."""
TABLES: dict[str, Callable[[int], Table]] = {"queue": queue, "pack": pack, "shares": shares}
SEEDS = range(20, 20 + LOGS)
MOST = 5
"""Of 100 that may go unnoticed."""
MORE = {
    ("owner", Change.MOVE): 13,
    ("speeds", Change.DROP): 11,
    ("speeds", Change.MOVE): 12,
    ("speeds", Change.ALTER): 21,
    ("link", Change.MOVE): 6,
    ("link", Change.ALTER): 10,
    ("iterative", Change.ALTER): 8,
    ("buddies", Change.ALTER): 7,
    ("copies", Change.MOVE): 6,
    ("copies", Change.ALTER): 7,
    ("cloning", Change.MOVE): 7,
    ("cloning", Change.ALTER): 7,
    ("errors", Change.ALTER): 6,
    ("queue", Change.MOVE): 6,
    ("shares", Change.DROP): 13,
    ("shares", Change.MOVE): 7,
    ("shares", Change.ALTER): 17,
}
"""Where more are, for the reasons above."""


@cache
def logs(mechanism: str) -> list[list[Record]]:
    if mechanism in TABLES:
        return [records_of_table(TABLES[mechanism](seed)) for seed in SEEDS]
    fitting = [it["scenario"] for it in cases() if mechanism in mechanisms(it["scenario"])]
    return [records_of(scenario) for scenario in fitting[:: max(len(fitting) // LOGS, 1)]][:LOGS]


def unnoticed(tried: Iterator[Mutant]) -> list[str]:
    return [mutant.what for mutant in tried if next(audit(mutant.records), None) is None]


@pytest.mark.parametrize("change", Change)
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_nearly_every_mutant_is_noticed(mechanism: str, change: Change) -> None:
    rng = default_rng(1)
    told = logs(mechanism)
    missed = [what for log in told for what in unnoticed(islice(mutants(log, change, rng), TRIED))]
    tried = len(told) * TRIED
    print(
        f"{mechanism}, {change.value}: {1 - len(missed) / tried:.1%} of {tried} noticed",
        *missed,
        sep="\n  ",
    )
    assert 100 * len(missed) <= tried * MORE.get((mechanism, change), MOST)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_log_without_its_end_or_with_two_beginnings_is_noticed(mechanism: str) -> None:
    records = logs(mechanism)[0]
    assert [v.law.name for v in audit(records[:-1])][-1] == "FRAME"
    assert next(audit([records[0], *records]), None) is not None
