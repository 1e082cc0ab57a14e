"""A run inside a running event loop: it goes through, and the outer loop goes on as before."""

from __future__ import annotations

import asyncio

import pytest

from actors.runtime import NOTHING, Actor, ActorFailed, System, handles


class Ender(Actor):
    """Ends its run at time 3."""

    def started(self) -> None:
        self.after(3.0, "end", NOTHING)

    @handles(str)
    def end(self, word: str, cause: int) -> None:
        if self.name == "spoilt":
            raise KeyError(word)
        self.system.finish(cause, word)


def result_of(name: str) -> object:
    system = System()
    system.spawn(Ender(name))
    system.run()
    return system.result, system.loop.now


def test_a_run_inside_a_running_loop_goes_through_and_leaves_that_loop_running() -> None:
    async def cell() -> list[object]:
        task, outer = asyncio.current_task(), asyncio.get_running_loop()
        ticks: list[object] = []
        ticker = asyncio.create_task(tick(ticks))
        found = result_of("ender")
        assert asyncio.current_task() is task
        assert asyncio.get_running_loop() is outer
        await ticker
        return [found, *ticks]

    async def tick(ticks: list[object]) -> None:
        for k in range(2):
            await asyncio.sleep(0.001)
            ticks.append(k)

    assert asyncio.run(cell()) == [("end", 3.0), 0, 1]


def test_a_run_that_fails_inside_a_running_loop_leaves_that_loop_running() -> None:
    async def cell() -> None:
        with pytest.raises(ActorFailed):
            result_of("spoilt")
        await asyncio.sleep(0)
        assert asyncio.current_task() is not None

    asyncio.run(cell())


def test_a_run_inside_a_callback_of_a_running_loop_has_no_task_to_give_back() -> None:
    loop, found = asyncio.new_event_loop(), list[object]()
    loop.call_soon(lambda: found.append(result_of("ender")))
    loop.call_soon(loop.stop)
    loop.run_forever()
    loop.close()
    assert found == [("end", 3.0)]
