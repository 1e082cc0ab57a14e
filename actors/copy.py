"""A copy: the workers that one chain of a job's runs holds, and what they are doing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from attrs import define, field

from actors.intervals import members
from actors.messages import ResizeCopy
from actors.worker_messages import Feed, LeaveRun, Needs, SendImage
from policies.availability import WorkerState

if TYPE_CHECKING:
    from actors.plan import State
    from actors.run import Run
    from actors.runtime import Actor
    from actors.workforce import Workforce

UP = WorkerState.UP


@define(eq=False)
class Copy:
    """Members held for one run at a time; under buddies, for the next one too."""

    number: int
    """Unique in the system: by it the scheduler knows who holds a worker."""
    members: tuple[int, ...]
    """Worker numbers, ascending."""
    text: str
    units: tuple[int, ...]
    """By member: units of data, tasks of an iterative job."""
    speeds: dict[int, float] | None = None
    """By member; None: all 1, for ever."""
    workforce: Workforce | None = None
    """Where there is a master: it feeds the members."""
    absent: set[int] = field(init=False, factory=set)
    """Members that are not UP."""
    run: Run | None = field(init=False, default=None)
    """The one under way; None while its members are only kept."""
    last: int = field(init=False, default=-1)
    """Number of its last run."""
    saved: State | None = field(init=False, default=None)
    """What buddies have saved."""
    holders: int = field(init=False)
    """Members among which that, or the input, is spread."""
    cause: int = field(init=False, default=-1)
    """seq of what its next run waited for last, or of the loss for which that begins anew."""
    anew: bool = field(init=False, default=False)
    """Whether its next run begins from scratch, as what was saved is lost."""
    struck: set[int] = field(init=False, factory=set)
    """Members that went DOWN since the last recovery was over."""

    def __attrs_post_init__(self) -> None:
        self.holders = len(self.members)

    def exchange(self, message: ResizeCopy, speeds: Sequence[float] | None) -> tuple[int, ...]:
        """Have other members, each with one unit of data; who left."""
        held = members(message.numbers)
        left = tuple(sorted(set(self.members).difference(held)))
        self.members, self.text, self.units = held, message.text, (1,) * len(held)
        if speeds:
            self.speeds = {n: speeds[n] for n in held}
        self.absent.difference_update(left)
        self.struck.difference_update(left)
        return left

    def awaited(self, cause: int) -> None:
        """This is what its next run has waited for."""
        if not self.anew:
            self.cause = cause

    def speed(self) -> float:
        """The slowest member's (R1)."""
        return 1 if self.speeds is None else min(self.speeds.values())

    def move(self, worker: int, state: WorkerState) -> None:
        """A member changed state."""
        if state is UP:
            self.absent.discard(worker)
        else:
            self.absent.add(worker)

    # --- what its members are told, where there is a master -----------------------------------

    def feed(self, actor: Actor, needs: Needs, image: bool) -> None:
        """Have every member fetch what it lacks."""
        assert self.workforce is not None and self.run is not None
        run = self.run.number
        number, send, workforce = self.number, actor.send, self.workforce
        for worker, units in zip(self.members, self.units, strict=True):
            send(workforce(worker), Feed(actor, number, run, needs, units, image))

    def send_images(self) -> None:
        """Have every member send its image."""
        assert self.workforce is not None and self.run is not None
        for worker in self.members:
            self.run.actor.send(self.workforce(worker), SendImage())

    def leave(self, actor: Actor, keep: bool) -> None:
        """The run has ended: nobody fetches anything for it any more."""
        self.dismiss(actor, self.members, keep)

    def dismiss(self, actor: Actor, workers: Sequence[int], keep: bool) -> None:
        """The same for some."""
        if self.workforce is not None:
            for worker in workers:
                actor.send(self.workforce(worker), LeaveRun(self.number, keep))
