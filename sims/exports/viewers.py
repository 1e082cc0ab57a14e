"""Write logs in formats that other tools draw: Batsim's jobs for evalys, Chrome trace events for
Perfetto.

Batsim's CSV file of jobs (v5) has a row for each run.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator
from itertools import count
from typing import BinaryIO, TextIO

import orjson
from attrs import define, field

from actors.events import Outcome
from actors.intervals import count_in, spans_in
from actors.runtime import Record
from sims.errors import visible
from sims.exports.tables import FORMULA, streamed
from sims.history.reader import History
from sims.history.rows import JobRow, QueueRow, RunRow, SpanRow
from sims.plots.boxes import Lanes

# --- Batsim's jobs -------------------------------------------------------------------------------

# The header that Batsim 5 writes; evalys reads columns by these names.
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
"""Maps each outcome of a run to the final state that Batsim writes; a run that the log does not end
counts as killed."""

UNKNOWN = -1
"""Number that Batsim writes for an unknown requested time or energy."""


def write_batsim(records: Iterable[Record], file: TextIO) -> int:
    """Write a log as Batsim's CSV file of jobs, with one row per run in order of their ends, and
    return the number of rows.

    The first run of a job has its name; run n > 0 is `NAME#n`, and its metadata name the job and
    the run before. Times are in the log's unit.
    """
    writer, written, history = csv.writer(file, lineterminator="\n"), 0, History()
    file.write(COLUMNS.lstrip())
    rows: list[RunRow] = []
    history.take(RunRow, rows.append)
    for row in streamed(records, history, rows):
        writer.writerow(_cells(row, history))
        written += 1
    return written


def _cells(run: RunRow, history: History) -> tuple[object, ...]:
    """Return the cells of a run in Batsim's file."""
    assert history.header is not None
    end = history.now if run.end is None else run.end
    execution, turnaround = end - run.start, end - run.submitted
    names = run_id(run.job, run.run), history.header.scenario
    name, workload = (re.sub(FORMULA, r"'\1", visible(text)) for text in names)
    return (
        *(name, workload, workload, run.submitted, count_in(run.processors)),
        *(
            UNKNOWN if run.estimate is None else run.estimate,
            int(run.outcome is Outcome.COMPLETED),
        ),
        *(STATES[run.outcome], run.start, execution, end, run.start - run.submitted, turnaround),
        *(turnaround / execution if execution else 1.0, run.processors, UNKNOWN, _metadata(run)),
    )


def run_id(job: str, number: int) -> str:
    """Return the name of run `number` of a job in Batsim's file: `NAME` for its first run, 0, and
    else `NAME#n`."""
    return f"{job}#{number}" if number else job


def _metadata(run: RunRow) -> str:
    """Return the metadata of a run as JSON: its job, its number and, unless it is the first, the
    name of the run before."""
    fields: dict[str, object] = {"job": run.job, "run": run.run}
    if run.run:
        fields["after"] = run_id(run.job, run.run - 1)
    return json.dumps(fields, sort_keys=True)


# --- Chrome trace events -------------------------------------------------------------------------

Json = dict[str, object]

PROCESSORS, JOBS = 1, 2
"""Numbers of the two processes of the trace, one with processors and one with jobs."""


