"""One process of Dask distributed for each worker: started, called, signalled, missed, ended.

Dask starts processes, carries calls and bytes, and restarts what has died (its Nannies do). Which
process computes what is never Dask's to decide: each has one actor, pinned to it.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

from attrs import define, field

from sims.errors import InputError
from sims.live.holder import Advance, Holder

T = TypeVar("T")
LOST = InputError("cluster", "", "the scheduler is gone", "one that runs, and the same command")
ANSWER = 10.0
"""Seconds in which a fresh process answers, or is asked anew."""
COMING = 15.0
"""Seconds in which the workers of another cluster are to be there."""
SETTLING = 0.5
"""Seconds until the Nanny of another cluster knows that its process has started."""
LOOK = 0.02
"""Seconds between two looks for a process that starts."""
WATCH = 0.25
"""Seconds between two looks for one that nobody calls, and that has died."""


class Gone(Exception):
    """The process that was called has died; whoever plays its worker is told elsewhere."""


@define(eq=False)
class Seat:
    """The place of one worker's process: another one takes it when that one dies."""

    number: int
    identity: str
    """What Dask knows its Nanny by, or itself where it has none."""
    address: str = ""
    holder: Any = None
    """Its actor."""
    process: int = 0
    generation: int = 0
    """How many processes have died here."""
    ready: asyncio.Event = field(factory=asyncio.Event)
    stopped: bool = False
    """Whether its process is to be."""
    missed: bool = False
    """Whether it died by no command of ours, and the world is yet to hear of it."""


