"""Chrome trace events: a log that opens in Perfetto."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO

import orjson
from attrs import define, field

from actors.events import JobCompleted, JobSubmitted, ScenarioStarted
from actors.runtime import Record
from sims.exports.batsim import run_id
from sims.uses.families import accountant
from sims.uses.runs import Run, Runs
from sims.uses.slices import Accountant, Slice, ranges

Json = dict[str, object]

PROCESSORS, JOBS = 1, 2
"""Process numbers: one track per first processor of an interval, one per job."""

MICRO = 1_000_000
"""Microseconds, in which the format counts, per unit of virtual time."""


def write_chrome(records: Iterable[Record], file: BinaryIO) -> int:
    """Write the log as `{"traceEvents": [...]}`, streaming; returns how many trace events.

    Processors are threads of one process with a slice for each use (complete events, which never
    overlap on one processor; async ones where servers multitask). Jobs are async slices with their
    runs within; flow arrows lead from a cause to the run that it started.
    """
    written = 0
    file.write(b'{"displayTimeUnit": "ms", "traceEvents": [')
    for event in _Trace().events(records):
        file.write(b",\n" if written else b"\n")
        file.write(orjson.dumps(event))
        written += 1
    file.write(b"\n]}\n")
    return written


@define
class _Trace:
    runs: Runs = field(factory=Runs)
    slices: Accountant | None = None
    submitted: dict[str, float] = field(factory=dict)
    times: list[float] = field(factory=list)
    """Time of each event by seq, for the tails of arrows."""
    causes: dict[int, int] = field(factory=dict)
    """RunStarted -> its cause."""
    threads: set[int] = field(factory=set)
    names: tuple[str, ...] = ()

    def events(self, records: Iterable[Record]) -> Iterator[Json]:
        now = 0.0
        for record in records:
            now = record.t
            self.times.append(now)
            yield from self._event(record)
        assert self.slices is not None
        for it in self.slices.close(now):
            yield from self._slice(it)
        for run in self.runs.close(now):
            yield from self._run(run)
        for job, start in self.submitted.items():
            yield from _async("job", job, job, start, now, {})

    def _event(self, record: Record) -> Iterator[Json]:
        match record.event:
            case ScenarioStarted(workers=names, scenario=scenario, kind=kind):
                self.names, self.slices = names, accountant(kind)
                yield from _processes(scenario)
            case JobSubmitted(job=job):
                self.submitted[job] = record.t
            case JobCompleted(job=job):
                start = self.submitted.pop(job)
                yield from _async("job", job, job, start, record.t, {"seq": record.seq})
        if record.cause is not None:
            self.causes[record.seq] = record.cause
        assert self.slices is not None
        for it in self.slices(record):
            yield from self._slice(it)
        for run in self.runs(record):
            yield from self._run(run)

    def _slice(self, it: Slice) -> Iterator[Json]:
        about: Json = {"job": it.job, "run": it.run, "seq": it.seq, "processors": it.processors}
        title = f"{it.use.value} {it.note}".strip()
        for first, _ in ranges(it.processors):
            yield from self._thread(first)
            if it.share < 1:
                yield from _async(
                    it.use.value, f"{title} {it.job}", f"{it.seq}/{first}", it.start, it.end, about
                )
                continue
            yield {
                **{"ph": "X", "pid": PROCESSORS, "tid": first, "ts": it.start * MICRO},
                **{"dur": (it.end - it.start) * MICRO, "name": title, "cat": it.use.value},
                "args": about,
            }

    def _run(self, run: Run) -> Iterator[Json]:
        about: Json = {"processors": run.processors, "seq": run.seq}
        if run.outcome is not None:
            about["outcome"] = run.outcome.value
        name = run_id(run.job, run.number)
        yield from _async("run", name, run.job, run.start, run.end, about)
        cause = self.causes.get(run.seq)
        if cause is not None:
            yield from _arrow(run, self.times[cause])

    def _thread(self, number: int) -> Iterator[Json]:
        if number not in self.threads:
            self.threads.add(number)
            name = self.names[number] if self.names else f"processor {number}"
            yield _meta("thread_name", PROCESSORS, number, name)


def _processes(scenario: str) -> Iterator[Json]:
    yield _meta("process_name", PROCESSORS, 0, f"{scenario}: processors")
    yield _meta("process_name", JOBS, 0, f"{scenario}: jobs")


def _meta(what: str, pid: int, tid: int, name: str) -> Json:
    return {"ph": "M", "pid": pid, "tid": tid, "ts": 0, "name": what, "args": {"name": name}}


def _async(
    category: str, name: str, identity: str, start: float, end: float, about: Json
) -> Iterator[Json]:
    common: Json = {"pid": JOBS, "tid": 0, "cat": category, "name": name, "id": identity}
    yield {"ph": "b", "ts": start * MICRO, "args": about, **common}
    yield {"ph": "e", "ts": end * MICRO, "args": {}, **common}


def _arrow(run: Run, tail: float) -> Iterator[Json]:
    first, _ = next(ranges(run.processors))
    common: Json = {"cat": "cause", "name": "cause", "id": run.seq, "pid": PROCESSORS}
    yield {"ph": "s", "ts": tail * MICRO, "tid": first, **common}
    yield {"ph": "f", "bp": "e", "ts": run.start * MICRO, "tid": first, **common}
