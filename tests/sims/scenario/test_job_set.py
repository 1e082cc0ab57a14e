"""A set of jobs of a log says the same before and after its jobs are made."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import asdict

from actors.runtime import System
from policies.interface.queue import BatchJob
from sims.scenario import workload as workload_module
from sims.scenario.builders import populate
from sims.scenario.job_set import JobSet
from sims.scenario.jobs import RigidSection
from sims.scenario.loader import read
from sims.scenario.workload import workload

LINES = """\
; MaxProcs: 8
1 10 5 100 2 -1 -1 2 120 -1 1 7 3 -1 2 -1 -1 -1
2 20 -1 50 4 -1 -1 4 -1 -1 1 8 3 -1 2 -1 -1 -1
3 20 0 70.5 16 -1 -1 16 90 -1 1 8 4 -1 1 -1 -1 -1

   4 35 2 100 1 -1 -1 1 120 -1 0 7 3 -1 2 -1 -1 -1
; a comment amid the lines
5 40 2 1 8 -1 -1 8 120 -1 5 7 3 -1 2 -1 -1 -1
"""
COLUMNS = ("widths", "works", "lengths", "overheads", "submitted")


@pytest.fixture
def jobs(tmp_path: Path) -> JobSet:
    """The jobs of a log on 8 workers, of which the third needs 16."""
    (tmp_path / "five.swf").write_text(LINES)
    table = {
        "name": "five",
        "platform": {"workers": 8},
        "policy": {"name": "EASY"},
        "job": {"kind": "rigid", "swf": {"file": "five.swf"}, "startup": 3, "verification": 2},
    }
    return workload(read(table, "five.toml", tmp_path), System(0)).jobs


@pytest.mark.parametrize("column", COLUMNS)
def test_a_column_is_the_same_once_the_jobs_are_made(jobs: JobSet, column: str) -> None:
    before = np.array(getattr(jobs, column), float)
    made = list(jobs)
    assert before.tolist() == getattr(jobs, column).tolist()
    assert before.tolist() == getattr(JobSet.of(made), column).tolist()
    assert len(before) == 4


def test_a_single_job_is_the_one_that_all_jobs_have_at_its_place(jobs: JobSet) -> None:
    singly = [jobs[place] for place in range(len(jobs))]
    assert list(map(asdict, singly)) == list(map(asdict, jobs))
    assert jobs[-1] is jobs[3]
    assert [it.index for it in jobs] == [0, 1, 3, 4]
    assert [it.estimate for it in jobs] == [120, None, 120, 120]
    assert [it.recorded_wait for it in jobs] == [5, None, 2, 2]


def test_jobs_that_are_kept_are_the_same_made_or_not(jobs: JobSet) -> None:
    some = np.array([True, False, False, True])
    unmade = jobs.keep(some)
    assert [*unmade.names, len(unmade)] == ["J1", "J5", 2]
    assert list(map(asdict, unmade)) == list(map(asdict, JobSet.of(jobs).keep(some)))


@pytest.mark.parametrize("policy", ["EASY", "conservative", "greedy"])
def test_a_check_of_a_logs_jobs_makes_hardly_any_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, policy: str
) -> None:
    """A check of a million jobs took twice the time and memory when it made all of them."""
    line = "{0} {0} 0 50 2 -1 -1 2 60 -1 1 7 3 -1 2 -1 -1 -1\n"
    (tmp_path / "long.swf").write_text("".join(line.format(k) for k in range(1, 1001)))
    table = {
        "name": "long",
        "platform": {"workers": 8},
        "faults": {"mtbf": 1e9, "downtime": 10},
        "policy": {"name": policy},
        "job": {"kind": "rigid", "swf": {"file": "long.swf"}},
    }
    made, make = list[int](), workload_module._logged

    def counted(section: RigidSection, rows: Any, places: Any) -> Iterable[BatchJob]:
        made.append(len(rows))
        return make(section, rows, places)

    monkeypatch.setattr(workload_module, "_logged", counted)
    scenario = read(table, "long.toml", tmp_path)
    found = populate(scenario, System(0), tmp_path, simulated=False)
    assert found.jobs == 1000
    assert sum(made) < 20
