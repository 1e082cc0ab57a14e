"""A server: its speed varies by a process of its own, and it may fail."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import define, field, frozen
from attrs.validators import ge, gt
from numpy.random import Generator

from actors.redundant.events import ServerCameBack, ServerSpeedChanged, ServerWentDown
from actors.redundant.messages import ChangeSpeed, Fail, Repair, ServerFailed, SpeedChanged
from actors.runtime import Actor, Phase, handles
from policies.maths.speeds import Change


@frozen
class Failures:
    """Servers fail at exponential times and are down for a fixed time; not in 004."""

    mtbf: float = field(validator=gt(0))
    """Mean time between the end of a downtime and the next failure, time units."""
    downtime: float = field(default=0.0, validator=ge(0))
    """Time units."""


@define(eq=False)
class Server(Actor):
    """Tells the cluster of every change of its speed; it does not know what it runs."""

    cluster: Actor
    index: int
    path: Iterator[Change]
    """(time, speed), the first at the start of the run."""
    failures: Failures | None = None
    rng: Generator | None = None
    """For failures."""
    speed: float = field(init=False, default=0.0)
    next_speed: float = field(init=False, default=0.0)
    down: bool = field(init=False, default=False)

    def started(self) -> None:
        _, self.next_speed = next(self.path)
        self.change(ChangeSpeed())
        self._await_failure()

    @handles(ChangeSpeed)
    def change(self, message: ChangeSpeed) -> None:
        self.speed = self.next_speed
        if not self.down:
            self.record(ServerSpeedChanged, self.index, self.speed)
            self.send(self.cluster, SpeedChanged(self.index, self.speed))
        following = next(self.path, None)
        if following is not None:
            time, self.next_speed = following
            self.at(time, message, Phase.STATES_CHANGE)

    @handles(Fail)
    def fail(self, message: Fail) -> None:
        self.down = True
        self.record(ServerWentDown, self.index)
        self.send(self.cluster, ServerFailed(self.index))
        if self.failures is not None:
            self.after(self.failures.downtime, Repair(), Phase.STATES_CHANGE)

    @handles(Repair)
    def repair(self, message: Repair) -> None:
        self.down = False
        self.record(ServerCameBack, self.index, self.speed)
        self.send(self.cluster, SpeedChanged(self.index, self.speed))
        self._await_failure()

    def _await_failure(self) -> None:
        if self.failures is not None and self.rng is not None:
            self.after(self.rng.exponential(self.failures.mtbf), Fail(), Phase.STATES_CHANGE)
