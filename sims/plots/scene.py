"""A log as what pictures are drawn from: one fold, kept in columns."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from attrs import define, evolve, field

from actors.events import (
    JobCompleted,
    JobKilled,
    JobSubmitted,
    LinkDescribed,
    Outcome,
    RunEnded,
    RunStarted,
    ScenarioStarted,
)
from actors.runtime import Record
from sims.ledger import Accountant, Ledger, Slice, Use
from sims.ledger.runs import EndedRun, RunFold
from sims.ledger.slices import ranges
from sims.parts import parted
from sims.plots.boxes import Boxes, BoxTable
from sims.plots.lanes import Lanes, side_by_side
from sims.plots.levels import Levels
from sims.plots.marks import Mark, Marks
from sims.plots.palette import IN_SYSTEM, RUN_KIND, RUN_PAINTS, USE_PAINTS, WENT_ON, kind_of

INSET = 0.15
"""Part of a row above and below what a worker does that shows its state."""


@define
class Scene:
    """Fold over a log's records; `Scene.of(records)`, then read it.

    Attributes: `uses` (boxes over processors), `runs` (boxes over jobs, row = job), `marks`,
    `ledger` (kept only where asked for: exact sums cost as much as reading the log), `levels`.
    """

    header: ScenarioStarted
    accounts: Accountant
    ledger: Ledger
    keep_ledger: bool = False
    end: float = 0
    """Virtual time of the last record."""
    channels: int | None = None
    """n_com, where the log tells it."""
    uses: BoxTable = field(factory=BoxTable)
    runs: BoxTable = field(factory=BoxTable)
    marks: list[Mark] = field(factory=list)
    levels: Levels = field(factory=Levels)
    jobs: dict[str, int] = field(factory=dict)
    """Job -> its row: jobs in order of submission."""
    _open: RunFold = field(factory=RunFold)
    _signs: Marks = field(factory=Marks)
    _lanes: Lanes = field(factory=Lanes)
    _sources: set[tuple[int, int]] = field(factory=set)
    """(job's row, run) of runs from whose saved work another began."""
    _waiting: dict[str, tuple[float, int]] = field(factory=dict)

    @classmethod
    def of(cls, records: Iterable[Record], ledger: bool = False) -> Scene:
        """The scene that the records of one run, from the first on, tell."""
        told = iter(records)
        first = next(told)
        assert isinstance(first.event, ScenarioStarted)
        header = first.event
        scene = cls(header, Accountant(header.processors), Ledger(header.processors), ledger)
        scene.enter(first)
        for record in parted(told):
            scene.enter(record)
        scene.close()
        return scene

    def enter(self, record: Record) -> None:
        """Fold one record, or one part of it."""
        self.end = record.t
        self._tell(record)
        self.levels(record)
        for it in self.accounts(record):
            self._slice(it)
        for run in self._open(record):
            self._run(run)
        self.marks += self._signs(record)

    def close(self) -> None:
        """The log ends here."""
        for it in self.accounts.close(self.end):
            self._slice(it)
        for run in self._open.close(self.end):
            self._run(run)
        self.marks += self._signs.close()
        for job in list(self._waiting):
            self._left(job, self.end)
        self.ledger.close(self.end)

    def rows_of_processors(self) -> Boxes:
        """Boxes of uses, row = processor; where states are told, uses leave some of them to see."""
        boxes = side_by_side(self.uses.boxes())
        behind = np.array([paint.state for paint in USE_PAINTS])[boxes.kind]
        if not behind.any():
            return boxes
        inset = np.where(behind, 0, INSET * np.minimum(boxes.high - boxes.low, 1))
        return evolve(boxes, low=boxes.low + inset, high=boxes.high - inset)

    def rows_of_jobs(self) -> Boxes:
        """Boxes of runs and of waiting, row = job; copies that overlap lie side by side."""
        boxes = self.runs.boxes()
        cancelled = boxes.kind == RUN_KIND[Outcome.CANCELLED]
        for k in np.flatnonzero(cancelled):
            # What was resized or cloned went on elsewhere: none of that was in vain.
            if (int(boxes.job[k]), int(boxes.run[k])) in self._sources:
                boxes.kind[k] = RUN_PAINTS.index(WENT_ON)
        return self._lanes.in_rows(boxes)

    def _tell(self, record: Record) -> None:
        match record.event:
            case JobSubmitted(job=job):
                self._row(job)
                self._waiting[job] = (record.t, record.seq)
            case JobCompleted(job=job) | JobKilled(job=job):
                self._left(job, record.t)
            case RunStarted(job=job, run=run, source=source):
                self._lanes.start(self._row(job), run)
                if source is not None:
                    self._sources.add((self._row(job), source))
            case RunEnded(job=job, run=run):
                self._lanes.end(self._row(job), run)
            case LinkDescribed(channels=channels):
                self.channels = channels

    def _row(self, job: str) -> int:
        return self.jobs.setdefault(job, len(self.jobs))

    def _slice(self, it: Slice) -> None:
        if self.keep_ledger:
            self.ledger.add((it,))
        job = -1 if it.job is None else self._row(it.job)
        owner = (job, -1 if it.run is None else it.run, it.seq)
        kind, share = kind_of(it.use, it.note), float(it.share)
        for first, last in ranges(it.processors):
            # What shares a processor lies beside the others on it, so each processor has its own.
            for low in range(first, last + 1) if share < 1 else (first,):
                high = low + 1 if share < 1 else last + 1
                self.uses.add((low, high, it.start, it.end), kind, owner, share)
        if it.use is Use.TRANSFER:
            self.levels.transfer(it)

    def _run(self, run: EndedRun) -> None:
        job = self._row(run.job)
        lane = self._lanes.lane_of(job, run.number)
        span = (lane, lane + 1, run.start, run.end)
        self.runs.add(span, RUN_KIND[run.outcome], (job, run.number, run.seq))

    def _left(self, job: str, now: float) -> None:
        start, seq = self._waiting.pop(job)
        row = self._row(job)
        self.runs.add((0, 1, start, now), RUN_PAINTS.index(IN_SYSTEM), (row, -1, seq))
