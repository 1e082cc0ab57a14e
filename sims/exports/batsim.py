"""Batsim's jobs CSV (v5): what evalys plots. One row per run."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TextIO

from actors.events import JobDescribed, Outcome, ScenarioStarted
from actors.runtime import Record
from sims.ledger.runs import EndedRun, RunFold
from sims.ledger.slices import count
from sims.parts import parted

COLUMNS = (
    *("job_id", "workload_name", "profile", "submission_time", "requested_number_of_resources"),
    *("requested_time", "success", "final_state", "starting_time", "execution_time"),
    *("finish_time", "waiting_time", "turnaround_time", "stretch", "allocated_resources"),
    *("consumed_energy", "metadata"),
)

STATES = {
    Outcome.COMPLETED: "COMPLETED_SUCCESSFULLY",
    Outcome.FAILED: "COMPLETED_FAILED",
    Outcome.LOST: "COMPLETED_KILLED",
    Outcome.CANCELLED: "COMPLETED_KILLED",
    None: "COMPLETED_KILLED",
}

UNKNOWN = -1
"""What Batsim writes for a requested time, or an energy, that nobody gave."""
Row = tuple[object, ...]


def write_batsim(records: Iterable[Record], file: TextIO) -> int:
    """Write one row per run, in order of their ends; returns how many.

    The first run of a job has its name; run n > 0 is `NAME#n`, its metadata naming the job and the
    run before. Times in the log's unit.
    """
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    rows = 0
    for row in _rows(records):
        writer.writerow(row)
        rows += 1
    return rows


def _rows(records: Iterable[Record]) -> Iterator[Row]:
    runs, workload, now, asked = RunFold(), "", 0.0, dict[str, float]()
    for record in parted(records):
        now = record.t
        if isinstance(record.event, ScenarioStarted):
            workload = record.event.scenario
        elif isinstance(record.event, JobDescribed) and record.event.estimate is not None:
            asked[record.event.job] = record.event.estimate
        yield from (_row(run, workload, asked) for run in runs(record))
    yield from (_row(run, workload, asked) for run in runs.close(now))


def _row(run: EndedRun, workload: str, asked: Mapping[str, float]) -> Row:
    execution, turnaround = run.end - run.start, run.end - run.submitted
    stretch = turnaround / execution if execution else 1.0
    success = int(run.outcome is Outcome.COMPLETED)
    return (
        *(run_id(run.job, run.number), workload, workload, run.submitted, count(run.processors)),
        *(asked.get(run.job, UNKNOWN), success, STATES[run.outcome], run.start, execution),
        *(run.end, run.start - run.submitted, turnaround, stretch, run.processors),
        *(UNKNOWN, _metadata(run)),
    )


def run_id(job: str, number: int) -> str:
    """`NAME`, or `NAME#n` for a later run."""
    return f"{job}#{number}" if number else job


def _metadata(run: EndedRun) -> str:
    about: dict[str, object] = {"job": run.job, "run": run.number}
    if run.number:
        about["after"] = run_id(run.job, run.number - 1)
    return json.dumps(about, sort_keys=True)
