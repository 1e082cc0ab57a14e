"""Starting, stopping and closing: what asyncio promises holds for both loops, time for ours."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import weakref
from asyncio import AbstractEventLoop
from collections.abc import AsyncIterator, Callable

import pytest

from actors.runtime import ActorFailed, System, VirtualTimeLoop
from tests.actors.runtime.worlds import Doer, over, run_to_end, virtually


async def nap(delay: float) -> float:
    await asyncio.sleep(delay)
    return asyncio.get_running_loop().time()


def test_debug_mode_works() -> None:
    with asyncio.Runner(loop_factory=VirtualTimeLoop, debug=True) as runner:
        assert runner.get_loop().get_debug()
        assert runner.run(nap(5)) == 5


def test_asyncio_run_takes_the_loop_from_the_policy() -> None:
    class Policy(asyncio.DefaultEventLoopPolicy):
        def new_event_loop(self) -> AbstractEventLoop:
            return VirtualTimeLoop()

    asyncio.set_event_loop_policy(Policy())
    try:
        assert asyncio.run(nap(1e6)) == 1e6
    finally:
        asyncio.set_event_loop_policy(None)


def test_run_until_complete_returns_a_result_or_raises_the_error(
    any_loop: AbstractEventLoop,
) -> None:
    async def fail() -> None:
        raise ValueError("worn out")

    assert any_loop.run_until_complete(asyncio.sleep(0, "slept")) == "slept"
    with pytest.raises(ValueError, match="worn out"):
        any_loop.run_until_complete(fail())


def test_a_loop_that_is_stopped_before_a_future_is_done_says_so(
    any_loop: AbstractEventLoop,
) -> None:
    future = any_loop.create_future()
    any_loop.call_soon(any_loop.stop)
    with pytest.raises(RuntimeError, match="stopped before Future completed"):
        any_loop.run_until_complete(future)


def test_stop_ends_the_round_and_leaves_what_it_queued_to_the_next_run(
    any_loop: AbstractEventLoop,
) -> None:
    ran: list[str] = []

    def first() -> None:
        any_loop.call_soon(ran.append, "next round")
        any_loop.stop()

    any_loop.call_soon(first)
    any_loop.call_soon(ran.append, "same round")
    any_loop.run_forever()
    assert ran == ["same round"]
    any_loop.call_soon(any_loop.stop)
    any_loop.run_forever()
    assert ran == ["same round", "next round"]


def test_a_timer_that_stops_the_loop_leaves_what_it_queued_to_the_next_run(
    any_loop: AbstractEventLoop,
) -> None:
    ran: list[str] = []

    def due() -> None:
        any_loop.call_soon(ran.append, "next round")
        any_loop.stop()

    any_loop.call_later(0.001, due)
    any_loop.run_forever()
    assert ran == []


def test_a_loop_stopped_before_it_runs_does_one_round(any_loop: AbstractEventLoop) -> None:
    ran: list[str] = []
    any_loop.call_soon(ran.append, "queued")
    any_loop.call_later(0, ran.append, "due")
    any_loop.call_later(1000, ran.append, "later")
    any_loop.stop()
    any_loop.run_forever()
    assert ran == ["queued", "due"]


def test_a_stopped_loop_goes_on_at_the_same_time(loop: VirtualTimeLoop) -> None:
    times: list[float] = []
    for time in (1, 2, 3):
        loop.call_at(time, lambda: times.append(loop.time()))
    loop.call_at(2, loop.stop)
    loop.run_forever()
    assert (times, loop.time()) == ([1, 2], 2)
    loop.call_at(4, loop.stop)
    loop.run_forever()
    assert (times, loop.time()) == ([1, 2, 3], 4)


def test_two_loops_cannot_run_inside_each_other(any_loop: AbstractEventLoop) -> None:
    other = VirtualTimeLoop()

    async def nested() -> None:
        with pytest.raises(RuntimeError, match="another loop is running"):
            other.run_forever()

    any_loop.run_until_complete(nested())
    other.close()


def test_a_closed_loop_refuses_work(any_loop: AbstractEventLoop) -> None:
    any_loop.close()
    for refused in (
        lambda: any_loop.call_soon(print),
        lambda: any_loop.call_later(1, print),
        lambda: any_loop.call_at(1, print),
        lambda: any_loop.call_soon_threadsafe(print),
        any_loop.run_forever,
    ):
        with pytest.raises(RuntimeError, match="closed"):
            refused()


def test_a_closed_loop_keeps_nothing_alive(any_loop: AbstractEventLoop) -> None:
    future = any_loop.create_future()
    any_loop.call_soon(future.cancel)
    any_loop.call_later(5, future.cancel)
    gone = weakref.ref(future)
    any_loop.close()
    del future
    gc.collect()
    assert gone() is None


async def stream(ended: list[str]) -> AsyncIterator[int]:
    try:
        yield 1
    finally:
        await asyncio.sleep(3)
        ended.append("generator")


def test_a_runner_closes_async_generators_and_cancels_tasks_that_are_left() -> None:
    ended: list[str] = []

    async def linger() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("task")

    left = stream(ended)

    async def main() -> None:
        left_over.append(asyncio.create_task(linger()))
        assert await anext(left) == 1

    left_over: list[asyncio.Task[None]] = []
    virtually(main())
    assert ended == ["task", "generator"]
    assert left_over[0].cancelled()


def test_a_system_closes_async_generators_that_its_actors_leave(system: System) -> None:
    ended: list[str] = []
    doer = system.spawn(Doer("doer"))

    left = stream(ended)

    async def life() -> None:
        assert await anext(left) == 1

    doer.start(life())
    run_to_end(system, 5)
    assert ended == ["generator"]


@pytest.mark.parametrize("act", [lambda: None, lambda: [].pop()], ids=["success", "failure"])
def test_a_run_leaves_the_garbage_collector_as_it_found_it(
    system: System, act: Callable[[], None]
) -> None:
    before = gc.get_threshold()
    gc.set_threshold(701, 11, 12)
    try:
        system.spawn(Doer("doer")).plan(1, act)
        over(system, 2)
        with contextlib.suppress(ActorFailed):
            system.run()
        assert gc.get_threshold() == (701, 11, 12)
    finally:
        gc.set_threshold(*before)


def test_a_generator_that_is_dropped_is_closed_while_the_loop_runs() -> None:
    ended: list[str] = []

    async def main() -> None:
        async for _ in stream(ended):
            break
        await asyncio.sleep(4)
        assert ended == ["generator"]

    virtually(main())
