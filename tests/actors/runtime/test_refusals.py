"""No outside world: what would wait for it is refused by name; nothing looks at the wall clock."""

from __future__ import annotations

import asyncio
import select
import threading
import time

import pytest

from actors.runtime import OutsideWorldError, System, VirtualTimeLoop
from tests.actors.runtime.worlds import Doer, run_to_end, virtually

WALL_CLOCK = (
    *("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns"),
    *("sleep", "localtime", "gmtime", "process_time"),
)

HARMLESS = frozenset(
    (
        *("run_forever", "run_until_complete", "stop", "is_running", "is_closed", "close"),
        *("shutdown_asyncgens", "shutdown_default_executor", "time", "call_soon", "call_later"),
        *("call_at", "call_soon_threadsafe", "create_future", "create_task", "set_task_factory"),
        *("get_task_factory", "get_exception_handler", "set_exception_handler"),
        *("default_exception_handler", "call_exception_handler", "get_debug", "set_debug"),
    )
)
"""Methods of an event loop that need no outside world."""


def refused() -> list[str]:
    return [
        name
        for name in vars(asyncio.AbstractEventLoop)
        if not name.startswith("_") and name not in HARMLESS
    ]


@pytest.mark.parametrize("name", refused())
def test_every_method_that_needs_the_outside_world_is_refused_by_name_and_reason(
    loop: VirtualTimeLoop, name: str
) -> None:
    with pytest.raises(OutsideWorldError, match=rf"^{name} is refused .*: .* wall-clock time"):
        getattr(loop, name)(None, keyword=None)


def test_another_thread_cannot_call_into_a_running_loop() -> None:
    async def main() -> None:
        errors: list[BaseException] = []

        def intrude() -> None:
            try:
                loop.call_soon_threadsafe(print)
            except OutsideWorldError as error:
                errors.append(error)

        loop = asyncio.get_running_loop()
        thread = threading.Thread(target=intrude)
        thread.start()
        thread.join()
        assert [str(error).split(" is refused")[0] for error in errors] == [
            "call_soon_threadsafe from another thread"
        ]

    virtually(main())


def test_a_loop_can_run_in_any_thread() -> None:
    times: list[float] = []

    async def main() -> None:
        await asyncio.sleep(9)
        times.append(asyncio.get_running_loop().time())

    thread = threading.Thread(target=lambda: virtually(main()))
    thread.start()
    thread.join()
    assert times == [9]


# --- the wall clock -------------------------------------------------------------------------------


@pytest.fixture
def forbidden(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the functions that were called although they wait or look at the wall clock.

    Calls of other threads are not noted: a cluster of an earlier test leaves some that go on.
    """
    called: list[str] = []
    here = threading.get_ident()

    def forbid(module: object, name: str) -> None:
        original = getattr(module, name)

        def noted(*args: object, **options: object) -> object:
            if threading.get_ident() == here:
                called.append(name)
            return original(*args, **options)

        monkeypatch.setattr(module, name, noted)

    for name in WALL_CLOCK:
        forbid(time, name)
    for name in ("select", "poll", "epoll"):
        forbid(select, name)
    return called


async def busy() -> None:
    """A little of everything."""
    queue: asyncio.Queue[int] = asyncio.Queue(1)
    async with asyncio.timeout(1e6), asyncio.TaskGroup() as group:
        group.create_task(queue.put(1))
        group.create_task(queue.put(2))
        await asyncio.sleep(1e5)
        await queue.get()
    await asyncio.wait_for(queue.get(), 5)


@pytest.mark.parametrize("debug", [False, True])
def test_no_asyncio_program_looks_at_the_wall_clock_or_waits(
    forbidden: list[str], debug: bool
) -> None:
    with asyncio.Runner(loop_factory=VirtualTimeLoop, debug=debug) as runner:
        runner.run(busy())
    assert forbidden == []


def test_no_system_of_actors_looks_at_the_wall_clock_or_waits(forbidden: list[str]) -> None:
    system = System()
    doer = system.spawn(Doer("doer"))
    doer.plan(1e5, lambda: doer.start(busy()))
    run_to_end(system, 1e6)
    assert forbidden == []
    assert system.loop.now == 1e6


def test_the_standard_loop_would_have_been_caught(forbidden: list[str]) -> None:
    with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
        runner.run(asyncio.sleep(0.001))
    assert "monotonic" in forbidden
