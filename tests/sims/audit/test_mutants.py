"""What the audit notices when one thing in a log is wrong, by mechanism."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import islice

import pytest
from numpy.random import default_rng

from actors.runtime import Record
from sims.audit.audit import audit
from tests.sims.audit.mutants import Change, Mutant, mutants
from tests.sims.audit.oneworld import cases, mechanisms, records_of

MECHANISMS = (
    *("owner", "faults", "speeds", "link", "iterative"),
    *("buddies", "images", "copies", "cloning", "errors"),
)
LOGS = 10
"""Scenarios a mechanism."""
TRIED = 10
"""Mutants of each."""
LEAST = 0.95


@cache
def logs(mechanism: str) -> list[list[Record]]:
    fitting = [it["scenario"] for it in cases() if mechanism in mechanisms(it["scenario"])]
    return [records_of(scenario) for scenario in fitting[:: max(len(fitting) // LOGS, 1)]][:LOGS]


def unnoticed(tried: Iterator[Mutant]) -> list[str]:
    return [mutant.what for mutant in tried if next(audit(mutant.records), None) is None]


@pytest.mark.parametrize("change", Change)
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_nearly_every_mutant_is_noticed(mechanism: str, change: Change) -> None:
    rng = default_rng(1)
    told = logs(mechanism)
    missed = [
        what for log in told for what in unnoticed(islice(mutants(log, change, rng), TRIED))
    ]
    tried = len(told) * TRIED
    print(
        f"{mechanism}, {change.value}: {1 - len(missed) / tried:.1%} of {tried} noticed",
        *missed,
        sep="\n  ",
    )
    assert len(missed) <= (1 - LEAST) * tried


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_log_without_its_end_or_with_two_beginnings_is_noticed(mechanism: str) -> None:
    records = logs(mechanism)[0]
    assert [v.law.name for v in audit(records[:-1])][-1] == "FRAME"
    assert next(audit([records[0], *records]), None) is not None
