"""Defines the parts of the audit's state: jobs, copies, runs, and states from which runs can
start."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from math import inf
from typing import Any

from attrs import Factory, define, field, frozen

from actors.events import (
    CheckpointingDescribed,
    JobDescribed,
    ProtectionDescribed,
    ProtectionKind,
    ReplicasDescribed,
    Stage,
)
from sims.audit.turns import NEGLIGIBLE, Emitter, Timer, Waitable
from sims.audit.workers import Spans, extent, joined, numbers, written

AT_SPEED = Stage.COMPUTING, Stage.VERIFYING
DEFAULT_CHECKPOINTING = CheckpointingDescribed("", False, True, 0, None, 0, None)
"""Checkpointing of a job for which the log has no CheckpointingDescribed: blocking, one level, no
replacement."""


def batched(members: tuple[int, ...], each: int) -> Iterator[tuple[int, ...]]:
    """Yield the members in groups of `each`, in order; the last group may be smaller."""
    return (members[k : k + each] for k in range(0, len(members), each))


@frozen
class State:
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

    def beyond(self, other: State | None) -> bool:
        """Return whether this state has a larger fraction of the job's work done than `other`, by
        more than rounding; true if `other` is None."""
        return other is None or self.fraction - other.fraction > NEGLIGIBLE

    def of(self, work: float) -> float:
        """Return the work done, converted to the units of another run, whose whole work is
        `work`."""
        # The equal case is exact: scaling would round.
        return self.done if work == self.work else self.done * work / self.work


@define(eq=False)
class Job(Emitter):
    """A job that has been submitted and is not over."""

    name: str
    submitted: int
    """Sequence number of the submission."""
    described: JobDescribed
    startup: float = 0
    """Time in which a run starts up before its members fetch anything."""
    select: float = 0
    """Time in which workers are chosen for a run."""
    standbys: int = 0
    """Largest number of standbys that a copy takes at its start."""
    replicas: ReplicasDescribed | None = None
    """Groups of members that hold the whole state each; None if there is but one."""
    rules: ProtectionDescribed = field(init=False)
    """Protection of the job; unset for a plain job."""
    checkpointing: CheckpointingDescribed = DEFAULT_CHECKPOINTING
    """How the job takes checkpoints and replaces members."""
    messages: Any = None
    """MessagesDescribed of the job, where there is a master."""
    tasks: Any = None
    """TasksDescribed of an iterative job."""
    times: dict[int, float] = Factory(dict)
    """Maps workers to w_q, the time of one task."""
    bounds: dict[int, int] = Factory(dict)
    """Maps workers to mu_q, the largest number of tasks."""
    application: Any = None
    """ApplicationDescribed of a job that a pack schedules."""
    costs: Any = None
    """Costs of the job's runs by malleable17's model, where a pack decides."""
    iteration: int = -1
    copies: list[Copy] = Factory(list)
    """Copies of the job that hold workers, in the order of their placement."""
    next_run: int = 0
    saved: State | None = None
    """Saved state at the master (P3)."""
    kept: list[State] = Factory(list)
    """States of cancelled runs where the decider schedules copies, the furthest first."""
    works: dict[int, float] = Factory(dict)
    """Maps numbers of members to the work of a run, where only runs in the log reveal it."""
    learnt: dict[tuple[int, int], float] = Factory(dict)
    """Maps (members, nodes that they are on) to a period that only checkpoints in the log
    reveal."""
    stored: float | None = None
    """Size of what the job keeps on shared storage; None if it keeps nothing there."""
    draws: bool | None = None
    """Whether the job's errors are drawn at random; None while no verification has ended."""
    lost: int = 0
    """Number of a plain job's attempts that ended early, which do not count as failures."""
    passed: tuple[float, int] = -1.0, 0
    """Time at which parts of the job's runs ended last, and the number of timers set by then."""
    wanted: int = -1
    """Sequence number of the event since which the job has wanted workers."""
    over: tuple[str, float] = "completed", -1.0
    """Outcome and time of the last run's end."""

    @property
    def overhead(self) -> float:
        """Time for which a run holds its members in addition to its own work: its verification, its
        start-up, and the choice of its workers."""
        return self.described.verification + self.startup + self.select

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
        lost or fails (rules.md, P2). Copies with standbys keep theirs, too, whatever this says
        (P12)."""
        return self.kind is ProtectionKind.BUDDIES


class Standing(enum.Enum):
    """The stages of a replica (a group of members that holds the whole state of a run) between
    dropping out of the run and rejoining it."""

    IN = enum.auto()
    OUT = enum.auto()
    """The replica waits until all of its members are UP."""
    LOADING = enum.auto()
    LOADED = enum.auto()
    REJOINING = enum.auto()


@define(eq=False)
class Group:
    """A replica: members that together hold a whole copy of the run's state (E1)."""

    members: tuple[int, ...]
    standing: Standing = Standing.IN
    absent: set[int] = Factory(set)
    """Members that are not UP while the replica takes no part in the run."""
    lacking: set[int] = Factory(set)
    """Members that still lack a message while the replica loads the state."""
    cause: int = -1
    """Sequence number of the event for which it waited last."""
    loads: Run | None = None
    """Account of the state that the replica loads from shared storage."""

    def received(self, worker: int, cause: int) -> bool:
        """Note that member `worker` of a replica that loads the state has received all that it
        needs, with event `cause`; return whether it is the last one, so that the replica is loaded
        now."""
        last = self.lacking == {worker}  # a member reports again when it is UP again
        self.lacking.discard(worker)
        if not last or self.standing is not Standing.LOADING:
            return False
        self.standing, self.cause = Standing.LOADED, cause
        return True

    @property
    def out(self) -> bool:
        """Whether the replica has dropped out of the run and not rejoined it yet."""
        return self.standing is not Standing.IN


