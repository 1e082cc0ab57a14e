"""Chrome trace events: a log that opens in Perfetto."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from itertools import count
from typing import BinaryIO

import orjson
from attrs import define, field

from actors.events import ScenarioStarted
from actors.intervals import spans_in
from actors.runtime import Record
from sims.exports.batsim import run_id
from sims.history import History, Job, Key, Listener, Run
from sims.ledger import Slice, Slices
from sims.parts import parts
from sims.plots.boxes import Lanes

Json = dict[str, object]

PROCESSORS, JOBS, EVENTS = 1, 2, 3
"""Process numbers."""


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


def _wholes() -> array[int]:
    return array("q")


@define
class _Arrows:
    """An arrow begins in the slice of the run whose end was the cause, else in a slice of one
    microsecond on the thread of the cause's kind: viewers drop arrows that touch no slice."""

    tails: dict[int, tuple[int, int]] = field(factory=dict)
    """Event that ended runs -> thread and last microsecond of the slice of one of them."""
    _times: array[int] = field(factory=_wholes)
    _kinds: array[int] = field(factory=_wholes)
    """Time and kind of each event, by seq."""
    _threads: dict[str, int] = field(factory=dict)
    _ids: Iterator[int] = field(factory=count)
    _shown: set[tuple[int, int]] = field(factory=set)
    _named: set[int] = field(factory=set)

    def note(self, record: Record) -> None:
        """Remember an event, which may turn out to be a cause."""
        name = type(record.event).__name__
        self._times.append(_micro(record.t))
        self._kinds.append(self._threads.setdefault(name, len(self._threads) + 1))

    def to(self, run: Run, thread: int) -> Iterator[Json]:
        """The arrow to `run`, whose slice lies on `thread`."""
        cause = run.record.cause
        if cause is None:
            return
        process, tail = JOBS, self.tails.get(cause)
        if tail is None:
            process, tail = EVENTS, (self._kinds[cause], self._times[cause])
            yield from self._event(*tail)
        common: Json = {"cat": "cause", "name": "cause", "id": next(self._ids)}
        yield {"ph": "s", **common, "pid": process, "tid": tail[0], "ts": tail[1]}
        head: Json = {"pid": JOBS, "tid": thread, "ts": _micro(run.start), "bp": "e"}
        yield {"ph": "f", **common, **head}

    def _event(self, kind: int, ts: int) -> Iterator[Json]:
        """A slice for all events of a kind at one instant, once."""
        if (kind, ts) in self._shown:
            return
        name = list(self._threads)[kind - 1]
        if not self._named:
            yield _meta("process_name", EVENTS, 0, {"name": "causes"})
        if kind not in self._named:
            yield _meta("thread_name", EVENTS, kind, {"name": name})
        self._named.add(kind)
        self._shown.add((kind, ts))
        where: Json = {"pid": EVENTS, "tid": kind, "ts": ts, "dur": 1}
        yield {"ph": "X", "cat": "event", "name": name, "args": {}, **where}


