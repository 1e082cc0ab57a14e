"""Where any job's flowtime went: the account adds up to it exactly, for every kind of job."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from actors.events import JobCompleted, JobSubmitted, ScenarioStarted
from actors.runtime import Record
from sims.log import LogFile, LogWriter
from sims.parts import parted
from sims.trace.account import FlowAccount, Part
from sims.trace.families import TRACES, read_trace
from sims.trace.tale import Tale
from tests.golden.regenerate import GOLDEN, path_of
from tests.sims.anything import TABLES, records_of, scenarios


def life(records: list[Record], job: str) -> Tale:
    first = records[0].event
    assert isinstance(first, ScenarioStarted)
    tale = TRACES[first.kind](job)
    for record in parted(records):
        tale(record)
    return tale


@pytest.mark.parametrize("kind", TABLES)
@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_the_account_adds_up_to_the_flowtime_exactly(kind: str, data: st.DataObject) -> None:
    records = records_of(data.draw(scenarios(kind)))
    submitted = {r.event.job: r.t for r in records if isinstance(r.event, JobSubmitted)}
    completed = {r.event.job: r.t for r in records if isinstance(r.event, JobCompleted)}
    for job, end in completed.items():
        account = life(records, job).account
        assert account.total == Fraction(end) - Fraction(submitted[job])
        assert min(account.spent.values()) >= 0
        assert account.spent[Part.UNSETTLED] == 0


@pytest.mark.parametrize("kind", GOLDEN)
def test_reading_only_the_lines_that_matter_tells_the_same_life(kind: str, tmp_path: Path) -> None:
    records = list(LogFile(path_of(kind)))
    for job in [r.event.job for r in records if isinstance(r.event, JobSubmitted)][:12]:
        told, read = life(records, job), read_trace(LogFile(path_of(kind)), job)
        assert (read.root, read.account) == (told.root, told.account)


@pytest.mark.parametrize("kind", GOLDEN)
def test_a_log_that_stops_early_leaves_computation_unsettled(kind: str, tmp_path: Path) -> None:
    records = list(LogFile(path_of(kind)))
    job = GOLDEN[kind].job
    start = next(r.t for r in records if isinstance(r.event, JobSubmitted) and r.event.job == job)
    end = next(r.seq for r in records if isinstance(r.event, JobCompleted) and r.event.job == job)
    with LogWriter(tmp_path / "cut.jsonl") as log:
        for record in records[:end]:
            log(record)
    tale = read_trace(LogFile(tmp_path / "cut.jsonl"), job)
    assert tale.account.total == Fraction(records[end - 1].t) - Fraction(start)
    assert tale.root is not None and tale.root.end is None


def test_what_is_saved_is_lost_only_with_its_checkpoint() -> None:
    account = FlowAccount()
    account.open(0)
    for now, part in ((1, Part.USEFUL), (5, Part.CHECKPOINT)):
        account.turn(now, part)
    account.save()
    account.turn(6, Part.USEFUL)
    account.turn(8, Part.WAITING)
    account.lose()
    assert account.spent[Part.LOST] == 2
    account.lose_all()
    assert account.spent[Part.LOST] == 6
    account.close(9, completed=True)
    assert (account.total, account.spent[Part.USEFUL]) == (9, 0)
