"""The outside world of a live run: reads the wall clock, and starts, stops and completes real work.

Two threads share a `Carrier`: the simulation's loop waits in `wait`, the loop of the Dask client
reports to it. `_news` guards everything that both of them touch.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from threading import Condition
from typing import Any

from attrs import define, field

from actors.events import PartMeasured, ProcessesDescribed
from actors.job import AttemptOver
from actors.protection.saving import CheckpointDue
from actors.run import PartDue
from actors.runtime import Phase, System, Timer, VirtualTimeLoop
from actors.runtime.entries import Handler, Receiver
from actors.runtime.wall import Arrival, WallClockLoop
from actors.scheduler import Scheduler
from actors.worker_messages import Fail, ToldToEnd, TransferDue
from sims.errors import unfit
from sims.live.processes import BUSY, Gone, Processes
from sims.scenario.jobs import SCHEDULER
from sims.scenario.live import LiveSection

CARRIED: frozenset[type] = frozenset((AttemptOver, CheckpointDue, PartDue, TransferDue))
"""Classes of the messages that end an activity which takes real time."""
Activity = Coroutine[Any, Any, None]
"""Real work that one timer entry waits for."""
Subject = tuple[str, int, int | None]
"""Job, run, and the worker whose message passes, or None."""
LATE = 20.0
"""Largest number of seconds for which work with a pace may be late, by default."""
GLANCE = 1.0
"""Largest number of seconds for which the loop blocks: Ctrl-C is noticed between two waits."""


@define(eq=False)
class Measured:
    """The real work behind one timer entry, from its beginning until the entry's target learns that
    it is complete.

    Where work takes the time that it takes, this record is also the message by which the carrier
    learns of its end.
    """

    target: Receiver = field(repr=False)
    message: object
    subject: Subject
    begun: float
    """When the work began, in the world's time."""
    future: Future[None] = field(init=False)
    """Future of the work itself."""
    busy: float = 0
    """Longest time that one process was busy with it, by its own clock, time units; set when the
    work is complete."""


class LiveError(Exception):
    """Raised when real processes did something else than the simulated world decided."""


