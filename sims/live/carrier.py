"""The outside world of a live run: reads the wall clock, and starts, stops and completes real work.

Two threads share a `Carrier`: the simulation's loop waits in `wait`, the loop of the Dask client
reports to it. `_news` guards everything that both of them touch.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future
from threading import Condition
from typing import Any

from attrs import define, field

from actors.events import PartMeasured
from actors.job import AttemptOver
from actors.protection.saving import CheckpointDue
from actors.run import PartDue
from actors.runtime import Phase, System, Timer
from actors.runtime.entries import Handler, Receiver
from actors.runtime.wall import Arrival
from actors.worker_messages import TransferDue
from sims.errors import unfit
from sims.live.processes import BUSY, Gone, Processes
from sims.scenario import LiveSection

CARRIED: frozenset[type] = frozenset((AttemptOver, CheckpointDue, PartDue, TransferDue))
"""Classes of the messages that end an activity which takes real time."""
Subject = tuple[str, int, int | None]
"""Job, run, and the worker whose message passes, or None."""
LATE = 20.0
"""Largest number of seconds for which work with a pace may be late, by default."""
GLANCE = 1.0
"""Largest number of seconds for which the loop blocks: Ctrl-C is noticed between two waits."""


@define(eq=False)
class Measured:
    """Record of the real work behind one timer entry, from its beginning until its target learns
    that it is complete. It is the message that tells the carrier so."""

    target: Receiver = field(repr=False)
    message: object
    subject: Subject
    begun: float
    """When the work began, in the world's time."""
    busy: float = 0
    """Longest time that one process was busy with it, by its own clock, time units; set when the
    work is complete."""


class LiveError(Exception):
    """Raised when real processes did something else than the simulated world decided."""


@define(eq=False)
class Carrier:
    """Has real processes do the work that timers of a simulation stand for, and returns each timer
    entry once its work is complete (an implementation of `actors.runtime.wall.Outside`)."""

    processes: Processes
    settings: LiveSection
    work: Callable[[Timer], tuple[Coroutine[Any, Any, None], Subject]]
    """Returns the coroutine that does the real work of an entry, and what the entry is about."""
    scale: float = field(init=False)
    """Seconds of the wall clock per time unit of the scenario."""
    tolerance: float = field(init=False)
    """Largest delay, in time units, with which work still counts as on time."""
    free: bool = field(init=False)
    """Whether work takes what it takes, and is measured."""
    carried: frozenset[type] = CARRIED
    """Classes of the messages whose entries wait for real work."""
    _zero: float | None = field(init=False, default=None)
    _arrived: list[Arrival] = field(init=False, factory=list)
    error: BaseException | None = field(init=False, default=None)
    """First error that occurred outside the simulation; `wait` raises it."""
    _news: Condition = field(init=False, factory=Condition)
    _under_way: dict[int, Future[None]] = field(init=False, factory=dict)
    system: System = field(init=False)
    _measured: dict[int, Measured] = field(init=False, factory=dict)
    """Maps entries, by order, to the record of their free work, as long as the world waits for
    it."""

    def __attrs_post_init__(self) -> None:
        self.scale, self.free = self.settings.scale, self.settings.pace == "free"
        self.tolerance = self.settings.tolerance / self.scale

    # --- the clock ----------------------------------------------------------------------------

    def now(self) -> float:
        """Return the time of the run, in time units since the first call of this method."""
        clock = time.monotonic()
        if self._zero is None:
            self._zero = clock
        return (clock - self._zero) / self.scale

    def seconds(self, until: float) -> float:
        """Return the seconds of the wall clock from now until the run's time `until`, at least 0; 0
        where the pace is free, as work then takes the time that it takes."""
        return 0.0 if self.free else max(0.0, (until - self.now()) * self.scale)

    def wait(self, until: float) -> Sequence[Arrival]:
        """Return the arrivals (completed entries, failures, notices) since the last call; block
        until there is one, or until the run's time `until`. Raises the first error that occurred
        outside the simulation."""
        with self._news:
            while not (self._arrived or self.error) and (left := until - self.now()) > 0:
                self._news.wait(min(left * self.scale, GLANCE))
            if self.error is not None:
                raise self.error
            arrived, self._arrived = self._arrived, []
            return arrived

    # --- the work -----------------------------------------------------------------------------

    def begin(self, entry: Timer) -> None:
        """Start the real work that should be complete at the entry's due time."""
        _, order, target, message, _ = entry
        work, subject = self.work(entry)
        about = Measured(target, message, subject, self.system.loop.now)
        if self.free:
            self._measured[order] = about
        future = self.processes.post(self._carry(entry, work, about))
        self._under_way[order] = future
        future.add_done_callback(lambda _: self._under_way.pop(order, None))

    def stop(self, entry: Timer) -> None:
        """Cancel the real work of an entry, if it is still under way."""
        self._measured.pop(entry[1], None)
        if (future := self._under_way.pop(entry[1], None)) is not None:
            future.cancel()

    async def _carry(self, entry: Timer, work: Coroutine[Any, Any, None], about: Measured) -> None:
        due, spent = entry[0], dict[int, float]()
        patience = self.settings.patience or LATE
        BUSY.set(spent)
        try:
            async with asyncio.timeout(None if self.free else self.seconds(due) + patience):
                await work
        except Gone:
            return  # the worker's failure reaches the world as a message of its own
        except TimeoutError:
            job, _, worker = about.subject
            name = job if worker is None else f"{job}, a message of worker {worker}"
            problem = f"{name}: what was due at {due:g} is not complete {patience:g} s later"
            self.end(unfit("live.patience", problem, "more seconds, or a longer pace"))
        except Exception as error:
            self.end(error)
        else:
            about.busy = max(spent.values(), default=0.0) / self.scale
            self._report((self.now(), entry))

    def measured(self, entry: Timer) -> tuple[Receiver, object]:
        """Return the receiver and the message by which an entry with free work reaches its target:
        the carrier itself, which logs how long the work took and hands the message on."""
        return self, self._measured.pop(entry[1])

    def _hand_on(self, it: Measured, cause: int) -> None:
        length = self.system.loop.now - it.begun
        record = self.system.journal.record
        beside = isinstance(it.message, CheckpointDue)
        record(cause, PartMeasured, *it.subject, length, it.busy, beside)
        it.target.handlers[it.message.__class__](it.target, it.message, cause)

    handlers: Mapping[type, Handler] = field(init=False, default={Measured: _hand_on})
    name: str = field(init=False, default="processes")

    def aside(self, work: Coroutine[Any, Any, Any]) -> Future[Any]:
        """Run a coroutine in real time for which no timer entry waits; return its future. Its
        errors end the run."""
        return self.processes.post(self._reporting(work))

    async def _reporting(self, work: Coroutine[Any, Any, Any]) -> Any:
        try:
            return await work
        except Gone:
            raise
        except Exception as error:
            self.end(error)
            raise

    def tell(self, phase: Phase, worker: Receiver, message: object) -> None:
        """Send `worker` a message about its process, which did something without a command of this
        run."""
        self._report((self.now(), (phase, worker, message, 0)))

    def end(self, error: BaseException) -> None:
        """End the run with an error that occurred outside the simulation."""
        self._report(error=error)

    def _report(self, arrival: Arrival | None = None, error: BaseException | None = None) -> None:
        with self._news:
            if arrival is not None:
                self._arrived.append(arrival)
            self.error = self.error or error
            self._news.notify()

    def close(self) -> None:
        """Cancel all work that is under way; `wait` then raises, since the run is over."""
        for future in list(self._under_way.values()):
            future.cancel()
        self.error = self.error or LiveError("the run is over")
