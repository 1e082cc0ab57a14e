"""Runs any asyncio program in virtual time, as `asyncio.run` runs it in real time."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from actors.runtime.errors import RuntimeFault
from actors.runtime.loop import VirtualTimeLoop
from actors.runtime.system import rare_collections, stepped_out

T = TypeVar("T")


def simulate(main: Coroutine[Any, Any, T], *, debug: bool | None = None) -> T:
    """Run the coroutine `main` in virtual time and return its result, as `asyncio.run` does in real
    time: `holdfast.simulate(main())`.

    Time begins at 0 and jumps from one timer to the next: `asyncio.sleep(3600)` takes no time at
    all, and `clock()` says what time it is. The same program gives the same order of events in
    every run: timers of one instant come in the order in which they were set, callbacks in the
    order in which they were scheduled, and `asyncio.Queue`, `Lock`, `Semaphore` and `Condition`
    serve in the order of the requests. Tasks that are left when `main` returns are cancelled. The
    call also works where an event loop is running, such as in a notebook or an async test, which
    waits meanwhile.

    Raises what `main` raises; OutsideWorldError, with the reason, in a task that asks for what
    virtual time cannot serve (sockets, threads, executors, processes, signals); Deadlock, which
    names each task and what it awaits, where nothing is left to happen; Livelock where 1,000,000
    timers come at one instant. `debug` turns asyncio's debug mode on or off.
    """
    with (
        stepped_out(),
        rare_collections(),
        asyncio.Runner(debug=debug, loop_factory=VirtualTimeLoop) as runner,
    ):
        return runner.run(main)


def clock() -> float:
    """Return the virtual time, in the unit of the program's delays; a program that `simulate` runs
    begins at 0.

    Raises RuntimeFault outside of virtual time: where no event loop is running, or another one.
    """
    loop = asyncio._get_running_loop()
    if isinstance(loop, VirtualTimeLoop):
        return loop.now
    running = "no event loop is running" if loop is None else f"{type(loop).__name__} is running"
    raise RuntimeFault(f"there is no virtual time here, as {running}: see holdfast.simulate")
