"""Reads a log into the columns of boxes, marks and levels from which all pictures are drawn."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property, partial
from math import inf
from sys import intern

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from actors.events import (
    FaultIgnored,
    Outcome,
    ScenarioStarted,
    TransferKind,
)
from actors.intervals import numbers_in, spans_in
from actors.intervals import within as held_in
from actors.runtime import Record
from policies.availability import WorkerState
from policies.maths.tolerance import ROUNDING
from sims.errors import visible
from sims.history.reader import History, Key
from sims.history.rows import JobRow, QueueRow, RunRow, SpanRow, StateRow, Use
from sims.history.saving import CheckpointRow, CheckpointStep
from sims.history.storage import StorageRow
from sims.history.transfers import TransferRow
from sims.plots import (
    CLASSES,
    GREY,
    KIND,
    NOTES,
    RUN_KIND,
    RUN_PAINTS,
    USE_PAINTS,
    USES,
    WAITS,
    Paint,
    Sign,
)
from sims.plots.boxes import BOX, NUMBERS, Columns, Lanes, Look, Table, areas_of, side_by_side
from sims.plots.fleet import Fleet
from sims.telling import SECOND, counted

INSET = 0.15
"""Part of a row that a use leaves free above and below, so that the worker's state shows."""
MARGIN = 0.1
"""Part of a job's row left free above and below."""
MANY = 64
"""Number of jobs beyond which colours show waits, if jobs have no users or queues."""

MARK = {"t": float, "row": float, **NUMBERS}
"""Columns of a table of marks: a sign at time `t` on the middle of the processor in `row`. The sign
of a whole run lies on the middle of its largest interval of processors. `kind`: a Sign; other
columns as in BOX."""
SOURCE = {"job": np.int32, "run": np.int32}
"""Columns of a table of runs from whose saved work another run began; `job`: row of the job."""
SHARES = {"t": float, "saving": float, "loading": float}
"""Columns of a table of the storage's bandwidth that runs save with and load with from time `t`
on."""
MESSAGE = {"start": float, "end": float, "kind": np.int32}
"""Columns of a table of messages on the master's channels; `kind`: an index of TransferKind."""
SENT = {kind: place for place, kind in enumerate(TransferKind)}
"""Maps each kind of message to its index."""
LEVEL = {"t": float, "waiting": np.int32, "running": np.int32}
"""Columns of a table of the numbers of waiting and of running jobs from time `t` on."""


