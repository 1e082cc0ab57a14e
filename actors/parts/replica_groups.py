"""Groups of a copy's members that hold the whole state each: how far each is on the way back, and
how one loads the present state (rules.md, E1 and S1)."""

from __future__ import annotations

import enum
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from attrs import define, field

from actors.copy import Copy
from actors.events import BandwidthShared, ReplicaLoads
from actors.intervals import Intervals, Members, intervals_of, merged, text
from actors.parts.storage import StorageClient
from actors.progress import PartBeside, Progress
from actors.run import Run
from actors.runtime import NOTHING, Actor
from policies.interface.queue import Replication


class Standing(enum.Enum):
    """State of a replica (group of members): whether it counts in its run, or how far it is on the
    way back."""

    IN = enum.auto()
    """The group counts: it computes, and takes checkpoints."""
    OUT = enum.auto()
    """The group has dropped out, and waits until all of its members are UP."""
    LOADING = enum.auto()
    """The group's members fetch what they lack, and the present state."""
    LOADED = enum.auto()
    """The group is whole, and waits until it can rejoin."""
    REJOINING = enum.auto()
    """The run pauses so that the group can rejoin it."""


@define(eq=False)
class GroupLoad(PartBeside):
    """The load of the present state into a replica from shared storage (S1). It advances only while
    all of the replica's members are UP."""

    actor: Actor
    copy: Copy[Run]
    number: int
    """Number of the copy's run."""
    group: Group
    client: StorageClient

    @property
    def passes(self) -> bool:
        """Whether the load advances: all of the replica's members are UP."""
        return not self.group.absent

    @property
    def width(self) -> int:
        """Number of members that load."""
        return len(self.group.members)

    def start(self, cause: int) -> None:
        """Begin the load; its bandwidth is 0 until the storage gives it a share. `cause` is the
        number of the event that leads to it."""
        self.part = Progress(self.client.size, 0, 0, self.actor.now)
        self.client.begin(self, self.part, lambda cause: self.aim(self.actor, cause), cause)

    def review(self, cause: int) -> None:
        """Go on with the load, or suspend it, as a member of the replica has changed state. `cause`
        is the number of the event that logs the change."""
        self.client.review(self, cause)

    def record(self, cause: int, _: Callable[..., BandwidthShared], *values: Any) -> int:
        """Log the replica's bandwidth from now on and what is left to load (`values`); return that
        event's number (seq). The event's class is always ReplicaLoads."""
        about = self.actor.name, self.number, named([self.group])
        return self.actor.record(cause, ReplicaLoads, *about, *values)

    def cease(self, cause: int) -> None:
        """End the load, complete or not: give up its share of the storage's bandwidth and cancel
        its timer. `cause` is the number of the event that leads to it."""
        self.client.end(self, cause)
        self.stop(self.actor)


@define(eq=False)
class Group:
    """One replica: a group of a run's members that together hold the whole state. Groups are
    numbered from 0."""

    number: int
    members: Members
    standing: Standing = field(init=False, default=Standing.IN)
    absent: set[int] = field(init=False, factory=set)
    """Members that are not UP, while the group is not IN: the run does not wait for them."""
    lacking: set[int] = field(init=False, factory=set)
    """Members that have not reported yet that they hold what they need, while the group is
    LOADING."""
    load: GroupLoad | None = field(init=False, default=None)
    """The group's load from shared storage; None: none is under way."""
    cause: int = field(init=False, default=NOTHING)
    """Number of the last event that the group has waited for, while it is not IN."""

    @property
    def out(self) -> bool:
        """Whether the replica has dropped out of its run and has not rejoined it."""
        return self.standing is not Standing.IN

    def unload(self, cause: int) -> None:
        """Discard what the replica has fetched or loaded on its way back into the run; it then
        waits until all its members are UP. `cause` is the number of the event that leads to it."""
        self.standing = Standing.OUT
        self.lacking.clear()
        if self.load is not None:
            self.load.cease(cause)
            self.load = None

    def replace(self, worker: int, other: int) -> None:
        """Give the place of the member `worker` in this group to the worker `other`."""
        self.members = self.members.exchanged(worker, other)
        self.absent.discard(worker)