@define(eq=False)
class Carrier:
    """Has real processes do the work that timer entries of a simulation stand for, and returns each
    entry once its work is complete. It also lets the simulation's workers know when their processes
    die, or are told to end, by no command of the simulation.

    It is the outside of the run's clock (`actors.runtime.wall.Outside`), and the live side of
    `sims.world.run` (`sims.world.Live`).
    """

    processes: Processes
    settings: LiveSection
    work: Callable[[Timer], tuple[Activity, Subject]]
    """Returns the coroutine that does the real work of an entry, and what the entry is about."""
    size: int
    """Number of workers of the platform; the cluster may have more."""
    downtime: float
    """Time units for which a worker is DOWN whose process died without a command of this run."""
    scale: float = field(init=False)
    """Seconds of the wall clock per time unit of the scenario."""
    tolerance: float = field(init=False)
    """Largest delay, in time units, with which work still counts as on time."""
    free: bool = field(init=False)
    """Whether the durations of real work are measured, and not paced to the scenario's times."""
    lateness: float | None = field(init=False)
    """Largest delay, in time units, that the log allows to real work; None: it is measured."""
    loop: VirtualTimeLoop = field(init=False)
    carried: frozenset[type] = CARRIED
    """Classes of the messages whose entries wait for real work."""
    _zero: float = field(init=False, factory=time.monotonic)
    """Time of the wall clock at which the run began."""
    _arrived: list[Arrival] = field(init=False, factory=list)
    error: BaseException | None = field(init=False, default=None)
    """First error that occurred outside the simulation; `wait` raises it."""
    _news: Condition = field(init=False, factory=Condition)
    _open: dict[int, Measured] = field(init=False, factory=dict)
    """Maps entries, by order, to their work, as long as the world waits for it."""
    system: System = field(init=False)
    missed: int = field(init=False, default=0)
    """Number of processes that died without a command of this run."""

    def __attrs_post_init__(self) -> None:
        about = self.settings
        self.scale, self.free = about.scale, about.pace == "free"
        self.tolerance = about.tolerance / self.scale
        self.lateness = None if self.free else self._patience / self.scale
        self.loop = WallClockLoop(self)

    @property
    def _patience(self) -> float:
        """Seconds by which work may be late before the run ends with an error, where each step has
        a fixed time (`live.pace`)."""
        return self.settings.patience or LATE

    def attach(self, system: System) -> None:
        """Keep the actor system, in which there are no actors yet, and start the run's clock."""
        self.system, self._zero = system, time.monotonic()
        if self.free:
            system.describe(ProcessesDescribed, self.scale)

    def begins(self, _: int, __: Callable[[], float]) -> None:
        """Let the simulation's workers know of deaths of their real processes, and of notices of
        them (SIGTERM), from now on.

        It is the function `begins` of `sims.world.run`, called when all actors exist; it uses
        neither of its arguments.
        """
        scheduler = self.system.actors[SCHEDULER]
        assert isinstance(scheduler, Scheduler)
        registry = scheduler.workers
        assert registry is not None
        workers = [registry(number) for number in range(self.size)]

        def tell(phase: Phase, message: object, number: int) -> None:
            if number < self.size:
                self.missed += phase is Phase.FAULTS_OCCUR
                self._report((self.now(), (phase, workers[number], message, 0)))

        self.processes.lost = partial(tell, Phase.FAULTS_OCCUR, Fail(self.downtime))
        self.processes.noticed = partial(tell, Phase.NOTICES, ToldToEnd())
        self.processes.failed = self.end

    # --- the clock ----------------------------------------------------------------------------

    def now(self) -> float:
        """Return the time of the run, in time units since `attach`."""
        return (time.monotonic() - self._zero) / self.scale

    def seconds(self, until: float) -> float:
        """Return the seconds of the wall clock from now until the run's time `until`, at least 0.

        Where steps have no fixed time (`live.pace` is `free`) the result is 0, as work then takes
        the time that it takes.
        """
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
        """Start the real work that a timer entry stands for, and that should be complete at the
        entry's due time."""
        _, order, target, message, _ = entry
        work, subject = self.work(entry)
        about = self._open[order] = Measured(target, message, subject, self.system.loop.now)
        about.future = self.aside(self._carry(entry, work, about))

    def stop(self, entry: Timer) -> None:
        """Cancel the real work of a timer entry, if it is still under way."""
        if (about := self._open.pop(entry[1], None)) is not None:
            about.future.cancel()

    async def _carry(self, entry: Timer, work: Activity, about: Measured) -> None:
        due, spent, patience = entry[0], dict[int, float](), self._patience
        BUSY.set(spent)
        try:
            async with asyncio.timeout(None if self.free else self.seconds(due) + patience):
                await work
        except TimeoutError:
            job, _, worker = about.subject
            name = job if worker is None else f"{job}, a message of worker {worker}"
            problem = f"{name}: what was due at {due:g} is not complete {patience:g} s later"
            accepted = "more seconds, or a longer pace"
            raise unfit("live.patience", problem, accepted) from None
        if not self.free:  # nobody asks for its length
            self._open.pop(entry[1], None)
        about.busy = max(spent.values(), default=0.0) / self.scale
        self._report((self.now(), entry))

    def measured(self, entry: Timer) -> tuple[Receiver, object]:
        """Return the receiver and the message by which an entry reaches its target where work takes
        the time that it takes.

        The receiver is the carrier itself, which logs how long the work took and hands the entry's
        own message on.
        """
        return self, self._open.pop(entry[1])

    def _hand_on(self, it: Measured, cause: int) -> None:
        length = self.system.loop.now - it.begun
        record = self.system.journal.record
        beside = isinstance(it.message, CheckpointDue)
        record(cause, PartMeasured, *it.subject, length, it.busy, beside)
        it.target.handlers[it.message.__class__](it.target, it.message, cause)

    handlers: Mapping[type, Handler] = field(init=False, default={Measured: _hand_on})
    name: str = field(init=False, default="processes")

    def aside(self, work: Coroutine[Any, Any, Any]) -> Future[Any]:
        """Run a coroutine on the Dask client's loop in real time, for which no timer entry waits;
        return its future.

        Its errors end the run, except that of a process that has died (Gone).
        """
        return self.processes.post(self._reporting(work))

    async def _reporting(self, work: Coroutine[Any, Any, Any]) -> Any:
        try:
            return await work
        except Gone:  # the worker's failure reaches the world as a message of its own
            raise
        except Exception as error:
            self.end(error)
            raise

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
        for it in list(self._open.values()):
            it.future.cancel()
        self.error = self.error or LiveError("the run is over")
