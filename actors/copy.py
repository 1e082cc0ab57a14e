"""A copy is the workers that one chain of a job's runs holds, and what they are doing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from attrs import define, field

from actors.events import Outcome
from actors.intervals import Intervals, Members, intervals_of, members, text
from actors.messages import ReplaceMember, ResizeCopy
from actors.runtime import constants_as_arguments
from actors.worker_messages import LeaveRun, Needs, SendImage, StageIn
from policies.availability import WorkerState

if TYPE_CHECKING:
    from actors.runtime import Actor

UP, DOWN = WorkerState.UP, WorkerState.DOWN


class Numbered(Protocol):
    """The part of a run that its copy's members need to know: its number within the job."""

    number: int


class Group(Protocol):
    """A group of a copy's members that together hold the whole state."""

    members: Members
    absent: set[int]
    """Members that are not UP, while the run does not compute on the group."""

    @property
    def out(self) -> bool:
        """Whether the run does not compute on the group at present."""


class Division(Protocol):
    """Division of a copy's members into groups, on some of which its run computes."""

    @property
    def groups(self) -> Sequence[Group]:
        """All groups, by number."""

    @property
    def members(self) -> Members:
        """Members on which the run computes, ascending."""

    @property
    def width(self) -> int:
        """Number of members on which the run computes."""

    @property
    def share(self) -> float:
        """Part of its full rate at which the run works."""

    def of(self, worker: int) -> Group:
        """Return the group in which the member `worker` is."""


R = TypeVar("R", bound=Numbered)