@define(eq=False)
class Groups:
    """The groups of one copy's members, of equal size and numbered from 0, each of which holds the
    whole state. `rules` says how few can carry the run on, and how long it pauses. Groups that have
    not dropped out carry the run on."""

    rules: Replication
    groups: Sequence[Group]
    _out: set[int] = field(init=False, factory=set)
    """Numbers of the groups that have dropped out."""
    _first: list[int] = field(init=False)
    """Lowest worker that each group had at its start."""
    _came: dict[int, Group] = field(init=False, factory=dict)
    """Maps workers that have replaced others to their groups."""
    _in: Members | None = field(init=False, default=None)
    """Members of the groups that have not dropped out; None until they are asked for."""

    def __attrs_post_init__(self) -> None:
        self._first = [group.members.intervals[0][0] for group in self.groups]

    def of(self, worker: int) -> Group:
        """Return the group in which the member `worker` is."""
        came = self._came.get(worker)
        return came if came is not None else self.groups[bisect_right(self._first, worker) - 1]

    def replace(self, worker: int, other: int) -> None:
        """Give the place of the member `worker`, in its group, to the worker `other`."""
        group = self._came[other] = self.of(worker)
        self._came.pop(worker, None)
        group.replace(worker, other)
        self._in = None

    @property
    def count(self) -> int:
        """Number of groups that have not dropped out of the run."""
        return len(self.groups) - len(self._out)

    def out(self) -> list[Group]:
        """Return the groups that have dropped out of the run, by ascending number."""
        return [self.groups[number] for number in sorted(self._out)]

    @property
    def members(self) -> Members:
        """Members of the groups that have not dropped out, ascending."""
        if self._in is None:
            self._in = members_of(it for it in self.groups if not it.out)
        return self._in

    @property
    def width(self) -> int:
        """Number of members of the groups that have not dropped out."""
        return self.count * len(self.groups[0].members)

    @property
    def share(self) -> float:
        """Part of its full rate at which the run works: the number of groups that have not dropped
        out over that of all groups."""
        return self.count / len(self.groups)

    def drop(self, dropped: Iterable[Group], absent: set[int]) -> None:
        """Let the groups `dropped` drop out of the run. `absent` has the members that are not UP
        and whose return the run waits for: those of these groups are removed from it."""
        for group in dropped:
            if not group.out:
                self._out.add(group.number)
                group.absent = {worker for worker in absent if self.of(worker) is group}
                absent -= group.absent
            group.standing = Standing.OUT
        self._in = None

    def end_run(self, absent: set[int], cause: int) -> None:
        """Let all groups count again, as the run has ended and the next one needs them all. Members
        of groups that had dropped out are added to `absent` if they are not UP. `cause` is the
        number of the event that ended the run."""
        out = self.out()
        for group in out:
            group.unload(cause)
        if out:
            self.rejoin(out, absent)

    def rejoin(self, rejoining: Iterable[Group], absent: set[int]) -> None:
        """Let the groups `rejoining` count in the run again. Those of their members that are not UP
        are added to `absent`, the members whose return the run waits for."""
        for group in rejoining:
            group.standing = Standing.IN
            self._out.discard(group.number)
            absent |= group.absent
            group.absent = set()
        self._in = None


def divided(rules: Replication, held: Intervals) -> Groups:
    """Divide the workers `held` into `rules.count` groups of equal size by ascending number, and
    return these."""
    numbers = Members(held)
    each = len(numbers) // rules.count
    starts = range(0, len(numbers), each)
    pieces = (numbers[start : start + each] for start in starts)
    return Groups(rules, [Group(k, Members(intervals_of(piece))) for k, piece in enumerate(pieces)])


def members_of(groups: Iterable[Group]) -> Members:
    """Return the members of several groups, ascending."""
    return Members(merged((), [it for group in groups for it in group.members.intervals]))


def named(groups: Iterable[Group]) -> str:
    """Return the numbers of all members of these groups, as logs write them."""
    return text(members_of(groups).intervals)
