"""Storage: what all runs share divides its bandwidth among those that save or load (rules.md, S1).

Requests of an instant are answered together, after the master has assigned its channels: a share
depends on who else saves or loads, not on who asked first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from attrs import define, evolve, field

from actors.copy import Copy
from actors.events import BandwidthShared
from actors.job import AT_WORK
from actors.parts.part import Part
from actors.progress import Progress
from actors.run import Run
from actors.runtime import NOTHING, Actor, Phase, handles, message
from policies.maths.tolerance import ROUNDING


@message
class UseStorage:
    """Job to storage: a run, or a group of its members that loads for itself, begins to save or
    load, or goes on with it, and needs a share of the bandwidth."""

    job: Actor
    index: int
    """Index of the job."""
    copy: int
    run: int
    group: int
    """Number of the group of the run's members that loads for itself; -1: the run does."""
    cap: float
    """Largest bandwidth of the members together, bytes per time unit."""


@message
class LeaveStorage:
    """Job to storage: a run, or a group of its members (-1: the run itself), gives up its share of
    the bandwidth: it has ended its save or load, or stands still until all members are UP."""

    index: int
    run: int
    group: int


@message
class ShareBandwidth:
    """The storage tells itself to divide its bandwidth among all uses, once this instant's changes
    are known."""


@message
class BandwidthSet:
    """Storage to job: a run saves or loads at this bandwidth from now on."""

    copy: int
    run: int
    bandwidth: float
    """Bandwidth from now on, bytes per time unit."""


@message
class GroupBandwidthSet:
    """Storage to job: a group of a run's members, which loads for itself, does so at this bandwidth
    from now on."""

    copy: int
    run: int
    group: int
    bandwidth: float
    """Bandwidth from now on, bytes per time unit."""


SHARE = ShareBandwidth()


def max_min(bandwidth: float, caps: Sequence[float]) -> list[float]:
    """Divide `bandwidth` among users by max-min fairness. `caps` are the largest bandwidths that
    each can use, ascending; return the users' shares, in the same order.

    Water filling: each in turn gets its cap, or, if less, an equal part of what is left for it and
    those after it.
    """
    shares: list[float] = []
    left = bandwidth
    for place, cap in enumerate(caps):
        share = min(cap, left / (len(caps) - place))
        shares.append(share)
        left -= share
    return shares


@define(eq=False)
class Use:
    """One use of the storage, by a run or a group of its members, with the bandwidth that it has at
    present."""

    message: UseStorage
    cause: int
    """Number of the event with which the use began."""
    bandwidth: float = 0


@define(eq=False)
class Storage(Actor):
    """Actor that divides the shared storage's bandwidth by max-min fairness among the runs that
    save or load, each up to the bandwidth of its members. It does so anew whenever a run begins or
    ceases to save or load: once an instant, after the master has assigned its channels."""

    bandwidth: float
    """Bandwidth of the storage, shared by all runs, bytes per time unit."""
    uses: dict[tuple[int, int, int], Use] = field(init=False, factory=dict)
    """Maps (job's index, run's number, group's number) to a use of the storage; the group is -1
    where the run saves or loads."""
    _due: bool = field(init=False, default=False)
    _changed: int = field(init=False, default=NOTHING)
    """Number of the last event of this instant that changed who uses the storage."""

    @handles(UseStorage)
    def use(self, message: UseStorage, cause: int) -> None:
        self.uses[message.index, message.run, message.group] = Use(message, cause)
        self._share_soon(cause)

    @handles(LeaveStorage)
    def leave(self, message: LeaveStorage, cause: int) -> None:
        del self.uses[message.index, message.run, message.group]
        self._share_soon(cause)

    def _share_soon(self, cause: int) -> None:
        self._changed = cause
        if not self._due:
            self._due = True
            self.later(SHARE, NOTHING, Phase.STORAGE)

    @handles(ShareBandwidth)
    def share(self, _: ShareBandwidth, __: int) -> None:
        """Divide the bandwidth among all uses by max-min fairness, in the order of cap, job, run
        and group, and tell the job of each use whose share has changed by more than 1e-12 of
        itself."""
        self._due = False
        uses = [self.uses[key] for key in sorted(self.uses, key=self._order)]
        shares = max_min(self.bandwidth, [use.message.cap for use in uses])
        for use, bandwidth in zip(uses, shares, strict=True):
            if abs(bandwidth - use.bandwidth) <= ROUNDING * use.bandwidth:
                continue
            cause = self._changed if use.bandwidth else use.cause
            use.bandwidth = bandwidth
            to = use.message
            told: object = BandwidthSet(to.copy, to.run, bandwidth)
            if to.group >= 0:
                told = GroupBandwidthSet(to.copy, to.run, to.group, bandwidth)
            self.send(to.job, told, cause)

    def _order(self, key: tuple[int, int, int]) -> tuple[float, int, int, int]:
        return self.uses[key].message.cap, *key


