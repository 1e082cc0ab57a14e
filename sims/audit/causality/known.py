"""Events of a journal that can still cause later ones."""

from __future__ import annotations

from typing import Any

from attrs import define, field

from actors.events import (
    BatchOpened,
    CheckpointLost,
    CopiesPlaced,
    CopiesSettled,
    IterationStarted,
    JobCompleted,
    JobKilled,
    JobSubmitted,
    MembersChanged,
    MembersJoined,
    MembersReleased,
    Outcome,
    RateChanged,
    ReservationMade,
    RestartedFromScratch,
    RunEnded,
    RunStarted,
    ScenarioStarted,
    ShelfOpened,
    StageStarted,
    TransferDropped,
    TransferEnded,
    TransferStarted,
    TransferSuspended,
    WorkerChanged,
    WorkerSpeedChanged,
)
from actors.events.scenario import DeciderKind
from actors.intervals import meet, spans_in, within
from actors.runtime import Event
from policies.availability import WorkerState

UP, DOWN = WorkerState.UP, WorkerState.DOWN


@define(eq=False)
class HeldMembers:
    """Members that a run holds, or that are kept after it."""

    texts: tuple[str, ...]
    """Interval sets as the log tells them."""
    start: int
    """seq of its RunStarted."""
    last: int
    """seq of what told last how it goes on."""
    loss: int = -1
    """seq of what gave up all that it had saved; -1: it has not begun again from scratch."""
    kept: bool = False

    def holds(self, worker: int) -> bool:
        """Whether it is a member."""
        return any(within(text, worker) for text in self.texts)

    def meets(self, text: str) -> bool:
        """Whether one of these workers is a member."""
        if text in self.texts:
            return True
        theirs = spans_in(text)
        return any(meet(spans_in(mine), theirs) for mine in self.texts)


