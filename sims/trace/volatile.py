"""The life of an iterative application: iterations, configurations, transfers, suspensions."""

from __future__ import annotations

import orjson
from attrs import define, field

from actors.events import Outcome, RunEnded
from actors.runtime import Record
from actors.volatile.events import (
    ComputationStarted,
    ComputationSuspended,
    ConfigurationChosen,
    IterationCompleted,
    IterationStarted,
    PlatformDescribed,
    TransferEnded,
    TransferKind,
    TransferStarted,
    TransferSuspended,
    WorkerChanged,
    WorkerEnrolled,
    WorkerReleased,
)
from policies.availability import WorkerState
from sims.telling import SLOT, counted
from sims.trace.account import Part
from sims.trace.span import Span
from sims.trace.tale import Tale

RECLAIMED, DOWN = WorkerState.RECLAIMED, WorkerState.DOWN


@define
class _Member:
    """A worker of the present configuration."""

    receiving: Span | None = None
    what: str = ""
    """Which message it receives, in words."""
    part: Span | None = None
    """A transfer that was cut short, while what was received of it may still be of use."""
    away: Span | None = None
    """It is RECLAIMED."""


@define
class IterativeTrace(Tale):
    """Iterations, the configurations that each was tried on, transfers, suspensions.

    Between two computations the job is about a transfer while some member receives, suspended
    while none does and one is RECLAIMED, and waiting otherwise. Computation is useful once its
    iteration is complete.
    """

    _iteration: Span | None = None
    _run: Span | None = None
    _waiting: Span | None = None
    """For a configuration."""
    _computing: Span | None = None
    _members: dict[str, _Member] = field(factory=dict)
    _sizes: dict[TransferKind, int] = field(factory=dict)
    """Slots of a whole message."""

    def __call__(self, record: Record) -> None:
        match record.event:
            case PlatformDescribed(program=program, data=data):  # before the job is submitted
                self._sizes = {TransferKind.PROGRAM: program, TransferKind.DATA: data}
        super().__call__(record)

    def concerns(self, line: bytes) -> bool:
        """Workers change all the time; only members matter."""
        if b'"event":"WorkerChanged"' not in line:
            return True
        return any(orjson.dumps(name) in line for name in self._members)

    def tell(self, record: Record) -> None:
        """See Tale."""
        match record.event:
            case IterationStarted(iteration=iteration):
                self._iteration = self._below(self.root, f"iteration {iteration}", record)
                self._wait(record)
            case IterationCompleted():
                self._close(self._iteration, record.t)
            case ConfigurationChosen():
                self._configure(record.event, record)
            case ComputationStarted():
                self._computing = self._below(self._run, "computes", record)
            case ComputationSuspended():
                self._suspend(record.event, record)
            case RunEnded(outcome=outcome):
                self._end_run(outcome, record)
            case _:
                self._of_worker(record)
        self._review(record.t)

    def _review(self, now: float) -> None:
        """What is the job about from now on?"""
        part = Part.WAITING
        if self._computing is not None:
            part = Part.USEFUL
        elif any(member.receiving for member in self._members.values()):
            part = Part.TRANSFER
        elif any(member.away for member in self._members.values()):
            part = Part.SUSPENDED
        if part is not self.account.part:
            self.account.turn(now, part)

    # --- configurations -----------------------------------------------------------------------

    def _wait(self, record: Record) -> None:
        self._waiting = self._below(self._iteration, "waits for a configuration", record)

    def _configure(self, event: ConfigurationChosen, record: Record) -> None:
        waiting, iteration = self._waiting, self._iteration
        self._close(waiting, record.t)
        if waiting is not None and iteration is not None and waiting.start == record.t:
            iteration.children.pop()  # it did not wait; nothing else has begun in the iteration
        self._waiting = None
        members = ", ".join(f"{worker} x{tasks}" for worker, tasks in event.members)
        work = f"{counted(event.work, SLOT)} of work"
        title = f"run {event.run} ({event.reason.value}): {members}; {work}"
        self._run = self._below(iteration, title, record)

    def _suspend(self, event: ComputationSuspended, record: Record) -> None:
        if self._computing is not None:
            self._computing.title += f", {counted(event.done, SLOT)} done by then"
        self._close(self._computing, record.t)
        self._computing = None

    def _end_run(self, outcome: Outcome, record: Record) -> None:
        self._close(self._computing, record.t)
        self._computing = None
        for member in self._members.values():
            self._close(member.away, record.t)
            member.away = None
        self._happened(self._run, f"ended: {outcome.value}", record)
        self._close(self._run, record.t)
        self.account.turn(record.t, Part.WAITING)
        if outcome is Outcome.COMPLETED:
            self.account.save()
        else:
            self.account.lose()
            self._wait(record)

    # --- members ------------------------------------------------------------------------------

    def _of_worker(self, record: Record) -> None:
        event = record.event
        if isinstance(event, WorkerEnrolled):
            self._enrol(event.worker, record)
        member = self._members.get(getattr(event, "worker", ""))
        if member is None:
            return
        match event:
            case WorkerReleased(worker=worker):
                self._lose(self._members.pop(worker), record.t)
            case WorkerChanged(worker=worker, state=state):
                self._change(worker, state, record)
            case TransferStarted():
                self._receive(member, event, record)
            case TransferSuspended(left=left):
                self._cut(member, left, record.t)
            case TransferEnded():
                self._close(member.receiving, record.t)
                member.receiving = None

    def _enrol(self, worker: str, record: Record) -> None:
        """A message that is under way goes on in the next configuration: it is told in both."""
        member = self._members.setdefault(worker, _Member())
        under_way = member.receiving
        if under_way is not None:
            under_way.title += ", goes on in the next run"
            self._close(under_way, record.t)
            title = f"{worker} goes on receiving {member.what}"
            member.receiving = self._below(self._run, title, record)

    def _change(self, worker: str, state: WorkerState, record: Record) -> None:
        member = self._members[worker]
        self._close(member.away, record.t)
        member.away = None
        if state is RECLAIMED:
            member.away = self._below(self._run, f"{worker} is RECLAIMED", record)
        elif state is DOWN:
            self._happened(self._run, f"{worker} goes DOWN", record)
            self._lose(self._members.pop(worker), record.t)

    def _receive(self, member: _Member, event: TransferStarted, record: Record) -> None:
        rest = event.left < self._sizes.get(event.kind, event.left)
        kind = event.kind.value
        member.what = f"the last {counted(event.left, SLOT)} of {kind}" if rest else kind
        member.part = None
        member.receiving = self._below(self._run, f"{event.worker} receives {member.what}", record)

    def _cut(self, member: _Member, left: int, t: float) -> None:
        member.part = member.receiving
        if member.part is not None:
            member.part.title += f", {counted(left, SLOT)} of it left"
        self._close(member.receiving, t)
        member.receiving = None

    def _lose(self, member: _Member, t: float) -> None:
        """What was received of a message that is not complete is gone."""
        for span in (member.receiving, member.part):
            if span is not None:
                span.title += ", lost"
        self._close(member.receiving, t)
        self._close(member.away, t)
