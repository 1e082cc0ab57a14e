"""Groups of a copy's members that hold the whole state each, as the audit expects them (rules.md,
E1)."""

from __future__ import annotations

import enum
from collections.abc import Callable
from functools import partial

from attrs import Factory, define, field, frozen

from sims.audit.facts import ExpectedCopy, ExpectedRun
from sims.audit.law import LinePhase
from sims.audit.turns import NEGLIGIBLE, Script, Timer
from sims.audit.world import World


class ReplicaStage(enum.Enum):
    """The stages of a replica (a group of members that holds the whole state of a run) between
    dropping out of the run and rejoining it."""

    IN = enum.auto()
    OUT = enum.auto()
    """The replica waits until all of its members are UP."""
    LOADING = enum.auto()
    LOADED = enum.auto()
    REJOINING = enum.auto()


@define(eq=False)
class ExpectedGroup:
    """A replica: members that together hold a whole copy of the run's state (E1)."""

    members: tuple[int, ...]
    stage: ReplicaStage = ReplicaStage.IN
    absent: set[int] = Factory(set)
    """Members that are not UP while the replica takes no part in the run."""
    lacking: set[int] = Factory(set)
    """Members that still lack a message while the replica loads the state."""
    cause: int = -1
    """Sequence number of the event for which it waited last."""
    loads: ExpectedRun | None = None
    """Account of the state that the replica loads from shared storage."""

    def received(self, worker: int, cause: int) -> bool:
        """Note that member `worker` of a replica that loads the state has received all that it
        needs, with event `cause`; return whether it is the last one, so that the replica is loaded
        now."""
        last = self.lacking == {worker}  # a member reports again when it is UP again
        self.lacking.discard(worker)
        if not last or self.stage is not ReplicaStage.LOADING:
            return False
        self.stage, self.cause = ReplicaStage.LOADED, cause
        return True

    @property
    def out(self) -> bool:
        """Whether the replica has dropped out of the run and not rejoined it yet."""
        return self.stage is not ReplicaStage.IN


@frozen
class GivenReplicas:
    """A job's groups of members that hold the whole state each, as the scenario describes them."""

    count: int
    """Number of the groups."""
    least: int
    """Number of groups that a run needs."""
    regroup: float
    """Time for which a run pauses as groups drop out."""
    rejoin: float
    """Time for which a run pauses as groups rejoin."""


@define(eq=False)
class ExpectedReplicas:
    """The groups into which a copy's members are divided, each of which holds the whole state, and
    the faults among them (E1)."""

    asked: GivenReplicas
    groups: list[ExpectedGroup]
    pause: Pause | None = None
    """Pause of the run, if one is under way."""
    known: list[tuple[int, int]] = Factory(list)
    """Members whose faults became known at this instant, each with the event that made its fault
    known."""
    keepers: list[ExpectedGroup] = field(init=False)
    """Groups that have the buddies' checkpoint."""
    loads: bool = False
    """Whether groups that are whole have begun to load, and rejoin later in this instant where they
    lack nothing."""

    def __attrs_post_init__(self) -> None:
        self.keepers = list(self.groups)

    def of(self, worker: int) -> ExpectedGroup:
        """Return the replica that member number `worker` is in."""
        return next(it for it in self.groups if worker in it.members)

    @property
    def left(self) -> list[ExpectedGroup]:
        """Replicas that take part in the run."""
        return [it for it in self.groups if not it.out]

    @property
    def share(self) -> float:
        """Fraction of its full rate at which the run computes: that of the groups that take
        part."""
        return len(self.left) / len(self.groups)

    def saves(self) -> None:
        self.keepers = self.left

    def recovers(self) -> None:
        self.keepers = list(self.groups)

    def loses(self, worker: int) -> bool:
        group = self.of(worker)
        if group not in self.keepers:
            return False
        self.keepers.remove(group)
        return not self.keepers


@define(eq=False)
class Pause:
    """A pause of a run as groups drop out or rejoin. Its time passes while all members of the
    groups that take part are UP."""

    copy: ExpectedCopy
    length: float
    cause: int
    """Sequence number of the line that began it."""
    over: Callable[[Pause], Script | None]
    """Derives what follows once the pause's time has passed."""
    passed: float = field(init=False, default=0)
    since: float = field(init=False, default=0)
    passes: bool = field(init=False, default=False)
    timer: Timer | None = field(init=False, default=None)

    def pass_on(self, w: World, passes: bool, cause: int) -> None:
        """Let the pause's time pass from now on if `passes`, else stop it, because of event
        `cause`; do nothing if it does so already. At the pause's end the run goes on."""
        if passes is self.passes:
            return
        self.cause = cause
        self.passed += w.now - self.since if self.passes else 0
        self.since, self.passes = w.now, passes
        self.stop()
        if passes:
            left = self.length - self.passed
            due = w.now + (left if left > NEGLIGIBLE * self.length else 0)
            number = self.copy.last
            over = partial(self.over, self)
            self.timer = w.turns.at(due, LinePhase.PARTS, self.copy.job, number, over)

    def stop(self) -> None:
        """Cancel the timer of the pause's end."""
        if self.timer is not None:
            self.timer.live = False
            self.timer = None
