"""Batsim's jobs CSV: its columns, what they mean, and evalys where it is installed."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from actors.events import JobDescribed, Outcome, RunEnded, RunStarted, ScenarioStarted
from sims.exports.viewers import write_batsim
from tests.sims.kinds import KINDS, parts_of, records_of

COLUMNS = [
    *("job_id", "workload_name", "profile", "submission_time", "requested_number_of_resources"),
    *("requested_time", "success", "final_state", "starting_time", "execution_time"),
    *("finish_time", "waiting_time", "turnaround_time", "stretch", "allocated_resources"),
    *("consumed_energy", "metadata"),
]

every_kind = pytest.mark.parametrize("name", KINDS)


def text_of(name: str) -> str:
    """The whole file."""
    file = io.StringIO()
    write_batsim(records_of(name), file)
    return file.getvalue()


def rows_of(name: str) -> list[dict[str, str]]:
    """The file's rows."""
    return list(csv.DictReader(io.StringIO(text_of(name))))


@every_kind
def test_there_is_a_row_for_every_run_under_a_name_of_its_own(name: str) -> None:
    assert text_of(name).splitlines()[0].split(",") == COLUMNS
    rows = rows_of(name)
    assert len(rows) == sum(isinstance(it.event, RunStarted) for it in parts_of(name))
    assert len({row["job_id"] for row in rows}) == len(rows)


def test_the_users_estimate_is_the_requested_time() -> None:
    asked = {
        it.event.job: it.event.estimate
        for it in records_of("batch-easy")
        if isinstance(it.event, JobDescribed)
    }
    told = {row["job_id"]: float(row["requested_time"]) for row in rows_of("batch-easy")}
    assert told == {job: asked[job] or -1 for job in told}
    assert max(told.values()) > 0


@every_kind
def test_a_rows_times_members_and_links_agree_with_each_other(name: str) -> None:
    for row in rows_of(name):
        start, end = float(row["starting_time"]), float(row["finish_time"])
        submitted = float(row["submission_time"])
        assert submitted <= start <= end
        assert float(row["execution_time"]) == pytest.approx(end - start)
        assert float(row["waiting_time"]) == pytest.approx(start - submitted)
        assert float(row["turnaround_time"]) == pytest.approx(end - submitted)
        if end > start:
            assert float(row["stretch"]) == pytest.approx((end - submitted) / (end - start))
        spans = (part.partition("-") for part in row["allocated_resources"].split(" "))
        numbers = {k for first, _, last in spans for k in range(int(first), int(last or first) + 1)}
        assert len(numbers) == int(row["requested_number_of_resources"])
        about = json.loads(row["metadata"])
        job, run = about["job"], about["run"]
        assert row["job_id"] == (f"{job}#{run}" if run else job)
        if run:  # it is linked to the run before
            assert about["after"] == (f"{job}#{run - 1}" if run > 1 else job)


@every_kind
def test_states_tell_how_runs_ended(name: str) -> None:
    ended = [it.event.outcome for it in parts_of(name) if isinstance(it.event, RunEnded)]
    states = [row["final_state"] for row in rows_of(name)]
    assert states.count("COMPLETED_SUCCESSFULLY") == ended.count(Outcome.COMPLETED)
    assert states.count("COMPLETED_FAILED") == ended.count(Outcome.FAILED)
    assert set(states) <= {"COMPLETED_SUCCESSFULLY", "COMPLETED_FAILED", "COMPLETED_KILLED"}
    for row in rows_of(name):
        assert row["success"] == str(int(row["final_state"] == "COMPLETED_SUCCESSFULLY"))


PLOT = """
import sys
import matplotlib
matplotlib.use("Agg")
from evalys.jobset import JobSet
from evalys.visu.gantt import plot_gantt
jobs = JobSet.from_csv(sys.argv[1])
plot_gantt(jobs)
jobs.plot(with_details=True)
print(len(jobs.df), jobs.res_bounds, jobs.utilisation.load.max())
"""


@pytest.fixture(scope="module")
def evalys() -> str:
    """A Python that has evalys: that of EVALYS_PYTHON, as its own package `tests` hides ours."""
    python = os.environ.get("EVALYS_PYTHON", sys.executable)
    found = subprocess.run([python, "-c", "import evalys"], capture_output=True, check=False)
    if found.returncode:
        pytest.skip("no evalys: EVALYS_PYTHON names no Python with it")
    return python


@every_kind
def test_evalys_reads_and_plots_it(name: str, evalys: str, tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text(text_of(name))
    command = [evalys, "-W", "ignore", "-c", PLOT, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    rows, bounds, busiest = done.stdout.split()
    assert int(rows) == len(rows_of(name))
    first, _, last = bounds.partition("-")
    started = records_of(name)[0].event
    assert isinstance(started, ScenarioStarted)
    assert 0 <= int(first) <= int(last or first) < started.processors
    assert float(busiest) > 0