class Sharer(Protocol):
    """The part of a run, or of a group of its members, that a client of the storage may use."""

    actor: Actor
    number: int
    """Number of the run."""
    copy: Copy[Any]

    @property
    def width(self) -> int:
        """Number of members that save or load."""

    @property
    def passes(self) -> bool:
        """Whether the save or load can advance: all members are UP, and their run neither hangs nor
        pauses."""

    def record(self, cause: int, kind: Callable[..., BandwidthShared], *values: object) -> int:
        """Log an event of class `kind`, caused by the event numbered `cause`, about this run with
        these values; return its number (seq)."""


@define(eq=False)
class StorageClient:
    """Client of the shared storage for one run, or one group of its members: it requests bandwidth
    and keeps the account of what is saved or loaded."""

    storage: Actor
    index: int
    """Index of the run's job."""
    size: float
    """Bytes of a state, of all members together."""
    worker_bandwidth: float
    """Largest bandwidth of one member, bytes per time unit."""
    group: int = -1
    """Number of the group that loads for itself; -1: the run saves or loads."""
    part: Progress | None = field(init=False, default=None)
    """Progress of the save or load under way, in bytes; None: there is none."""
    _aim: Callable[[int], None] = field(init=False)
    _uses: bool = field(init=False, default=False)
    """Whether the run has requested bandwidth and not given it back."""

    def of_group(self, group: int, groups: int) -> StorageClient:
        """Return a client for one of `groups` equal groups of the run's members, which loads its
        part of a state for itself."""
        return evolve(self, size=self.size / groups, group=group)

    def begin(self, run: Sharer, part: Progress, aim: Callable[[int], None], cause: int) -> None:
        """Begin to save or load `part`, an account in bytes, and request bandwidth if `run` can
        advance now. `aim` is called, with the number of an event, to move the timer of the part's
        end whenever the bandwidth changes. `cause` is the number of the event that leads to it."""
        self.part, self._aim = part, aim
        self.review(run, cause)

    def review(self, run: Sharer, cause: int) -> int:
        """Request bandwidth if the save or load of `run` can advance now and had none; if it cannot
        and had some, give that back and log a bandwidth of 0. Return the number (seq) of the last
        event logged, or `cause` if there is none."""
        passes = run.passes
        if self.part is None or passes is self._uses:
            return cause
        if not passes:
            cause = self._set(run, 0, cause)
            self._leave(run, cause)
            return cause
        self._uses = True
        cap, where = self.worker_bandwidth * run.width, (run.copy.number, run.number, self.group)
        use = UseStorage(run.actor, self.index, *where, cap)
        run.actor.send(self.storage, use, cause)
        return cause

    def share(self, run: Sharer, bandwidth: float, cause: int) -> None:
        """Go on at `bandwidth` (bytes per time unit), which the storage gives to `run`, and log it.
        Nothing happens if the run has given its request back meanwhile."""
        if self._uses:
            self._set(run, bandwidth, cause)

    def _set(self, run: Sharer, bandwidth: float, cause: int) -> int:
        assert self.part is not None
        now = run.actor.now
        self.part.change(now, bandwidth)
        cause = run.record(cause, BandwidthShared, bandwidth, self.part.left(now))
        self._aim(cause)
        return cause

    def _leave(self, run: Sharer, cause: int) -> None:
        self._uses = False
        run.actor.send(self.storage, LeaveStorage(self.index, run.number, self.group), cause)

    def end(self, run: Sharer, cause: int) -> None:
        """Give the bandwidth of `run` back, if it has any, and forget the save or load: all of it
        has passed, or the run has ended."""
        if self._uses:
            self._leave(run, cause)
        self.part = None


@define(eq=False)
class StorageUse(Part):
    """Gives a job's runs, which keep checkpoints on shared storage, clients of the storage."""

    storage: Actor

    def equip(self, run: Run, cause: int) -> None:
        rules = self.job.protection.rules
        assert rules.bytes is not None
        about = self.job.index, rules.bytes, rules.worker_bandwidth
        run.client = StorageClient(self.storage, *about)

    @handles(BandwidthSet, during=AT_WORK)
    def set_bandwidth(self, message: BandwidthSet, cause: int) -> None:
        """Continue a run's save or load at the bandwidth that the storage now gives it."""
        run = self.job.copies[message.copy].run
        assert run is not None
        assert isinstance(run.client, StorageClient)
        run.client.share(run, message.bandwidth, cause)
