"""Time that stands still is an error with a name, never a hang."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from attrs import define

from actors.runtime import NOTHING, Actor, Livelock, Phase, System, handles, message
from actors.runtime import loop as loops
from tests.actors.runtime.worlds import virtually


@message
class Again:
    """To oneself, now."""


@define(eq=False)
class Restless(Actor):
    """Decides, and at once decides again."""

    def started(self) -> None:
        self.after(2, Again(), NOTHING)

    @handles(Again)
    def again(self, _: Again, cause: int) -> None:
        self.at(self.now, Again(), cause, Phase.DECISION)


@define(eq=False)
class Hasty(Restless):
    """The same without a timer."""

    @handles(Again)
    def again(self, _: Again, cause: int) -> None:
        self.later(Again(), cause, Phase.DECISION)


@pytest.mark.parametrize("kind", [Restless, Hasty])
def test_an_actor_that_decides_for_ever_at_one_instant_is_named(
    kind: type[Restless], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loops, "MOST_AT_ONCE", 1000)
    system = System()
    system.spawn(kind("restless"))
    with pytest.raises(Livelock, match=r"livelock at 2.*restless keeps sending itself Again"):
        system.run()


async def due_now() -> None:
    due = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_later(0, due.set_result, None)
    await due


async def timed_out() -> None:
    try:
        async with asyncio.timeout_at(0):
            asyncio.get_running_loop().call_at(1, print)
            await due_now()
    except TimeoutError:
        pass


@pytest.mark.parametrize("wait", [due_now, lambda: asyncio.sleep(1e-12), timed_out])
def test_a_task_that_waits_for_the_present_instant_for_ever_is_a_livelock(
    wait: Callable[[], Awaitable[None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loops, "MOST_AT_ONCE", 1000)

    async def life() -> None:
        await asyncio.sleep(1e6)  # to which 1e-12 adds nothing
        for _ in range(2000):
            await wait()

    with pytest.raises(Livelock, match=r"livelock at 1000000\.0: .* asyncio keeps"):
        virtually(life())


def test_many_timers_of_one_instant_that_do_not_set_each_other_are_no_livelock(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(loops, "MOST_AT_ONCE", 1000)

    async def life() -> None:
        for _ in range(3):
            await asyncio.gather(*(due_now() for _ in range(900)), asyncio.sleep(1))
        for _ in range(2000):
            await asyncio.sleep(0)

    virtually(life())
