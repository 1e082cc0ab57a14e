"""What the audit notices when one cause in a log is another."""

from __future__ import annotations

import pytest
from attrs import evolve
from numpy.random import default_rng

from actors.events import JobKilled, MembersReleased, Outcome, RunEnded
from actors.runtime import Record
from sims.audit.causality.causes import CauseLaw
from sims.log import LogFile
from tests.golden.regenerate import GOLDEN, path_of
from tests.sims.audit.anything import records_of

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


@pytest.mark.filterwarnings("ignore:.*no buddy")
def test_a_job_is_killed_because_of_the_run_that_reached_its_limit() -> None:
    """Not because its other copy, which waits for a worker, gives its members back after it."""
    job = {"processors": 1, "time": 4.0, "estimate": 4.0}
    lives = ("u", "uudddddddddd")
    workers = [{"availability": {"kind": "letters", "states": life}} for life in lives]
    table = {
        "name": "killed",
        "job": {"kind": "rigid", "overrun": "kill", "verification": 1.0, "jobs": [job]},
        "protection": {"kind": "buddies", "period": 1, "cost": 0, "recovery": 0, "copies": 2},
        "workers": workers,
    }
    records = records_of(table)
    (killed,) = [it for it in records if isinstance(it.event, JobKilled)]
    assert any(isinstance(it.event, MembersReleased) for it in records)
    assert killed.cause is not None
    cause = records[killed.cause].event
    assert isinstance(cause, RunEnded)
    assert (cause.run, cause.outcome) == (0, Outcome.CANCELLED)
