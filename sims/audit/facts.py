"""Defines the parts of the audit's state: jobs, copies, runs, and states from which runs can
start."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Any, Protocol

from attrs import Factory, define, field, frozen

from actors.events import (
    JobDescribed,
    JobSubmitted,
    ProtectionDescribed,
    ProtectionKind,
    Stage,
    WorkerChanged,
)
from actors.runtime import Event
from sims.audit.scenario import NOTHING, Asked
from sims.audit.turns import NEGLIGIBLE, Emitter, PartEnd, Timer
from sims.audit.workers import Spans, extent, joined, numbers, written

HANG = -1
"""Stands for a hang among the members that lack a message."""
AT_SPEED = Stage.COMPUTING, Stage.VERIFYING


@frozen
class ExpectedState:
    """A state that a job's computation has reached, saved or not, from which a run can start."""

    run: int
    done: float
    """Work done, in units of the run that computed the state."""
    work: float
    """Whole work of the run that computed the state."""
    exposed: float = 0
    """Workers x computing time since the last verified point (R3)."""

    @property
    def fraction(self) -> float:
        """Part of the job's whole work that is done, from 0 to 1."""
        return self.done / self.work if self.work else 1

    def beyond(self, other: ExpectedState | None) -> bool:
        """Return whether this state has a larger fraction of the job's work done than `other`, by
        more than rounding; true if `other` is None."""
        return other is None or self.fraction - other.fraction > NEGLIGIBLE

    def of(self, work: float) -> float:
        """Return the work done, converted to the units of another run, whose whole work is
        `work`."""
        # The equal case is exact: scaling would round.
        return self.done if work == self.work else self.done * work / self.work


@define(eq=False)
class ExpectedJob(Emitter):
    """A job that has been submitted and is not over."""

    name: str
    submitted: int
    """Sequence number of the submission."""
    described: JobDescribed
    whose: JobSubmitted
    """The line of the submission, which names the user, the group and the queue."""
    came: float = 0
    """Time of the submission."""
    asked: Asked = NOTHING
    """Mechanisms for which the scenario asks in the job's runs."""
    partition: Any = None
    """Partition whose workers it may have; None where there are none."""
    rules: ProtectionDescribed = field(init=False)
    """Protection of the job; unset for a plain job."""
    messages: Any = None
    """Messages of the job, where there is a master; else None."""
    tasks: Any = None
    """TasksDescribed of an iterative job."""
    times: dict[int, float] = Factory(dict)
    """Maps workers to w_q, the time of one task."""
    bounds: dict[int, int] = Factory(dict)
    """Maps workers to mu_q, the largest number of tasks."""
    speedup: Any = None
    """The job's speedup in the scenario, where a pack schedules the job."""
    application: Any = None
    """ApplicationDescribed of a job that a pack schedules."""
    costs: Any = None
    """Costs of the job's runs by malleable17's model, where a pack decides."""
    iteration: int = -1
    copies: list[ExpectedCopy] = Factory(list)
    """Copies of the job that hold workers, in the order of their placement."""
    next_run: int = 0
    saved: ExpectedState | None = None
    """Saved state at the master (P3)."""
    kept: list[ExpectedState] = Factory(list)
    """States of cancelled runs where the decider schedules copies, the furthest first."""
    works: dict[int, float] = Factory(dict)
    """Maps numbers of members to the work of a run, where only runs in the log reveal it."""
    learnt: dict[tuple[int, int], float] = Factory(dict)
    """Maps (members, nodes that they are on) to a period that only checkpoints in the log
    reveal."""
    draws: bool | None = None
    """Whether the job's errors are drawn at random; None while no verification has ended."""
    lost: int = 0
    """Number of a plain job's attempts that ended early, which do not count as failures."""
    passed: tuple[float, int] = -1.0, 0
    """Time at which parts of the job's runs ended last, and the number of timers set by then."""
    preparation: float = 0
    """Time that passes before the members of a copy's first run fetch anything."""
    wanted: int = -1
    """Sequence number of the event since which the job has wanted workers."""
    over: tuple[str, float] = "completed", -1.0
    """Outcome and time of the last run's end."""

    @property
    def asks(self) -> bool:
        """Whether the job asks for any mechanism."""
        return self.asked is not NOTHING

    @property
    def overhead(self) -> float:
        """Time for which a run holds its members in addition to its own work: its verification, and
        what passes before it begins in earnest."""
        return self.described.verification + self.preparation

    @property
    def plain(self) -> bool:
        """Whether the log gives the job's number of failures, so that each of its attempts is a
        single timer (rigid21, section 3.2)."""
        return self.described.failures is not None

    @property
    def kind(self) -> ProtectionKind:
        """Kind of the job's protection; none for a plain job, whose attempts are single timers."""
        return ProtectionKind.NONE if self.plain else self.rules.kind

    @property
    def keeps(self) -> bool:
        """Whether the job is protected by buddies: its copies then keep their members when a run is
        lost or fails (rules.md, P2). Copies that hold workers ready keep theirs, too, whatever this
        says (P12)."""
        return self.kind is ProtectionKind.BUDDIES


