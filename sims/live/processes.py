"""One process of Dask distributed for each worker: starts, calls, signals and replaces them.

Dask starts processes and carries calls and bytes; its Nannies restart a process that has died.
Dask never decides which process computes what: each process has one actor that is pinned to it.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from asyncio import FIRST_COMPLETED
from collections import defaultdict
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from contextvars import ContextVar
from typing import Any, TypeVar
from uuid import uuid4

from attrs import define, evolve, field

from sims.errors import InputError, note, unfit
from sims.live.deaths import Death, Deaths
from sims.live.failures import StepFailed, lost
from sims.live.holder import Advance, Holder, Peer, States
from sims.packing import Packed
from sims.telling import counted

T = TypeVar("T")
ANSWER = 10.0
"""Largest number of seconds for an answer of a fresh process, before it is called again."""
JOINING = 60
"""Largest number of seconds that the processes of a cluster take to start, or to end."""
COMING = 15.0
"""Largest number of seconds to wait for the workers of an existing cluster."""
ABSENT = 5.0
"""Seconds after which a worker of an existing cluster whose process does not come back is lost
again: without a Nanny nobody starts another one."""
SETTLING = 0.5
"""Seconds until a Nanny of an existing cluster knows that its process has started, or is to end."""
LOOK = 0.02
"""Seconds between two checks for a starting process."""
WATCH = 0.25
"""Seconds between two checks for processes that died while no call waited for them."""
QUIET = 5.0
"""Seconds for which a process may compute before it is asked how far it is, which also shows
whether its steps end."""
GLANCE = 1.0
"""Seconds between two such questions where a caller follows the steps."""
SILENT, TIMES = 600.0, 100
"""Seconds, and multiple of the longest wait for an answer so far, after which a process that does
not answer counts as one whose step hangs."""

BUSY: ContextVar[dict[int, float] | None] = ContextVar("busy", default=None)
"""Maps each worker to the seconds, by its own clock, for which it was busy with the calls of the
present piece of work."""


class Gone(Exception):
    """Raised by a call to a process that has died; the worker's failure is reported separately."""


@define(eq=False)
class Seat:
    """The place of one worker's process: a fresh process takes it after each death."""

    number: int
    identity: str
    """Address of the process's Nanny, or its own without one: what stays the same over restarts."""
    address: str = ""
    """Address of the present process; empty before the first one."""
    holder: Any = None
    """Actor in the present process, a proxy of `Holder`."""
    process: int = 0
    """Id of the present process."""
    held: defaultdict[str, set[int]] = field(factory=lambda: defaultdict(set))
    """Maps labels to the chains whose data, or whose states in the run of that name, the present
    process has received."""
    ready: asyncio.Event = field(factory=asyncio.Event)
    """Set while a process with an actor is present."""
    stopped: bool = False
    """Whether the present and each fresh process is stopped (SIGSTOP): the worker is RECLAIMED."""
    job: str = ""
    """Job for which the present process computes; empty where it computes nothing."""
    doomed: bool = False
    """Whether the present process is killed by this program, or was told to end."""
    nanny: Any = None
    """The present process, as its Nanny knows it; None in a cluster that was there before."""
    victim: Death | None = None
    """Death of the process before, which its own computation may have caused; None for others."""


def _ignore(_: object) -> None:
    """Take no note of what processes do while no run is under way."""


