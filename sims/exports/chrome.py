"""Chrome trace events: a log that opens in Perfetto."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count
from typing import BinaryIO

import orjson
from attrs import define, field

from actors.events import ScenarioStarted
from actors.intervals import spans_in
from actors.runtime import Record
from sims.exports.batsim import run_id
from sims.exports.tables import streamed
from sims.history import History, Job, Listener, Run
from sims.ledger import Slice, Slices
from sims.plots.boxes import Lanes

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

    # --- trace events -----------------------------------------------------------------------------

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
