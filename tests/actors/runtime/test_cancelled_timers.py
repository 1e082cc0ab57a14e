"""Timers that are over, cancelled or never to come leave nothing behind."""

from __future__ import annotations

import asyncio
import gc
import math
import weakref
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.runtime import NOTHING, System, VirtualTimeLoop
from actors.runtime.loop import COMPACT_FROM
from tests.actors.runtime.worlds import Diary, Doer, Say, run_to_end, virtually


def bounded(loop: VirtualTimeLoop, live: int) -> bool:
    """Whether the heap holds no more than twice what lives and a constant."""
    return len(loop._heap) <= 2 * (live + COMPACT_FROM + 1)


def test_timeouts_entered_and_left_do_not_pile_up() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        for _ in range(20_000):
            async with asyncio.timeout(1e6):
                pass
            assert bounded(loop, live=0)

    virtually(main())


@pytest.mark.parametrize("live", [0, 3000])
def test_an_actors_cancelled_timers_do_not_pile_up(live: int) -> None:
    system = System()
    diary = system.spawn(Diary("diary"))
    for number in range(live):
        diary.at(number + 1, Say("live"), NOTHING)
    for _ in range(20_000):
        diary.cancel(diary.after(1e6, Say("never"), NOTHING))
        assert bounded(system.loop, live)
    run_to_end(system)
    assert diary.heard == [(number + 1, "live") for number in range(live)]


@settings(max_examples=20)
@given(st.integers(0, 2000), st.integers(COMPACT_FROM, 4 * COMPACT_FROM), st.integers())
def test_sweeping_cancelled_timers_out_loses_none_that_lives(
    alive: int, cancelled: int, seed: int
) -> None:
    system = System()
    diary = system.spawn(Diary("diary"))
    chance = Random(seed)
    lives = [True] * alive + [False] * cancelled
    chance.shuffle(lives)
    numbers = chance.sample(range(len(lives)), len(lives))
    timers = {number: diary.at(number, Say(str(number)), NOTHING) for number in numbers}
    for number, lives_on in enumerate(lives):
        if not lives_on:
            diary.cancel(timers[number])
    run_to_end(system)
    assert diary.heard == [(n, str(n)) for n, lives_on in enumerate(lives) if lives_on]


def test_a_cancelled_timer_does_not_move_the_time(loop: VirtualTimeLoop) -> None:
    loop.call_later(100, print).cancel()
    loop.call_later(3, loop.stop)
    loop.call_later(1, print).cancel()
    loop.run_forever()
    assert loop.time() == 3


def test_a_timer_can_be_cancelled_after_it_came_or_twice(system: System, diary: Diary) -> None:
    timer = diary.at(1, Say("came"), NOTHING)
    never = diary.at(1, Say("never"), NOTHING)
    for _ in range(2):
        system.spawn(Doer(f"doer {_}")).plan(2, lambda: diary.cancel(timer))
        diary.cancel(never)
    run_to_end(system)
    assert diary.heard == [(1, "came")]


def test_a_timer_of_the_same_instant_can_still_be_cancelled(loop: VirtualTimeLoop) -> None:
    ran: list[str] = []
    handle: asyncio.TimerHandle
    loop.call_at(1, lambda: handle.cancel())
    handle = loop.call_at(1, ran.append, "cancelled")
    loop.call_at(1, ran.append, "kept")
    loop.call_at(2, loop.stop)
    loop.run_forever()
    assert ran == ["kept"]


@pytest.mark.parametrize("end", ["due", "cancelled"])
def test_a_timer_that_is_over_leaves_nothing_to_the_garbage_collector(
    loop: VirtualTimeLoop, end: str
) -> None:
    def callback_of(future: asyncio.Future[None]) -> Callable[[], object]:
        return lambda: future.done()

    future = loop.create_future()
    gone = weakref.ref(future)
    gc.disable()
    try:
        handle = loop.call_later(1, callback_of(future))
        if end == "cancelled":
            handle.cancel()
        del handle, future
        loop.call_later(2, loop.stop)
        loop.run_forever()
        assert gone() is None
    finally:
        gc.enable()


def test_a_timer_at_infinity_never_comes_and_holds_nothing_up(system: System, diary: Diary) -> None:
    never = diary.at(math.inf, Say("never"), NOTHING)
    diary.at(5, Say("five"), NOTHING)
    run_to_end(system, 6)
    diary.cancel(never)
    assert diary.heard == [(5, "five")]
    assert system.loop.now == 6
