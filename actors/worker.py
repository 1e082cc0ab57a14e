"""A worker is UP, RECLAIMED or DOWN, and has a speed and a memory that the master fills."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from operator import attrgetter
from typing import ClassVar

from attrs import define, field

from actors.events import NoticeGiven, WorkerChanged, WorkerSpeedChanged
from actors.repair_messages import BackFromRepair, GoToRepair, StruckWhileDown, Unit
from actors.runtime import Actor, Phase, System, constants_as_arguments, handles
from actors.transfer_client import TransferClient
from actors.worker_messages import (
    CalledButDown,
    ComeInTime,
    Fail,
    Hang,
    HiddenFaultDetected,
    KeepFor,
    NoticeDue,
    OwnerGaveNotice,
    SetSpeed,
    SpeedChanged,
    SpeedDue,
    StateChanged,
    ToldToEnd,
    Turn,
    WorkerHung,
)
from policies.availability import WorkerState

UP, DOWN, RECLAIMED = WorkerState.UP, WorkerState.DOWN, WorkerState.RECLAIMED
STATES_CHANGE = Phase.STATES_CHANGE
TURN, SPEED_DUE = Turn(), SpeedDue()
Change = tuple[float, WorkerState]
Notice = tuple[float, float | None]
"""Time of a notice, and the time at which the owner takes the worker DOWN; None: no notice is
given."""


@define(eq=False, field_transformer=constants_as_arguments)
class Worker(Actor):
    """A processor that computes while UP, keeps its memory but does nothing while RECLAIMED, and
    loses its memory when DOWN (volatile13, section III.B).

    It is DOWN while its owner, a fault's downtime or a repair says so, else RECLAIMED if its owner
    says so, else UP (rules.md, W1). It reports its changes to the scheduler, which passes them on
    to the job that holds it.
    """

    transitions: ClassVar[Mapping[WorkerState, frozenset[WorkerState]]] = {
        UP: frozenset((RECLAIMED, DOWN)),
        RECLAIMED: frozenset((UP, DOWN)),
        DOWN: frozenset((UP, RECLAIMED)),
    }
    initial = UP
    part_kinds: ClassVar = {TransferClient: attrgetter("transfers")}

    index: int
    scheduler: Actor
    master: Actor | None = None
    reports: bool = False
    """Whether the worker reports to the scheduler what it holds, whenever that changes."""
    owner: Iterator[Change] | None = None
    """Yields (time, state) of the owner's changes, times increasing, the first at the start of the
    run; None: the owner leaves the worker UP throughout."""
    speeds: Iterator[tuple[float, float]] | None = None
    """Yields (time, speed) of the changes of speed, times increasing; None: the speed is always
    1."""
    notices: Iterator[Notice] | None = None
    """Yields the notices that its owner gives, by their times; None: there are none."""
    reserved: bool = False
    """Whether its owner keeps the worker RECLAIMED until it is called, and it has not come yet
    (rules.md, P11)."""
    transfers: TransferClient | None = field(init=False, default=None)
    """Client of the master, which fetches and sends for the worker; None: there is no master."""
    _comes: tuple[float, int] | None = field(init=False, default=None)
    """Time at which a worker that was kept until its call comes, or came, and number of the call's
    event; None before the call."""
    _owned: WorkerState = field(init=False, default=UP)
    """State that the owner and the agent that has taken the worker give it together: the worse of
    their two states."""
    _given: WorkerState = field(init=False, default=UP)
    """State that the owner gives the worker, apart from keeping it until its call."""
    _agents: WorkerState = field(init=False, default=UP)
    """State in which an agent keeps the worker; UP: no agent has taken it."""
    _acted: tuple[float, int] = field(init=False, default=(-1, -1))
    """Time at which an agent took the worker or gave it back last, and number of that event."""
    _next: Change | None = field(init=False, default=None)
    """The owner's next change; None: there is none."""
    _until: float = field(init=False, default=-1)
    """Time at which the last fault's downtime ends, or ended."""
    _downtime_end: tuple[float, int] = field(init=False, default=(-1, -1))
    """Time at which the last fault's downtime ends, and number of the event with which the worker
    went DOWN."""
    _went_down: int = field(init=False, default=-1)
    """Number of the event with which the worker last went DOWN."""
    _failing: Fail | None = field(init=False, default=None)
    """Fault that strikes the worker at this instant, all its faults of the instant in one; None:
    there is none."""
    _failed_by: int = field(init=False, default=-1)
    """Number of the last event by which an agent made the worker fail."""
    _hanging: Hang | None = field(init=False, default=None)
    """Hang that strikes the worker at this instant; None: there is none."""
    _hung_by: int = field(init=False, default=-1)
    """Number of the event that leads to that hang."""
    _hidden: tuple[float, int] | None = field(init=False, default=None)
    """Time at which the worker's fault is detected at the latest, and number of the event with
    which it went DOWN (rules.md, F1); None: no fault is hidden from the job that holds it."""
    _calm: bool = field(init=False, default=True)
    """Whether nothing but its owner has turned the worker so far."""
    _speed: float = field(init=False, default=1)
    _broken: set[Unit] = field(init=False, factory=set)
    """Units of the worker that keep it DOWN: a fault has struck them, or they are in repair."""
    _struck: list[tuple[Unit, int]] = field(init=False, factory=list)
    """Units of the worker that faults strike at this instant, and the numbers of those events."""
    _prolonged: float | None = field(init=False, default=None)
    """Time at which the fault is detected at the latest that strikes the worker at this very
    instant, at which its DOWN would have ended; None: there is none."""
    _repair: tuple[float, int] | None = field(init=False, default=None)
    """Time at which the worker went to repair, or came back from it, last, and number of that
    event; None before its first repair."""

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        if self.master is not None:
            about = self.index, self.scheduler, self.master, self.reports
            self.transfers = TransferClient(self, *about)

    def started(self) -> None:
        origin, self._calm = self.system.origin, not self.reserved
        if self.owner is not None:
            _, self._given = next(self.owner)
            self._await_owner()
        self._owned = self._kept()
        if self.notices is not None:
            self._await_notice(self.notices)
        if self._owned is not UP:
            self.become(self._owned)
            cause = self.record(origin, WorkerChanged, self.index, self._owned, None, None)
            self._went_down = cause
            self.send(self.scheduler, StateChanged(self.index, self._owned, None), cause)
        if self.speeds is not None:
            self._speed_up(next(self.speeds)[1], origin)

    # --- what befalls it ----------------------------------------------------------------------

    def _await_owner(self) -> None:
        self._next = following = None if self.owner is None else next(self.owner, None)
        if following is not None:
            self.at(following[0], TURN, self.system.origin, STATES_CHANGE)

    def _await_notice(self, notices: Iterator[Notice]) -> None:
        following = next(notices, None)
        if following is not None:
            announced, time = following
            self.at(announced, NoticeDue(time), self.system.origin, Phase.NOTICES)

    @handles(NoticeDue)
    def give_notice(self, message: NoticeDue, cause: int) -> None:
        if self.notices is not None:
            self._await_notice(self.notices)
        if message.time is not None:
            self._announce(message.time, cause)

    @handles(ToldToEnd)
    def be_told_to_end(self, _: ToldToEnd, cause: int) -> None:
        self._announce(None, cause)

    def _announce(self, time: float | None, cause: int) -> None:
        if self.state is not DOWN:
            cause = self.record(cause, NoticeGiven, self.index, time)
            self.send(self.scheduler, OwnerGaveNotice(self.index), cause)

    @handles(Fail)
    def fail(self, message: Fail, cause: int) -> None:
        self._calm = False
        if message.unit is not None:
            self._struck.append((message.unit, cause))
        if message.law < 0:
            self._failed_by = cause
        other = self._failing
        if other is not None:
            longest = max(message.downtime, other.downtime)
            detection = min(message.detection, other.detection)
            first = min(message.law, other.law)
            message = Fail(longest, detection, message.logs_detection, first, message.unit)
        self._failing = message
        self.then(TURN, cause, STATES_CHANGE)

    def _kept(self) -> WorkerState:
        """Return the state that the owner and the agent that has taken the worker give it together:
        the worse of their two states."""
        given, other = self._given, self._agents
        if given is DOWN or other is DOWN:
            return DOWN
        return RECLAIMED if self.reserved or other is RECLAIMED else given

    @handles(KeepFor)
    def keep_for(self, message: KeepFor, cause: int) -> None:
        self._agents, self._acted, self._calm = message.state, (self.now, cause), False
        self._owned = self._kept()
        self.later(TURN, cause, STATES_CHANGE)

    def _explains(self, state: WorkerState) -> bool:
        """Return whether what an agent did last makes the worker's state `state`: it has taken the
        worker so, or has given it back, and the worker is not DOWN."""
        wanted = self._agents
        return wanted is state or (wanted is UP and state is RECLAIMED)

    @handles(ComeInTime)
    def come_in_time(self, message: ComeInTime, cause: int) -> None:
        self._comes = self.now + message.delay, cause
        self.at(self.now + message.delay, TURN, cause, STATES_CHANGE)

    @handles(GoToRepair)
    def go_to_repair(self, message: GoToRepair, cause: int) -> None:
        self._calm = False
        if not self._broken:
            self._repair = self.now, cause
        self._broken.add(message.unit)
        self.then(TURN, cause, STATES_CHANGE)

    @handles(BackFromRepair)
    def come_back(self, message: BackFromRepair, cause: int) -> None:
        self._broken.discard(message.unit)
        if not self._broken:
            self._repair = self.now, cause
        self.then(TURN, cause, STATES_CHANGE)

    @handles(Hang)
    def hang(self, message: Hang, cause: int) -> None:
        self._calm = False
        if self._hanging is None or message.law < self._hanging.law:
            self._hanging = message
            self._hung_by = cause if message.law < 0 else self.system.origin
        self.later(TURN, cause, STATES_CHANGE)

    @handles(Turn)
    def turn(self, _: Turn, __: int) -> None:  # noqa: C901 (a call would cost all faults 0.2 %)
        """Settle the worker's state at this instant, from all that is due now: the owner's change,
        a fault, a hang, a repair and the end of a downtime, whatever the order in which they were
        reported."""
        following = self._next
        if following is not None and self._calm:
            self._obey(following[1])
            return
        due_by, was = self.system.loop.due_by, self.state
        comes = self.reserved and self._come_if_due(due_by)
        if following is not None and following[0] <= due_by:
            self._follow_owner(following[1])
        owned = self._owned
        down = owned is DOWN or due_by < self._until or bool(self._broken)
        fault = self._failing
        if self._hanging is not None:
            self._hang_unless(down or owned is not UP, self._hanging, fault)
        if fault is not None:
            down = self._take(fault, down)
        state = DOWN if down else owned
        if self._hidden is not None and (state is UP or owned is DOWN or self._hidden[0] <= due_by):
            self.send(self.scheduler, HiddenFaultDetected(self.index), self._hidden[1])
            self._hidden = None
        if state is not self.state:
            self._change(state)
        if self._struck:
            self._report_struck(was)
        if comes and state is DOWN and self._comes is not None:
            self.send(self.scheduler, CalledButDown(), self._comes[1])

    def _obey(self, state: WorkerState) -> None:
        """Turn the worker to the state that the owner gives it now; nothing else has ever turned
        it."""
        self._given = self._owned = state
        self._await_owner()
        if state is not self.state:
            self._change(state, cause=self.system.origin)

    def _follow_owner(self, state: WorkerState) -> None:
        """Note the state that the owner gives the worker now, and wait for its next change."""
        self._given = state
        shared = self.reserved or self._agents is not UP
        self._owned = self._kept() if shared else state
        self._await_owner()

    def _come_if_due(self, due_by: float) -> bool:
        """Give a worker that was kept until its call to its owner's states if the delay since then
        is over by the time `due_by`, the end of this instant. Return whether that is so."""
        if self._comes is None or self._comes[0] > due_by:
            return False
        self.reserved = False
        self._owned = self._kept()
        return True

    def _report_struck(self, was: WorkerState) -> None:
        """If the worker was DOWN already (`was`), so that no change of state tells of them, report
        the faults that have struck its units at this instant to the scheduler. Then forget these
        faults."""
        if was is DOWN:
            fault, latest = self._struck[0][1], self._prolonged
            hidden = latest is not None and self._hidden is None
            self.send(self.scheduler, StruckWhileDown(self.index, hidden), fault)
            if latest is not None and hidden:
                self._hide(latest, fault)
        self._prolonged = None
        self._struck.clear()

    def _hang_unless(self, away: bool, hang: Hang, fault: Fail | None) -> None:
        """Report the hang to the scheduler. Nothing is reported if the worker is not UP (`away`),
        or if `fault`, which strikes it at this instant, is of an earlier law than the hang or of
        the same one."""
        self._hanging = None
        if not away and (fault is None or hang.law < fault.law):
            self.send(self.scheduler, WorkerHung(self.index, hang), self._hung_by)

    def _take(self, fault: Fail, down: bool) -> bool:
        """Let the fault of this instant strike the worker, which is DOWN anyhow if `down` is true,
        and return whether it is DOWN then."""
        self._failing, loop = None, self.system.loop
        for unit, _ in self._struck:
            self._broken.add(unit)
        if not down:
            self._fail(fault, loop.now, loop.due_by)
        return down or loop.due_by < self._until or bool(self._broken)

    def _fail(self, fault: Fail, now: float, due_by: float) -> None:
        self._until = over = now + fault.downtime
        known, broken = now + fault.detection, self._broken
        if fault.downtime:
            self.at(over, TURN, self.system.origin, STATES_CHANGE)
        if self.state is not DOWN:
            hidden = known > due_by and (over > due_by or bool(broken) or self._owned is not UP)
            lasts = fault.detection or fault.logs_detection or over > due_by
            until = over if lasts and not broken else None
            detection = fault.detection if fault.logs_detection else None
            outside = self._failed_by if fault.law < 0 else self.system.origin
            cause = self._struck[0][1] if self._struck else outside
            fall = self._change(DOWN, until, hidden, detection, cause)
            self._downtime_end = over, fall
            if hidden and self._hidden is None:
                self._hide(known, fall)
        else:
            # The fault prolongs the present DOWN.
            self._downtime_end = over, self._went_down
            self._prolonged = known if self._struck and known > due_by else None
        if self._hidden is not None and known < self._hidden[0]:
            self._hide(known, self._hidden[1])  # this fault is detected before the earlier one

    def _hide(self, latest: float, fall: int) -> None:
        """Keep the fault from the job that holds the worker until the time `latest`, at which it is
        detected unless that happens earlier (rules.md, F1). `fall` is the number of the event with
        which the worker went DOWN."""
        self._hidden = latest, fall
        self.at(latest, TURN, self.system.origin, STATES_CHANGE)

    def _change(
        self,
        state: WorkerState,
        until: float | None = None,
        hidden: bool = False,
        detection: float | None = None,
        cause: int | None = None,
    ) -> int:
        """Change the worker's state and report it to the scheduler. Return the number (seq) of the
        event that logs it.

        `until`: the end of a fault's downtime, for the log. `hidden`: the job that holds the worker
        does not know of the fault yet. `detection`: the time after which it does, where the log has
        it. `cause`: number of the event of the fault that struck the worker's unit; None: the cause
        is found from what ends or begins at this instant.
        """
        was, ends = self.state, False
        if cause is None:
            cause, ends = self._reason(was, state)
        self.become(state)
        cause = self.record(cause, WorkerChanged, self.index, state, was, until, detection)
        if state is DOWN:
            self._went_down = cause
        changed = StateChanged(self.index, state, until, hidden, ends and state is UP)
        self.send(self.scheduler, changed, cause)
        if self.transfers is not None:
            self.transfers.moved(state, cause, hidden)
        return cause

    def _reason(self, was: WorkerState, state: WorkerState) -> tuple[int, bool]:
        """Return the number of the event because of which the worker, no fault striking it, changes
        its state from `was` to `state` at this instant, and whether a downtime or a repair ends
        now."""
        loop, (over, fall) = self.system.loop, self._downtime_end
        now, due_by = loop.now, loop.due_by
        ends = was is DOWN and now <= over <= due_by
        if ends and self._repair is None:
            return fall, True
        cause = fall if ends else self.system.origin
        if not ends and self._acted[0] == now and self._explains(state):
            cause = self._acted[1]
        comes, repair = self._comes, self._repair
        if comes is not None and state is UP and was is RECLAIMED and now <= comes[0] <= due_by:
            cause = comes[1]
        if repair is not None and repair[0] == now and self._repairs(was, state):
            ends, cause = was is DOWN, repair[1]
        return cause, ends

    def _repairs(self, was: WorkerState, state: WorkerState) -> bool:
        """Return whether a worker that went to repair, or came back, at this instant changes its
        state from `was` to `state` because of that."""
        return DOWN in (was, state) and (state is DOWN) == bool(self._broken)

    def waits_for(self) -> str | None:
        return None if self.transfers is None else self.transfers.waits_for()

    @handles(SetSpeed)
    def set_speed(self, message: SetSpeed, cause: int) -> None:
        self.later(SpeedDue(message.speed), cause, STATES_CHANGE)

    @handles(SpeedDue)
    def change_speed(self, message: SpeedDue, cause: int) -> None:
        self._speed_up(self._speed if message.speed is None else message.speed, cause)

    def _speed_up(self, speed: float, cause: int) -> None:
        """Set the worker's speed to `speed`, because of the event numbered `cause`, and a timer for
        the next change of speed. Report it to the scheduler, except a speed of 1 at time 0."""
        following = next(self.speeds, None) if self.speeds is not None else None
        if following is not None:
            time, self._speed = following
            self.at(time, SPEED_DUE, cause, STATES_CHANGE)
        if speed != 1 or self.now > 0:
            cause = self.record(cause, WorkerSpeedChanged, self.index, speed)
            self.send(self.scheduler, SpeedChanged(self.index, speed), cause)


@define(eq=False)
class WorkerRegistry:
    """Holds the actors of a platform's workers by number. Calling it with a worker's number returns
    that worker's actor, which `make` creates at the first call."""

    system: System
    make: Callable[[int], Worker]
    known: dict[int, Worker] = field(factory=dict)

    def __call__(self, index: int) -> Worker:
        worker = self.known.get(index)
        if worker is None:
            worker = self.known[index] = self.system.spawn(self.make(index))
        return worker
