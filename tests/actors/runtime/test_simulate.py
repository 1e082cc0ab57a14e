"""`simulate` is asyncio.run in virtual time, and `clock` its time."""

from __future__ import annotations

import asyncio
import random
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from typing import Any

import pytest
from attrs import define, field

from actors.runtime import Deadlock, OutsideWorldError, RuntimeFault
from actors.runtime.simulate import clock, simulate

DAY = 86_400.0


async def day() -> float:
    await asyncio.sleep(DAY)
    return clock()


def test_a_program_returns_its_result_after_a_day_that_takes_no_time() -> None:
    before = time.monotonic()
    assert simulate(day()) == DAY
    assert time.monotonic() - before < 5


@pytest.mark.asyncio(loop_factories=["standard"])
async def test_it_works_where_a_loop_is_running_as_in_an_async_test_or_a_notebook() -> None:
    outer = asyncio.get_running_loop()
    assert simulate(day()) == DAY
    assert asyncio.get_running_loop() is outer
    await asyncio.sleep(0)


def test_an_error_of_the_program_is_raised_as_it_is() -> None:
    async def main() -> None:
        await asyncio.sleep(1)
        raise KeyError("own")

    with pytest.raises(KeyError, match="own"):
        simulate(main())


def test_what_is_no_coroutine_is_refused() -> None:
    with pytest.raises((ValueError, TypeError), match="coroutine"):
        simulate(day)  # type: ignore[arg-type]


def test_tasks_that_are_left_are_cancelled_at_the_time_of_the_end() -> None:
    ended: list[float] = []

    async def other() -> None:
        try:
            await asyncio.sleep(DAY)
        finally:
            ended.append(clock())

    async def main() -> None:
        task = asyncio.create_task(other())
        await asyncio.sleep(3)
        assert not task.done()

    simulate(main())
    assert ended == [3]


def test_there_is_no_clock_outside_of_virtual_time() -> None:
    with pytest.raises(RuntimeFault, match="no event loop is running"):
        clock()

    async def main() -> None:
        clock()

    with pytest.raises(RuntimeFault, match=r"EventLoop is running: see holdfast\.simulate"):
        asyncio.run(main())


async def thread() -> None:
    await asyncio.to_thread(print)


async def connection() -> None:
    await asyncio.open_connection("localhost", 80)


async def server() -> None:
    await asyncio.start_server(lambda *_: None, "localhost", 0)


async def process() -> None:
    await asyncio.create_subprocess_exec("true")


async def receive_from_a_socket() -> None:
    with socket.socket() as it:
        await asyncio.get_running_loop().sock_recv(it, 1)


@pytest.mark.parametrize(
    ("ask", "reason"),
    [
        (thread, "run_in_executor is refused under virtual time: a thread finishes"),
        (connection, "the network answers at a wall-clock time"),
        (server, "the network answers at a wall-clock time"),
        (process, "a process of the operating system lives in wall-clock time"),
        (receive_from_a_socket, "sock_recv is refused under virtual time: the network"),
    ],
)
def test_what_waits_for_the_outside_world_is_refused_with_the_reason(
    ask: Callable[[], Awaitable[None]], reason: str
) -> None:
    async def main() -> None:
        await ask()

    with pytest.raises(OutsideWorldError, match=reason):
        simulate(main())


# --- deadlocks ------------------------------------------------------------------------------------


async def takes(resource: asyncio.Semaphore) -> None:
    async with resource:
        await asyncio.Event().wait()


async def waits_for(task: asyncio.Task[None]) -> None:
    await task


async def both(queue: asyncio.Queue[int]) -> None:
    async with asyncio.timeout(None):
        await queue.join()


async def bare() -> None:
    await asyncio.get_running_loop().create_future()


async def shields() -> None:
    await asyncio.shield(asyncio.get_running_loop().create_future())


async def generated() -> AsyncIterator[int]:
    yield 1
    await asyncio.Event().wait()


async def iterates() -> None:
    async for _ in generated():
        pass


class Awaited:
    def __await__(self) -> Generator[Any, None, None]:
        yield from asyncio.get_running_loop().create_future()


async def awaits() -> None:
    await Awaited()


async def first() -> None:
    for it in asyncio.as_completed([asyncio.get_running_loop().create_future()]):
        await it


async def gathers() -> None:
    await asyncio.gather(asyncio.Event().wait(), asyncio.get_running_loop().create_future())


