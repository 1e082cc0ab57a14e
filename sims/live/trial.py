"""A trial of the first steps of a task: what a step takes, and what it takes to save a state."""

from __future__ import annotations

import asyncio
import time
from asyncio import FIRST_COMPLETED
from contextlib import suppress
from functools import partial
from typing import Any

from sims.live.holder import State
from sims.live.processes import Gone, Processes

LONG_ENOUGH = 0.2
"""Seconds of steps that are enough to measure the time of one."""


async def trial(
    processes: Processes, job: str, begun: State, steps: int
) -> tuple[State, float, float]:
    """Compute some steps of the task `job` on a worker whose process does not die meanwhile.

    `begun` is the state before, and the task has `steps` steps in all. Returns the state that the
    steps lead to, and the seconds of a step and of saving the state.
    """
    loop = asyncio.get_running_loop()
    while True:
        for worker in processes.seats:
            broken: asyncio.Future[Any] = loop.create_future()
            task = asyncio.ensure_future(tried(processes, worker, job, begun, steps))
            # A call to a process that has died need not end by itself.
            processes.lost = task.cancel
            processes.failed = partial(_fail, broken)
            try:
                await asyncio.wait({task, broken}, return_when=FIRST_COMPLETED)
                if broken.done():
                    broken.result()
                with suppress(Gone, asyncio.CancelledError):
                    return await task
            finally:
                task.cancel()
                broken.cancel()


def _fail(future: asyncio.Future[Any], error: BaseException) -> None:
    if not future.done():
        future.set_exception(error)


async def tried(
    processes: Processes, worker: int, job: str, begun: State, steps: int
) -> tuple[State, float, float]:
    """Compute the next steps of the task `job` on one worker, until LONG_ENOUGH seconds measure a
    step or `steps` are done.

    `begun` is the state before, with its pickle. Returns the state that they lead to, and the
    seconds of a step and of saving the state. Raises Gone where the worker's process dies.
    """
    call, name, clock = processes.call, "trial", time.monotonic
    await call(worker, "load", name, {0: begun})
    done, step = begun[0], 0.0
    while done < steps and step * (count := done - begun[0]) < LONG_ENOUGH:
        reach, since = min(begun[0] + max(1, 2 * count), steps), clock()
        # Instructions are numbered by the steps that they lead to.
        work = call(worker, "compute", name, reach, [0], reach, 0.0, "", "", False)
        await processes.heard(worker, job, name, work)
        done, step = reach, (clock() - since) / (reach - done)
    since = clock()
    states = await call(worker, "states", name)
    cost = clock() - since
    await call(worker, "forget", name, ())
    return states[0], step, cost