class MemberGroup(Protocol):
    """A group of a copy's members that together hold the whole state."""

    members: tuple[int, ...]
    absent: set[int]
    """Members that are not UP while the run does not compute on the group."""

    @property
    def out(self) -> bool:
        """Whether the run does not compute on the group at present."""


class ExpectedDivision(Protocol):
    """Division of a copy's members into groups that hold the whole state each; a run computes on
    some of them."""

    @property
    def groups(self) -> Sequence[MemberGroup]:
        """All groups, whether a run computes on them or not."""

    @property
    def left(self) -> Sequence[MemberGroup]:
        """Groups on which the run computes."""

    @property
    def share(self) -> float:
        """Fraction of its full rate at which the run computes."""

    def of(self, worker: int) -> MemberGroup:
        """Return the group that member number `worker` is in."""

    def saves(self) -> None:
        """Note that the groups on which the run computes have the buddies' checkpoint now."""

    def recovers(self) -> None:
        """Note that all groups have the buddies' checkpoint now."""

    def loses(self, worker: int) -> bool:
        """Note that the group of member `worker` has lost the buddies' checkpoint; return whether
        it was the last group that had it."""


@define(eq=False)
class ExpectedCopy:
    """A copy of a job: the members that are held for its runs, one run at a time.

    Under buddies the members are kept for the next run when a run is lost.
    """

    job: ExpectedJob
    spans: Spans
    text: str
    """Text of `spans`, as logs write it."""
    placed: int = 0
    """Number that grows with each placement, by which copies are ordered."""
    units: dict[int, int] = Factory(dict)
    """Maps members to numbers of tasks, for an iterative job."""
    speeds: dict[int, float] | None = None
    """Maps members to the speeds that the copy knows; None if all are 1."""
    absent: set[int] = Factory(set)
    """Members that are not UP."""
    run: ExpectedRun | None = None
    last: int = -1
    """Number of the copy's last run."""
    saved: ExpectedState | None = None
    """State that the buddies of the members keep."""
    holders: int = 0
    """Number of members over which that state, or the input, is distributed."""
    cause: int = -1
    """Sequence number of the event for which the next run waited last."""
    failed: set[int] = Factory(set)
    """Members that went DOWN since the last recovery ended."""
    ready: list[int] = Factory(list)
    """Workers, ascending, that are held to replace members (P12)."""
    rest: tuple[int, ...] = ()
    """Workers, ascending, that are held because members are of the same nodes (G6)."""
    outcome: Any = None
    """Outcome of the last run, whose members the copy keeps."""
    promised: bool = False
    """Whether the copy's members are promised to other jobs for the time after its end."""
    gone: bool = False
    struck: float = -1
    """Time at which a member that went DOWN ended its last run."""
    former: tuple[int, ...] = ()
    """Members of the run that ended at `struck`."""
    rings: list[list[int]] = Factory(list)
    """Groups of members that keep each other's checkpoints; empty while not computed."""
    undetected: dict[int, tuple[float, int]] = Factory(dict)
    """Maps members that an undetected fault has taken DOWN to the time and the event of the
    fault."""
    taken: int = 0
    """Number of checkpoints that were completed."""
    given_up: float = 0
    """Saved work that the run, which goes on, would lack if it were lost now."""
    stored: ExpectedState | None = None
    """State of the buddies' checkpoint that is on shared storage too."""

    full: int = field(init=False)
    """Number of members, with promised ones that have not come yet."""
    division: ExpectedDivision | None = field(init=False, default=None)
    """Groups of members that hold the whole state each; None if there is but one."""

    def __attrs_post_init__(self) -> None:
        self.holders = self.full = extent(self.spans)

    @property
    def working(self) -> tuple[int, ...]:
        """Members on which the run computes: those of the groups that take part, or all."""
        if self.division is None:
            return self.members
        return tuple(n for it in self.division.left for n in it.members)

    @property
    def width(self) -> int:
        """Number of members on which the run computes, counting promised ones that have not come
        yet."""
        return self.full if self.division is None else len(self.working)

    @property
    def blind(self) -> bool:
        """Whether the run waits without knowing it, as a member that takes part in it is DOWN by a
        fault that is not detected yet."""
        return any(map(self.concerns, self.undetected))

    def concerns(self, worker: int) -> bool:
        """Return whether a change of worker `worker`'s state affects the copy's run: false for one
        that is held ready, and for a member on which the run does not compute."""
        if worker in self.ready:
            return False
        return self.division is None or not self.division.of(worker).out

    @property
    def away(self) -> set[int]:
        """Members that are not UP, including those on which the run does not compute."""
        if self.division is None:
            return self.absent
        return self.absent.union(*(it.absent for it in self.division.groups))

    def absent_with(self, worker: int) -> set[int]:
        """Return the set that notes this member while it is not UP: its group's if the run does not
        compute on that, else the copy's. The set itself is returned, to be changed."""
        group = None if self.division is None else self.division.of(worker)
        return group.absent if group is not None and group.out else self.absent

    def change(self, spans: Spans, full: int) -> None:
        """Replace the members by those of `spans`. The number of members is `full`: where `spans`
        has fewer, the others are promised by other jobs and come later."""
        # Groups of buddies depend on the members: they are computed anew when needed.
        self.spans, self.full, self.text, self.rings = spans, full, written(spans), []

    @property
    def lacking(self) -> int:
        """Number of members that other jobs have promised to this copy and still compute on."""
        return self.full - extent(self.spans)

    @property
    def held(self) -> Spans:
        """Workers that the copy holds: members, those that are held ready, and the rest of their
        nodes."""
        more = (*self.ready, *self.rest)
        return joined((*self.members, *more)) if more else self.spans

    @property
    def members(self) -> tuple[int, ...]:
        """Numbers of the members."""
        return numbers(self.spans)


