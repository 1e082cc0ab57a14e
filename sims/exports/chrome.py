"""Chrome trace events: a log that opens in Perfetto."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count
from typing import BinaryIO

import orjson
from attrs import define, field

from actors.events import (
    JobCompleted,
    JobKilled,
    JobSubmitted,
    RunEnded,
    RunStarted,
    ScenarioStarted,
)
from actors.runtime import Record
from sims.exports.arrows import Arrows, Tail
from sims.exports.batsim import run_id
from sims.exports.trace_event import JOBS, PROCESSORS, Json, counter, meta, micro, pair, whole
from sims.ledger import Accountant, Slice
from sims.ledger.runs import EndedRun, RunFold
from sims.ledger.slices import ranges
from sims.parts import parts
from sims.plots.lanes import Lanes
from sims.plots.levels import Levels

ALL = 0
"""The one row that all runs' lanes lie in."""


def write_chrome(records: Iterable[Record], file: BinaryIO) -> int:
    """Write the log as `{"traceEvents": [...]}`, streaming; returns how many trace events.

    Times are whole microseconds, a unit of virtual time being a second. Process 1 has a thread per
    processor (the first of each interval) with a complete event for each use; what shares a
    processor is asynchronous. Process 2 has runs, in as few threads as are needed so that none
    overlap, jobs as asynchronous events and the queue as a counter. Flow arrows lead to each run
    from what caused it: the run that ended, or an event of process 3.
    """
    written = 0
    file.write(b'{"displayTimeUnit": "ms", "traceEvents": [')
    for event in _ChromeTrace().events(records):
        file.write(b",\n" if written else b"\n")
        file.write(orjson.dumps(event))
        written += 1
    file.write(b"\n]}\n")
    return written


@define
class _ChromeTrace:
    runs: RunFold = field(factory=RunFold)
    lanes: Lanes = field(factory=Lanes)
    levels: Levels = field(factory=Levels)
    arrows: Arrows = field(factory=Arrows)
    slices: Accountant | None = None
    submitted: dict[str, float] = field(factory=dict)
    threads: set[tuple[int, int]] = field(factory=set)
    names: tuple[str, ...] = ()
    queue: tuple[int, int] = (0, 0)
    """Jobs waiting and running."""
    ids: Iterator[int] = field(factory=count)

    def events(self, records: Iterable[Record]) -> Iterator[Json]:
        """All trace events."""
        now = 0.0
        for record in records:
            now = record.t
            self.arrows.note(record)
            for part in parts(record):
                yield from self._event(part)
        if self.slices is None:
            return
        for it in self.slices.close(now):
            yield from self._slice(it)
        for run in self.runs.close(now):
            yield from self._run(run, None)
        for job in list(self.submitted):
            yield from self._job(job, now)

    def _event(self, record: Record) -> Iterator[Json]:
        match record.event:
            case ScenarioStarted(workers=names, scenario=scenario, processors=size):
                self.names, self.slices = names, Accountant(size)
                yield from _processes(scenario)
            case JobSubmitted(job=job):
                self.submitted[job] = record.t
            case JobCompleted(job=job) | JobKilled(job=job):
                yield from self._job(job, record.t)
            case RunStarted(job=job, run=run):
                self.lanes.start(ALL, (job, run))
            case RunEnded(job=job, run=run):
                self.lanes.end(ALL, (job, run))
        yield from self._told(record)

    def _told(self, record: Record) -> Iterator[Json]:
        assert self.slices is not None
        for it in self.slices(record):
            yield from self._slice(it)
        for run in self.runs(record):
            yield from self._run(run, record.seq)
        yield from self._count(record)

    def _slice(self, it: Slice) -> Iterator[Json]:
        about: Json = {"job": it.job, "run": it.run, "seq": it.seq, "processors": it.processors}
        title = f"{it.use.value} {it.note}".strip()
        for first, _ in ranges(it.processors):
            if it.share < 1:
                title = f"{it.use.value} {it.job}, {float(it.share):.3g} of processor {first}"
                span = (it.start, it.end)
                yield from pair(PROCESSORS, it.use.value, title, str(next(self.ids)), span, about)
            else:
                name = self.names[first] if self.names else f"processor {first}"
                yield from self._thread(PROCESSORS, first, name)
                yield whole(PROCESSORS, first, it.use.value, title, (it.start, it.end), about)

    def _run(self, run: EndedRun, ended: int | None) -> Iterator[Json]:
        outcome = None if run.outcome is None else run.outcome.value
        about: Json = {"processors": run.processors, "seq": run.seq, "outcome": outcome}
        lane = self.lanes.lane_of(ALL, (run.job, run.number)) + 1
        yield from self._thread(JOBS, lane, f"runs {lane}")
        name = run_id(run.job, run.number)
        yield whole(JOBS, lane, "run", name, (run.start, run.end), about)
        if micro(run.end) > micro(run.start):
            yield from self.arrows.to(run, lane)
            if ended is not None:
                self.arrows.tails[ended] = Tail(lane, micro(run.end) - 1)

    def _job(self, job: str, now: float) -> Iterator[Json]:
        span = (self.submitted.pop(job), now)
        # One name for all: viewers pack what has the same name into few tracks.
        yield from pair(JOBS, "job", "in the system", job, span, {"job": job})

    def _count(self, record: Record) -> Iterator[Json]:
        self.levels(record)
        now = (self.levels.waiting.level, self.levels.running.level)
        if now != self.queue:
            self.queue = now
            yield counter("jobs", record.t, {"waiting": now[0], "running": now[1]})

    def _thread(self, process: int, number: int, name: str) -> Iterator[Json]:
        if (process, number) not in self.threads:
            self.threads.add((process, number))
            yield meta("thread_name", process, number, {"name": name})
            yield meta("thread_sort_index", process, number, {"sort_index": number})


def _processes(scenario: str) -> Iterator[Json]:
    for process, name in ((PROCESSORS, "processors"), (JOBS, "jobs")):
        yield meta("process_name", process, 0, {"name": f"{scenario}: {name}"})