def write_chrome(records: Iterable[Record], file: BinaryIO) -> int:
    """Write the log as Chrome's trace events, `{"traceEvents": [...]}`, streaming, and return their
    number.

    Times are whole microseconds, where a unit of virtual time is a second. Process 1 has threads
    for processors: a use is a complete event in the thread of the first one of each of its
    intervals of processors; uses that share a processor are asynchronous. Process 2 has runs, in as
    few threads as possible without overlaps, jobs as asynchronous events and the queue as a
    counter. The arguments of a run name its event and the event that caused it.
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
class _ChromeTrace:
    """Makes the events of Chrome's trace format from a history's rows."""

    history: History = field(init=False, factory=History)
    waiting: list[Json] = field(factory=list)
    """Trace events that are not written yet."""
    lanes: Lanes = field(factory=Lanes)
    """Assigns runs to threads."""
    threads: set[tuple[int, int]] = field(factory=set)
    """Threads that have a name already, as (process, thread)."""
    ids: Iterator[int] = field(factory=count)
    """Identities for pairs of asynchronous events."""

    def events(self, records: Iterable[Record]) -> Iterator[Json]:
        """Apply the records, and yield all trace events that they give, in the order in which they
        are known."""
        history = self.history
        history.take(RunRow, self._run, lambda row: self.lanes.take(row.key))
        history.take(JobRow, self._job)
        history.take(QueueRow, self._queue)
        history.take(SpanRow, self._span)
        return streamed(self._named(records), history, self.waiting)

    def _named(self, records: Iterable[Record]) -> Iterator[Record]:
        """Yield the records, and name the two processes once the first one is applied."""
        for place, record in enumerate(records):
            yield record
            if not place:
                self._name()

    def _name(self) -> None:
        assert self.history.header is not None
        scenario = self.history.header.scenario
        for process, name in ((PROCESSORS, "processors"), (JOBS, "jobs")):
            named = {"name": f"{scenario}: {name}"}
            self._append("M", process, 0, 0, name="process_name", args=named)

    def _job(self, row: JobRow) -> None:
        span = row.submitted, self.history.now if row.ended is None else row.ended
        # All have one name, because viewers pack what has the same name into few tracks.
        self._pair(JOBS, "job", "in the system", row.name, span, {"job": row.name})

    def _queue(self, row: QueueRow) -> None:
        levels = {"waiting": row.waiting, "running": row.running}
        self._append("C", JOBS, 0, row.t, name="jobs", args=levels)

    def _run(self, row: RunRow) -> None:
        lane, outcome = self.lanes.give(row.key), row.outcome and row.outcome.value
        arguments: Json = {"processors": row.processors, "outcome": outcome}
        arguments |= {"seq": row.seq, "cause": row.cause}
        end = self.history.now if row.end is None else row.end
        self._thread(JOBS, lane + 1, f"runs {lane + 1}")
        name = run_id(row.job, row.run)
        self._whole(JOBS, lane + 1, "run", name, (row.start, end), arguments)

    def _span(self, used: SpanRow) -> None:
        """Add the trace events of a use of processors by a job: one for each interval of its
        processors."""
        arguments: Json = {
            "job": used.job,
            "run": used.run,
            "seq": used.seq,
            "processors": used.processors,
        }
        assert self.history.header is not None
        names = self.history.header.workers
        use, span = used.use.value, (used.start, used.end)
        for first, _ in spans_in(used.processors):
            if used.share < 1:
                title = f"{use} {used.job}, {float(used.share):.3g} of processor {first}"
                self._pair(PROCESSORS, use, title, str(next(self.ids)), span, arguments)
            else:
                name = names[first] if names else f"processor {first}"
                self._thread(PROCESSORS, first, name)
                self._whole(PROCESSORS, first, use, f"{use} {used.note}".strip(), span, arguments)

    # --- written ----------------------------------------------------------------------------------

    def _append(self, phase: str, process: int, thread: int, t: float, **rest: object) -> None:
        """Append a trace event of a phase (a letter of Chrome's format, such as X) at virtual time
        `t`, with `rest` as further entries."""
        # In whole microseconds: from fractions viewers would make slices that overlap.
        self.waiting.append({"ph": phase, "pid": process, "tid": thread, "ts": _micro(t), **rest})

    def _thread(self, process: int, number: int, name: str) -> None:
        """Give a thread its name and its place in the order, unless that was done before."""
        if (process, number) not in self.threads:
            self.threads.add((process, number))
            self._append("M", process, number, 0, name="thread_name", args={"name": name})
            order = {"sort_index": number}
            self._append("M", process, number, 0, name="thread_sort_index", args=order)

    def _whole(
        self,
        process: int,
        thread: int,
        cat: str,
        name: str,
        span: tuple[float, float],
        arguments: Json,
    ) -> None:
        """Append a complete event (phase X) over the time `span`: a slice that overlaps no other of
        its thread. `cat` is its category."""
        lasted = _micro(span[1]) - _micro(span[0])
        self._append("X", process, thread, span[0], cat=cat, name=name, dur=lasted, args=arguments)

    def _pair(
        self,
        process: int,
        cat: str,
        name: str,
        identity: str,
        span: tuple[float, float],
        arguments: Json,
    ) -> None:
        """Append an asynchronous event over the time `span`, which may overlap others, as its begin
        and its end. `cat` is its category; `identity` is the same in both, and in no other event of
        the category."""
        for phase, t, args in (("b", span[0], arguments), ("e", span[1], {})):
            self._append(phase, process, 0, t, cat=cat, name=name, id=identity, args=args)


def _micro(t: float) -> int:
    """Return a virtual time in whole microseconds."""
    return round(t * 1_000_000)