@define(eq=False)
class Processes:
    """Seats, on the client's loop: its methods without `async` may be called from any thread."""

    client: Any
    own: bool
    """Whether the processes are this command's, on this machine."""
    advance: Advance
    seats: dict[int, Seat] = field(factory=dict)
    lost: Callable[[int], None] | None = None
    """Called with the number of a worker whose process died by no command of ours."""
    failed: Callable[[BaseException], None] | None = None
    """Called with what ends the run: the scheduler is lost."""
    starts: list[float] = field(factory=list)
    """Seconds that fresh processes took."""
    trouble: Exception | None = None
    """Why a fresh process was last asked in vain."""
    _tasks: set[Any] = field(init=False, factory=set)
    _left: bool = field(init=False, default=False)

    def post(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Run a coroutine on the client's loop."""
        return asyncio.run_coroutine_threadsafe(work, self.client.loop.asyncio_loop)

    # --- their lives --------------------------------------------------------------------------

    async def occupy(self, count: int) -> None:
        """Take the first `count` workers of the cluster."""
        begun = time.monotonic()
        while len(found := sorted(await self._present())) < count:
            if time.monotonic() - begun < COMING:
                await asyncio.sleep(WATCH)
                continue
            problem = f"it has {len(found)} workers"
            raise InputError("cluster", "--scheduler", problem, f"one of {count} or more")
        for number, identity in enumerate(found[:count]):
            self.seats[number] = Seat(number, identity)
        await asyncio.gather(*(self._renew(seat) for seat in self.seats.values()))
        self._spawn(self._watch())

    async def _present(self) -> dict[str, str]:
        """Addresses of the scheduler's workers, by what outlives their restarts."""
        if self.own:
            return _settled(self.client.cluster)
        if self.client.status != "running":  # Dask would look for it for a minute
            raise LOST
        try:
            found: dict[str, str] = await self.client.run_on_scheduler(_addresses)
        except OSError:
            raise LOST from None
        return found

    async def _renew(self, seat: Seat) -> None:
        """Wait for a fresh process, and place an actor in it."""
        begun = time.monotonic()
        while not seat.ready.is_set():
            await asyncio.sleep(LOOK if seat.address else 0)
            address = (await self._present()).get(seat.identity)
            if address is None or address == seat.address:
                continue
            try:
                async with asyncio.timeout(ANSWER):
                    await self._seat(seat, address)
            except (OSError, RuntimeError, TimeoutError) as error:  # it dies as it comes
                self.trouble = error
        self.starts.append(time.monotonic() - begun)

    async def _seat(self, seat: Seat, address: str) -> None:
        where = {"workers": [address], "pure": False}
        if not self.own:
            await asyncio.sleep(SETTLING)
        seat.holder = await self.client.submit(
            *(Holder, pickle.dumps(self.advance), self.own), actor=True, **where
        )
        seat.process = await seat.holder.pid()
        seat.address, seat.missed = address, False
        if seat.stopped:
            self._signal(seat, signal.SIGSTOP)
        seat.ready.set()

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(WATCH)
            present = set((await self._present()).values())
            for seat in self.seats.values():
                if seat.ready.is_set() and seat.address not in present:
                    self._miss(seat)

    def _miss(self, seat: Seat) -> None:
        """Its process has died by no command of ours."""
        seat.missed = True
        self._bury(seat)
        if self.lost is not None:
            self.lost(seat.number)

    def _bury(self, seat: Seat) -> None:
        seat.generation += 1
        seat.ready.clear()
        self._spawn(self._renew(seat))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        if self._left:
            work.close()
            return
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Future[None]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and self.failed is not None:
            self.failed(error)

    async def call(self, number: int, method: str, *arguments: Any) -> Any:
        """Call a method of the worker's actor, once there is one. Raises Gone."""
        seat = self.seats[number]
        await seat.ready.wait()
        generation = seat.generation
        try:
            return await getattr(seat.holder, method)(*arguments)
        except (OSError, RuntimeError) as error:
            if seat.generation == generation:
                self._miss(seat)
            raise Gone(number) from error

    # --- what befalls them --------------------------------------------------------------------

    def kill(self, number: int) -> None:
        """The worker goes DOWN."""
        self.post(self._kill(self.seats[number]))

    async def _kill(self, seat: Seat) -> None:
        if seat.missed or not seat.ready.is_set():
            seat.missed = False  # it is dead already, or has nothing to lose yet
            return
        self._signal(seat, signal.SIGKILL)
        self._bury(seat)

    async def detect(self, number: int) -> float:
        """Kill its process, and wait for the seconds after which a call that waits has failed."""
        waiting = asyncio.ensure_future(self.call(number, "rest", ANSWER))
        await asyncio.sleep(LOOK)
        begun = time.monotonic()
        await self.murder(number)
        with suppress(Gone):
            await waiting
        return time.monotonic() - begun

    async def murder(self, number: int) -> None:
        """Its process dies, and nobody is told."""
        seat = self.seats[number]
        await seat.ready.wait()
        self._signal(seat, signal.SIGKILL)

    async def murder_later(self, number: int, seconds: float) -> None:
        """The same after a time."""
        await asyncio.sleep(seconds)
        await self.murder(number)

    async def stop(self, number: int, stopped: bool) -> None:
        """Its owner takes it back, or returns it."""
        seat = self.seats[number]
        seat.stopped = stopped
        if seat.ready.is_set():
            self._signal(seat, signal.SIGSTOP if stopped else signal.SIGCONT)

    def _signal(self, seat: Seat, number: int) -> None:
        if self.own:
            with suppress(ProcessLookupError):
                os.kill(seat.process, number)
            return
        about = {"workers": [seat.address], "nanny": True, "on_error": "ignore"}
        self._spawn(self.client.run(os.kill, seat.process, int(number), **about))

    async def clear(self) -> None:
        """Let all go on, and forget what is under way."""
        self.lost = self.failed = None
        for seat in self.seats.values():
            await self.stop(seat.number, False)

    async def leave(self) -> None:
        """Nobody is missed any more."""
        await self.clear()
        self._left = True
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


def _settled(cluster: Any) -> dict[str, str]:
    """The same of a cluster of ours, of those of whom their Nannies know that they have started: a
    process that dies before is not replaced."""
    known = {it.address for it in cluster.scheduler.workers.values()}
    nannies = (it for it in cluster.workers.values() if it.worker_address in known)
    return {it.address: it.worker_address for it in nannies if it.process.status.name == "running"}


def _addresses(dask_scheduler: Any) -> dict[str, str]:
    """Workers' addresses by their Nannies', or their own; the parameter's name is Dask's."""
    return {it.nanny or it.address: it.address for it in dask_scheduler.workers.values()}
