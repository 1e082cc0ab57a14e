"""Lines that are put off, and dropped where their job comes and goes, leave the same state."""

from __future__ import annotations

from pathlib import Path

import pytest

from sims.history.lines import Lines, skim
from sims.history.reader import History
from sims.log import LogFile
from tests.sims.kinds import KINDS, written

OFTEN = 37


def state(history: History) -> tuple[object, ...]:
    jobs = {name: (job.since, job.promised) for name, job in history.jobs.items()}
    away = {n: worker.state for n, worker in history.workers.items()}
    runs = {key: (run.processors, run.kept) for key, run in history.runs.items()}
    return jobs, away, runs, history.free


@pytest.mark.parametrize("name", KINDS)
def test_what_is_put_off_is_reported_before_anybody_looks(name: str, tmp_path: Path) -> None:
    log, whole, late = LogFile(written(name, tmp_path)), History(), History()
    told, put = Lines(log, whole, whole.apply), Lines(log, late, late.apply)
    for number, line in skim(log):
        told.tell(number, line)
        put.put(number, line)
        if number % OFTEN == 0:
            put.catch_up()
            assert state(late) == state(whole)
    assert log.ended