async def stuck() -> None:
    resource, queue = asyncio.Semaphore(1), asyncio.Queue[int]()
    queue.put_nowait(1)
    async with asyncio.TaskGroup() as group:
        holder = group.create_task(takes(resource), name="holder")
        group.create_task(takes(resource), name="waiter")
        group.create_task(waits_for(holder), name="friend")
        group.create_task(both(queue), name="joiner")
        for it in (bare, shields, iterates, awaits, first, gathers):
            group.create_task(it(), name=it.__name__)


def test_a_deadlock_names_each_task_and_what_it_awaits() -> None:
    with pytest.raises(Deadlock) as caught:
        simulate(stuck())
    waiting = [line.split(" waits in ") for line in caught.value.waiting]
    found = {name: rest.partition(" (")[0] + rest.partition(")")[2] for name, rest in waiting}
    assert found.pop("holder") == "takes for Event.wait"
    assert found.pop("waiter") == "takes for Semaphore.acquire"
    assert found.pop("friend") == "waits_for for task holder"
    assert found.pop("joiner") == "both for Queue.join"
    assert found.pop("bare") == "bare for a future"
    assert found.pop("shields") == "shields for shield"
    assert found.pop("iterates") == "generated for Event.wait"
    assert found.pop("awaits") == "__await__ for a future"
    assert found.pop("first") == "first for as_completed"
    [gathered] = [name for name, where in found.items() if where == "Event.wait"]
    assert found.pop(gathered)
    assert found.pop("gathers") == f"gathers for gather of task {gathered}, a future"
    [main] = found.values()
    assert main == "stuck for the tasks of its TaskGroup"


# --- order, as the page on SimPy's words promises it ----------------------------------------------


@define
class Desk:
    """One of each of asyncio's primitives, none of which lets anyone pass at first."""

    lock: asyncio.Lock = field(factory=asyncio.Lock)
    semaphore: asyncio.Semaphore = field(factory=lambda: asyncio.Semaphore(0))
    condition: asyncio.Condition = field(factory=asyncio.Condition)
    queue: asyncio.Queue[int] = field(factory=asyncio.Queue)
    event: asyncio.Event = field(factory=asyncio.Event)

    async def locked(self) -> None:
        async with self.lock:
            pass

    async def notified(self) -> None:
        async with self.condition:
            await self.condition.wait()

    async def open(self) -> None:
        """Let ten pass, one after the other."""
        self.lock.release()
        self.event.set()
        for number in range(10):
            self.semaphore.release()
            self.queue.put_nowait(number)
            async with self.condition:
                self.condition.notify()
            await asyncio.sleep(0)


WAYS: dict[str, Callable[[Desk], Awaitable[object]]] = {
    "Lock": Desk.locked,
    "Semaphore": lambda desk: desk.semaphore.acquire(),
    "Condition": Desk.notified,
    "Queue": lambda desk: desk.queue.get(),
    "Event": lambda desk: desk.event.wait(),
    "sleep": lambda _: asyncio.sleep(20 - clock()),
}


@pytest.mark.parametrize("way", WAYS)
def test_who_asked_first_is_served_first(way: str) -> None:
    async def main() -> list[int]:
        """Ten tasks ask, at times 0 to 9, and can pass from 15 on."""
        desk, served = Desk(), list[int]()
        await desk.lock.acquire()

        async def ask(number: int) -> None:
            await asyncio.sleep(number)
            await WAYS[way](desk)
            served.append(number)

        async with asyncio.TaskGroup() as group:
            for number in range(10):
                group.create_task(ask(number))
            await asyncio.sleep(15)
            assert served == []
            await desk.open()
        return served

    assert simulate(main()) == list(range(10))


def test_a_bounded_queue_takes_what_was_put_first() -> None:
    async def main() -> list[int]:
        queue: asyncio.Queue[int] = asyncio.Queue(1)
        async with asyncio.TaskGroup() as group:
            for number in range(10):
                group.create_task(queue.put(number))
            await asyncio.sleep(1)
            return [await queue.get() for _ in range(10)]

    assert simulate(main()) == list(range(10))


def test_timers_of_one_instant_come_in_the_order_in_which_they_were_set() -> None:
    """Tasks that sleep until one time by different ways: stock asyncio gives another order."""
    rng = random.Random(1)
    delays = [rng.randrange(10) for _ in range(200)]

    async def main() -> list[int]:
        woken: list[int] = []

        async def sleeper(number: int, delay: int) -> None:
            await asyncio.sleep(delay)
            await asyncio.sleep(10 - delay)
            woken.append(number)

        async with asyncio.TaskGroup() as group:
            for number, delay in enumerate(delays):
                group.create_task(sleeper(number, delay))
        assert clock() == 10
        return woken

    expected = sorted(range(200), key=lambda number: (delays[number], number))
    assert simulate(main()) == expected