@define(eq=False)
class Replicas:
    """The replicas (groups of members that hold the whole state each) into which a copy's members
    are divided, and the faults among them (E1)."""

    rules: ReplicasDescribed
    groups: list[Group]
    pause: Any = None
    """Pause of the run, if one is under way."""
    known: list[tuple[int, int]] = Factory(list)
    """Members whose faults became known at this instant, each with the event that made its fault
    known."""
    keepers: list[Group] = field(init=False)
    """Groups that have the buddies' checkpoint."""
    given_up: float = 0
    """Saved work that the run, which goes on, would lack if it were lost now."""
    loads: bool = False
    """Whether groups that are whole have begun to load, and rejoin later in this instant where they
    lack nothing."""

    def __attrs_post_init__(self) -> None:
        self.keepers = list(self.groups)

    def pass_pause(self, w: Any, run: Run, cause: int) -> None:
        """Let the time of the run's pause pass from now on if all members of replicas that take
        part are UP and none hangs, else stop it, because of event `cause`; `w` is the audit's
        state. Without a pause nothing is done."""
        if self.pause is not None:
            self.pause.pass_on(w, not run.copy.absent and run.hung is None, cause)

    def of(self, worker: int) -> Group:
        """Return the replica that member number `worker` is in."""
        return next(it for it in self.groups if worker in it.members)

    @property
    def left(self) -> list[Group]:
        """Replicas that take part in the run."""
        return [it for it in self.groups if not it.out]

    @property
    def share(self) -> float:
        """Fraction of its full rate at which the run computes: that of the replicas that take
        part."""
        return len(self.left) / len(self.groups)


@define(eq=False)
class Copy:
    """A copy of a job: the members that are held for its runs, one run at a time.

    Under buddies the members are kept for the next run when a run is lost.
    """

    job: Job
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
    run: Run | None = None
    last: int = -1
    """Number of the copy's last run."""
    saved: State | None = None
    """State that the buddies of the members keep."""
    holders: int = 0
    """Number of members over which that state, or the input, is distributed."""
    cause: int = -1
    """Sequence number of the event for which the next run waited last."""
    failed: set[int] = Factory(set)
    """Members that went DOWN since the last recovery ended."""
    standbys: list[int] = Factory(list)
    """Workers, ascending, that are held to replace members (P12)."""
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
    stored: State | None = None
    """State of the buddies' checkpoint that is on shared storage too."""

    full: int = field(init=False)
    """Number of members, with promised ones that have not come yet."""
    replicas: Replicas | None = field(init=False, default=None)
    """Groups of members that hold the whole state each; None if there is but one."""

    def __attrs_post_init__(self) -> None:
        self.holders = self.full = extent(self.spans)
        described = self.job.replicas
        if described is not None:
            each = self.full // described.replicas
            parts = batched(self.members, each)
            self.replicas = Replicas(described, [Group(part) for part in parts])

    @property
    def working(self) -> tuple[int, ...]:
        """Members on which the run computes: those of the replicas that take part, or all."""
        if self.replicas is None:
            return self.members
        return tuple(n for it in self.replicas.left for n in it.members)

    @property
    def width(self) -> int:
        """Number of members on which the run computes, counting promised ones that have not come
        yet."""
        return self.full if self.replicas is None else len(self.working)

    @property
    def blind(self) -> bool:
        """Whether the run waits without knowing it, as a member that takes part in it is DOWN by a
        fault that is not detected yet."""
        return any(map(self.concerns, self.undetected))

    def concerns(self, worker: int) -> bool:
        """Return whether a change of worker `worker`'s state affects the copy's run: false for a
        standby, and for a member of a replica that has dropped out."""
        if worker in self.standbys:
            return False
        return self.replicas is None or not self.replicas.of(worker).out

    @property
    def away(self) -> set[int]:
        """Members that are not UP, including those of replicas that have dropped out."""
        if self.replicas is None:
            return self.absent
        return self.absent.union(*(it.absent for it in self.replicas.groups))

    def absent_with(self, worker: int) -> set[int]:
        """Return the set that notes this member while it is not UP: its replica's if that has
        dropped out of the run, else the copy's. The set itself is returned, to be changed."""
        group = None if self.replicas is None else self.replicas.of(worker)
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
        """Workers that the copy holds: members and standbys."""
        return joined((*self.members, *self.standbys)) if self.standbys else self.spans

    @property
    def members(self) -> tuple[int, ...]:
        """Numbers of the members."""
        return numbers(self.spans)


@define(eq=False)
class Run(Waitable):
    """The audit's account of one run: the work done, and the part that it is in with its rate.

    A checkpoint that is taken while the run goes on, and a replica that loads the state, have
    accounts of this class too.
    """

    copy: Copy
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
    saving: Run | None = None
    """Account of a checkpoint that is taken while the run goes on."""
    hung: int | None = None
    """Member that hangs: the run advances no more; None if there is none."""
    hang: int = -1
    """Sequence number of the event with which it last began to hang."""
    paused: bool = False
    """Whether the run stands still while replicas drop out or rejoin."""
    group: Group | None = None
    """Replica whose loading this account follows; None if it follows a run or a checkpoint."""
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

    @property
    def width(self) -> int:
        """Number of members whose bandwidth and computing the account counts: those of the replica
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

    def state(self, now: float) -> State:
        """Return the state that the run has reached at time `now`, from which another copy could go
        on."""
        return State(self.number, self.done(now), self.work, self.expose(now))
