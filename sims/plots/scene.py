"""A log as what pictures are drawn from: what its history tells of, kept in columns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from math import inf

import numpy as np
from attrs import define, field, frozen

from actors.events import (
    CheckpointLost,
    CheckpointTaken,
    FaultIgnored,
    LinkDescribed,
    LogReplayed,
    Outcome,
    ScenarioStarted,
    WorkerChanged,
)
from actors.intervals import numbers_in, spans_in
from actors.intervals import within as held_in
from actors.runtime import Record
from policies.availability import WorkerState
from sims.errors import visible
from sims.history import History, Job, Key, Listener, Run
from sims.ledger import Slice, Slices, Use
from sims.plots.boxes import BOX, TINY, Columns, Floats, Lanes, Table, side_by_side
from sims.plots.palette import (
    IN_SYSTEM,
    KIND,
    MESSAGES,
    RUN_KIND,
    RUN_PAINTS,
    USE_OF,
    USE_PAINTS,
    WENT_ON,
    Sign,
)

INSET = 0.15
"""Part of a row above and below what a worker does that shows its state."""
MARGIN = 0.1
"""Part of a job's row left free above and below."""

MARK = {"t": float, "row": float, **dict.fromkeys(("kind", "job", "run", "seq"), int)}
"""A sign at time t, on the middle of the processor in `row`: the middle one of the largest interval
where it concerns a whole run. `kind`: a Sign; others as of BOX."""
LEVEL = {"t": float, "waiting": int, "running": int}
"""How many jobs wait, and run, from t on."""


@frozen(eq=False)
class Scene:
    """What one run's log tells, to be drawn."""

    header: ScenarioStarted
    end: float
    """Virtual time of the last record."""
    channels: int | None
    """n_com, where the log tells it."""
    jobs: tuple[str, ...]
    """Their names, to be seen, in order of submission."""
    uses: Columns
    """BOX: what was done, row = processor."""
    runs: Columns
    """BOX: runs and jobs in the system, row = job; copies that overlap lie side by side."""
    marks: Columns
    """MARK."""
    queue: Columns
    """LEVEL."""
    begins: float | None
    """When time 0 is, in seconds since 1970; None: the log does not know."""
    owners: Mapping[str, Sequence[str]]
    """Each job's user and queue."""
    waits: Floats
    """How long each job waited for its first run; infinite: it had none."""

    @classmethod
    def of(cls, records: Iterable[Record], *listeners: Listener) -> Scene:
        """The scene that the records of one run, from the first on, tell; `listeners` hear it."""
        history = History()
        drawn = history.listen(_Drawn())
        marks = history.listen(_Marks(drawn.rows))
        history.on(LinkDescribed, drawn.link)
        history.on(LogReplayed, drawn.date)
        history.on(WorkerChanged, marks.turned)
        history.on(CheckpointTaken, marks.taken)
        history.on(CheckpointLost, marks.lost)
        history.on(FaultIgnored, marks.ignored)
        Slices(history, drawn.use)
        for listener in listeners:
            history.listen(listener)
        for record in records:
            history.apply(record)
        history.close()
        assert history.header is not None
        return cls(
            *(history.header, history.now, drawn.channels, tuple(map(visible, drawn.rows))),
            *(drawn.uses.columns(), drawn.in_rows(), marks.found.columns()),
            drawn.queue.columns(),
            drawn.begins,
            drawn.owners,
            np.array(drawn.waits),
        )

    @property
    def workers(self) -> tuple[str, ...]:
        """Their names, or the processors' numbers."""
        return self.header.workers or tuple(map(str, range(self.header.processors)))

    def shares(self) -> dict[Use, float]:
        """What went to each use that occurs, in % of the processors x the time; but for rounding,
        which exact sums (`sims.ledger`) take as long to avoid as reading the log takes."""
        boxes, capacity = self.uses, self.header.processors * self.end
        areas = (boxes.high - boxes.low) * (boxes.end - boxes.start) * boxes.share
        spent = dict.fromkeys(Use, 0.0)
        for kind, area in enumerate(np.bincount(boxes.kind, areas).tolist()):
            spent[USE_OF[kind]] += area
        spent[Use.IDLE] = capacity - sum(spent.values())
        return {use: 100 * it / capacity for use, it in spent.items() if it > TINY * capacity}

    def rows_of_processors(self) -> Columns:
        """Uses, those that share a processor beside each other; where states are told, the others
        leave some of them to see."""
        boxes = side_by_side(self.uses)
        behind = np.array([paint.state for paint in USE_PAINTS])[boxes.kind]
        if behind.any():
            inset = np.where(behind, 0, INSET * np.minimum(boxes.high - boxes.low, 1))
            boxes.low += inset
            boxes.high -= inset
        return boxes


