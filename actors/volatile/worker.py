"""A volatile worker: UP, RECLAIMED or DOWN, with what it holds of program and data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from attrs import define, field

from actors.runtime import Actor, Phase, Timer, handles
from actors.volatile.events import (
    TransferEnded,
    TransferKind,
    TransferStarted,
    TransferSuspended,
    WorkerChanged,
    WorkerEnrolled,
    WorkerReleased,
)
from actors.volatile.holding import Holding
from actors.volatile.messages import (
    Drop,
    Enrol,
    Fetch,
    Granted,
    MemberLost,
    MemberReady,
    MemberStopped,
    Preempted,
    ProgramReceived,
    Release,
    StateDue,
    TransferDue,
    WorkerJoined,
    WorkerMoved,
)
from policies.availability import WorkerState

UP, RECLAIMED, DOWN = WorkerState.UP, WorkerState.RECLAIMED, WorkerState.DOWN
STATE_DUE = StateDue()


@define(eq=False)
class Worker(Actor):
    """A processor that computes while UP, waits while RECLAIMED, forgets when DOWN (002, III.B).

    `life` yields (time, state), times increasing, the first at the start of the run: what its
    owner and its crashes do to it.
    """

    transitions: ClassVar[Mapping[WorkerState, frozenset[WorkerState]]] = {
        UP: frozenset((RECLAIMED, DOWN)),
        RECLAIMED: frozenset((UP, DOWN)),
        DOWN: frozenset((UP, RECLAIMED)),
    }
    initial = UP

    index: int
    master: Actor
    scheduler: Actor
    life: Iterator[tuple[float, WorkerState]]
    holding: Holding
    job: Actor | None = field(init=False, default=None)
    """Whose run it is enrolled in."""
    run: int = field(init=False, default=-1)
    tasks: int = field(init=False, default=0)
    _job_name: str = field(init=False, default="")
    _next: WorkerState = field(init=False, default=UP)
    _since: float = field(init=False, default=0)
    """When it came to its present state."""
    _transfer: Timer | None = field(init=False, default=None)
    """The end of the message that it is receiving."""

    def started(self) -> None:
        _, first = next(self.life)
        if first is not UP:
            self.become(first)
        self.record(WorkerChanged, self.name, first, None, self.now)
        self._since = self.now
        self.send(self.scheduler, WorkerJoined(self.index, first, self.holding))
        self._await_change()

    def _await_change(self) -> None:
        change = next(self.life, None)
        if change is not None:
            time, self._next = change
            self.at(time, STATE_DUE, Phase.STATES_CHANGE)

    # --- its owner ----------------------------------------------------------------------------

    @handles(StateDue)
    def change(self, _: StateDue) -> None:
        state, was = self._next, self.state
        self.become(state)
        self.record(WorkerChanged, self.name, state, was, self._since)
        self._since = self.now
        self.send(self.scheduler, WorkerMoved(self.index, state))
        if state is DOWN:
            self._crash()
        elif self.job is not None:
            self._come_back(self.job) if state is UP else self._pause(self.job)
        self._await_change()

    def _crash(self) -> None:
        self._quit_channel()
        self.holding.forget()
        if self.job is not None:
            self.send(self.master, Drop(self.index))
            self.send(self.job, MemberLost(self.index))
            self.job = None

    def _pause(self, job: Actor) -> None:
        if self._missing():
            self._quit_channel()
            self.send(self.master, Drop(self.index))
        else:
            self.send(job, MemberStopped(self.index))

    def _come_back(self, job: Actor) -> None:
        if self._missing():
            self.send(self.master, Fetch(self, self.index, self.tasks, self.holding))
        else:
            self.send(job, MemberReady(self.index))

    # --- its job ------------------------------------------------------------------------------

    @handles(Enrol, during=(UP,))
    def enrol(self, request: Enrol) -> None:
        self.job, self.run, self.tasks = request.job, request.run, request.tasks
        self._job_name = request.job.name
        self.record(WorkerEnrolled, self.name, self._job_name, self.run, self.tasks)
        if not self._missing():
            # Enrolled again with fewer tasks: the message under way may not be needed any more.
            self._quit_channel()
            self.send(self.master, Drop(self.index))
        self._come_back(request.job)

    @handles(Release)
    def release(self, _: Release) -> None:
        if self.job is None:
            return  # it went DOWN at this very instant, and the job did not know yet
        self._quit_channel()
        self.send(self.master, Drop(self.index))
        self.record(WorkerReleased, self.name, self._job_name, self.run)
        self.holding.forget_data()
        self.job = None

    # --- its transfers ------------------------------------------------------------------------

    def _missing(self) -> int:
        return self.holding.missing(self.tasks, self.now)

    @handles(Granted, during=(UP,))
    def receive(self, _: Granted) -> None:
        holding = self.holding
        holding.begin(self.now)
        left = int(holding.part.left(self.now))
        self.record(TransferStarted, self.name, holding.next_kind, left)
        self._transfer = self.after(left, TransferDue())

    @handles(Preempted)
    def preempted(self, _: Preempted) -> None:
        self._quit_channel()

    def _quit_channel(self) -> None:
        if self._transfer is not None:
            self.cancel(self._transfer)
            self._transfer = None
            part = self.holding.part
            part.change(self.now, 0)
            left = int(part.left(self.now))
            self.record(TransferSuspended, self.name, self.holding.next_kind, left)

    @handles(TransferDue)
    def received(self, _: TransferDue) -> None:
        self._transfer = None
        kind = self.holding.complete(self.now)
        self.record(TransferEnded, self.name, kind)
        if kind is TransferKind.PROGRAM:
            self.send(self.scheduler, ProgramReceived(self.index))
        self.send(self.master, Drop(self.index))
        if self.job is not None:
            self._come_back(self.job)

    def waits_for(self) -> str | None:
        if self.job is None or not self._missing():
            return None
        return f"{self._missing()} slots of transfer, being {self.state.name}"
