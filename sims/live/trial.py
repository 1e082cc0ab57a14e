"""Measures a function's first steps on a worker, whose results count, and the saving of its state."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress

from sims.live.holder import State
from sims.live.processes import Gone, Processes

LONG_ENOUGH = 0.2
"""Seconds of steps that are enough to measure the time of one."""


async def trial(processes: Processes, state: bytes, steps: int) -> tuple[State, float, float]:
    """Compute the first steps; return the state that they lead to, and the seconds of a step and of
    saving the state."""
    while True:
        for worker in processes.seats:
            task = asyncio.ensure_future(_tried(processes, worker, state, steps))
            # A call to a process that has died need not end by itself.
            processes.lost = lambda _, it=task: it.cancel()
            with suppress(Gone, asyncio.CancelledError):
                return await task


async def _tried(
    processes: Processes, worker: int, state: bytes, steps: int
) -> tuple[State, float, float]:
    call, name, clock = processes.call, "trial", time.monotonic
    await call(worker, "load", name, {0: (0, state)})
    done, order, step = 0, 0, 0.0
    while done < steps and step * done < LONG_ENOUGH:
        more = min(max(1, done), steps - done)
        order, begun = order + 1, clock()
        await call(worker, "compute", name, order, [0], done + more, 0.0, {}, "", "", False)
        done, step = done + more, (clock() - begun) / more
    begun = clock()
    states = await call(worker, "states", name)
    cost = clock() - begun
    await call(worker, "forget", name, ())
    return states[0], step, cost
