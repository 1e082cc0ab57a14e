"""A worker as a member of runs fetches and sends messages, one at a time."""

from __future__ import annotations

from attrs import define, field

from actors.events import (
    TransferDropped,
    TransferEnded,
    TransferKind,
    TransferStarted,
    TransferSuspended,
)
from actors.memory import INPUT, Memory
from actors.messages import MemberReady
from actors.runtime import NOTHING, Actor, Timer, handles
from actors.worker_messages import (
    AskForChannel,
    AwaitRun,
    Granted,
    HoldingsChanged,
    LeaveRun,
    MessageLost,
    NeedNoChannel,
    Preempted,
    ProgramReceived,
    SendImage,
    StageIn,
    TransferDue,
    YieldChannel,
)
from policies.availability import WorkerState

UP, RECLAIMED, DOWN = WorkerState.UP, WorkerState.RECLAIMED, WorkerState.DOWN
PROGRAM, DATA, SAVE = TransferKind.PROGRAM, TransferKind.DATA, TransferKind.SAVE
IMAGES = (TransferKind.IMAGE, SAVE)
TRANSFER_DUE = TransferDue()


@define(eq=False)
class TransferClient:
    """The part of a worker that fetches what its run needs, and sends its image (its part of a
    checkpoint), through the master, one message at a time (rules.md, L). A worker has none where
    there is no master.

    The worker's state is the worker's own business; it calls `moved` when that changes.
    """

    worker: Actor
    index: int
    scheduler: Actor
    master: Actor
    reports: bool
    """Whether the worker reports to the scheduler what it holds, whenever that changes."""
    memory: Memory = field(init=False, factory=Memory)
    request: StageIn | None = field(init=False, default=None)
    """Request for which the worker fetches: that of its present run, or of its copy where it is a
    standby; None: there is none."""
    saving: bool = field(init=False, default=False)
    """Whether the worker has an image to send to the master."""
    _transfer: Timer | None = field(init=False, default=None)
    """Timer of the end of the message that is passing."""
    _wanted_since: tuple[float, int] = field(init=False, default=(-1, NOTHING))
    """Time, and number of the event, since which the worker has wanted to fetch or send its present
    message."""
    _asking: bool = field(init=False, default=False)
    """Whether the master knows that the worker wants a channel."""
    _orphaned: bool = field(init=False, default=False)
    """Whether the worker holds a channel for a message that is lost, until its run ends (F1)."""

    def moved(self, state: WorkerState, cause: int, hidden: bool) -> None:
        """Adapt the worker's messages to its new state `state`: UP resumes them, RECLAIMED suspends
        them, and DOWN loses them and empties the memory. `cause` is the number of the event that
        logs the change.

        `hidden`: the job that holds the worker does not know of its fault yet, so that a message
        under way is lost but keeps its channel (rules.md, F1).
        """
        if state is DOWN:
            # The worker's run is lost (R2). A worker that is UP again at once must not report that
            # it lacks nothing: its job would get that before it learns of the loss, and would save
            # what is lost.
            kind = self.memory.kind
            # The DOWN of a standby is known at once: it ends no run.
            ready = self.request is not None and self.request.standby
            if hidden and self._transfer is not None and not ready:
                self.worker.cancel(self._transfer)
                self._orphaned = True
                self.worker.send(self.master, MessageLost(self.index), cause)
            elif not self._orphaned:
                self._drop(cause)
            self.memory.forget()
            self.memory.kind = kind if self._orphaned else None
            self.request, self.saving = None, False
        elif self.request is not None:
            self._go_on(self.request, cause) if state is UP else self._quit_channel(cause)

    # --- its run ------------------------------------------------------------------------------

    @handles(StageIn, during=(UP,))
    def join(self, request: StageIn, cause: int) -> None:
        self._drop_orphan(cause)
        former, self.request = self.request, request
        if former is not None:
            self._stay(former, request, cause)
        self._go_on(request, cause)

    def _stay(self, former: StageIn, request: StageIn, cause: int) -> None:
        """Decide what the worker keeps when the scheduler enrols it again (`request`) at the very
        instant at which its run for the request `former` ended (volatile13). In the same job it
        keeps its program, its data and the part that has passed of a message that it still needs.
        In another job it keeps complete programs only."""
        memory = self.memory
        self.saving = memory.image = False
        if request.job is not former.job:
            self._drop(cause)
            memory.leave()
            self._report(cause)
            return
        wanted = self._wanted(request)
        if memory.kind in IMAGES or (memory.kind and wanted and memory.kind is not wanted):
            self._drop(cause)
            self._report(cause)
        elif wanted is None:
            self._quit_channel(cause)

    @handles(AwaitRun, during=(UP,))
    def await_run(self, message: AwaitRun, cause: int) -> None:
        """Suspend what the worker fetches as a standby of this copy: it is a member now, of a run
        that has not asked its members to fetch yet."""
        if self.request is not None and self.request.copy == message.copy:
            self._quit_channel(cause)
            self.request = None

    @handles(SendImage)
    def send_image(self, _: SendImage, cause: int) -> None:
        self.saving = True
        if self.memory.kind is DATA:
            self._drop(cause)  # data for a task that it no longer has
            self._report(cause)
        if self.request is not None and self.worker.state is UP:
            self._go_on(self.request, cause)

    @handles(LeaveRun)
    def leave(self, message: LeaveRun, cause: int) -> None:
        self._drop_orphan(cause)
        held = self.memory.data or self.memory.kind in INPUT
        if self.request is not None and self.request.copy != message.copy:
            return
        self._drop(cause)
        self.request, self.saving, self.memory.image = None, False, False
        # Also where the run had ended before and the worker was only kept (P2): its memory holds no
        # other job's data then.
        if not message.keep:
            self.memory.leave()
        if held:
            self._report(cause)

    def _report(self, cause: int) -> None:
        """Report to the scheduler what the worker holds of its run's input (program and data), if
        it is to send such reports. Call it only while no message passes."""
        if self.reports:
            job = None if self.request is None else self.request.job.name
            passed = self.memory.part.done if self.memory.kind in INPUT else 0
            message = HoldingsChanged(self.index, job, self.memory.data, passed)
            self.worker.send(self.scheduler, message, cause)

    # --- its messages -------------------------------------------------------------------------

    def _wanted(self, request: StageIn) -> TransferKind | None:
        if self.saving:
            return SAVE
        return self.memory.lacks(request.needs, request.units, request.image)

    def _go_on(self, request: StageIn, cause: int) -> None:
        """Ask the master for a channel for the next message that the worker has to send or to fetch
        for this request. If there is none, report to the job that the worker has all that it
        needs."""
        if self._wanted(request) is None:
            self._report_ready(request, cause)
        else:
            self._ask_for_channel(request, cause, from_scratch=not self._asking)

    def _report_ready(self, request: StageIn, cause: int, passed: bool = False) -> None:
        if request.standby:
            return  # no run waits for a standby
        self.worker.send(
            request.job, MemberReady(request.copy, request.run, self.index, passed), cause
        )

    def _ask_for_channel(self, request: StageIn, cause: int, from_scratch: bool = True) -> None:
        now, memory = self.worker.now, self.memory
        self._wanted_since, self._asking = (now, cause), True
        left = memory.missing(request.needs, request.units, now)
        begun = memory.kind is not None
        message = AskForChannel(self.worker, self.index, begun, left, from_scratch, request.standby)
        self.worker.send(self.master, message, cause)

    @handles(Granted, during=(UP,))
    def begin(self, _: Granted, cause: int) -> None:
        request = self.request
        assert request is not None
        kind = self._wanted(request)
        assert kind is not None
        needs, now = request.needs, self.worker.now
        size = needs.program if kind is PROGRAM else needs.data if kind is DATA else needs.image
        since, wanted = self._wanted_since
        if since == now or cause == NOTHING:
            cause = wanted  # it did not wait for a channel, or not for one that was freed
        memory, job = self.memory, request.job.name
        left = memory.begin(kind, size, now)
        cause = self.worker.record(cause, TransferStarted, self.index, job, request.run, kind, left)
        self._transfer = self.worker.after(left, TRANSFER_DUE, cause)
        if self.reports and kind in INPUT:
            # The report gives the message's end, which then needs no report of its own.
            account = memory.data, memory.part.done, now, now + left, kind is DATA
            self.worker.send(self.scheduler, HoldingsChanged(self.index, job, *account), cause)

    @handles(Preempted)
    def preempted(self, _: Preempted, cause: int) -> None:
        cause = self._suspend(cause)
        self.worker.send(self.master, YieldChannel(self.index), cause)

    @handles(TransferDue)
    def finish(self, _: TransferDue, cause: int) -> None:
        request = self.request
        assert request is not None
        self._transfer = None
        kind = self.memory.complete(request.needs.label)
        assert kind is not None
        cause = self.worker.record(cause, TransferEnded, self.index, kind)
        if kind is PROGRAM:
            self.worker.send(
                self.scheduler, ProgramReceived(self.index, request.needs.label), cause
            )
        if kind is not SAVE and self._wanted(request) is not None:
            self._ask_for_channel(request, cause)  # anew, as its channel is free now
            return
        self._need_no_channel(cause)
        self.saving = False
        self._report_ready(request, cause, passed=True)

    def _suspend(self, cause: int) -> int:
        if self._transfer is None:
            return cause
        self.worker.cancel(self._transfer)
        self._transfer = None
        memory = self.memory
        memory.part.change(self.worker.now, 0)
        assert memory.kind is not None
        left = memory.part.left(self.worker.now)
        cause = self.worker.record(cause, TransferSuspended, self.index, memory.kind, left)
        self._report(cause)
        return cause

    def _quit_channel(self, cause: int) -> None:
        self._need_no_channel(self._suspend(cause))

    def _need_no_channel(self, cause: int) -> None:
        if self._asking:
            self._asking = False
            self.worker.send(self.master, NeedNoChannel(self.index), cause)

    def _drop(self, cause: int) -> None:
        """Discard the part that has passed of an incomplete message, log that, and tell the master
        that the worker needs no channel. Without such a message only the master is told."""
        if self._transfer is not None:
            self.worker.cancel(self._transfer)
            self._transfer = None
        if self.memory.kind is not None:
            cause = self.worker.record(cause, TransferDropped, self.index, self.memory.kind)
            self.memory.drop()
        self._need_no_channel(cause)

    def _drop_orphan(self, cause: int) -> None:
        if self._orphaned:
            self._orphaned = False
            self._drop(cause)

    def waits_for(self) -> str | None:
        """Return what the worker's run still waits for of this worker, for the report on a
        deadlock; None if it waits for nothing."""
        request = self.request
        if request is None or request.standby or self.worker.state is UP:
            return None
        left = self.memory.missing(request.needs, request.units, self.worker.now)
        lacks = f", which lacks {left:g} time units of messages" if left else ""
        return f"its return: it is {self.worker.state.name}, and a run holds it{lacks}"