@define(eq=False)
class _ChromeTrace(Listener):
    arrows: _Arrows = field(factory=_Arrows)
    lanes: Lanes = field(factory=Lanes)
    lane_of: dict[Key, int] = field(factory=dict)
    threads: set[tuple[int, int]] = field(factory=set)
    queue: tuple[int, int] = (0, 0)
    """Jobs waiting and running."""
    ids: Iterator[int] = field(factory=count)
    left: list[Job] = field(factory=list)
    """What this event, or part of one, told of; runs with the lane of each."""
    slices: list[Slice] = field(factory=list)
    ended: list[tuple[Run, int]] = field(factory=list)

    def events(self, records: Iterable[Record]) -> Iterator[Json]:
        """All trace events."""
        history = History()
        history.listen(self)
        Slices(history, self.slices.append)
        for record in records:
            self.arrows.note(record)
            for part in parts(record):
                history.apply(part)
                if isinstance(part.event, ScenarioStarted):
                    yield from _processes(part.event.scenario)
                yield from self._told(record.seq)
        history.close()
        yield from self._told(None)
        for job in history.jobs.values():
            yield from self._job(job)

    def job_ended(self, job: Job, record: Record) -> None:
        self.left.append(job)

    def run_started(self, run: Run, record: Record) -> None:
        self.lane_of[run.key] = self.lanes.take()

    def run_over(self, run: Run, end: float) -> None:
        lane = self.lane_of.pop(run.key)
        self.lanes.give(lane)
        self.ended.append((run, lane))

    def _told(self, seq: int | None) -> Iterator[Json]:
        """What the event `seq` told of; None: the log's end."""
        for job in self.left:
            yield from self._job(job)
        for it in self.slices:
            yield from self._slice(it)
        for run, lane in self.ended:
            yield from self._run(run, lane + 1, seq)
        for told in (self.left, self.slices, self.ended):
            told.clear()
        queue = self.history.waiting, self.history.running
        if queue != self.queue:
            self.queue = queue
            levels = dict(zip(("waiting", "running"), queue, strict=True))
            where: Json = {"pid": JOBS, "tid": 0, "ts": _micro(self.history.now)}
            yield {"ph": "C", **where, "name": "jobs", "args": levels}

    def _slice(self, it: Slice) -> Iterator[Json]:
        about: Json = {"job": it.job, "run": it.run, "seq": it.seq, "processors": it.processors}
        assert self.history.header is not None
        names = self.history.header.workers
        use, span = it.use.value, (it.start, it.end)
        for first, _ in spans_in(it.processors):
            if it.share < 1:
                title = f"{use} {it.job}, {float(it.share):.3g} of processor {first}"
                yield from _pair(PROCESSORS, use, title, str(next(self.ids)), span, about)
            else:
                name = names[first] if names else f"processor {first}"
                yield from self._thread(PROCESSORS, first, name)
                yield _whole(PROCESSORS, first, use, f"{use} {it.note}".strip(), span, about)

    def _run(self, run: Run, lane: int, ended: int | None) -> Iterator[Json]:
        end = self.history.now if run.end is None else run.end
        outcome = None if run.outcome is None else run.outcome.value
        about = {"processors": run.event.processors, "seq": run.record.seq, "outcome": outcome}
        yield from self._thread(JOBS, lane, f"runs {lane}")
        name = run_id(run.job.name, run.number)
        yield _whole(JOBS, lane, "run", name, (run.start, end), about)
        if _micro(end) > _micro(run.start):
            yield from self.arrows.to(run, lane)
            if ended is not None:
                self.arrows.tails[ended] = lane, _micro(end) - 1

    def _job(self, job: Job) -> Iterator[Json]:
        span = job.submitted, self.history.now
        # One name for all: viewers pack what has the same name into few tracks.
        yield from _pair(JOBS, "job", "in the system", job.name, span, {"job": job.name})

    def _thread(self, process: int, number: int, name: str) -> Iterator[Json]:
        if (process, number) not in self.threads:
            self.threads.add((process, number))
            yield _meta("thread_name", process, number, {"name": name})
            yield _meta("thread_sort_index", process, number, {"sort_index": number})


def _processes(scenario: str) -> Iterator[Json]:
    for process, name in ((PROCESSORS, "processors"), (JOBS, "jobs")):
        yield _meta("process_name", process, 0, {"name": f"{scenario}: {name}"})


def _micro(t: float) -> int:
    """Virtual time in whole microseconds, in which the format counts; a unit is a second.

    Whole ones: of a start and a duration in fractions, viewers would make slices that overlap.
    """
    return round(t * 1_000_000)


def _meta(what: str, process: int, thread: int, about: Json) -> Json:
    """`M`: the name (or the place in the order) of a process or thread."""
    return {"ph": "M", "pid": process, "tid": thread, "ts": 0, "name": what, "args": about}


def _whole(
    process: int, thread: int, category: str, name: str, span: tuple[float, float], about: Json
) -> Json:
    """`X`: a complete slice."""
    start, end = map(_micro, span)
    what: Json = {"pid": process, "tid": thread, "cat": category, "name": name}
    return {"ph": "X", **what, "ts": start, "dur": end - start, "args": about}


def _pair(
    process: int, category: str, name: str, identity: str, span: tuple[float, float], about: Json
) -> Iterator[Json]:
    """`b` and `e`: a slice that may overlap others."""
    common: Json = {"pid": process, "tid": 0, "cat": category, "name": name, "id": identity}
    for phase, t, args in (("b", span[0], about), ("e", span[1], {})):
        yield {"ph": phase, "ts": _micro(t), "args": args, **common}