@define(eq=False, field_transformer=constants_as_arguments)
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
    """Addresses of the workers that the copy holds; None: there is no master to fetch from."""
    division: Division | None = field(init=False, default=None)
    """The groups into which the members are divided; None: the run computes on all of them."""
    absent: set[int] = field(init=False, factory=set)
    """Members that are not UP, except those on which the run does not compute."""
    run: R | None = field(init=False, default=None)
    """The run under way; None while members are only kept."""
    last: int = field(init=False, default=-1)
    """Number of the copy's last run; -1 before the first."""
    outcome: Outcome | None = field(init=False, default=None)
    """Outcome of the last run, if the copy has kept its members after it."""
    cause: int = field(init=False, default=-1)
    """Number of the last event that the copy's next run has waited for."""
    holders: int = field(init=False)
    """Number of members over which what is saved is spread, or the input where nothing is saved."""
    taken: int = field(init=False, default=0)
    """Number of complete checkpoints, over all runs of the copy."""
    down: set[int] = field(init=False, factory=set)
    """Members that are DOWN."""
    went_down: dict[int, tuple[float, int]] = field(init=False, factory=dict)
    """Maps each member that has not been UP since it went DOWN to the time, and the number of the
    event, with which it went DOWN."""
    places_count: bool = field(init=False, default=False)
    """Whether it matters to the protection in which place each member is."""
    unordered: bool = field(init=False, default=False)
    """Whether `members` is out of order, because a replacement has another worker's place."""

    def __attrs_post_init__(self) -> None:
        self.holders = len(self.members)

    @property
    def working(self) -> Sequence[int]:
        """Members that the run computes on."""
        return self.members if self.division is None else self.division.members

    @property
    def width(self) -> int:
        """Number of members that the run computes on."""
        return len(self.members) if self.division is None else self.division.width

    def depends_on(self, worker: int) -> bool:
        """Return whether a change of this worker's state matters to the run: it is a member, and
        the run computes on it."""
        division = self.division
        return worker in self.members and (division is None or not division.of(worker).out)

    def know(self, workers: Sequence[int], addresses: Sequence[Actor]) -> None:
        """Keep the addresses of these workers, which the copy holds from now on, if there is a
        master."""
        if self.addresses is not None and addresses:
            self.addresses = {**self.addresses, **dict(zip(workers, addresses, strict=True))}

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
            self.addresses = self.addresses or {}
            self.know(held, message.addresses)
        self.absent.difference_update(left)
        self.places_count = False
        return left

    def replace(self, message: ReplaceMember) -> None:
        """Give the place of the member `message.worker` to the worker `message.replacement`."""
        worker, other = message.worker, message.replacement
        if not self.places_count and isinstance(self.members, Members):
            # Listing 4,096 members would cost more than all else that a replacement does.
            self.members = self.members.exchanged(worker, other)
        else:
            place = self.members.index(worker)
            self.members = (*self.members[:place], other, *self.members[place + 1 :])
            self.unordered = True
        if self.text:  # empty where no log names the workers
            self.text = message.text
        self.down.discard(worker)
        self.absent.discard(worker)
        del self.went_down[worker]
        if self.speeds is not None:
            del self.speeds[worker]
            self.speeds[other] = message.speeds[0] if message.speeds else 1
        self.know((other,), message.addresses)

    def named(self) -> str:
        """Return the numbers of the members, as logs write them."""
        return text(self._spans())

    def _spans(self) -> Intervals:
        held = self.members
        return held.intervals if isinstance(held, Members) else intervals_of(sorted(held))

    def speed(self) -> float:
        """Return the speed of the slowest member that the run computes on (R1)."""
        if self.speeds is None:
            return 1
        if self.division is None:
            return min(self.speeds.values())
        return min(self.speeds[worker] for worker in self.working)

    def stopped(self) -> list[int]:
        """Return the members that the run computes on whose speed is 0."""
        speeds = self.speeds
        return [] if speeds is None else [it for it in self.working if not speeds[it]]

    def name(self, worker: int) -> str:
        """Return a member's name for error messages and reports: that of its actor, if it has one,
        else one made of its number."""
        known = (self.addresses or {}).get(worker)
        return f"worker {worker}" if known is None else known.name

    def move(self, worker: int, state: WorkerState, now: float, cause: int) -> None:
        """Record that a member changes its state to `state` at the time `now`, by the event
        numbered `cause`."""
        absent, division = self.absent, self.division
        if division is not None and (group := division.of(worker)).out:
            absent = group.absent
        if state is UP:
            absent.discard(worker)
            self.down.discard(worker)
            self.went_down.pop(worker, None)
            return
        absent.add(worker)
        if state is DOWN:
            self.down.add(worker)
            self.went_down.setdefault(worker, (now, cause))
        else:
            self.down.discard(worker)

    # --- messages to its members, where there is a master -----------------------------------

    def send(self, worker: int, message: object, cause: int) -> None:
        """Send a worker that the copy holds a message of the job, if there is a master. `cause` is
        the number of the event that leads to it."""
        if self.addresses is not None:
            self.job.send(self.addresses[worker], message, cause)

    def stage_in(
        self, needs: Needs, image: bool, cause: int, workers: Sequence[int] | None = None
    ) -> None:
        """Have every member, or every one of `workers`, fetch from the master what it lacks for the
        present run; with `image` also its image of the checkpoint that the run continues from.
        `cause` is the number of the event that leads to it."""
        assert self.addresses is not None and self.run is not None
        job, run, number, addresses = self.job, self.run.number, self.number, self.addresses
        asked = self.members if workers is None else workers
        each: Iterable[tuple[int, int]] = zip(asked, self.units, strict=workers is None)
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
        for its next run, and they keep their data; otherwise they keep complete programs only.
        `cause` is the number of the event that ended the run."""
        self.dismiss(self.members, cause, keep)

    def dismiss(self, workers: Sequence[int], cause: int, keep: bool) -> None:
        """Have the workers `workers`, which the copy holds, stop fetching. With `keep` the copy
        still holds them, and they keep their data. `cause` is the number of the event that leads to
        it."""
        if self.addresses is not None:
            for worker in workers:
                self.job.send(self.addresses[worker], LeaveRun(self.number, keep), cause)
