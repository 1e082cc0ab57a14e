"""Batsim's jobs CSV (v5): what evalys plots. One row per run."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable
from typing import Any, TextIO

from attrs import define

from actors.events import Outcome
from actors.intervals import count_in
from actors.runtime import Record
from sims.exports.tables import FORMULA
from sims.history import History, Listener, Run

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


def write_batsim(records: Iterable[Record], file: TextIO) -> int:
    """Write one row per run, in order of their ends; returns how many.

    The first run of a job has its name; run n > 0 is `NAME#n`, its metadata naming the job and the
    run before. Times in the log's unit.
    """
    rows = _Rows(csv.writer(file, lineterminator="\n"))
    rows.writer.writerow(COLUMNS)
    History.of(records, rows)
    return rows.written


@define(eq=False)
class _Rows(Listener):
    writer: Any
    """Of CSV."""
    written: int = 0

    def run_over(self, run: Run, end: float) -> None:
        assert self.history.header is not None
        job, start, allocated = run.job, run.start, run.event.processors
        asked = job.described.estimate if job.described else None
        execution, turnaround = end - start, end - job.submitted
        names = run_id(job.name, run.number), self.history.header.scenario
        name, workload = (re.sub(FORMULA, r"'\1", it) for it in names)
        row = (
            *(name, workload, workload, job.submitted, count_in(allocated)),
            *(UNKNOWN if asked is None else asked, int(run.outcome is Outcome.COMPLETED)),
            *(STATES[run.outcome], start, execution, end, start - job.submitted, turnaround),
            *(turnaround / execution if execution else 1.0, allocated, UNKNOWN, _metadata(run)),
        )
        self.writer.writerow(row)
        self.written += 1


def run_id(job: str, number: int) -> str:
    """`NAME`, or `NAME#n` for a later run."""
    return f"{job}#{number}" if number else job


def _metadata(run: Run) -> str:
    about: dict[str, object] = {"job": run.job.name, "run": run.number}
    if run.number:
        about["after"] = run_id(run.job.name, run.number - 1)
    return json.dumps(about, sort_keys=True)
