"""asyncio's own tools work on virtual time, at exact times, without waiting."""

from __future__ import annotations

import asyncio
import contextvars

import pytest

DAY = 86_400.0

pytestmark = pytest.mark.asyncio(loop_factories=["virtual"])


def now() -> float:
    return asyncio.get_running_loop().time()


async def after(delay: float, value: object = None) -> object:
    await asyncio.sleep(delay)
    return value


async def test_a_sleep_takes_exactly_its_delay_and_no_time() -> None:
    assert now() == 0
    assert await asyncio.sleep(365 * DAY, "slept") == "slept"
    assert now() == 365 * DAY
    await asyncio.sleep(0.1)
    assert now() == 365 * DAY + 0.1


async def test_sleeping_for_nothing_or_less_takes_one_round_and_no_time() -> None:
    rounds: list[str] = []
    asyncio.get_running_loop().call_soon(rounds.append, "other")
    await asyncio.sleep(-5)
    assert rounds == ["other"]
    assert now() == 0


async def test_sleeping_for_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match=r"(?i)nan"):
        await asyncio.sleep(float("nan"))


async def test_sleeping_for_ever_lasts_until_it_is_cancelled() -> None:
    sleeper = asyncio.create_task(asyncio.sleep(float("inf")))
    await asyncio.sleep(1000 * DAY)
    assert not sleeper.done()
    sleeper.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sleeper
    assert now() == 1000 * DAY


async def test_a_timeout_expires_at_its_exact_time() -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(1.5):
            await asyncio.sleep(DAY)
    assert now() == 1.5


async def test_each_task_and_callback_keeps_its_context() -> None:
    who = contextvars.ContextVar("who", default="nobody")
    seen: list[str] = []

    async def life(name: str) -> None:
        who.set(name)
        asyncio.get_running_loop().call_later(1, lambda: seen.append(who.get()))
        await asyncio.sleep(2)
        seen.append(who.get())

    await asyncio.gather(life("a"), life("b"))
    assert seen == ["a", "b", "a", "b"]
    assert who.get() == "nobody"


async def test_a_failing_callback_goes_to_the_exception_handler_and_the_loop_goes_on() -> None:
    loop = asyncio.get_running_loop()
    told: list[str] = []
    loop.set_exception_handler(lambda _, context: told.append(str(context["exception"])))
    loop.call_later(1, lambda: [].pop())
    await asyncio.sleep(2)
    assert told == ["pop from empty list"]


async def test_a_cancelled_callback_neither_runs_nor_fails() -> None:
    loop = asyncio.get_running_loop()
    told: list[object] = []
    loop.set_exception_handler(lambda _, context: told.append(context))
    for handle in (
        loop.call_soon(told.append, "soon"),
        loop.call_later(0, told.append, "overdue"),
        loop.call_later(1, told.append, "later"),
    ):
        handle.cancel()
    await asyncio.sleep(2)
    assert told == []


async def test_a_coroutine_can_be_submitted_from_the_loops_own_thread() -> None:
    future = asyncio.run_coroutine_threadsafe(after(4, "here"), asyncio.get_running_loop())
    await asyncio.sleep(5)
    assert future.result(timeout=0) == "here"
