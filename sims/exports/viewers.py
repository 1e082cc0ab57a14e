"""Logs in formats that other tools draw: Batsim's jobs CSV (v5) with a row per run, for evalys;
Chrome trace events, for Perfetto."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any, BinaryIO, TextIO

import orjson
from attrs import define, field

from actors.events import Outcome, ScenarioStarted
from actors.intervals import count_in, spans_in
from actors.runtime import Record
from sims.exports.tables import FORMULA, streamed
from sims.history import History, Job, Listener, Run
from sims.ledger import Slice
from sims.ledger.accountant import Slices
from sims.plots.boxes import Lanes

# --- Batsim's jobs -------------------------------------------------------------------------------

COLUMNS = """
job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,\
final_state,starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,\
allocated_resources,consumed_energy,metadata
"""

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
    file.write(COLUMNS.lstrip())
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
        execution, turnaround = end - start, end - job.submitted
        names = run_id(job.name, run.number), self.history.header.scenario
        name, workload = (re.sub(FORMULA, r"'\1", it) for it in names)
        row = (
            *(name, workload, workload, job.submitted, count_in(allocated)),
            *(
                UNKNOWN if job.estimate is None else job.estimate,
                int(run.outcome is Outcome.COMPLETED),
            ),
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


# --- Chrome trace events -------------------------------------------------------------------------

Json = dict[str, object]

PROCESSORS, JOBS = 1, 2
"""Process numbers."""


def write_chrome(records: Iterable[Record], file: BinaryIO) -> int:
    """Write the log as `{"traceEvents": [...]}`, streaming; returns how many trace events.

    Times are whole microseconds, a unit of virtual time being a second. Process 1 has a thread per
    processor (the first of each interval) with a complete event for each use; what shares a
    processor is asynchronous. Process 2 has runs, in as few threads as are needed so that none
    overlap, jobs as asynchronous events and the queue as a counter. A run's arguments name its
    event and that which caused it.
    """
    written = 0
    file.write(b'{"displayTimeUnit": "ms", "traceEvents": [')
    for event in _ChromeTrace().events(records):
        file.write(b",\n" if written else b"\n")
        file.write(orjson.dumps(event))
        written += 1
    file.write(b"\n]}\n")
    return written


@define(eq=False)
class _ChromeTrace(Listener):
    told: list[Json] = field(factory=list)
    """Not written yet."""
    lanes: Lanes = field(factory=Lanes)
    threads: set[tuple[int, int]] = field(factory=set)
    """Those that have a name."""
    ids: Iterator[int] = field(factory=count)

    def events(self, records: Iterable[Record]) -> Iterator[Json]:
        """All trace events."""
        history = History()
        history.listen(self)
        history.on(ScenarioStarted, self._begin)
        Slices(history, self._slice)
        return streamed(records, history, self.told)

    def _begin(self, record: Record, event: ScenarioStarted) -> None:
        for process, name in ((PROCESSORS, "processors"), (JOBS, "jobs")):
            named = {"name": f"{event.scenario}: {name}"}
            self._tell("M", process, 0, 0, name="process_name", args=named)

    def job_over(self, job: Job, end: float) -> None:
        # One name for all: viewers pack what has the same name into few tracks.
        self._pair(JOBS, "job", "in the system", job.name, (job.submitted, end), {"job": job.name})

    def queue_changed(self, now: float) -> None:
        levels = {"waiting": self.history.waiting, "running": self.history.running}
        self._tell("C", JOBS, 0, now, name="jobs", args=levels)

    def run_started(self, run: Run, record: Record) -> None:
        self.lanes.take(run.key)

    def run_over(self, run: Run, end: float) -> None:
        lane = self.lanes.give(run.key)
        it, outcome = run.record, run.outcome and run.outcome.value
        about: Json = {"processors": run.event.processors, "outcome": outcome}
        about |= {"seq": it.seq, "cause": it.cause}
        name = run_id(run.job.name, run.number)
        self._thread(JOBS, lane + 1, f"runs {lane + 1}")
        self._whole(JOBS, lane + 1, "run", name, (run.start, end), about)

    def _slice(self, it: Slice) -> None:
        about: Json = {"job": it.job, "run": it.run, "seq": it.seq, "processors": it.processors}
        assert self.history.header is not None
        names = self.history.header.workers
        use, span = it.use.value, (it.start, it.end)
        for first, _ in spans_in(it.processors):
            if it.share < 1:
                title = f"{use} {it.job}, {float(it.share):.3g} of processor {first}"
                self._pair(PROCESSORS, use, title, str(next(self.ids)), span, about)
            else:
                name = names[first] if names else f"processor {first}"
                self._thread(PROCESSORS, first, name)
                self._whole(PROCESSORS, first, use, f"{use} {it.note}".strip(), span, about)

    # --- written ----------------------------------------------------------------------------------

    def _tell(self, phase: str, process: int, thread: int, t: float, **rest: object) -> None:
        # Whole microseconds: of a start and a duration in fractions, viewers would make slices that
        # overlap.
        self.told.append({"ph": phase, "pid": process, "tid": thread, "ts": _micro(t), **rest})

    def _thread(self, process: int, number: int, name: str) -> None:
        """Name a thread and its place in the order, once."""
        if (process, number) not in self.threads:
            self.threads.add((process, number))
            self._tell("M", process, number, 0, name="thread_name", args={"name": name})
            order = {"sort_index": number}
            self._tell("M", process, number, 0, name="thread_sort_index", args=order)

    def _whole(
        self, process: int, thread: int, cat: str, name: str, span: tuple[float, float], about: Json
    ) -> None:
        """A complete slice."""
        lasted = _micro(span[1]) - _micro(span[0])
        self._tell("X", process, thread, span[0], cat=cat, name=name, dur=lasted, args=about)

    def _pair(
        self, process: int, cat: str, name: str, identity: str, span: tuple[float, float], it: Json
    ) -> None:
        """A slice that may overlap others: where it begins, and where it ends."""
        for phase, t, args in (("b", span[0], it), ("e", span[1], {})):
            self._tell(phase, process, 0, t, cat=cat, name=name, id=identity, args=args)


def _micro(t: float) -> int:
    return round(t * 1_000_000)
