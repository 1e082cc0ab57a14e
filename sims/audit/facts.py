"""What the audit knows of workers, jobs, copies and runs at the present instant of a log."""

from __future__ import annotations

from math import inf
from typing import Any

from attrs import Factory, define, field, frozen

from actors.events import (
    CheckpointingDescribed,
    JobDescribed,
    ProtectionDescribed,
    ProtectionKind,
    Stage,
)
from sims.audit.turns import NEGLIGIBLE, Parked, Teller, Timer
from sims.audit.workers import Spans, extent, numbers, written

AT_SPEED = Stage.COMPUTING, Stage.VERIFYING
PLAINLY = CheckpointingDescribed("", False, True, 0, None, 0, None)


@frozen
class State:
    """A state from which a run can go on."""

    run: int
    done: float
    """In that run's count."""
    work: float
    exposed: float = 0
    """Workers x computing time since the last verified point (R3)."""

    @property
    def fraction(self) -> float:
        """Of the work that is done."""
        return self.done / self.work if self.work else 1

    def beyond(self, other: State | None) -> bool:
        """Whether it is further."""
        return other is None or self.fraction - other.fraction > NEGLIGIBLE

    def of(self, work: float) -> float:
        """Work done, in the count of a run whose whole work is `work`."""
        return self.done if work == self.work else self.done * work / self.work


@define(eq=False)
class Job(Teller):
    """One that has been submitted and is not gone."""

    name: str
    submitted: int
    """seq."""
    described: JobDescribed
    rules: ProtectionDescribed = field(init=False)
    """How it is protected, unless it is plain."""
    manner: CheckpointingDescribed = PLAINLY
    """How it takes checkpoints, and replaces members."""
    messages: Any = None
    """MessagesDescribed, where there is a master."""
    tasks: Any = None
    """TasksDescribed, of an iterative one."""
    times: dict[int, float] = Factory(dict)
    """w_q by worker."""
    bounds: dict[int, int] = Factory(dict)
    """mu_q by worker."""
    application: Any = None
    """ApplicationDescribed, of a pack's."""
    costs: Any = None
    """What its runs cost by malleable17's model, where a pack decides."""
    iteration: int = -1
    copies: list[Copy] = Factory(list)
    """In the order of their placing."""
    next_run: int = 0
    saved: State | None = None
    """At the master (P3)."""
    kept: list[State] = Factory(list)
    """Of cancelled runs, where copies are what is decided: the furthest first."""
    works: dict[int, float] = Factory(dict)
    """Members -> work of a run, where nothing but runs tell."""
    learnt: dict[tuple[int, int], float] = Factory(dict)
    """(members, their nodes) -> a period that nothing but runs tell."""
    draws: bool | None = None
    """Whether its errors are drawn; None: no verification has ended."""
    lost: int = 0
    """Attempts of a plain job that ended early, and do not count."""
    passed: tuple[float, int] = -1.0, 0
    """When parts of its runs ended last, and the last timer that was set by then."""
    wanted: int = -1
    """seq of what it has wanted workers since."""
    over: tuple[str, float] = "completed", -1.0
    """How its last run ended, and when."""

    @property
    def plain(self) -> bool:
        """Whether its attempts are timers."""
        return self.described.failures is not None

    @property
    def kind(self) -> ProtectionKind:
        """Where it is saved."""
        return ProtectionKind.NONE if self.plain else self.rules.kind

    @property
    def keeps(self) -> bool:
        """Whether members stay with it when a run is lost or fails (P2)."""
        return self.kind is ProtectionKind.BUDDIES


