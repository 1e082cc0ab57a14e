"""asyncio's own tools work on virtual time, at exact times, without waiting."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import AsyncIterator

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


async def test_the_inner_of_two_timeouts_expires_alone() -> None:
    async with asyncio.timeout(10) as outer:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout_at(3):
                await asyncio.sleep(DAY)
        outer.reschedule(20)
        await asyncio.sleep(16)
    assert now() == 19
    assert not outer.expired()


async def test_wait_for_returns_what_comes_in_time_and_cancels_what_does_not() -> None:
    assert await asyncio.wait_for(after(2, "in time"), 3) == "in time"
    late = asyncio.create_task(after(2))
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(late, 1)
    assert late.cancelled()
    assert now() == 3


async def test_a_task_group_waits_for_the_slowest() -> None:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(after(delay, delay)) for delay in (3, 1, 2)]
    assert now() == 3
    assert [task.result() for task in tasks] == [3, 1, 2]


async def test_a_failure_in_a_task_group_cancels_the_others_at_its_instant() -> None:
    async def fail() -> None:
        await asyncio.sleep(1)
        raise ValueError("worn out")

    with pytest.raises(ExceptionGroup) as caught:
        async with asyncio.TaskGroup() as group:
            slow = group.create_task(after(DAY))
            group.create_task(fail())
    assert [str(error) for error in caught.value.exceptions] == ["worn out"]
    assert slow.cancelled()
    assert now() == 1


async def test_a_full_queue_holds_its_producer_back() -> None:
    queue: asyncio.Queue[int] = asyncio.Queue(maxsize=2)
    put: list[float] = []

    async def produce() -> None:
        for item in range(5):
            await queue.put(item)
            put.append(now())

    async with asyncio.TaskGroup() as group:
        group.create_task(produce())
        taken = []
        for _ in range(5):
            await asyncio.sleep(10)
            taken.append(await queue.get())
            queue.task_done()
        await queue.join()
    assert taken == [0, 1, 2, 3, 4]
    assert put == [0, 0, 10, 20, 30]


async def test_a_priority_queue_hands_out_the_smallest_first() -> None:
    queue: asyncio.PriorityQueue[int] = asyncio.PriorityQueue()
    for item in (3, 1, 2):
        queue.put_nowait(item)
    assert [await queue.get() for _ in range(3)] == [1, 2, 3]


async def test_an_event_wakes_its_waiters_in_the_order_in_which_they_came() -> None:
    event = asyncio.Event()
    woken: list[tuple[int, float]] = []

    async def wait(number: int) -> None:
        await event.wait()
        woken.append((number, now()))

    async with asyncio.TaskGroup() as group:
        for number in range(4):
            group.create_task(wait(number))
        await asyncio.sleep(7)
        event.set()
    assert woken == [(0, 7), (1, 7), (2, 7), (3, 7)]


async def test_a_semaphore_lets_two_in_at_a_time_and_a_lock_one() -> None:
    async def hold(gate: asyncio.Semaphore | asyncio.Lock, left: list[float]) -> None:
        async with gate:
            await asyncio.sleep(5)
            left.append(now())

    ends: tuple[list[float], list[float]] = ([], [])
    async with asyncio.TaskGroup() as group:
        semaphore, lock = asyncio.Semaphore(2), asyncio.Lock()
        for _ in range(4):
            group.create_task(hold(semaphore, ends[0]))
            group.create_task(hold(lock, ends[1]))
    assert ends == ([5, 5, 10, 10], [5, 10, 15, 20])


async def test_a_condition_wakes_as_many_as_it_notifies() -> None:
    condition = asyncio.Condition()
    stock = 0
    served: list[float] = []

    async def consume() -> None:
        nonlocal stock
        async with condition:
            await condition.wait_for(lambda: stock > 0)
            stock -= 1
            served.append(now())

    async with asyncio.TaskGroup() as group:
        for _ in range(3):
            group.create_task(consume())
        for delivery in (1, 2):
            await asyncio.sleep(1)
            async with condition:
                stock += delivery
                condition.notify(delivery)
    assert served == [1, 2, 2]


async def test_gather_keeps_the_order_of_asking_and_as_completed_that_of_ending() -> None:
    assert list(await asyncio.gather(after(2, "a"), after(1, "b"))) == ["a", "b"]
    ending = asyncio.as_completed([after(2, "a"), after(1, "b"), after(1, "c")])
    # Those that end at one instant end in the order in which as_completed, with a set, made them.
    first, second, last = [await one for one in ending]
    assert {first, second} == {"b", "c"}
    assert last == "a"


async def test_wait_returns_at_the_first_end_or_at_its_timeout() -> None:
    tasks = [asyncio.create_task(after(delay)) for delay in (5, 9)]
    done, _ = await asyncio.wait(tasks, timeout=2)
    assert not done
    done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    assert (done, pending) == ({tasks[0]}, {tasks[1]})
    assert now() == 5
    await tasks[1]


async def test_a_shielded_task_outlives_its_waiter() -> None:
    inner = asyncio.create_task(after(10, "done"))
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(asyncio.shield(inner), 4)
    assert await inner == "done"
    assert now() == 10


async def test_a_cancelled_task_may_take_its_time_to_clean_up() -> None:
    async def life() -> None:
        try:
            await asyncio.sleep(DAY)
        finally:
            await asyncio.sleep(2)

    task = asyncio.create_task(life())
    await asyncio.sleep(1)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    assert now() == 3


async def test_an_async_generator_yields_over_time() -> None:
    async def ticks(period: float) -> AsyncIterator[float]:
        while True:
            await asyncio.sleep(period)
            yield now()

    seen = []
    async for time in ticks(0.5):
        seen.append(time)
        if len(seen) == 3:
            break
    assert seen == [0.5, 1.0, 1.5]


async def test_a_byte_stream_within_the_process_works() -> None:
    reader = asyncio.StreamReader()
    asyncio.get_running_loop().call_later(3, reader.feed_data, b"line\n")
    assert await reader.readline() == b"line\n"
    assert now() == 3


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