@define(eq=False)
class KnownEvents:
    """The events of this instant, and those earlier ones that can still be causes: of jobs that
    want workers, of runs under way, of transfers, of workers that are DOWN, and of reservations."""

    now: float = 0
    decider: DeciderKind = DeciderKind.QUEUE
    cancels: bool = False
    instant: dict[int, Event] = field(factory=dict)
    """By seq."""
    lasting: dict[int, Event] = field(factory=dict)
    """By seq: of any time."""
    jobs: dict[str, dict[int, HeldMembers]] = field(factory=dict)
    """By job and run: those under way or kept, and those that ended at this instant."""
    wants: dict[str, int] = field(factory=dict)
    """By job: seq of its submission, its last iteration's start, or the last end of a run."""
    freed: dict[int, HeldMembers] = field(factory=dict)
    """By seq: members that were released at this instant."""
    came: set[int] = field(factory=set)
    """Workers that came UP at this instant."""
    opened: bool = False
    """Whether a shelf or batch opened at this instant."""
    room: bool = False
    """Whether a channel became free at this instant."""
    sent: dict[int, int] = field(factory=dict)
    """By worker: seq of its message's last event."""
    ended: dict[int, int] = field(factory=dict)
    """By worker: seq of the end of its last complete message."""
    changed: dict[int, int] = field(factory=dict)
    """By worker: seq of its last change of state."""
    promises: dict[str, int] = field(factory=dict)
    """By job: seq of its reservation."""
    placed: int = -1
    """seq of the last CopiesPlaced."""
    speed_changes: list[int] = field(factory=list)
    """seq of changes of speed since then."""
    _former: tuple[int, Event | None] = -1, None
    """The event since which the job that asked for workers last had wanted them before, by seq."""
    _fading: list[int] = field(factory=list)
    """seq of what can be a cause at this instant only."""
    _over: list[tuple[str, int]] = field(factory=list)
    """Runs that ended at this instant, and whose members are free."""

    # --- what is asked ------------------------------------------------------------------------

    def held(self, job: str, run: int) -> HeldMembers:
        """The members of a run; empty where there is none."""
        return self.jobs.get(job, {}).get(run) or HeldMembers((), -1, -1)

    def wants_now(self, job: str) -> bool:
        """Whether the job has wanted workers only since this instant."""
        return self.wants.get(job, -1) in self.instant

    def frees(self, processors: str) -> bool:
        """Whether some of these workers were freed at this instant."""
        came = any(within(processors, worker) for worker in self.came)
        return came or any(held.meets(processors) for held in self.freed.values())

    # --- what it learns, by LEARNERS ----------------------------------------------------------

    def pass_to(self, t: float) -> None:
        """It is later: `t`."""
        self.now = t
        self.instant.clear()
        self.freed.clear()
        self.came.clear()
        self.room = self.opened = False
        for job, run in self._over:
            self._forget(job, run)
        self._over.clear()
        for seq in self._fading:
            self.lasting.pop(seq, None)
        self._fading.clear()

    def _forget(self, job: str, run: int) -> None:
        runs = self.jobs.get(job, {})
        held = runs.pop(run, None)
        if held is not None:
            for seq in (held.start, held.last, held.loss):
                self.lasting.pop(seq, None)
        if not runs:
            self.jobs.pop(job, None)

    def _begin(self, event: ScenarioStarted, seq: int) -> None:
        self.decider, self.cancels = event.decider, event.cancels
        self.lasting[seq] = event

    def _want(self, event: Any, seq: int) -> None:
        before = self.wants.get(event.job, -1)
        self._former = before, self.lasting.pop(before, None)
        self.wants[event.job] = seq
        self.lasting[seq] = event

    def _leave(self, event: JobCompleted | JobKilled, seq: int) -> None:
        self.lasting.pop(self.wants.pop(event.job, -1), None)
        self.lasting.pop(self.promises.pop(event.job, -1), None)
        self._over.extend((event.job, run) for run in self.jobs.get(event.job, ()))

    def _resized(self, seq: int) -> bool:
        """Whether a pack's run ended there because its job was resized."""
        ended = self.lasting.get(seq)
        cancelled = isinstance(ended, RunEnded) and ended.outcome is Outcome.CANCELLED
        return cancelled and self.decider is DeciderKind.PACK

    def _start(self, event: RunStarted, seq: int) -> None:
        runs = self.jobs.setdefault(event.job, {})
        runs[event.run] = HeldMembers((event.processors,), seq, seq)
        if event.keeps is not None:
            self._over.append((event.job, event.keeps))
        elif self.wants.get(event.job) == seq - 1 and self._resized(seq - 1):
            # What it wanted it has; what a further copy has waited for is as before.
            self.lasting.pop(self.wants.pop(event.job), None)
            before, wanted = self._former
            if wanted is not None:
                self.wants[event.job], self.lasting[before] = before, wanted
        elif event.job in self.promises:
            self._fading.append(self.promises.pop(event.job))
        self.lasting[seq] = event

    def _go_on(self, event: StageStarted | RateChanged, seq: int) -> None:
        held = self.held(event.job, event.run)
        if held.last != held.start:
            self.lasting.pop(held.last, None)
        held.last = seq
        self.lasting[seq] = event

    def _end(self, event: RunEnded, seq: int) -> None:
        held = self.held(event.job, event.run)
        if event.kept:
            held.kept = True
            return
        self.freed[seq] = held
        self._over.append((event.job, event.run))
        self._want(event, seq)

    def _release(self, event: MembersReleased, seq: int) -> None:
        self.freed[seq] = self.held(event.job, event.run)
        self._over.append((event.job, event.run))

    def _change_members(self, event: MembersChanged, seq: int) -> None:
        self.held(event.job, event.run).texts = (event.processors,)

    def _join(self, event: MembersJoined, seq: int) -> None:
        held = self.held(event.job, event.run)
        held.texts = (*held.texts, event.processors)

    def _lose(self, event: CheckpointLost | RestartedFromScratch, seq: int) -> None:
        held = self.held(event.job, event.run)
        if held.kept:
            self.lasting.pop(held.loss, None)
            held.loss = seq
            self.lasting[seq] = event

    def _change(self, event: WorkerChanged, seq: int) -> None:
        self.lasting.pop(self.changed.get(event.worker, -1), None)
        self.changed[event.worker] = seq
        self.lasting[seq] = event
        if event.state is UP:
            self.came.add(event.worker)
        else:
            self.came.discard(event.worker)

    def _send(self, event: TransferStarted | TransferEnded | TransferSuspended, seq: int) -> None:
        self.lasting.pop(self.sent.pop(event.worker, -1), None)
        self.lasting[seq] = event
        if isinstance(event, TransferEnded):
            self.lasting.pop(self.ended.get(event.worker, -1), None)
            self.ended[event.worker] = seq
        else:
            self.sent[event.worker] = seq
        if isinstance(event, TransferEnded) or (
            isinstance(event, TransferSuspended) and self.changed.get(event.worker) in self.instant
        ):
            self.room = True

    def _drop(self, event: TransferDropped, seq: int) -> None:
        last = self.sent.pop(event.worker, -1)
        self.room |= isinstance(self.lasting.pop(last, None), TransferStarted)

    def _open(self, event: ShelfOpened | BatchOpened, seq: int) -> None:
        self.opened = True

    def _promise(self, event: ReservationMade, seq: int) -> None:
        self._fading.append(self.promises.get(event.job, -1))
        self.promises[event.job] = seq
        self.lasting[seq] = event

    def _place(self, event: CopiesPlaced, seq: int) -> None:
        self.placed = seq
        self.lasting[seq] = event

    def _settle(self, event: CopiesSettled, seq: int) -> None:
        for old in (self.placed, *self.speed_changes):
            self.lasting.pop(old, None)
        self.placed = -1
        self.speed_changes.clear()

    def _speed(self, event: WorkerSpeedChanged, seq: int) -> None:
        if self.placed >= 0:
            self.speed_changes.append(seq)
            self.lasting[seq] = event


LEARNERS: dict[type[Event], Any] = {
    ScenarioStarted: KnownEvents._begin,
    JobSubmitted: KnownEvents._want,
    IterationStarted: KnownEvents._want,
    JobCompleted: KnownEvents._leave,
    JobKilled: KnownEvents._leave,
    RunStarted: KnownEvents._start,
    StageStarted: KnownEvents._go_on,
    RateChanged: KnownEvents._go_on,
    RunEnded: KnownEvents._end,
    MembersReleased: KnownEvents._release,
    MembersChanged: KnownEvents._change_members,
    MembersJoined: KnownEvents._join,
    CheckpointLost: KnownEvents._lose,
    RestartedFromScratch: KnownEvents._lose,
    WorkerChanged: KnownEvents._change,
    TransferDropped: KnownEvents._drop,
    TransferStarted: KnownEvents._send,
    TransferEnded: KnownEvents._send,
    TransferSuspended: KnownEvents._send,
    ShelfOpened: KnownEvents._open,
    BatchOpened: KnownEvents._open,
    ReservationMade: KnownEvents._promise,
    CopiesPlaced: KnownEvents._place,
    CopiesSettled: KnownEvents._settle,
    WorkerSpeedChanged: KnownEvents._speed,
}
