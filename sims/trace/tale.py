"""The life of one job: a tree of spans that grows with the log, and where its flowtime went."""

from __future__ import annotations

import re
from functools import cached_property

import orjson
from attrs import define, field

from actors.events import (
    CheckpointLost,
    CheckpointTaken,
    IterationCompleted,
    IterationStarted,
    JobCompleted,
    JobDescribed,
    JobKilled,
    JobSubmitted,
    MembersJoined,
    MembersReleased,
    MessagesDescribed,
    ProtectionDescribed,
    RateChanged,
    RestartedFromScratch,
    RunEnded,
    RunStarted,
    ScenarioEnded,
    ScenarioStarted,
    StageStarted,
    TasksDealt,
    TasksDescribed,
    TransferDropped,
    TransferEnded,
    TransferStarted,
    TransferSuspended,
    WorkerChanged,
    WorkerSpeedChanged,
)
from actors.events.pack import MembersChanged
from actors.runtime import Event, Record
from sims.trace.account import FlowAccount
from sims.trace.described import described
from sims.trace.holding import Cast
from sims.trace.messages import Messages
from sims.trace.pack import TITLES
from sims.trace.runs import Runs
from sims.trace.span import Span

OfWorker = WorkerSpeedChanged | WorkerChanged | TransferSuspended | TransferEnded | TransferDropped
WORKER = re.compile(rb'"worker":(\d+)')
HANDLERS = {
    RunStarted: Runs.start,
    RunEnded: Runs.end,
    StageStarted: Runs.enter,
    RateChanged: Runs.change_rate,
    CheckpointTaken: Runs.save,
    CheckpointLost: Runs.lose,
    RestartedFromScratch: Runs.restart,
    MembersReleased: Runs.release,
    MembersJoined: Runs.join,
    MembersChanged: Runs.exchange,
    TransferStarted: Runs.transfer,
}
"""What the runs are told of."""


@define
class Tale:
    """Fold: the life of one job; feed it the records whose lines it `concerns`.

    `root` is None while the log has not mentioned the job.
    """

    job: str
    root: Span | None = None
    account: FlowAccount = field(factory=FlowAccount)
    cast: Cast = field(factory=Cast)
    runs: Runs | None = None
    """While the job is in the system."""
    _iteration: Span | None = None

    @property
    def unit(self) -> str:
        """Of all times."""
        return self.cast.unit

    def concerns(self, line: bytes) -> bool:
        """Whether a line of the log, not decoded yet, can concern the job."""
        if self.named in line or b'"event":"WorkerSpeedChanged"' in line:
            return True
        if self.runs is None:
            return False
        found = WORKER.search(line)
        return found is not None and self.runs.concern(int(found[1]))

    @cached_property
    def named(self) -> bytes:
        """Its name, as in the log's lines."""
        return orjson.dumps(self.job)

    def __call__(self, record: Record) -> None:
        event = record.event
        match event:
            case ScenarioStarted(unit=unit, workers=names):
                self.cast.unit, self.cast.names = unit, names
            case ScenarioEnded():
                self.stop(record.t)
            case WorkerSpeedChanged(worker=worker, speed=speed):
                self.cast.speeds[worker] = speed
                self._befall(event, record)
            case WorkerChanged() | TransferSuspended() | TransferEnded() | TransferDropped():
                self._befall(event, record)
            case _ if type(event) in TITLES:
                self._remark(event, record)
            case _ if getattr(event, "job", None) == self.job:
                self._tell(event, record)

    def _befall(self, event: OfWorker, record: Record) -> None:
        """Something befalls a worker, whoever has it."""
        runs = self.runs
        if runs is None:
            return
        match event:
            case WorkerSpeedChanged():
                runs.pace(event, record)
            case WorkerChanged():
                runs.move(event, record)
            case _ if runs.messages.concern(event.worker):
                runs.stop_transfer(event, record)

    def stop(self, now: float) -> None:
        """The log ends here."""
        if self.runs is not None:
            self.runs.settle(self.account, now)
            self.runs = None

    def _remark(self, event: Event, record: Record) -> None:
        """Something that one mechanism alone tells of."""
        title = TITLES[type(event)](event, self.job, self.unit)
        if title is not None and self.runs is not None:
            self.runs.remark(getattr(event, "run", None), title, record)

    # --- what names the job -------------------------------------------------------------------

    def _tell(self, event: Event, record: Record) -> None:
        if isinstance(event, JobSubmitted):
            self._submit(record)
        elif self.runs is not None:
            handler = HANDLERS.get(type(event))
            if handler is not None:
                handler(self.runs, event, record)  # type: ignore[operator]
            else:
                self._live(self.runs, event, record)

    def _submit(self, record: Record) -> None:
        self.root = Span.of(f"{self.job} submitted", record)
        self.runs = Runs(self.cast, self.root, record.t, Messages(self.cast))
        self.runs.wait(record)

    def _live(self, runs: Runs, event: Event, record: Record) -> None:
        assert self.root is not None
        match event:
            case JobDescribed() | TasksDescribed() | ProtectionDescribed():
                self.root.title += described(event, self.unit)
                if isinstance(event, JobDescribed):
                    runs.verification = event.verification
            case MessagesDescribed():
                runs.messages.describe(event)
            case IterationStarted(iteration=iteration):
                self._iteration = self.root.below(f"iteration {iteration}", record)
                runs.turn(self._iteration, self.account, record)
            case IterationCompleted():
                self._iterated(record.t)
            case TasksDealt():
                runs.deal(event)
            case JobCompleted() | JobKilled():
                self._leave(runs, isinstance(event, JobKilled), record)

    def _iterated(self, now: float) -> None:
        if self._iteration is not None:
            self._iteration.close(now)

    def _leave(self, runs: Runs, killed: bool, record: Record) -> None:
        assert self.root is not None
        runs.settle(self.account, record.t, killed)
        runs.messages.leave(record.t)
        for run in runs.running.values():
            run.span.close(record.t)  # of one line's events the job's end may come first
        self.root.happened("killed at the user's estimate" if killed else "completed", record)
        self.root.close(record.t)
        self.runs = None
