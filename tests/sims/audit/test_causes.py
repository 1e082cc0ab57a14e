"""What the audit notices when one cause in a log is another."""

from __future__ import annotations

from attrs import evolve
from numpy.random import default_rng

from actors.events.causes import CauseLaw
from actors.runtime import Record
from sims.log import LogFile
from tests.golden.regenerate import GOLDEN, path_of

TRIED = 60
"""Causes altered in each golden log."""
LEAST = 0.95


def noticed(records: list[Record], at: int, cause: int) -> bool:
    """Whether this record's cause, altered, is seen to be none."""
    law = CauseLaw()
    for record in records[:at]:
        law.check(record)
    return law.check(evolve(records[at], cause=cause)) is not None


def test_nearly_every_cause_that_is_altered_is_noticed() -> None:
    rng, found, tried = default_rng(1), 0, 0
    for kind in GOLDEN:
        records = list(LogFile(path_of(kind)))
        for at in rng.integers(2, len(records), TRIED).tolist():
            cause = int(rng.integers(at))
            if cause != records[at].cause:
                found, tried = found + noticed(records, at, cause), tried + 1
    assert found >= LEAST * tried


def test_nearly_every_cause_that_is_one_of_its_neighbours_is_noticed() -> None:
    rng, found, tried = default_rng(2), 0, 0
    for kind in GOLDEN:
        records = list(LogFile(path_of(kind)))
        for at in rng.integers(8, len(records), TRIED).tolist():
            cause = at - 1 - int(rng.integers(8))
            if cause != records[at].cause:
                found, tried = found + noticed(records, at, cause), tried + 1
    assert found >= LEAST * tried
