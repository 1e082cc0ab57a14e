"""Agents that do one thing once: `holdfast chaos` injects failures by them."""

from typing import ClassVar

from attrs import define

from actors.acts import Act
from actors.agents.agent import Agent
from policies.availability import WorkerState


@define(eq=False)
class OneFault(Agent):
    """Makes one worker fail, at one time, for `length` time units."""

    does: ClassVar = (Act.FAIL,)
    worker: int
    time: float
    length: float

    def begin(self, cause: int) -> None:
        self.inject_fault(self.worker, self.length, cause, after=self.time)


@define(eq=False)
class OneAbsence(Agent):
    """Takes one worker, at one time, for `length` time units."""

    does: ClassVar = (Act.TAKE,)
    worker: int
    time: float
    length: float
    down: bool = False
    """Whether the worker is DOWN meanwhile, and loses what it holds; otherwise it is RECLAIMED."""

    def begin(self, cause: int) -> None:
        state = WorkerState.DOWN if self.down else WorkerState.RECLAIMED
        self.take(self.worker, cause, after=self.time, state=state)
        self.give_back(self.worker, cause, after=self.time + self.length)