@define(eq=False)
class _Drawn(Listener):
    """Boxes and levels."""

    rows: dict[str, int] = field(factory=dict)
    """Of jobs."""
    uses: Table = field(factory=partial(Table, BOX))
    queue: Table = field(factory=partial(Table, LEVEL))
    channels: int | None = None
    begins: float | None = None
    owners: dict[str, list[str]] = field(factory=lambda: {"user": [], "queue": []})
    waits: list[float] = field(factory=list)
    _runs: Table = field(factory=partial(Table, BOX))
    """low = lane."""
    _lanes: defaultdict[int, Lanes] = field(factory=partial(defaultdict, Lanes))
    """By row."""
    _lane_of: dict[Key, int] = field(factory=dict)
    _sources: set[tuple[int, int]] = field(factory=set)
    """(job's row, run) of runs from whose saved work another began."""

    def link(self, record: Record, event: LinkDescribed) -> None:
        """The master's link is described."""
        self.channels = event.channels

    def date(self, record: Record, event: LogReplayed) -> None:
        """The log that is replayed has a calendar."""
        self.begins = event.begins

    def job_submitted(self, job: Job, record: Record) -> None:
        self.rows[job.name] = len(self.rows)
        for what, words in self.owners.items():
            words.append(getattr(job.event, what))
        self.waits.append(inf)

    def job_over(self, job: Job, end: float) -> None:
        kind, row = RUN_PAINTS.index(IN_SYSTEM), self.rows[job.name]
        self._runs.add(0, 1, job.submitted, end, 1, kind, row, -1, job.seq)

    def queue_changed(self, now: float) -> None:
        self.queue.add(now, self.history.waiting, self.history.running)

    def run_started(self, run: Run, record: Record) -> None:
        row = self.rows[run.job.name]
        self._lane_of[run.key] = self._lanes[row].take()
        self.waits[row] = min(self.waits[row], record.t - run.job.submitted)
        if run.event.source is not None:
            self._sources.add((row, run.event.source))

    def run_over(self, run: Run, end: float) -> None:
        row, lane = self.rows[run.job.name], self._lane_of.pop(run.key)
        self._lanes[row].give(lane)
        kind = RUN_KIND[run.outcome]
        self._runs.add(lane, lane + 1, run.start, end, 1, kind, row, run.number, run.record.seq)

    def use(self, it: Slice) -> None:
        """Workers were put to use."""
        kind, share = KIND[it.note if it.note in MESSAGES else it.use], float(it.share)
        job = -1 if it.job is None else self.rows[it.job]
        spans = spans_in(it.processors)
        if share < 1:  # what shares a processor lies beside the others on it: each has its own
            spans = tuple((number, number) for number in numbers_in(it.processors))
        for low, last in spans:
            span, run = (low, last + 1, it.start, it.end, share), -1 if it.run is None else it.run
            self.uses.add(*span, kind, job, run, it.seq)

    def in_rows(self) -> Columns:
        """Boxes of runs in their lanes of their jobs' rows; what is no run's lies behind them."""
        boxes = self._runs.columns()
        # What was resized or cloned went on elsewhere: none of that was in vain.
        went_on = [run in self._sources for run in zip(boxes.job, boxes.run, strict=True)]
        cancelled = boxes.kind == RUN_KIND[Outcome.CANCELLED]
        boxes.kind[cancelled & went_on] = RUN_PAINTS.index(WENT_ON)
        behind = boxes.run < 0
        depth = np.array([max(self._lanes[row].depth, 1) for row in range(len(self.rows))])
        margin = np.where(behind, MARGIN, 2 * MARGIN)
        height = (1 - 2 * margin) / np.where(behind, 1, depth[boxes.job])
        boxes.low = boxes.job + margin + height * boxes.low
        boxes.high = boxes.low + height
        return boxes


@define(eq=False)
class _Marks(Listener):
    """Signs."""

    rows: dict[str, int]
    """Of jobs."""
    found: Table = field(factory=partial(Table, MARK))
    _downs: list[tuple[Record, WorkerChanged]] = field(factory=list)
    """Who went DOWN at this instant; a run lost now was lost to one of them."""

    def turned(self, record: Record, event: WorkerChanged) -> None:
        if event.state is WorkerState.DOWN:
            self._downs.append((record, event))

    def taken(self, record: Record, event: CheckpointTaken) -> None:
        run = self.history.runs[event.job, event.run]
        self._mark(record, middle(run.processors), Sign.CHECKPOINT, run.key)

    def lost(self, record: Record, event: CheckpointLost) -> None:
        for worker in event.workers:
            self._mark(record, worker, Sign.FATAL, (event.job, event.run))

    def ignored(self, record: Record, event: FaultIgnored) -> None:
        self._mark(record, event.worker, Sign.IGNORED)

    def run_ended(self, run: Run, record: Record, done: float) -> None:
        if run.outcome is Outcome.FAILED:
            self._mark(record, middle(run.processors), Sign.ERROR, run.key)
        elif run.outcome is Outcome.LOST:
            guilty = [it for it in self._downs if held_in(run.processors, it[1].worker)]
            for _, event in guilty:
                self._mark(record, event.worker, Sign.CRASH, run.key)
            self._downs = [it for it in self._downs if it not in guilty]

    def time_passed(self, until: float) -> None:
        self.log_ended(self.history.now)

    def log_ended(self, now: float) -> None:
        for down, event in self._downs:
            # Only a fault's return is known.
            if event.until is not None or self.history.holders(event.worker):
                self._mark(down, event.worker, Sign.FAULT)
        self._downs.clear()

    def _mark(self, record: Record, worker: int, kind: Sign, run: Key | None = None) -> None:
        owner = (-1, -1) if run is None else (self.rows[run[0]], run[1])
        self.found.add(record.t, worker + 0.5, kind, *owner, record.seq)


def middle(processors: str) -> int:
    """The middle of the largest interval of an interval set."""
    first, last = max(spans_in(processors), key=lambda it: it[1] - it[0])
    return (first + last) // 2
