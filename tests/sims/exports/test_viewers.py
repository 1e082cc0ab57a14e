"""What Perfetto asks of a trace, checked strictly (it drops or misdraws what breaks these rules);
and Batsim's jobs CSV: its columns, what they mean, and evalys where it is installed."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import orjson
import pytest

from actors.events import JobDescribed, JobSubmitted, Outcome, RunEnded, RunStarted, ScenarioStarted
from sims.exports.viewers import PROCESSORS, write_batsim, write_chrome
from sims.history.rows import Use
from sims.ledger import account
from tests.sims.kinds import EVERY, KINDS, parts_of, records_of

Json = dict[str, Any]

REQUIRED = {
    "M": {"name", "args"},
    "X": {"name", "cat", "ts", "dur"},
    "b": {"name", "cat", "ts", "id"},
    "e": {"name", "cat", "ts", "id"},
    "C": {"name", "ts", "args"},
}


def trace_of(name: str) -> list[Json]:
    """The trace events of a run, parsed."""
    file = io.BytesIO()
    written = write_chrome(records_of(name), file)
    trace: list[Json] = orjson.loads(file.getvalue())["traceEvents"]
    assert len(trace) == written
    return trace


def tracks(trace: list[Json]) -> dict[tuple[int, int], list[Json]]:
    """Complete events by thread, in order."""
    found: dict[tuple[int, int], list[Json]] = defaultdict(list)
    for event in trace:
        if event["ph"] == "X":
            found[event["pid"], event["tid"]].append(event)
    return {track: sorted(events, key=lambda it: it["ts"]) for track, events in found.items()}


every_kind = pytest.mark.parametrize("name", EVERY)


@every_kind
def test_every_event_has_the_fields_of_its_phase_and_whole_microseconds(name: str) -> None:
    for event in trace_of(name):
        assert REQUIRED[event["ph"]] <= event.keys()
        assert isinstance(event["pid"], int)
        assert isinstance(event["tid"], int)
        assert isinstance(event["ts"], int)
        assert event["ts"] >= 0
        assert isinstance(event.get("dur", 0), int)
        assert event.get("dur", 0) >= 0


@every_kind
def test_slices_of_one_thread_never_overlap(name: str) -> None:
    for events in tracks(trace_of(name)).values():
        for one, other in pairwise(events):
            assert one["ts"] + one["dur"] <= other["ts"], (one, other)


@every_kind
def test_every_thread_and_process_has_a_name(name: str) -> None:
    trace = trace_of(name)
    names = {
        (it["name"], it["pid"], it["tid"]): it["args"]["name"]
        for it in trace
        if it["ph"] == "M" and it["name"].endswith("_name")
    }
    for process, thread in tracks(trace):
        assert names["thread_name", process, thread]
        assert names["process_name", process, 0]


@every_kind
def test_asynchronous_slices_begin_once_and_end_once_not_before(name: str) -> None:
    begun: dict[tuple[object, ...], int] = {}
    for event in trace_of(name):
        key = (event.get("pid"), event.get("cat"), event.get("id"))
        if event["ph"] == "b":
            assert key not in begun
            begun[key] = event["ts"]
        elif event["ph"] == "e":
            assert event["ts"] >= begun[key]
            begun[key] = -1
    assert set(begun.values()) <= {-1}


@every_kind
def test_all_jobs_and_runs_are_there(name: str) -> None:
    trace, records = trace_of(name), records_of(name)
    jobs = {it["id"] for it in trace if it["ph"] == "b" and it["cat"] == "job"}
    assert jobs == {it.event.job for it in records if isinstance(it.event, JobSubmitted)}
    runs = [it["args"] for it in trace if it["ph"] == "X" and it["cat"] == "run"]
    started = [(it.seq, it.cause) for it in parts_of(name) if isinstance(it.event, RunStarted)]
    assert sorted((it["seq"], it["cause"]) for it in runs) == sorted(started)


@every_kind
def test_slices_last_as_long_as_the_ledger_says(name: str) -> None:
    records = records_of(name)
    first: Any = records[0].event
    ledger = account(records, first.processors)
    trace = trace_of(name)
    shared = {it["cat"] for it in trace if it["ph"] == "b" and it["pid"] == PROCESSORS}
    for use in (Use.USEFUL, Use.LOST, Use.DOWN):
        if use.value in shared:
            continue
        spent = sum(
            it["dur"] * size(it, first.processors)
            for it in trace
            if it["ph"] == "X" and it["cat"] == use.value
        )
        assert spent / 1e6 == pytest.approx(float(ledger.total[use]), rel=1e-4, abs=1e-3)


def size(event: Json, processors: int) -> int:
    """How many processors the interval that begins at this event's thread has."""
    for part in event["args"]["processors"].split():
        first, _, last = part.partition("-")
        if int(first) == event["tid"]:
            return int(last or first) - int(first) + 1
    raise AssertionError(event)


# --- Batsim -------------------------------------------------------------------------------------

COLUMNS = [
    *("job_id", "workload_name", "profile", "submission_time", "requested_number_of_resources"),
    *("requested_time", "success", "final_state", "starting_time", "execution_time"),
    *("finish_time", "waiting_time", "turnaround_time", "stretch", "allocated_resources"),
    *("consumed_energy", "metadata"),
]

every_usual_kind = pytest.mark.parametrize("name", KINDS)


def text_of(name: str) -> str:
    """The whole file."""
    file = io.StringIO()
    write_batsim(records_of(name), file)
    return file.getvalue()


def rows_of(name: str) -> list[dict[str, str]]:
    """The file's rows."""
    return list(csv.DictReader(io.StringIO(text_of(name))))


@every_usual_kind
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


@every_usual_kind
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


@every_usual_kind
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
for path in sys.argv[1:]:
    jobs = JobSet.from_csv(path)
    plot_gantt(jobs)
    jobs.plot(with_details=True)
    print(len(jobs.df), jobs.res_bounds, jobs.utilisation.load.max())
    matplotlib.pyplot.close("all")
"""


@pytest.fixture(scope="module")
def evalys() -> str:
    """A Python that has evalys: that of EVALYS_PYTHON, as its own package `tests` hides ours."""
    python = os.environ.get("EVALYS_PYTHON", sys.executable)
    found = subprocess.run([python, "-c", "import evalys"], capture_output=True, check=False)
    if found.returncode:
        pytest.skip("no evalys: EVALYS_PYTHON names no Python with it")
    return python


def test_evalys_reads_and_plots_every_usual_kind(evalys: str, tmp_path: Path) -> None:
    """One process plots all of them: it takes longer to start than to plot."""
    paths = [tmp_path / f"{name}.csv" for name in KINDS]
    for name, path in zip(KINDS, paths, strict=True):
        path.write_text(text_of(name))
    command = [evalys, "-W", "ignore", "-c", PLOT, *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    for name, line in zip(KINDS, done.stdout.splitlines(), strict=True):
        rows, bounds, busiest = line.split()
        assert int(rows) == len(rows_of(name)), name
        first, _, last = bounds.partition("-")
        started = records_of(name)[0].event
        assert isinstance(started, ScenarioStarted)
        assert 0 <= int(first) <= int(last or first) < started.processors, name
        assert float(busiest) > 0, name
