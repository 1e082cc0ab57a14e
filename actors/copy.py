"""A copy is the workers that one chain of a job's runs holds, and what they are doing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from attrs import define, field

from actors.events import Outcome
from actors.intervals import Intervals, Members, added, intervals_of, members, text, without
from actors.messages import ReplaceMember, ResizeCopy
from actors.replicas import Group, Replicas
from actors.worker_messages import AwaitRun, LeaveRun, Needs, SendImage, StageIn
from policies.availability import WorkerState

if TYPE_CHECKING:
    from actors.protection.plan import State
    from actors.runtime import Actor

UP, DOWN = WorkerState.UP, WorkerState.DOWN


class Numbered(Protocol):
    """A run as its copy's members know it: by its number."""

    number: int


R = TypeVar("R", bound=Numbered)


@define(eq=False)
class Copy(Generic[R]):
    """Holds members for one run at a time and, under buddies, for the next one too."""

    number: int
    """Number of the copy, unique in the system: by it the scheduler knows which copy holds a
    worker."""
    members: Sequence[int]
    """Numbers of the workers, ascending, except that a replacement has the place of the worker that
    it replaces."""
    text: str
    units: tuple[int, ...]
    """Units of data of each member: tasks of an iterative job."""
    speeds: dict[int, float] | None = None
    """Speed of each member; None: all are 1 throughout."""
    addresses: Mapping[int, Actor] | None = None
    """Addresses of the members, where there is a master that they fetch from."""
    absent: set[int] = field(init=False, factory=set)
    """Members that are not UP, but for those of replicas that have dropped out."""
    run: R | None = field(init=False, default=None)
    """The run under way; None while members are only kept."""
    last: int = field(init=False, default=-1)
    """Number of its last run."""
    saved: State | None = field(init=False, default=None)
    """The last checkpoint that buddies keep."""
    holders: int = field(init=False)
    """Number of members among which that checkpoint, or the input, is spread."""
    cause: int = field(init=False, default=-1)
    """Number of the last event that its next run has waited for."""
    failed_members: set[int] = field(init=False, factory=set)
    """Members that have gone DOWN since the last recovery ended."""
    down: set[int] = field(init=False, factory=set)
    """Members that are DOWN."""
    standbys: dict[int, float] = field(init=False, factory=dict)
    """Maps the workers that are ready to replace members, ascending, to their speeds (rules.md,
    P12)."""
    standbys_away: set[int] = field(init=False, factory=set)
    """Standbys that are RECLAIMED."""
    left: set[int] = field(init=False, factory=set)
    """Former standbys, which went DOWN."""
    newcomers: dict[int, int] = field(init=False, factory=dict)
    """Maps each standby that has become a member at this instant to the number of that event; it is
    removed once the worker has got a message of that."""
    outcome: Outcome | None = field(init=False, default=None)
    """Outcome of its last run, where it has kept its members after that."""
    unheard: dict[int, float] = field(init=False, factory=dict)
    """Maps members that have gone DOWN without their job's knowledge (rules.md, F1) to the time of
    that."""
    fallen: dict[int, tuple[float, int]] = field(init=False, factory=dict)
    """Maps members that have not been UP since they went DOWN to the time and the event number of
    that."""
    risen: dict[int, float] = field(init=False, factory=dict)
    """Maps members that were such to the time at which they were UP again."""
    groups: Sequence[Sequence[int]] | None = field(init=False, default=None)
    """Rings of members that keep each other's checkpoints, once they were asked for."""
    taken: int = field(init=False, default=0)
    """Number of complete checkpoints, over all runs of the copy."""
    stored: State | None = field(init=False, default=None)
    """The last checkpoint that is at the master too (rules.md, P9)."""
    fetches: bool = field(init=False, default=False)
    """Whether its next run begins from that checkpoint, which its members then fetch."""
    replicas: Replicas | None = field(init=False, default=None)
    """The groups of its members that hold the whole state each (rules.md, E1); None: no part of the
    members does."""
    keepers: list[Group] = field(init=False, factory=list)
    """Replicas with which buddies keep the last checkpoint."""
    unordered: bool = field(init=False, default=False)
    """Whether a member has the place of one with another number among them."""
    given_up: float = field(init=False, default=0)
    """Saved work that its run, which goes on, would lack if it were lost now."""

    def __attrs_post_init__(self) -> None:
        self.holders = len(self.members)

    @property
    def working(self) -> Sequence[int]:
        """Members that the run computes on: those of the replicas that are left."""
        return self.members if self.replicas is None else self.replicas.members

    @property
    def width(self) -> int:
        """Number of members that the run computes on."""
        return len(self.members) if self.replicas is None else self.replicas.width

    @property
    def undetected(self) -> bool:
        """Whether its run waits until a fault of a member is detected."""
        if self.replicas is None:
            return bool(self.unheard)
        return any(not self.replicas.of(worker).out for worker in self.unheard)

    def fell_before(self, now: float) -> list[int]:
        """Return the members that were DOWN before this instant."""
        away = [worker for worker, (since, _) in self.fallen.items() if since < now]
        return [*away, *(worker for worker, time in self.risen.items() if time == now)]

    def depends_on(self, worker: int) -> bool:
        """Return whether its run is concerned by what becomes of a worker that it holds: not where
        it is a standby, was one until this instant, or is a member of a replica that has dropped
        out."""
        if worker in self.standbys or worker in self.left:
            return False
        return self.replicas is None or not self.replicas.of(worker).out

    def exchange(self, message: ResizeCopy) -> tuple[int, ...]:
        """Take the message's members in place of the present ones, each with one unit of data;
        return those that left."""
        held = members(message.numbers)
        left = tuple(sorted(set(self.members).difference(held)))
        self.members, self.text, self.units = held, message.text, (1,) * len(held)
        if message.speeds:
            self.speeds = dict(zip(held, message.speeds, strict=True))
        if message.addresses:
            came = dict(zip(held, message.addresses, strict=True))
            self.addresses = {**(self.addresses or {}), **came}
        self.absent.difference_update(left)
        self.failed_members.difference_update(left)
        self.groups = None
        return left

    def replace(self, message: ReplaceMember) -> None:
        """Give a member's place to another worker. For its buddy the place stays one that went DOWN
        until a recovery is over (P10)."""
        worker, other = message.worker, message.replacement
        if self.groups is None and isinstance(self.members, Members):
            # Whoever is in whose place matters to buddies only; listing 4,096 members costs more
            # than all else that their replacement does.
            self.members = Members(added(without(self.members.intervals, (worker,)), other))
        else:
            place = self.members.index(worker)
            self.members = (*self.members[:place], other, *self.members[place + 1 :])
            self.unordered = True
        # The scheduler names all that the copy holds, its standbys too.
        if self.text:  # empty where no log names it
            self.text = text(self._spans()) if self.standbys else message.text
        self.left.discard(other)
        self.down.discard(worker)
        if self.groups is not None:
            self.groups = [[other if n == worker else n for n in it] for it in self.groups]
        if self.replicas is not None:
            self.replicas.replace(worker, other)
        if worker in self.failed_members:
            self.failed_members.add(other)
        self.absent.discard(worker)
        self.failed_members.discard(worker)
        self.unheard.pop(worker, None)
        del self.fallen[worker]
        if self.speeds is not None:
            del self.speeds[worker]
            self.speeds[other] = message.speeds[0] if message.speeds else 1
        if self.addresses is not None and message.addresses:
            self.addresses = {**self.addresses, other: message.addresses[0]}

    def ready(self) -> Iterator[int]:
        """Return the standbys that are UP, ascending."""
        return (worker for worker in self.standbys if worker not in self.standbys_away)

    def promote(self, worker: int, other: int) -> None:
        """Give the place of a member that is DOWN to a standby (rules.md, P12)."""
        speed = self.standbys.pop(other)
        self.replace(ReplaceMember(self.number, worker, other, self.text, (speed,)))
        if self.text:
            self.text = text(self._spans())

    def stage_in_standbys(
        self, actor: Actor, needs: Needs | None, workers: Iterable[int], cause: int
    ) -> None:
        """Have standbys fetch the program, if there is one to send."""
        if needs is not None and needs.program:
            assert self.addresses is not None
            for worker in workers:
                message = StageIn(actor, self.number, self.last, needs, 0, False, standby=True)
                actor.send(self.addresses[worker], message, cause)

    def keep_newcomers(self, actor: Actor) -> None:
        """Have former standbys wait for the time at which their run fetches, unless it does so
        already."""
        for worker, cause in self.newcomers.items():
            if self.addresses is not None:
                actor.send(self.addresses[worker], AwaitRun(self.number), cause)
        self.newcomers.clear()

    def _spans(self) -> Intervals:
        held = self.members
        return held.intervals if isinstance(held, Members) else intervals_of(sorted(held))

    def speed(self) -> float:
        """Return the speed of the slowest member (R1)."""
        if self.speeds is None:
            return 1
        if self.replicas is None:
            return min(self.speeds.values())
        return min(self.speeds[worker] for worker in self.working)

    def name(self, worker: int) -> str:
        """Return the name by which a report calls a member."""
        known = (self.addresses or {}).get(worker)
        return f"worker {worker}" if known is None else known.name

    def move(self, worker: int, state: WorkerState, now: float) -> None:
        """Note that a member has changed state."""
        (self.down.add if state is DOWN else self.down.discard)(worker)
        absent, replicas = self.absent, self.replicas
        if replicas is not None and (group := replicas.of(worker)).out:
            absent = group.absent
        if state is UP:
            absent.discard(worker)
            if self.fallen.pop(worker, None) is not None:
                self.risen[worker] = now
        else:
            absent.add(worker)

    # --- messages to its members, where there is a master -----------------------------------

    def stage_in(
        self,
        actor: Actor,
        needs: Needs,
        image: bool,
        cause: int,
        group: Group | None = None,
    ) -> None:
        """Have every member fetch what it lacks, or every member of a group."""
        assert self.addresses is not None and self.run is not None
        run, number, addresses = self.run.number, self.number, self.addresses
        workers = self.members if group is None else group.members
        for worker in workers if self.newcomers else ():
            self.newcomers.pop(worker, None)
        each: Iterable[tuple[int, int]] = zip(workers, self.units, strict=group is None)
        for worker, units in sorted(each) if self.unordered else each:
            stage_in = StageIn(actor, number, run, needs, units, image)
            actor.send(addresses[worker], stage_in, cause)

    def send_images(self, actor: Actor, cause: int) -> None:
        """Have every member send its image, of all replicas that are left."""
        assert self.addresses is not None
        for worker in sorted(self.working) if self.unordered else self.working:
            actor.send(self.addresses[worker], SendImage(), cause)

    def leave(self, actor: Actor, cause: int, keep: bool) -> None:
        """Have all members stop fetching for a run that has ended; `keep`: they stay held. If not,
        standbys stop fetching, too."""
        self.dismiss(actor, self.members, cause, keep)
        if not keep:
            self.dismiss(actor, tuple(self.standbys), cause, keep)

    def dismiss(self, actor: Actor, workers: Sequence[int], cause: int, keep: bool) -> None:
        """Have some of the members stop fetching for their run; `keep`: they stay held."""
        if self.addresses is not None:
            for worker in workers:
                actor.send(self.addresses[worker], LeaveRun(self.number, keep), cause)
