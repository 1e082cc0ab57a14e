"""Replicas: groups of a copy's members each of which holds the whole state, so that a run goes on
with those that are left (rules.md, E1)."""

from __future__ import annotations

import enum
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Protocol

from attrs import define, field

from actors.intervals import Intervals, Members, added, intervals_of, merged, text, without
from actors.progress import PartBeside
from actors.runtime import NOTHING, Actor, message
from policies.interface.queue import Replication


@message
class PauseDue:
    """A job tells itself that the time for which this copy's run pauses, as groups of members drop
    out or rejoin, has passed."""

    copy: int
    run: int


@message
class GroupLoaded:
    """A job tells itself that a replica (a group of members that holds the whole state) that had
    dropped out of this run has loaded the present state from shared storage."""

    copy: int
    run: int
    group: int


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


class Load(Protocol):
    """A load of the present state into a replica from shared storage, while it is under way."""

    def cease(self, cause: int) -> None:
        """End the load, complete or not. `cause` is the number of the event that leads to it."""


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
    load: Load | None = field(init=False, default=None)
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
        self.members = Members(added(without(self.members.intervals, (worker,)), other))
        self.absent.discard(worker)


@define(eq=False)
class Replicas:
    """The replicas of one copy: groups of members, of equal size and numbered from 0, each of which
    holds the whole state. `rules` says how few can carry the run on, and how long it pauses. Groups
    that have not dropped out carry the run on."""

    rules: Replication
    groups: Sequence[Group]
    pause: PartBeside | None = field(init=False, default=None)
    """The run's pause; None: the run does not pause."""
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

    def left(self) -> list[Group]:
        """Return the groups that have not dropped out of the run."""
        return [group for group in self.groups if not group.out]

    def out(self) -> list[Group]:
        """Return the groups that have dropped out of the run, by ascending number."""
        return [self.groups[number] for number in sorted(self._out)]

    @property
    def members(self) -> Members:
        """Members of the groups that have not dropped out, ascending."""
        if self._in is None:
            self._in = members_of(self.left())
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

    def end_pause(self, actor: Actor) -> None:
        """End the run's pause, if it pauses, and cancel its timer. `actor` is the run's job."""
        if self.pause is not None:
            self.pause.stop(actor)
            self.pause = None

    def end_run(self, actor: Actor, absent: set[int], cause: int) -> None:
        """Let all groups count again, as the run has ended and the next one needs them all, and end
        its pause. Members of groups that had dropped out are added to `absent` if they are not UP.
        `actor` is the run's job, and `cause` the number of the event that ended the run."""
        self.end_pause(actor)
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


def replicas(rules: Replication, held: Intervals) -> Replicas:
    """Divide the workers `held` into `rules.count` groups of equal size by ascending number, and
    return them as a copy's replicas."""
    numbers = Members(held)
    each = len(numbers) // rules.count
    starts = range(0, len(numbers), each)
    pieces = (numbers[start : start + each] for start in starts)
    return Replicas(
        rules, [Group(k, Members(intervals_of(piece))) for k, piece in enumerate(pieces)]
    )


def members_of(groups: Iterable[Group]) -> Members:
    """Return the members of several groups, ascending."""
    return Members(merged((), [it for group in groups for it in group.members.intervals]))


def named(groups: Iterable[Group]) -> str:
    """Return the numbers of all members of these groups, as logs write them."""
    return text(members_of(groups).intervals)
