"""A copy: the workers that one chain of a job's runs holds, and what they are doing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from attrs import define, field

from actors.intervals import members
from actors.messages import ReplaceMember, ResizeCopy
from actors.worker_messages import LeaveRun, Needs, SendImage, StageIn
from policies.availability import WorkerState

if TYPE_CHECKING:
    from actors.protection.plan import State
    from actors.runtime import Actor

UP = WorkerState.UP


class Numbered(Protocol):
    """A run, as far as its members are told of it."""

    number: int


R = TypeVar("R", bound=Numbered)


@define(eq=False)
class Copy(Generic[R]):
    """Members held for one run at a time; under buddies, for the next one too."""

    number: int
    """Unique in the system: by it the scheduler knows who holds a worker."""
    members: tuple[int, ...]
    """Worker numbers; ascending, but that a replacement has the place of the one that it
    replaces."""
    text: str
    units: tuple[int, ...]
    """By member: units of data, tasks of an iterative job."""
    speeds: dict[int, float] | None = None
    """By member; None: all 1, for ever."""
    addresses: Mapping[int, Actor] | None = None
    """Of the members, where there is a master to feed them."""
    absent: set[int] = field(init=False, factory=set)
    """Members that are not UP."""
    run: R | None = field(init=False, default=None)
    """The one under way; None while its members are only kept."""
    last: int = field(init=False, default=-1)
    """Number of its last run."""
    saved: State | None = field(init=False, default=None)
    """What buddies have saved."""
    holders: int = field(init=False)
    """Members among which that, or the input, is spread."""
    cause: int = field(init=False, default=-1)
    """Number of the event that its next run has waited for last."""
    failed_members: set[int] = field(init=False, factory=set)
    """Members that have gone DOWN since the last recovery ended."""
    unheard: dict[int, float] = field(init=False, factory=dict)
    """Members that have gone DOWN, though its job does not know yet (WORLD.md, F1) -> when."""
    fallen: dict[int, tuple[float, int]] = field(init=False, factory=dict)
    """Members that have not been UP since they went DOWN -> when that was, and its seq."""
    groups: Sequence[Sequence[int]] | None = field(init=False, default=None)
    """Members that keep each other's checkpoints, once that was asked for."""
    taken: int = field(init=False, default=0)
    """Complete checkpoints."""
    stored: State | None = field(init=False, default=None)
    """The last one that is at the master too (WORLD.md, P9)."""
    fetches: bool = field(init=False, default=False)
    """Whether its next run begins from that, which its members then fetch."""

    def __attrs_post_init__(self) -> None:
        self.holders = len(self.members)

    def exchange(self, message: ResizeCopy) -> tuple[int, ...]:
        """Take these members, each with one unit of data; returns those that left."""
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
        """Another worker takes a member's place, which stays one that went DOWN."""
        worker, other = message.worker, message.replacement
        place = self.members.index(worker)
        self.members = (*self.members[:place], other, *self.members[place + 1 :])
        self.text = message.text
        if self.groups is not None:
            self.groups = [[other if n == worker else n for n in it] for it in self.groups]
        if worker in self.failed_members:
            self.failed_members.add(other)
        self.absent.discard(worker)
        self.failed_members.discard(worker)
        self.unheard.pop(worker, None)
        del self.fallen[worker]
        if self.speeds is not None:
            del self.speeds[worker]
            self.speeds[other] = message.speeds[0] if message.speeds else 1
        if self.addresses is not None:
            self.addresses = {**self.addresses, other: message.addresses[0]}

    def speed(self) -> float:
        """The slowest member's (R1)."""
        return 1 if self.speeds is None else min(self.speeds.values())

    def name(self, worker: int) -> str:
        """What a report calls a member."""
        known = (self.addresses or {}).get(worker)
        return f"worker {worker}" if known is None else known.name

    def move(self, worker: int, state: WorkerState) -> None:
        """A member changed state."""
        if state is UP:
            self.absent.discard(worker)
            self.fallen.pop(worker, None)
        else:
            self.absent.add(worker)

    # --- what its members are told, where there is a master -----------------------------------

    def stage_in(self, actor: Actor, needs: Needs, image: bool, cause: int) -> None:
        """Have every member fetch what it lacks."""
        assert self.addresses is not None and self.run is not None
        run, number, addresses = self.run.number, self.number, self.addresses
        for worker, units in zip(self.members, self.units, strict=True):
            stage_in = StageIn(actor, number, run, needs, units, image)
            actor.send(addresses[worker], stage_in, cause)

    def send_images(self, actor: Actor, cause: int) -> None:
        """Have every member send its image."""
        assert self.addresses is not None
        for worker in self.members:
            actor.send(self.addresses[worker], SendImage(), cause)

    def leave(self, actor: Actor, cause: int, keep: bool) -> None:
        """The run has ended: its members stop fetching for it."""
        self.dismiss(actor, self.members, cause, keep)

    def dismiss(self, actor: Actor, workers: Sequence[int], cause: int, keep: bool) -> None:
        """The same for some of the members."""
        if self.addresses is not None:
            for worker in workers:
                actor.send(self.addresses[worker], LeaveRun(self.number, keep), cause)
