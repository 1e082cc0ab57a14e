"""Small actors that the tests of the runtime share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from attrs import define, field, frozen

from actors.runtime import (
    NOTHING,
    Actor,
    Event,
    Phase,
    System,
    Timer,
    VirtualTimeLoop,
    handles,
    message,
)

T = TypeVar("T")


@message
class Do:
    """Do this."""

    act: Callable[[], object]


@message
class Answer:
    """Do this with the number of the event that led to it."""

    act: Callable[[int], object]


@message
class Say:
    """Take note of this."""

    text: str


@frozen
class Noted(Event):
    """An actor took note of something."""

    text: str


@define(eq=False)
class Doer(Actor):
    """Does what it is told, when it is told."""

    @handles(Do)
    def do(self, message: Do, cause: int) -> None:
        message.act()

    @handles(Answer)
    def answer(self, message: Answer, cause: int) -> None:
        message.act(cause)

    def plan(self, time: float, act: Callable[[], object], phase: Phase = Phase.WORK_ENDS) -> Timer:
        """Do `act` at `time`, in `phase`."""
        return self.at(time, Do(act), NOTHING, phase)


@define(eq=False)
class Diary(Actor):
    """Notes what it hears, and when."""

    heard: list[tuple[float, str]] = field(factory=list)

    @handles(Say)
    def hear(self, message: Say, cause: int) -> None:
        self.heard.append((self.now, message.text))

    def texts(self) -> list[str]:
        """What it heard."""
        return [text for _, text in self.heard]


def over(system: System, time: float = 1e9) -> None:
    """Let the run end at `time`."""
    system.spawn(Doer("end of the run")).plan(time, lambda: system.finish(NOTHING), max(Phase))


def run_to_end(system: System, time: float = 1e9) -> None:
    """Run it until `time`."""
    over(system, time)
    system.run()


def virtually(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on a loop of its own, as users do."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(main)
