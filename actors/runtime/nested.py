"""Running a loop of our own where another one is running: in a notebook's cell, in a coroutine."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def stepped_out() -> Iterator[None]:
    """Within, this thread has no running loop and no current task; afterwards it has both again.

    asyncio lets one loop run a thread, as two that wait for the outside world would starve each
    other. Ours waits for nobody: to the outer loop a run is one long callback, as any computation
    in a cell is. In a thread of its own a run would not hear Ctrl-C, which only the main thread
    gets: the cell would be interrupted and the run go on. asyncio's documentation offers these
    calls to other loops and tasks ("Extending").
    """
    outer = asyncio._get_running_loop()
    if outer is None:
        yield
        return
    task = asyncio.current_task(outer)
    if task is not None:
        asyncio._leave_task(outer, task)
    asyncio._set_running_loop(None)
    try:
        yield
    finally:
        asyncio._set_running_loop(outer)
        if task is not None:
            asyncio._enter_task(outer, task)
