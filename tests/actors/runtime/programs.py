"""Random small asyncio programs, and what they do: one trace a loop, to be compared.

A program is a few scripts, each run by a task. Every step notes when it is through, so that a
trace tells the order of everything. What is stuck at the end is cancelled and says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from attrs import frozen
from hypothesis import strategies as st

SHARED = 2
"""Queues, events, locks, futures of each kind: few, so that tasks meet."""

ROUNDS = 60
"""More than any of these programs needs to come to rest."""

Act = Callable[["Stage", str, int], Coroutine[Any, Any, object]]


@frozen
class Step:
    """What it does; on which of the shared things, or how deep."""

    act: Act
    index: int = 0


Scripts = tuple[tuple[Step, ...], ...]


class Stage:
    """What the tasks of one program share, and the trace of what they did.

    `unit` is the length of a time slot; each sleep lasts until a slot that no other one ends at:
    the sleep at (task, position) until the start of slot `slots[task, position]`.
    """

    def __init__(self, unit: float, slots: dict[tuple[int, int], int]) -> None:
        self.unit, self.slots = unit, slots
        self.trace: list[tuple[object, ...]] = []
        self.tardiest = 0.0
        """How late, in slots, the latest of the sleepers woke."""
        self.queues = [asyncio.Queue[str](maxsize=size) for size in range(SHARED)]
        self.events = [asyncio.Event() for _ in range(SHARED)]
        self.locks = [asyncio.Lock() for _ in range(SHARED)]
        self.conditions = [asyncio.Condition() for _ in range(SHARED)]
        loop = asyncio.get_running_loop()
        self.futures: list[asyncio.Future[str]] = [loop.create_future() for _ in range(SHARED)]

    async def run(self, scripts: Scripts) -> None:
        """Run all scripts until nothing can happen any more; then cancel what is left."""
        loop = asyncio.get_running_loop()
        self.start = loop.time()
        self.tasks = [
            loop.create_task(self._live(task, script)) for task, script in enumerate(scripts)
        ]
        if self.slots:
            await asyncio.sleep(self.unit * (len(self.slots) + 1))
        for _ in range(ROUNDS):
            await asyncio.sleep(0)
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    async def _live(self, task: int, script: tuple[Step, ...]) -> None:
        for position, step in enumerate(script):
            label, name = f"{task}.{position}", step.act.__name__
            try:
                result = await step.act(self, label, step.index)
            except asyncio.CancelledError:
                self.trace.append((label, name, "cancelled"))
                raise
            self.trace.append((label, name, result))

    async def pause(self, _: str, __: int) -> None:
        await asyncio.sleep(0)

    async def sleep(self, label: str, _: int) -> None:
        task, position = label.split(".")
        due = self.start + self.unit * self.slots[int(task), int(position)]
        loop = asyncio.get_running_loop()
        await asyncio.sleep(due - loop.time())
        self.tardiest = max(self.tardiest, (loop.time() - due) / self.unit)

    async def soon(self, label: str, depth: int) -> None:
        self._call(label, depth, asyncio.get_running_loop().call_soon)

    async def later(self, label: str, depth: int) -> None:
        loop = asyncio.get_running_loop()
        # Whole seconds overdue: the standard loop tells them apart whatever its clock does.
        self._call(label, depth, lambda callback: loop.call_later(-depth, callback))

    def _call(self, label: str, depth: int, call: Callable[[Callable[[], None]], object]) -> None:
        def callback() -> None:
            self.trace.append((label, "callback", depth))
            if depth:
                self._call(label, depth - 1, call)

        call(callback)

    async def cancelled_call(self, label: str, index: int) -> None:
        loop = asyncio.get_running_loop()

        def never() -> None:
            self.trace.append((label, "never"))

        handle = loop.call_later(0, never) if index else loop.call_soon(never)
        loop.call_soon(handle.cancel)
        handle.cancel()

    async def put(self, label: str, index: int) -> None:
        await self.queues[index].put(label)

    async def get(self, _: str, index: int) -> str:
        return await self.queues[index].get()

    async def set(self, _: str, index: int) -> None:
        self.events[index].set()

    async def clear(self, _: str, index: int) -> None:
        self.events[index].clear()

    async def wait(self, _: str, index: int) -> None:
        await self.events[index].wait()

    async def lock(self, label: str, index: int) -> None:
        async with self.locks[index]:
            self.trace.append((label, "holds"))
            await asyncio.sleep(0)

    async def notify(self, _: str, index: int) -> None:
        async with self.conditions[index]:
            self.conditions[index].notify(index + 1)

    async def await_notice(self, _: str, index: int) -> None:
        async with self.conditions[index]:
            await self.conditions[index].wait()

    async def resolve(self, label: str, index: int) -> bool:
        if self.futures[index].done():
            return False
        self.futures[index].set_result(label)
        return True

    async def await_future(self, _: str, index: int) -> str:
        return await asyncio.shield(self.futures[index])

    async def shield(self, label: str, index: int) -> None:
        await asyncio.shield(self._note(label, index))

    async def gather(self, label: str, index: int) -> list[int]:
        return await asyncio.gather(*(self._note(label, depth) for depth in range(index + 2)))

    async def group(self, label: str, index: int) -> None:
        async with asyncio.TaskGroup() as group:
            for depth in range(index + 2):
                group.create_task(self._note(label, depth))

    async def _note(self, label: str, rounds: int) -> int:
        for _ in range(rounds):
            await asyncio.sleep(0)
        self.trace.append((label, "noted", rounds))
        return rounds

    async def cancel(self, _: str, index: int) -> None:
        self.tasks[index % len(self.tasks)].cancel()

    async def timeout(self, _: str, index: int) -> str:
        try:
            async with asyncio.timeout(0):
                return await self.queues[index].get()
        except TimeoutError:
            return "timed out"


TIMELESS: Sequence[Act] = (
    *(Stage.pause, Stage.soon, Stage.later, Stage.cancelled_call, Stage.put, Stage.get),
    *(Stage.set, Stage.clear, Stage.wait, Stage.lock, Stage.notify, Stage.await_notice),
    *(Stage.resolve, Stage.await_future, Stage.shield, Stage.gather, Stage.group, Stage.cancel),
    Stage.timeout,
)
"""All but sleep."""


def scripts(acts: Sequence[Act], tasks: int = 4, steps: int = 6) -> st.SearchStrategy[Scripts]:
    """Scripts of such steps."""
    step = st.builds(Step, st.sampled_from(acts), st.integers(0, SHARED - 1))
    script = st.lists(step, min_size=1, max_size=steps).map(tuple)
    return st.lists(script, min_size=1, max_size=tasks).map(tuple)


def sleeps(program: Scripts) -> list[tuple[int, int]]:
    """(task, position) of every sleep."""
    return [
        (task, position)
        for task, script in enumerate(program)
        for position, step in enumerate(script)
        if step.act is Stage.sleep
    ]