@define(eq=False)
class Processes:
    """The processes of all workers.

    All state belongs to the loop of the Dask client; `post` may be called from any thread.
    """

    client: Any
    own: bool
    """Whether this command started the processes, on this machine."""
    advance: Advance
    """Step function of the computations."""
    packed: Packed
    """The function, packed with the user's modules that it needs."""
    seats: dict[int, Seat] = field(factory=dict)
    lost: Callable[[int], object] = _ignore
    """Function that is called with the number of each worker whose process died without a command
    of this run."""
    noticed: Callable[[int], object] = _ignore
    """Function that is called with the number of each worker whose process was told to end."""
    stepped: Callable[[str, int], object] | None = None
    """Function that is called, about every second, with the name of a job and the number of steps
    that one of its runs has reached; None: nobody asks for that."""
    failed: Callable[[BaseException], object] = _ignore
    """Function that is called with an error that ends the run, such as a lost scheduler."""
    starts: list[float] = field(factory=list)
    """Seconds that each fresh process took to start."""
    patience: float | None = None
    """Seconds after which a step counts as one that hangs; default: see SILENT and TIMES."""
    longest: float = 0.0
    """Longest wait so far for an answer of a process that computes, seconds."""
    deaths: Deaths = field(factory=Deaths)
    """The deaths that computations may have caused."""
    answers: dict[object, States] = field(factory=dict)
    """Maps works to the answers of one uninterrupted process."""
    trouble: Exception | None = None
    """Last error of a call to a fresh process that did not answer."""
    _tasks: set[Any] = field(init=False, factory=set)
    _left: bool = field(init=False, default=False)
    _notes: str = field(init=False, factory=lambda: uuid4().hex)
    """Name that sets these processes' notes of their steps apart from those of other programs."""

    def post(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Run a coroutine on the client's loop, from any thread, and return its future."""
        return asyncio.run_coroutine_threadsafe(work, self.client.loop.asyncio_loop)

    # --- starting and replacing -------------------------------------------------------------------

    async def occupy(self, count: int | None) -> None:
        """Take the first `count` workers of the cluster, or all, and place an actor in each.

        Raises InputError if the cluster has fewer workers after COMING seconds, and unless all of
        them answer within JOINING seconds.
        """
        begun = time.monotonic()
        least = 1 if count is None else count
        while len(found := sorted(await self._present())) < least:
            if time.monotonic() - begun < COMING:
                await asyncio.sleep(WATCH)
                continue
            problem = f"it has {counted(len(found), 'worker')} after {COMING:g} s"
            raise InputError("cluster", "--scheduler", problem, f"one of {least} or more")
        for number, identity in enumerate(found[:count]):
            self.seats[number] = Seat(number, identity)
        await self._join(map(self._renew, self.seats.values()))
        self._spawn(self._watch())

    async def complete(self) -> None:
        """Wait until each worker whose process was killed has a fresh one that answers.

        Raises InputError as `occupy` does. A worker that `present` takes for lost is not waited
        for.
        """

        async def one(number: int) -> None:
            with suppress(Gone):
                await self.present(number)

        await self._join(map(one, self.seats))

    async def _join(self, works: Iterable[Coroutine[Any, Any, None]]) -> None:
        """Wait for works, each of which ends once its worker answers. Raises InputError after
        JOINING seconds."""
        try:
            async with asyncio.timeout(JOINING):
                await asyncio.gather(*works)
        except TimeoutError:
            last = self.trouble
            why = f": {type(last).__name__}: {last}" if last else ""
            problem = f"not all workers answered within {JOINING} s{why}"
            raise InputError("cluster", "", problem, "workers with the same Holdfast") from None

    async def _present(self) -> dict[str, str]:
        """Map the identity of each of the cluster's workers (its Nanny's address) to the address of
        its present process.

        Raises ClusterLost where the scheduler of a cluster that was there before is gone.
        """
        if self.own:
            return _settled(self.client.cluster)
        if self.client.status != "running":  # Dask would try to reconnect for a minute
            raise lost()
        try:
            found: dict[str, str] = await self.client.run_on_scheduler(_addresses)
        except OSError:
            raise lost() from None
        return found

    async def _renew(self, seat: Seat) -> None:
        """Wait for a fresh process in the seat of one that has died, or for the first one, and
        place an actor in it."""
        begun = time.monotonic()
        while not seat.ready.is_set():
            await asyncio.sleep(LOOK if seat.address else 0)
            present = await self._present()
            taken = {it.identity for it in self.seats.values()}
            if seat.identity not in present:  # another worker may have come
                seat.identity = next((it for it in present if it not in taken), seat.identity)
            address = present.get(seat.identity)
            if address is None or address == seat.address:
                continue
            try:
                async with asyncio.timeout(ANSWER):
                    await self._seat(seat, address)
            except (OSError, RuntimeError, TimeoutError, CancelledError) as error:
                self.trouble = error  # the process died as it started, or the scheduler
        self.starts.append(time.monotonic() - begun)

    async def _seat(self, seat: Seat, address: str) -> None:
        if not self.own and seat.address:  # it has just replaced another one
            await asyncio.sleep(SETTLING)
        # Otherwise the actor would be called through the client that was opened last, whichever.
        with self.client.as_current():
            seat.holder = await self.client.submit(
                *(Holder, self.packed, self.own, f"{self._notes}-{seat.number}"),
                actor=True,
                workers=[address],
                pure=False,
            )
        seat.process = await seat.holder.pid()
        victim, step, seat.victim = seat.victim, await seat.holder.former(), None
        if victim is not None and step is not None:
            self.deaths.add(victim, step, seat.number, self.failed)
        seat.address, seat.job, seat.doomed = address, "", False
        seat.nanny = _known(self.client.cluster, seat.identity) if self.own else None
        self._spawn(self._listen(seat.number, seat.holder))
        if seat.stopped:
            self._signal(seat, signal.SIGSTOP)
        seat.ready.set()

    async def _listen(self, number: int, holder: Any) -> None:
        """Wait until the worker's process is told to end (SIGTERM), and report that."""
        with suppress(OSError, RuntimeError):  # it died without a notice
            if await holder.told_to_end():
                self.seats[number].doomed = True
                self.noticed(number)

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(WATCH)
            present = set((await self._present()).values())
            for seat in self.seats.values():
                if seat.ready.is_set() and seat.address not in present:
                    self._miss(seat)

    def _miss(self, seat: Seat) -> None:
        """Report the death of a process that no command of this run has killed, and wait for a
        fresh one."""
        if seat.job and not seat.doomed:
            seat.victim = Death(seat.job, seat.nanny)
        self._await_replacement(seat)
        self.lost(seat.number)

    def _await_replacement(self, seat: Seat) -> None:
        seat.held = defaultdict(set)
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
        if error is not None:
            # Whatever a lost scheduler makes fail first, its loss is what the user hears of; the
            # client itself may learn of it later.
            gone = isinstance(error, OSError) or self.client.status != "running"
            self.failed(lost() if gone and not self.own else error)

    async def present(self, number: int) -> Seat:
        """Wait until worker `number` has a process, and return its seat.

        Raises Gone where a cluster that was there before starts none within ABSENT seconds; a
        cluster of this command's own is waited for without limit.
        """
        seat = self.seats[number]
        try:
            async with asyncio.timeout(None if self.own else ABSENT):
                await seat.ready.wait()
        except TimeoutError:
            self.lost(number)
            raise Gone(number) from None
        return seat

    async def peer(self, number: int) -> Peer:
        """Return the address and key by which another process reaches the actor of worker `number`.

        Raises Gone where the worker has no process.
        """
        seat = await self.present(number)
        return seat.address, seat.holder.key

    async def call(self, number: int, method: str, *arguments: Any) -> Any:
        """Call a method of the actor of worker `number`, as soon as there is one, and return its
        result.

        Raises Gone if its process dies meanwhile.
        """
        seat = await self.present(number)
        holder = seat.holder
        try:
            answer, seconds = await holder.do(method, *arguments)
        except (OSError, RuntimeError) as error:
            # Several calls can fail with one process: only the first of them reports its death.
            if seat.ready.is_set() and seat.holder is holder:
                self._miss(seat)
            raise Gone(number) from error
        busy = BUSY.get()
        if busy is not None:
            busy[number] = busy.get(number, 0.0) + seconds
        return answer

    async def heard(self, number: int, job: str, run: str, work: Coroutine[Any, Any, T]) -> T:
        """Wait for `work`, a call in which the process of worker `number` computes for the run of
        this name, of a job, and return its result; the process answers other calls between two
        steps.

        Raises InputError, and kills the process, when it does not answer for too long, so that its
        step counts as one that hangs.
        """
        seat = await self.present(number)
        seat.job = job
        task = asyncio.ensure_future(work)
        pulse = asyncio.ensure_future(self._pulse(number, job, run))
        try:
            await asyncio.wait({task, pulse}, return_when=FIRST_COMPLETED)
            if pulse.done():
                await asyncio.wait({task}, timeout=SETTLING)  # until the process is dead
                await pulse
            return await task
        except StepFailed as failed:
            where = f"{job}, step {failed.step}, worker {number} ({seat.address})"
            error = evolve(failed, where=where)
        finally:
            seat.job = ""
            task.cancel()
            pulse.cancel()
        raise error  # not within the handler: the error travels by itself

    async def _pulse(self, number: int, job: str, run: str) -> None:
        """Ask the process of worker `number`, which computes for the run of this name, of a job,
        again and again how many steps it has reached.

        Raises InputError, and kills the process, when an answer takes longer than `patience`, or by
        default than the larger of SILENT seconds and TIMES times the longest answer so far. A note
        on stderr warns at half of that time.
        """
        problem = f"{job}: worker {number} has not answered for"
        BUSY.set(None)  # the process answers while it is busy with the work itself
        while True:
            quiet = QUIET if self.stepped is None else GLANCE
            await asyncio.sleep(min(quiet, self.patience or quiet))
            begun, limit = time.monotonic(), self.patience or max(SILENT, TIMES * self.longest)
            about = f"{problem} {limit / 2:g} s; it is killed after {limit:g} s (patience)"
            warning = asyncio.get_running_loop().call_later(limit / 2, note, about)
            try:
                async with asyncio.timeout(limit):
                    with suppress(Gone):
                        reached = await self.call(number, "reached", run)
                        if self.stepped is not None:
                            self.stepped(job, reached)
            except TimeoutError:
                self.lost = _ignore  # this death ends the run, which need not go on elsewhere
                await self.murder(number)
                accepted = "more seconds, or a function whose steps end"
                raise unfit("live.patience", f"{problem} {limit:g} s", accepted) from None
            finally:
                warning.cancel()
            self.longest = max(self.longest, time.monotonic() - begun)

    # --- failures and reclaims --------------------------------------------------------------------

    async def kill(self, number: int) -> None:
        """Kill the process of a worker that goes DOWN in the simulation, and begin to wait for a
        fresh one.

        Does nothing where the worker has no process now: one that died by itself is being replaced
        already, and a fresh one has no state yet that it could lose.
        """
        seat = self.seats[number]
        if seat.ready.is_set():
            self._signal(seat, signal.SIGKILL)
            self._await_replacement(seat)

    async def detect(self, number: int) -> float:
        """Kill a worker's process, and return the seconds until a call that waited for it has
        failed."""
        waiting = asyncio.ensure_future(self.call(number, "rest", ANSWER))
        await asyncio.sleep(LOOK)
        begun = time.monotonic()
        await self.murder(number)
        with suppress(Gone):
            await waiting
        return time.monotonic() - begun

    async def murder(self, number: int) -> None:
        """Kill a worker's process without telling the simulation, which has to notice the death by
        itself."""
        seat = self.seats[number]
        await seat.ready.wait()
        seat.doomed = True
        self._signal(seat, signal.SIGKILL)

    async def stop(self, number: int, stopped: bool) -> None:
        """Stop the process of worker `number` (SIGSTOP), or continue it (SIGCONT), as `stopped`
        says; fresh processes of the worker are stopped likewise."""
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
        """Continue all stopped processes, and report no more deaths to the run that has ended."""
        self.lost = self.noticed = self.failed = _ignore
        self.stepped = None
        self.deaths = Deaths()
        for seat in self.seats.values():
            await self.stop(seat.number, False)

    async def leave(self) -> None:
        """Stop watching the processes, of which this command's own cluster is about to end; in any
        other cluster, a SIGTERM ends them at once again."""
        await self.clear()
        self._left = True
        if not self.own:  # where it goes on, SIGTERM ends a process at once again
            present = (it.number for it in self.seats.values() if it.ready.is_set())
            calls = (self.call(it, "dismiss") for it in present)
            with suppress(TimeoutError):
                async with asyncio.timeout(COMING):
                    await asyncio.gather(*calls, return_exceptions=True)
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


def _settled(cluster: Any) -> dict[str, str]:
    """Map the address of each Nanny (Dask's process that restarts a worker's) of a local cluster to
    the address of its worker.

    Only workers that their Nanny knows as started are in the result: one that dies earlier is not
    replaced.
    """
    known = {it.address for it in cluster.scheduler.workers.values()}
    nannies = (it for it in cluster.workers.values() if it.worker_address in known)
    return {it.address: it.worker_address for it in nannies if it.process.status.name == "running"}


def _known(cluster: Any, identity: str) -> Any:
    """Return the present process of the Nanny with this address, which keeps its exit code."""
    (nanny,) = (it for it in cluster.workers.values() if it.address == identity)
    return nanny.process.process


def _addresses(dask_scheduler: Any) -> dict[str, str]:
    """Map the address of each Nanny, or of a worker without one, to the worker's. Runs in the
    scheduler; Dask prescribes the parameter's name."""
    return {it.nanny or it.address: it.address for it in dask_scheduler.workers.values()}
