"""A run whose bytes `test_streams` compares between processes: draws, tasks, ends, a deadlock."""

from __future__ import annotations

import asyncio
import sys

from actors.runtime import NOTHING, Deadlock, JsonLines, System
from tests.actors.runtime.worlds import Do, Doer, Noted

NAMES = [f"worker {k}" for k in range(20)]


def populate(system: System, name: str) -> None:
    """One worker that ticks at random times until 10, and a task that lives until the end."""
    doer, gaps = system.spawn(Doer(name)), system.stream(name)

    def tick() -> None:
        doer.record(NOTHING, Noted, f"{name} ticks")
        if doer.now < 10:
            doer.after(gaps.exponential(), again, NOTHING)

    async def linger() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            doer.record(NOTHING, Noted, f"{name} ends")

    again = Do(tick)
    doer.start(linger())
    tick()


def main() -> None:
    """Log the run, and its end, to standard output."""
    with JsonLines(sys.stdout.buffer) as sink:
        system = System(seed=7, sinks=[sink])
        for name in NAMES:
            populate(system, name)
        try:
            system.run()
        except Deadlock as error:
            system.journal.record(NOTHING, Noted, str(error))


if __name__ == "__main__":
    main()
