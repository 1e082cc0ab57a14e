"""Laws of volatile workers, their master, and an application in lockstep (002, III)."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import define, field

from actors.events import Outcome, RunEnded, ScenarioStarted
from actors.runtime import Record
from actors.volatile.events import (
    ComputationStarted,
    ComputationSuspended,
    ConfigurationChosen,
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
from sims.audit.law import Law, Violation
from sims.telling import SLOT, counted


@define
class _Worker:
    """A worker as its laws say it must be."""

    index: int
    state: WorkerState | None = None
    changed: int = 0
    since_state: float = 0
    run: int | None = None
    tasks: int = 0
    program: bool = False
    data: int = 0
    part: float = 0
    """Slots received of the incomplete message."""
    transfer: TransferStarted | None = None
    since: float = 0
    seq: int = 0


@define
class VolatileAuditor:
    """Replays what workers hold and what the run may do with it."""

    platform: PlatformDescribed | None = None
    workers: dict[str, _Worker] = field(factory=dict)
    run: ConfigurationChosen | None = None
    """The configuration that is going on."""
    chosen: int = 0
    computing: tuple[float, int] | None = None
    """(since, seq) of the computation that goes on."""
    done: float = 0
    now: float = 0

    def __call__(self, record: Record) -> Iterator[Violation]:
        event, seq = record.event, record.seq
        if record.t > self.now:
            yield from self._advance(record)
        match event:
            case ScenarioStarted(workers=names):
                self.workers = {name: _Worker(k) for k, name in enumerate(names)}
            case PlatformDescribed():
                yield from self._describe(event, seq)
            case _ if self.platform is None:
                yield Violation(Law.FRAME, (seq,), "the platform has not been described")
            case WorkerChanged() | WorkerEnrolled() | WorkerReleased():
                yield from self._of_worker(event, record.t, seq)
            case TransferStarted() | TransferSuspended() | TransferEnded():
                yield from self._of_transfer(event, record.t, seq)
            case _:
                yield from self._of_run(record)

    def _of_worker(
        self, event: WorkerChanged | WorkerEnrolled | WorkerReleased, t: float, seq: int
    ) -> Iterator[Violation]:
        if event.worker not in self.workers:
            yield Violation(Law.STATE, (seq,), f"there is no worker {event.worker}")
            return
        match event:
            case WorkerChanged():
                yield from self._change(event, t, seq)
            case WorkerEnrolled():
                yield from self._enrol(event, seq)
            case WorkerReleased():
                yield from self._release(event, seq)

    def _of_transfer(
        self, event: TransferStarted | TransferSuspended | TransferEnded, t: float, seq: int
    ) -> Iterator[Violation]:
        if event.worker not in self.workers:
            yield Violation(Law.TRANSFER, (seq,), f"there is no worker {event.worker}")
            return
        match event:
            case TransferStarted():
                yield from self._receive(event, t, seq)
            case TransferSuspended():
                yield from self._suspend_transfer(event, t, seq)
            case TransferEnded():
                yield from self._end_transfer(event, t, seq)

    def _of_run(self, record: Record) -> Iterator[Violation]:
        event, t, seq = record.event, record.t, record.seq
        match event:
            case ConfigurationChosen():
                yield from self._configure(event, seq)
            case ComputationStarted():
                yield from self._compute(event, t, seq)
            case ComputationSuspended():
                yield from self._suspend(event, t, seq)
            case RunEnded(outcome=outcome, run=run):
                yield from self._end_run(outcome, run, t, seq)

    def _describe(self, event: PlatformDescribed, seq: int) -> Iterator[Violation]:
        sizes = (len(event.speeds), len(event.bounds))
        if self.platform is not None or set(sizes) != {len(self.workers)}:
            workers = counted(len(self.workers), "worker")
            why = f"{workers}, speeds and bounds of {sizes}, or a second platform"
            yield Violation(Law.FRAME, (seq,), why)
        if set(sizes) == {len(self.workers)}:
            self.platform = event

    def close(self, last: Record) -> Iterator[Violation]:
        unseen = [name for name, worker in self.workers.items() if worker.state is None]
        if unseen:
            yield Violation(Law.STATE, (last.seq,), f"{unseen[0]} never had a state")

    # --- workers ------------------------------------------------------------------------------

    def _change(self, event: WorkerChanged, t: float, seq: int) -> Iterator[Violation]:
        worker = self.workers[event.worker]
        if worker.state is event.state or event.was is not worker.state:
            why = f"{event.worker} leaves {event.was} for {event.state}; it was {worker.state}"
            yield Violation(Law.STATE, (worker.changed, seq), why)
        if event.since != (t if worker.state is None else worker.since_state):
            why = f"{event.worker} was so since {worker.since_state:g}, not {event.since:g}"
            yield Violation(Law.STATE, (worker.changed, seq), why)
        worker.state, worker.changed, worker.since_state = event.state, seq, t
        if event.state is WorkerState.DOWN:
            worker.program, worker.data, worker.part = False, 0, 0
            worker.run = None

    def _enrol(self, event: WorkerEnrolled, seq: int) -> Iterator[Violation]:
        worker, run = self.workers[event.worker], self.run
        if worker.state is not WorkerState.UP:
            yield Violation(Law.STATE, (worker.changed, seq), f"{event.worker} is not UP")
        if run is None or (event.worker, event.tasks) not in run.members or run.run != event.run:
            why = (
                f"{event.worker} is enrolled for {counted(event.tasks, 'task')}, unlike the choice"
            )
            yield Violation(Law.DECISION, (self.chosen, seq), why)
        if worker.run == event.run:
            yield Violation(Law.DECISION, (worker.seq, seq), f"{event.worker} is enrolled twice")
        worker.run, worker.tasks, worker.seq = event.run, event.tasks, seq

    def _release(self, event: WorkerReleased, seq: int) -> Iterator[Violation]:
        worker = self.workers[event.worker]
        if worker.run != event.run:
            yield Violation(Law.DECISION, (seq,), f"{event.worker} was not in run {event.run}")
        if worker.transfer is not None:
            why = f"{event.worker} is released in the middle of a transfer"
            yield Violation(Law.TRANSFER, (worker.seq, seq), why)
        worker.run, worker.data, worker.part = None, 0, 0

    # --- transfers ----------------------------------------------------------------------------

    def _size(self, kind: TransferKind) -> int:
        assert self.platform is not None
        return self.platform.program if kind is TransferKind.PROGRAM else self.platform.data

    def _receive(self, event: TransferStarted, t: float, seq: int) -> Iterator[Violation]:
        assert self.platform is not None
        worker = self.workers[event.worker]
        busy = [it.seq for it in self.workers.values() if it.transfer is not None]
        if len(busy) >= self.platform.channels:
            transfers = counted(len(busy) + 1, "transfer")
            why = f"{transfers} on {counted(self.platform.channels, 'channel')} (n_com)"
            yield Violation(Law.LINK, (*busy, seq), why)
        if worker.state is not WorkerState.UP or worker.run is None or worker.transfer is not None:
            yield Violation(Law.TRANSFER, (seq,), f"{event.worker} cannot receive now")
        if event.left != self._size(event.kind) - worker.part:
            missing = self._size(event.kind) - worker.part
            why = f"{counted(event.left, SLOT)} left, {missing:g} missing"
            yield Violation(Law.TRANSFER, (seq,), why)
        if (event.kind is TransferKind.PROGRAM) == (worker.program or not self.platform.program):
            yield Violation(Law.TRANSFER, (seq,), f"it is not the {event.kind.value}'s turn")
        if event.kind is TransferKind.DATA and worker.data >= worker.tasks:
            yield Violation(Law.TRANSFER, (seq,), f"{event.worker} has all its data")
        worker.transfer, worker.since, worker.seq = event, t, seq

    def _suspend_transfer(
        self, event: TransferSuspended, t: float, seq: int
    ) -> Iterator[Violation]:
        worker = self.workers[event.worker]
        start, worker.transfer = worker.transfer, None
        if start is None or start.kind is not event.kind:
            yield Violation(Law.TRANSFER, (seq,), f"{event.worker} was not receiving this")
            return
        if event.left != start.left - (t - worker.since) or event.left <= 0:
            why = f"{counted(event.left, SLOT)} left of {start.left} after {t - worker.since:g}"
            yield Violation(Law.TRANSFER, (worker.seq, seq), why)
        # A crash is recorded before the transfer that it stops: nothing is kept then.
        down = worker.state is WorkerState.DOWN
        worker.part = 0 if down else self._size(event.kind) - event.left

    def _end_transfer(self, event: TransferEnded, t: float, seq: int) -> Iterator[Violation]:
        worker = self.workers[event.worker]
        start, worker.transfer = worker.transfer, None
        if start is None or start.kind is not event.kind:
            yield Violation(Law.TRANSFER, (seq,), f"{event.worker} was not receiving this")
            return
        if t - worker.since != start.left:
            why = f"left were {counted(start.left, SLOT)}, it took {t - worker.since:g}"
            yield Violation(Law.TRANSFER, (worker.seq, seq), why)
        worker.part = 0
        if event.kind is TransferKind.PROGRAM:
            worker.program = True
        else:
            worker.data += 1

    # --- the run ------------------------------------------------------------------------------

    def _configure(self, event: ConfigurationChosen, seq: int) -> Iterator[Violation]:
        if self.run is not None:
            yield Violation(Law.SEQUENCE, (self.chosen, seq), "another run is going on")
        self.run, self.chosen, self.done = event, seq, 0

    def _members(self) -> list[tuple[str, _Worker]]:
        return [(name, self.workers[name]) for name, _ in self.run.members] if self.run else []

    def _compute(self, event: ComputationStarted, t: float, seq: int) -> Iterator[Violation]:
        if self.run is None or self.run.run != event.run or self.computing is not None:
            yield Violation(Law.PROGRESS, (seq,), f"run {event.run} cannot start to compute")
        assert self.platform is not None
        self.computing = (t, seq)

    def _advance(self, record: Record) -> Iterator[Violation]:
        """Time passes while the run computes: a start that a crash undoes at its very instant
        advances nothing."""
        self.now = record.t
        if self.computing is None or self.run is None or self.platform is None:
            return
        for name, worker in self._members():
            held = worker.program or not self.platform.program
            data = worker.data >= worker.tasks or not self.platform.data
            ready = worker.state is WorkerState.UP and worker.run == self.run.run
            if not (ready and held and data):
                why = f"{name} is not UP with program and data"
                yield Violation(Law.PROGRESS, (worker.changed, self.computing[1]), why)

    def _suspend(self, event: ComputationSuspended, t: float, seq: int) -> Iterator[Violation]:
        if self.computing is None or self.run is None or self.run.run != event.run:
            yield Violation(Law.PROGRESS, (seq,), f"run {event.run} was not computing")
            return
        self.done += t - self.computing[0]
        if event.done != self.done:
            why = f"{counted(event.done, SLOT)} done, {self.done:g} by the log"
            yield Violation(Law.PROGRESS, (self.computing[1], seq), why)
        self.computing = None

    def _end_run(self, outcome: Outcome, run: int, t: float, seq: int) -> Iterator[Violation]:
        now = self.run
        if now is None or now.run != run:
            yield Violation(Law.SEQUENCE, (seq,), f"run {run} is not going on")
            return
        if outcome in (Outcome.COMPLETED, Outcome.FAILED):
            done = self.done + (t - self.computing[0] if self.computing else 0)
            if self.computing is None or done != now.work:
                why = f"run {run} ends with {done:g} of {counted(now.work, SLOT)} done"
                yield Violation(Law.LOCKSTEP, (self.chosen, seq), why)
        elif self.computing is not None:
            yield Violation(Law.PROGRESS, (self.computing[1], seq), "it ends while it computes")
        if outcome is Outcome.LOST and all(it.run is not None for _, it in self._members()):
            yield Violation(Law.PROGRESS, (self.chosen, seq), "it is lost and nobody went DOWN")
        self.run, self.computing = None, None