@define(eq=False)
class Copy:
    """Members held for one run at a time; under buddies, for the next one too."""

    job: Job
    spans: Spans
    text: str
    """The same, as logs write them."""
    placed: int = 0
    """Copies placed earlier have less."""
    units: dict[int, int] = Factory(dict)
    """Tasks by member, of an iterative job."""
    speeds: dict[int, float] | None = None
    """By member, as it has heard; None: all 1."""
    absent: set[int] = Factory(set)
    """Members that are not UP."""
    run: Run | None = None
    last: int = -1
    """Number of its last run."""
    saved: State | None = None
    """With its buddies."""
    holders: int = 0
    """Members among which that, or the input, is spread."""
    cause: int = -1
    """seq of what its next run has waited for last."""
    failed: set[int] = Factory(set)
    """Members that went DOWN since the last recovery was over."""
    promised: bool = False
    """Whether its members are given to others when it ends."""
    gone: bool = False
    rings: list[list[int]] = Factory(list)
    """Members that keep each other's checkpoints; none: not known yet."""
    struck: dict[int, tuple[float, int]] = Factory(dict)
    """Members that a fault took DOWN, which nobody has heard of -> when, and seq of that."""
    taken: int = 0
    """Checkpoints that were complete."""
    stored: State | None = None
    """As images of its buddies' checkpoints."""

    full: int = field(init=False)
    """How many members, promised ones included."""

    def __attrs_post_init__(self) -> None:
        self.holders = self.full = extent(self.spans)

    def change(self, spans: Spans, full: int) -> None:
        """These are its members now; the others of `full` it lacks."""
        self.spans, self.full, self.text, self.rings = spans, full, written(spans), []

    @property
    def lacking(self) -> int:
        """How many members others have promised, and still compute on."""
        return self.full - extent(self.spans)

    @property
    def members(self) -> tuple[int, ...]:
        """Their numbers."""
        return numbers(self.spans)


@define(eq=False)
class Run(Parked):
    """The account of one run."""

    copy: Copy
    number: int
    work: float
    base: float = 0
    """Work done when the present part began."""
    stage: Stage | None = None
    length: float = 0
    """Of the present part."""
    passed: float = 0
    """Of it, until `since`."""
    rate: float = 0
    since: float = 0
    cause: int = -1
    """seq of the last event of its part."""
    reach: float = 0
    """Work done when the present computing ends."""
    exposed: float = 0
    computes: bool = False
    """Whether it has begun to compute."""
    learns: bool = False
    """Whether its period is not known: its next checkpoint tells."""
    missing: set[int] = Factory(set)
    """Members that lack a message, or have not sent theirs."""
    ahead: tuple[float, ...] = ()
    """Times of the parts between the present one and computing."""
    spread: bool = False
    """Whether what runs is with all members once it has been told where it stands."""
    reports: bool = False
    """Whether the decider is told where it stands once it waits."""
    timer: Timer | None = None
    saving: Run | None = None
    """The account of a checkpoint that passes while it goes on."""
    due: bool = False
    """Whether another fell due meanwhile."""
    aimed: int = 0
    """Which timer that is, of all."""
    tied: bool = False
    """Whether its part ends as the checkpoint beside it does."""
    tellers: tuple[Teller, ...] = ()
    """What tells of such checkpoints, and of its parts, in whatever order; none: its job does."""
    beside: Teller | None = None
    """What tells of it, if it is such an account."""
    started: int = -1
    over: bool = False

    def at(self, now: float) -> float:
        """How much of the present part has passed."""
        return self.passed + self.rate * (now - self.since) if self.rate else self.passed

    def done(self, now: float) -> float:
        """Work done."""
        return self.base + self.at(now) if self.stage is Stage.COMPUTING else self.base

    def end(self) -> float:
        """When the present part is over, at the present rate."""
        if not self.length:
            return self.since
        if not self.rate:
            return inf
        left = self.length - self.passed
        return self.since + (left / self.rate if left > NEGLIGIBLE * self.length else 0)

    def expose(self, now: float) -> float:
        """Workers x computing time since the last verified point."""
        if self.stage is Stage.COMPUTING and self.rate:
            return self.exposed + self.copy.full * (now - self.since)
        return self.exposed

    def settle(self, now: float) -> None:
        """Bring the account up to now."""
        self.exposed, self.passed, self.since = self.expose(now), self.at(now), now

    def state(self, now: float) -> State:
        """What another copy would clone."""
        return State(self.number, self.done(now), self.work, self.expose(now))