@define(eq=False)
class ExpectedRun:
    """The audit's account of one run: the work done, and the part that it is in with its rate.

    A checkpoint that is taken while the run goes on, and a group of members that loads the state,
    have accounts of this class too.
    """

    copy: ExpectedCopy
    number: int
    work: float
    base: float = 0
    """Work done when the present part began."""
    stage: Stage | None = None
    length: float = 0
    """Length of the present part: work if it computes, else time."""
    passed: float = 0
    """Part of `length` that had passed at `since`."""
    rate: float = 0
    since: float = 0
    cause: int = -1
    """Sequence number of the last event of the present part."""
    reach: float = 0
    """Work done when the present computation ends."""
    exposed: float = 0
    computes: bool = False
    """Whether the run has begun to compute."""
    learns: bool = False
    """Whether the run's period is unknown, and its next checkpoint reveals it."""
    missing: set[int] = Factory(set)
    """Members that lack a message, or have not sent theirs."""
    plan: Any = None
    """State that the run begins from, and its parts before computing."""
    ahead: tuple[float, ...] = ()
    """Times of the parts between the present one and computing."""
    spread: bool = False
    """Whether the run's state is distributed over all members once its progress has been
    reported."""
    reports: bool = False
    """Whether the run reports its progress to the decider when it next waits."""
    timer: Timer | None = None
    part_end: PartEnd = Factory(PartEnd)
    """End of the present part, for which the run's script waits."""
    saving: ExpectedRun | None = None
    """Account of a checkpoint that is taken while the run goes on."""
    hung: int | None = None
    """Member that hangs: the run advances no more; None if there is none."""
    hang: int = -1
    """Sequence number of the event with which it last began to hang."""
    paused: bool = False
    """Whether the run stands still while groups of members drop out or rejoin."""
    group: MemberGroup | None = None
    """Group whose loading this account follows; None if it follows a run or a checkpoint."""
    due: bool = False
    """Whether another checkpoint fell due while the one in `saving` was still being taken."""
    aimed: int = 0
    """Number of the run's present timer among all timers."""
    received: float = -1
    """Time at which the last message of the present part ended, if other copies may go on first."""
    tied: bool = False
    """Whether the present part ends when the checkpoint beside it does, at the same instant."""
    emitters: tuple[Emitter, ...] = ()
    """Two emitters, one of the lines about checkpoints beside the run and one of those about the
    run's own parts, as the order of these lines is free; empty where checkpoints block, and the job
    emits all."""
    beside: Emitter | None = None
    """Emitter of the lines of this account, if it is that of a checkpoint beside its run."""
    started: int = -1
    over: bool = False
    shares: bool = False
    """Whether the present part passes at a bandwidth that shared storage gives."""
    aim: Callable[[], None] = field(init=False)
    """Sets the timer of a part that shares the storage's bandwidth, after that has changed."""

    def hangs(self, worker: int, seq: int) -> None:
        """Have member `worker` of the run hang from event `seq` on: messages of other members do
        not make the run go on."""
        self.hung, self.hang = worker, seq
        self.missing.add(HANG)

    def hangs_no_more(self) -> None:
        """Have no member of the run hang any longer."""
        self.hung = None
        self.missing.discard(HANG)

    @property
    def width(self) -> int:
        """Number of members whose bandwidth and computing the account counts: those of the group
        that loads, or those on which the copy computes."""
        return self.copy.width if self.group is None else len(self.group.members)

    @property
    def still(self) -> bool:
        """Whether no time of the present part passes: a member is not UP, or the run hangs or is
        paused."""
        if self.group is not None:
            return bool(self.group.absent)
        whole = self.copy.run
        stops = whole is not None and (whole.hung is not None or whole.paused)
        return bool(self.copy.absent) or stops

    def at(self, now: float) -> float:
        """Return how much of the present part has passed at time `now`: work if the part computes,
        bytes if it shares the storage's bandwidth, else time."""
        return self.passed + self.rate * (now - self.since) if self.rate else self.passed

    def done(self, now: float) -> float:
        """Return the work that the run has done at time `now`, in its own units; at most that at
        which the present computation ends."""
        if self.stage is not Stage.COMPUTING:
            return self.base
        done = self.base + self.at(now)
        # The nominal time of a part that a real process carries out may pass before its end.
        return done if done <= self.reach * (1 + NEGLIGIBLE) else self.reach

    def end(self) -> float:
        """Return the time at which the present part ends at the present rate; inf if the rate is
        0."""
        if not self.length:
            return self.since
        if not self.rate:
            return inf
        left = self.length - self.passed
        # What rounding leaves of a part is none: the part ends at this very instant.
        return self.since + (left / self.rate if left > NEGLIGIBLE * self.length else 0)

    def expose(self, now: float) -> float:
        """Return the exposure at time `now`: members x computing time since the last verified
        point, during which a silent error can have struck."""
        if self.stage is Stage.COMPUTING and self.rate:
            return self.exposed + self.copy.width * (now - self.since)
        return self.exposed

    def settle(self, now: float) -> None:
        """Bring progress and exposure up to time `now`, from which on the part may pass at another
        rate."""
        self.exposed, self.passed, self.since = self.expose(now), self.at(now), now

    def state(self, now: float) -> ExpectedState:
        """Return the state that the run has reached at time `now`, from which another copy could go
        on."""
        return ExpectedState(self.number, self.done(now), self.work, self.expose(now))


@frozen
class HeadLine:
    """A kind of line in the log's head that describes one mechanism of the platform."""

    kind: type[Event]
    after: type[Event]
    """Class of the lines that it comes right after."""
    once: bool = True
    """Whether a log has at most one such line."""


@frozen(eq=False)
class Change:
    """A worker's change of state, as the log's line says it."""

    event: WorkerChanged
    cause: int
    """Event that must cause it; 0: its owner makes it."""
    fault: bool
    """Whether a fault makes it."""
    called: bool
    """Whether the worker has been called, and comes now."""
