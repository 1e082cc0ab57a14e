"""The workers of a platform: each gets its actor when it is first needed."""

from __future__ import annotations

from collections.abc import Callable

from attrs import define, field

from actors.runtime import System
from actors.worker import Worker


@define(eq=False)
class WorkerRegistry:
    """Workers by number; calling it makes the actor of one that has none yet."""

    system: System
    make: Callable[[int], Worker]
    known: dict[int, Worker] = field(factory=dict)

    def __call__(self, index: int) -> Worker:
        worker = self.known.get(index)
        if worker is None:
            worker = self.known[index] = self.system.spawn(self.make(index))
        return worker
