"""The world's outside: the wall clock, and real work that is begun, stopped and completed."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future
from threading import Condition
from typing import Any

from attrs import define, field

from actors.job import AttemptOver
from actors.protection.saving import CheckpointDue
from actors.run import PartDue
from actors.runtime import Phase, Timer
from actors.runtime.entries import Receiver
from actors.runtime.wall import Arrival
from actors.worker_messages import Fail, TransferDue
from sims.live.processes import Gone, Processes

CARRIED: frozenset[type] = frozenset((AttemptOver, CheckpointDue, PartDue, TransferDue))
"""Messages that end what takes real time."""
GLANCE = 1.0
"""Seconds between two looks at Ctrl-C."""


class LiveError(Exception):
    """What the processes did is not what the world said."""


@define(eq=False)
class Carrier:
    """Hands entries to processes and back; see `actors.runtime.wall.Outside`."""

    processes: Processes
    scale: float
    """Seconds per time unit."""
    tolerance: float
    """In time units."""
    patience: float
    """Seconds that work may be late at most; what is later has failed."""
    work: Callable[[Timer], Coroutine[Any, Any, None]]
    """What an entry stands for."""
    carried: frozenset[type] = CARRIED
    late: list[tuple[str, float]] = field(init=False, factory=list)
    """(message, seconds after its time) of all that was completed."""
    _zero: float | None = field(init=False, default=None)
    _arrived: list[Arrival] = field(init=False, factory=list)
    error: BaseException | None = field(init=False, default=None)
    """What went wrong outside."""
    _news: Condition = field(init=False, factory=Condition)
    _under_way: dict[int, Future[None]] = field(init=False, factory=dict)

    # --- the clock ----------------------------------------------------------------------------

    def now(self) -> float:
        """Time units since the run began."""
        clock = time.monotonic()
        if self._zero is None:
            self._zero = clock
        return (clock - self._zero) / self.scale

    def seconds(self, until: float) -> float:
        """Until that time."""
        return max(0.0, (until - self.now()) * self.scale)

    def wait(self, until: float) -> Sequence[Arrival]:
        """What has come, at the latest by then. Raises what went wrong."""
        with self._news:
            while not (self._arrived or self.error) and (left := until - self.now()) > 0:
                self._news.wait(min(left * self.scale, GLANCE))
            if self.error is not None:
                raise self.error
            arrived, self._arrived = self._arrived, []
            return arrived

    # --- the work -----------------------------------------------------------------------------

    def begin(self, entry: Timer) -> None:
        """See Outside."""
        work = self._carry(entry, self.work(entry), type(entry[3]).__name__)
        order, future = entry[1], self.processes.post(work)
        self._under_way[order] = future
        future.add_done_callback(lambda _: self._under_way.pop(order, None))

    def stop(self, entry: Timer) -> None:
        """See Outside."""
        if (future := self._under_way.pop(entry[1], None)) is not None:
            future.cancel()

    async def _carry(self, entry: Timer, work: Coroutine[Any, Any, None], name: str) -> None:
        due = entry[0]
        try:
            async with asyncio.timeout(self.seconds(due) + self.patience):
                await work
        except Gone:
            return  # the world hears of the process's death, which ends what it did
        except TimeoutError:
            problem = f"{name}, due at {due:g}, was not complete {self.patience:g} s later"
            self._tell(error=LiveError(problem))
        except Exception as error:
            self._tell(error=error)
        else:
            now = self.now()
            self.late.append((name, (now - due) * self.scale))
            self._tell((now, entry))

    def aside(self, work: Coroutine[Any, Any, Any]) -> Future[Any]:
        """Do what no entry waits for."""
        return self.processes.post(self._told(work))

    async def _told(self, work: Coroutine[Any, Any, Any]) -> Any:
        try:
            return await work
        except Gone:
            raise
        except Exception as error:
            self._tell(error=error)
            raise

    def fail(self, worker: Receiver, downtime: float) -> None:
        """A process has died by itself: its worker goes DOWN."""
        fault = Phase.FAULTS_OCCUR, worker, Fail(downtime), 0
        self._tell((self.now(), fault))

    def end(self, error: BaseException) -> None:
        """Something outside has gone wrong: the run ends with it."""
        self._tell(error=error)

    def _tell(self, arrival: Arrival | None = None, error: BaseException | None = None) -> None:
        with self._news:
            if arrival is not None:
                self._arrived.append(arrival)
            self.error = self.error or error
            self._news.notify()

    def close(self) -> None:
        """Nothing is wanted any more."""
        for future in list(self._under_way.values()):
            future.cancel()
        self.error = self.error or LiveError("the run is over")

    @property
    def lateness(self) -> float:
        """How late work may be, in time units: what a log says."""
        return self.patience / self.scale if math.isfinite(self.patience) else math.inf
