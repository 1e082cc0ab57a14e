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
    """The part of a run that its copy's members need to know: its number within the job."""

    number: int


R = TypeVar("R", bound=Numbered)


@define(eq=False)
class Copy(Generic[R]):
    """The workers that one chain of a job's runs holds, one run after the other, and their states.
    A job can have several copies at once. After a run has ended the copy may keep its members for
    the next run, as under buddies."""

    job: Actor
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
    """Addresses of the members, and of the standbys; None: there is no master to fetch from."""
    absent: set[int] = field(init=False, factory=set)
    """Members that are not UP, except those of replicas that have dropped out, which `Group.absent`
    has."""
    run: R | None = field(init=False, default=None)
    """The run under way; None while members are only kept."""
    last: int = field(init=False, default=-1)
    """Number of the copy's last run; -1 before the first."""
    saved: State | None = field(init=False, default=None)
    """The last checkpoint that buddies keep; None: there is none."""
    holders: int = field(init=False)
    """Number of members over which `saved` is spread, or the input where nothing is saved."""
    cause: int = field(init=False, default=-1)
    """Number of the last event that the copy's next run has waited for."""
    failed_members: set[int] = field(init=False, factory=set)
    """Members that have gone DOWN since the last recovery ended."""
    down: set[int] = field(init=False, factory=set)
    """Members that are DOWN."""
    standbys: dict[int, float] = field(init=False, factory=dict)
    """Maps the workers that are ready to replace members, ascending, to their speeds (rules.md,
    P12)."""
    standbys_away: set[int] = field(init=False, factory=set)
    """Standbys that are RECLAIMED."""
    lost_standbys: set[int] = field(init=False, factory=set)
    """Workers that went DOWN as standbys, which the copy then released."""
    newcomers: dict[int, int] = field(init=False, factory=dict)
    """Maps each standby that has become a member at this instant to the number of the event that
    logged it. The entry is removed once the worker has been told to fetch for the run, or to wait
    for it."""
    outcome: Outcome | None = field(init=False, default=None)
    """Outcome of the last run, if the copy has kept its members after it."""
    undetected: dict[int, float] = field(init=False, factory=dict)
    """Maps each member that has gone DOWN by a fault that is not detected yet (rules.md, F1) to the
    time at which it did."""
    went_down: dict[int, tuple[float, int]] = field(init=False, factory=dict)
    """Maps each member that has not been UP since it went DOWN to the time, and the number of the
    event, with which it went DOWN."""
    came_up: dict[int, float] = field(init=False, factory=dict)
    """Maps each member that has come back UP after it went DOWN to the time at which it last
    did."""
    groups: Sequence[Sequence[int]] | None = field(init=False, default=None)
    """Rings of members that keep each other's checkpoints; None while they have not been
    computed."""
    taken: int = field(init=False, default=0)
    """Number of complete checkpoints, over all runs of the copy."""
    stored: State | None = field(init=False, default=None)
    """The last checkpoint that is at the master too (rules.md, P9); None: there is none."""
    fetches: bool = field(init=False, default=False)
    """Whether the next run begins from `stored`, which the members then fetch."""
    replicas: Replicas | None = field(init=False, default=None)
    """The groups of members each of which holds the whole state (rules.md, E1); None: the state is
    not replicated."""
    keepers: list[Group] = field(init=False, factory=list)
    """Replicas in which buddies still have the last checkpoint."""
    unordered: bool = field(init=False, default=False)
    """Whether `members` is out of order, because a replacement has another worker's place."""
    given_up: float = field(init=False, default=0)
    """Saved work that has been lost while the run goes on, which does not need it. It is logged as
    discarded if the run is lost before its next checkpoint."""

    def __attrs_post_init__(self) -> None:
        self.holders = len(self.members)

    @property
    def working(self) -> Sequence[int]:
        """Members that the run computes on. If groups of members hold the whole state each
        (replicas), these are the members of the groups that have not dropped out, else all
        members."""
        return self.members if self.replicas is None else self.replicas.members

    @property
    def width(self) -> int:
        """Number of members that the run computes on."""
        return len(self.members) if self.replicas is None else self.replicas.width

    @property
    def waits_for_detection(self) -> bool:
        """Whether the copy's run waits because a member that it computes on has gone DOWN by a
        fault that is not yet detected (rules.md, F1)."""
        if self.replicas is None:
            return bool(self.undetected)
        return any(not self.replicas.of(worker).out for worker in self.undetected)

    def fell_before(self, now: float) -> list[int]:
        """Return the members that were DOWN just before the instant `now`, in no particular order:
        those that still are, and those that came back UP at it."""
        away = [worker for worker, (since, _) in self.went_down.items() if since < now]
        return [*away, *(worker for worker, time in self.came_up.items() if time == now)]

    def depends_on(self, worker: int) -> bool:
        """Return whether a change of this worker's state matters to the run. It does not if the
        worker is a standby, was one until this instant, or belongs to a replica (a group that holds
        the whole state) that has dropped out."""
        if worker in self.standbys or worker in self.lost_standbys:
            return False
        return self.replicas is None or not self.replicas.of(worker).out

    def exchange(self, message: ResizeCopy) -> tuple[int, ...]:
        """Replace all members by those that the scheduler's message names, each with one unit of
        data, and with the speeds and addresses in the message. Return the workers that are members
        no longer, ascending."""
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
        """Give the place of the member `message.worker`, also among the buddies, to the worker
        `message.replacement`. If the member had gone DOWN since the last recovery ended, the
        newcomer counts as having gone DOWN too: it does not hold its buddy's checkpoint yet
        (P10)."""
        worker, other = message.worker, message.replacement
        if self.groups is None and isinstance(self.members, Members):
            # Which member is in which place matters to buddies only. Listing 4,096 members would
            # cost more than all else that a replacement does.
            self.members = Members(added(without(self.members.intervals, (worker,)), other))
        else:
            place = self.members.index(worker)
            self.members = (*self.members[:place], other, *self.members[place + 1 :])
            self.unordered = True
        # The scheduler's text names all workers that the copy holds, standbys included.
        if self.text:  # empty where no log names the workers
            self.text = text(self._spans()) if self.standbys else message.text
        self.lost_standbys.discard(other)
        self.down.discard(worker)
        if self.groups is not None:
            self.groups = [[other if n == worker else n for n in it] for it in self.groups]
        if self.replicas is not None:
            self.replicas.replace(worker, other)
        if worker in self.failed_members:
            self.failed_members.add(other)
        self.absent.discard(worker)
        self.failed_members.discard(worker)
        self.undetected.pop(worker, None)
        del self.went_down[worker]
        if self.speeds is not None:
            del self.speeds[worker]
            self.speeds[other] = message.speeds[0] if message.speeds else 1
        if self.addresses is not None and message.addresses:
            self.addresses = {**self.addresses, other: message.addresses[0]}

    def ready(self) -> Iterator[int]:
        """Yield the standbys (workers held ready to replace members) that are UP, ascending."""
        return (worker for worker in self.standbys if worker not in self.standbys_away)

    def promote(self, worker: int, other: int) -> None:
        """Give the place of `worker`, a member that is DOWN, to the standby `other`, which is a
        standby no longer (rules.md, P12)."""
        speed = self.standbys.pop(other)
        self.replace(ReplaceMember(self.number, worker, other, self.text, (speed,)))
        if self.text:
            self.text = text(self._spans())

    def stage_in_standbys(self, needs: Needs | None, workers: Iterable[int], cause: int) -> None:
        """Have the standbys `workers` fetch the job's program from the master, if there is a master
        and the program has a size. `cause` is the number of the event that leads to it."""
        if needs is not None and needs.program:
            assert self.addresses is not None
            for worker in workers:
                message = StageIn(self.job, self.number, self.last, needs, 0, False, standby=True)
                self.job.send(self.addresses[worker], message, cause)

    def keep_newcomers(self) -> None:
        """Have each standby that became a member at this instant, and that no run has asked to
        fetch since, stop fetching until one does."""
        for worker, cause in self.newcomers.items():
            if self.addresses is not None:
                self.job.send(self.addresses[worker], AwaitRun(self.number), cause)
        self.newcomers.clear()

    def _spans(self) -> Intervals:
        held = self.members
        return held.intervals if isinstance(held, Members) else intervals_of(sorted(held))

    def speed(self) -> float:
        """Return the speed of the slowest member that the run computes on (R1)."""
        if self.speeds is None:
            return 1
        if self.replicas is None:
            return min(self.speeds.values())
        return min(self.speeds[worker] for worker in self.working)

    def name(self, worker: int) -> str:
        """Return a member's name for error messages and reports: that of its actor, if it has one,
        else one made of its number."""
        known = (self.addresses or {}).get(worker)
        return f"worker {worker}" if known is None else known.name

    def move(self, worker: int, state: WorkerState, now: float) -> None:
        """Record that a member changes its state to `state` at the time `now`."""
        (self.down.add if state is DOWN else self.down.discard)(worker)
        absent, replicas = self.absent, self.replicas
        if replicas is not None and (group := replicas.of(worker)).out:
            absent = group.absent
        if state is UP:
            absent.discard(worker)
            if self.went_down.pop(worker, None) is not None:
                self.came_up[worker] = now
        else:
            absent.add(worker)

    # --- messages to its members, where there is a master -----------------------------------

    def stage_in(self, needs: Needs, image: bool, cause: int, group: Group | None = None) -> None:
        """Have every member, or every member of `group`, fetch from the master what it lacks for
        the present run; with `image` also its image of the checkpoint that the run continues from.
        `cause` is the number of the event that leads to it."""
        assert self.addresses is not None and self.run is not None
        run, number, addresses = self.run.number, self.number, self.addresses
        job = self.job
        workers = self.members if group is None else group.members
        for worker in workers if self.newcomers else ():
            self.newcomers.pop(worker, None)
        each: Iterable[tuple[int, int]] = zip(workers, self.units, strict=group is None)
        for worker, units in sorted(each) if self.unordered else each:
            stage_in = StageIn(job, number, run, needs, units, image)
            job.send(addresses[worker], stage_in, cause)

    def send_images(self, cause: int) -> None:
        """Have every member that the run computes on send its image of the checkpoint to the
        master. `cause` is the number of the event that leads to it."""
        assert self.addresses is not None
        for worker in sorted(self.working) if self.unordered else self.working:
            self.job.send(self.addresses[worker], SendImage(), cause)

    def leave(self, cause: int, keep: bool) -> None:
        """Have all members stop fetching, as their run has ended. With `keep` the copy holds them
        for its next run, and they keep their data; otherwise they keep complete programs only, and
        standbys stop fetching too. `cause` is the number of the event that ended the run."""
        self.dismiss(self.members, cause, keep)
        if not keep:
            self.dismiss(tuple(self.standbys), cause, keep)

    def dismiss(self, workers: Sequence[int], cause: int, keep: bool) -> None:
        """Have the members `workers` stop fetching for their run. With `keep` the copy still holds
        them, and they keep their data. `cause` is the number of the event that leads to it."""
        if self.addresses is not None:
            for worker in workers:
                self.job.send(self.addresses[worker], LeaveRun(self.number, keep), cause)