@define(eq=False)
class Scene:
    """Boxes for uses and runs, marks for events, and levels over time: all that the pictures of a
    run show, collected while its log is read.

    A box covers rows of a chart over some time. Processors are the rows of `uses` and `marks`, and
    jobs, in order of submission, those of `runs`. Levels are the numbers of waiting and running
    jobs, the storage's bandwidth in use, and the workers that wait for repair, are in repair or
    have retired.
    """

    levels: bool = True
    """Whether levels over time are collected; a log of copies has more of them than events."""
    history: History = field(init=False, factory=History)
    """History that reads the log."""
    storage: float | None = None
    """Bandwidth of the shared storage, bytes per time unit; None: no run uses one."""
    owners: dict[str, list[str]] = field(factory=lambda: {"user": [], "queue": []})
    """Users and queues of the jobs, in order of submission."""
    waits: array[float] = field(factory=lambda: array("d"))
    """Wait of each job for its first run; infinite without a run."""
    rows: dict[str, int] = field(factory=dict)
    """Maps each job's name to its place in the order of submission, which is its row."""
    _uses: Table = field(factory=partial(Table, BOX))
    _runs: Table = field(factory=partial(Table, BOX))
    """Boxes of runs, whose `low` is their lane until `runs` places them in their rows."""
    _marks: Table = field(factory=partial(Table, MARK))
    _queue: Table = field(factory=partial(Table, LEVEL))
    _shares: Table = field(factory=partial(Table, SHARES))
    _messages: Table = field(factory=partial(Table, MESSAGE))
    fleet: Fleet = field(factory=Fleet)
    """Workers that wait for repair, are in repair, or have retired."""
    _lanes: defaultdict[int, Lanes] = field(factory=partial(defaultdict, Lanes))
    """Maps the row of each job with a run under way to its lanes."""
    _depths: array[int] = field(factory=lambda: array("q"))
    """Largest number of lanes that each row has needed."""
    _sources: Table = field(factory=partial(Table, SOURCE))
    _downs: list[StateRow] = field(factory=list)
    """Workers that went DOWN at this instant. A run that is lost at the same instant was lost to
    one of them."""

    @classmethod
    def of(cls, records: Iterable[Record]) -> Scene:
        """Return the scene of one run from all of its records."""
        scene = cls()
        scene.read(records)
        return scene

    def read(self, records: Iterable[Record]) -> None:
        """Read all records of one run and collect what is to be drawn."""
        history = self.history
        history.take(SpanRow, self._use)
        history.take(JobRow, self._over, self._submitted)
        history.take(RunRow, self._ended, self._started)
        history.take(TransferRow, self._sent)
        history.take(StateRow, lambda _: None, self._down)
        if self.levels:
            history.take(QueueRow, lambda row: self._queue.add(row.t, row.waiting, row.running))
            history.take(StorageRow, self._share)
            self.fleet.listen(history)
        history.take(CheckpointRow, self._checkpoint)
        history.on(FaultIgnored, self._ignored)
        for record in records:
            if self._downs and record.t > history.now:
                self._mark_downs()
            history.apply(record)
        self._mark_downs()
        history.close()

    # --- what is drawn ------------------------------------------------------------------------

    @property
    def header(self) -> ScenarioStarted:
        """First event of the log, which names scenario, seed, policy, unit and processors."""
        header = self.history.header
        assert header is not None
        return header

    @property
    def channels(self) -> int | None:
        """Number of the master's channels, n_com; None: the log has no link."""
        link = self.history.head.link
        return None if link is None else link.channels

    @property
    def begins(self) -> float | None:
        """Date of time 0, in seconds since 1970; None: the log does not state it."""
        return self.history.begins

    @property
    def end(self) -> float:
        """Virtual time of the last record."""
        return float(self.history.now)

    @property
    def workers(self) -> tuple[str, ...]:
        """Names of the workers by number or, where the log has none, the numbers of the processors
        as text."""
        return self.header.workers or tuple(map(str, range(self.header.processors)))

    @cached_property
    def jobs(self) -> tuple[str, ...]:
        """Printable names of the jobs, in order of submission."""
        return tuple(map(visible, self.rows))

    @cached_property
    def uses(self) -> Columns:
        """Uses of the processors over time, as a table of BOX; the rows of the chart are
        processors."""
        return self._uses.columns()

    @cached_property
    def marks(self) -> Columns:
        """Signs on the processors, as a table of MARK."""
        return self._marks.columns()

    @cached_property
    def queue(self) -> Columns:
        """Numbers of waiting and of running jobs over time, as a table of LEVEL."""
        return self._queue.columns()

    @cached_property
    def bandwidths(self) -> Columns:
        """Bandwidth of the storage in use over time, as a table of SHARES."""
        return self._shares.columns()

    @cached_property
    def messages(self) -> Columns:
        """Messages on the master's channels, also those beside which a run computes, as a table of
        MESSAGE."""
        return self._messages.columns()

    @cached_property
    def runs(self) -> Columns:
        """Runs as a table of BOX whose rows are jobs: copies of a job that overlap lie side by side
        in the job's row.

        Behind them lies each job's time in the system, a box whose `run` is -1.
        """
        boxes = self._runs.columns()
        # A cancelled run from which another began was resized or cloned: its work was not wasted.
        cancelled = boxes.kind == RUN_KIND[Outcome.CANCELLED.value]
        cancelled[cancelled] = _among(_keys(self._sources.columns()), _keys(boxes)[cancelled])
        boxes.kind[cancelled] = RUN_KIND["went_on"]
        behind = boxes.run < 0
        depth = np.maximum(np.array(self._depths), 1)
        margin = np.where(behind, MARGIN, 2 * MARGIN)
        height = (1 - 2 * margin) / np.where(behind, 1, depth[boxes.job])
        boxes.low = boxes.job + margin + height * boxes.low
        boxes.high = boxes.low + height
        return boxes

    def shares(self) -> dict[str, float]:
        """Map each use that occurs to its share, in % of processors x makespan.

        Sums are of floating-point numbers: the exact ones of `sims.ledger` would take as long as
        reading the log.
        """
        spent, capacity = dict.fromkeys(USES, 0.0), self.header.processors * self.end
        areas = np.bincount(self.uses.kind, areas_of(self.uses), len(KIND)).tolist()
        for name, area in zip(KIND, areas, strict=True):
            spent[name if name in USES else NOTES[name].of] += area
        # Boxes of idle time are those of workers that jobs hold as the rest of whole nodes.
        spent[Use.IDLE.value] += capacity - sum(spent.values())
        return {use: 100 * it / capacity for use, it in spent.items() if it > ROUNDING * capacity}

    def rows_of_processors(self) -> Columns:
        """Return `uses`, but with boxes of runs that share a processor beside each other within its
        row, each as high as its share."""
        return side_by_side(self.uses)

    def look_of_uses(self) -> Look:
        """Return how the boxes of `uses` are painted.

        If the log has workers' states, the boxes of other uses are a little lower, so that the
        states show above and below.
        """
        kinds = np.unique(self.uses.kind).tolist()
        states = any(USE_PAINTS[kind].state for kind in kinds)
        return self._look(kinds, USE_PAINTS, INSET if states else 0)

    def look_of_runs(self) -> Look:
        """Return how the boxes of `runs` are painted."""
        return self._look(np.unique(self.runs.kind).tolist(), RUN_PAINTS)

    def _look(self, kinds: Iterable[int], paints: Sequence[Paint], inset: float = 0) -> Look:
        """Return how boxes of these kinds, each an index of `paints`, are painted. `inset` is the
        part of a row that a box leaves free above and below.

        If all boxes but workers' states are of kind 0, one colour would say nothing: they get the
        colours of their jobs' classes, if there are classes.
        """
        alike = [kind for kind in kinds if not paints[kind].state] == [0]
        which, classes = self._classes() if alike else (None, ())
        if which is None:
            return Look(paints, inset)
        return Look((*paints, *classes), inset, len(paints) + which)

    def _classes(self) -> tuple[Columns | None, Sequence[Paint]]:
        """Return an array with the number of each job's class, by the job's row, and the paint of
        each class.

        Classes are users, the one with most processor-time first, if there are several; else
        queues; else, for more than MANY jobs of a log in seconds, waits. Users or queues beyond the
        colours of CLASSES share one class. Without any of these, None and no paints are returned.
        """
        of_jobs = np.bincount(self.uses.job + 1, areas_of(self.uses), len(self.jobs) + 1)[1:]
        most = len(CLASSES)
        for what, words in self.owners.items():
            sizes = Counter[str]()
            for name, area in zip(words, of_jobs.tolist(), strict=True):
                sizes[name] += area
            if len(sizes) > 1:
                names = [name for name, _ in sizes.most_common()]
                shown = [f"{what} {visible(name) or 'unknown'}" for name in names[:most]]
                others = [counted(len(names) - most, f"other {what}")] * (len(names) > most)
                place = {name: min(k, most) for k, name in enumerate(names)}
                paints = list(map(Paint, [*shown, *others], [*CLASSES, GREY]))
                return np.array([place[name] for name in words]), paints
        if self.header.unit != SECOND or len(self.jobs) <= MANY:
            return None, ()
        return np.searchsorted([*WAITS], self.waits), [*WAITS.values()]

    # --- taking rows ------------------------------------------------------------------------------

    def _submitted(self, row: JobRow) -> None:
        self.rows[row.name] = len(self.rows)
        for what, words in self.owners.items():
            words.append(intern(getattr(row.event, what)))
        self._depths.append(0)
        self.waits.append(inf)

    def _over(self, row: JobRow) -> None:
        kind, place = RUN_KIND["in_system"], self.rows[row.name]
        end = self.history.now if row.ended is None else row.ended
        self._runs.add(0, 1, row.submitted, end, 1, kind, place, -1, row.seq)
        if row.wait is not None:
            self.waits[place] = row.wait

    def _share(self, row: StorageRow) -> None:
        storage = self.history.head.storage
        self.storage = None if storage is None else storage.bandwidth
        self._shares.add(row.t, row.used - row.loading, row.loading)

    def _sent(self, row: TransferRow) -> None:
        self._messages.add(row.start, self.history.now, SENT[row.kind])

    def _started(self, row: RunRow) -> None:
        place = self.rows[row.job]
        self._lanes[place].take(row.key)
        if row.source is not None:
            self._sources.add(place, row.source)

    def _ended(self, row: RunRow) -> None:
        self._sign(row)
        place = self.rows[row.job]
        lanes = self._lanes[place]
        lane = lanes.give(row.key)
        if lanes.empty:
            del self._lanes[place]
            self._depths[place] = max(self._depths[place], lanes.depth)
        kind = RUN_KIND[row.outcome.value if row.outcome else "going_on"]
        end = self.history.now if row.end is None else row.end
        self._runs.add(lane, lane + 1, row.start, end, 1, kind, place, row.run, row.seq)

    def _use(self, it: SpanRow) -> None:
        """Add the boxes of one slice of the ledger (a use of processors over some time) to the
        table of uses: one for each interval of its processors or, if its share is below 1, for each
        processor."""
        kind, share = KIND[it.note if it.note in NOTES else it.use.value], float(it.share)
        job = -1 if it.job is None else self.rows[it.job]
        spans = spans_in(it.processors)
        if share < 1:  # `side_by_side` needs boxes of one row each
            spans = tuple((number, number) for number in numbers_in(it.processors))
        same = it.start, it.end, share, kind, job, -1 if it.run is None else it.run, it.seq
        rows: list[float] = []
        for low, last in spans:
            rows += (low, last + 1, *same)
        self._uses.add(*rows)

    # --- signs --------------------------------------------------------------------------------

    def _down(self, row: StateRow) -> None:
        if row.state is WorkerState.DOWN:
            self._downs.append(row)

    def _checkpoint(self, row: CheckpointRow) -> None:
        key = row.job, row.run
        if row.step is CheckpointStep.TAKEN:
            self._add(row.t, middle(row.workers), Sign.CHECKPOINT, row.seq, key)
        elif row.step is CheckpointStep.LOST:
            for worker in numbers_in(row.workers):
                self._add(row.t, worker, Sign.FATAL, row.seq, key)

    def _ignored(self, record: Record, event: FaultIgnored) -> None:
        self._add(record.t, event.worker, Sign.IGNORED, record.seq)

    def _sign(self, row: RunRow) -> None:
        """Mark the end of a run that failed, or the workers that a lost run lost."""
        if row.members is None or row.ended_by is None:
            return
        if row.outcome is Outcome.FAILED:
            self._add(self.history.now, middle(row.members), Sign.ERROR, row.ended_by, row.key)
        elif row.outcome is Outcome.LOST:
            guilty = [it for it in self._downs if held_in(row.members, it.worker)]
            for it in guilty:
                self._add(self.history.now, it.worker, Sign.CRASH, row.ended_by, row.key)
            self._downs = [it for it in self._downs if it not in guilty]

    def _mark_downs(self) -> None:
        """Mark the workers that went DOWN at this instant, and with which no run was lost."""
        for it in self._downs:
            # Only after a fault is the time of return known: others are drawn if a run holds them.
            if it.until is not None or self.history.holders(it.worker):
                self._add(it.start, it.worker, Sign.FAULT, it.seq)
        self._downs.clear()

    def _add(self, t: float, worker: int, kind: Sign, seq: int, run: Key | None = None) -> None:
        owner = (-1, -1) if run is None else (self.rows[run[0]], run[1])
        self._marks.add(t, worker + 0.5, kind, *owner, seq)


def _keys(runs: Columns) -> NDArray[np.int64]:
    """Return a number for each run that is unique over all jobs."""
    keys: NDArray[np.int64] = (runs.job.astype(np.int64) << 32) + runs.run
    return keys


def _among(found: NDArray[np.int64], keys: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return whether each of `keys` is in `found`, which is sorted in place: np.isin would take
    several times the memory of both."""
    found.sort()
    among: NDArray[np.bool_] = np.append(found, -1)[np.searchsorted(found, keys)] == keys
    return among


def middle(processors: str) -> int:
    """Return the middle processor of the largest interval of an interval set such as `0-3 5`."""
    first, last = max(spans_in(processors), key=lambda it: it[1] - it[0])
    return (first + last) // 2
