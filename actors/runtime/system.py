"""A system of actors: its loop, its journal, its streams of randomness, from start to end."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from itertools import chain
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.random import PCG64, Generator, SeedSequence

from actors.runtime.actor import STOPPED, Actor
from actors.runtime.entries import NOTHING
from actors.runtime.errors import ActorFailed, RuntimeFault
from actors.runtime.journal import Event, Journal, Sink
from actors.runtime.loop import VirtualTimeLoop


def stream(seed: int, name: str) -> Generator:
    """The generator of the source `name` in a run with `seed`.

    Streams are independent of each other and of the order in which they are asked for: what a
    policy draws never shifts a worker's failures, so policies meet the same ones. The name goes in
    through a cryptographic hash, because Python's own differs from process to process.
    """
    words = np.frombuffer(blake2b(name.encode(), digest_size=16).digest(), dtype="<u4")
    return Generator(PCG64(SeedSequence(seed, spawn_key=tuple(int(word) for word in words))))


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


A = TypeVar("A", bound=Actor)
P = ParamSpec("P")

YOUNG_OBJECTS = 50_000
"""New container objects between two collections; Python's own default is 700."""


@contextmanager
def rare_collections() -> Iterator[None]:
    """Collect cyclic garbage rarely while a run goes on: what actors leave behind is not cyclic,
    and looking for it in vain took an eighth of a proactive run's time."""
    before = gc.get_threshold()
    gc.set_threshold(max(before[0], YOUNG_OBJECTS), *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


class System:
    """Where actors live.

    `spawn` actors, then `run`: it ends when an actor calls `finish`, when one fails (ActorFailed),
    or when nothing is left to happen (Deadlock, with who waits for what).
    """

    def __init__(
        self,
        seed: int = 0,
        sinks: Sequence[Sink] = (),
        debug: bool = False,
        start: float = 0.0,
        loop: VirtualTimeLoop | None = None,
    ) -> None:
        self.loop = loop or VirtualTimeLoop(start)
        self.loop.idle_report = self._who_waits
        self.journal = Journal(self.loop, sinks, debug)
        self._record = self.journal.record  # one bound method for all actors
        self.seed = seed
        self.origin = NOTHING
        """Number of the event that nothing in the world precedes: the cause of what comes from
        without it, of arrivals, faults and owners."""
        self.last = NOTHING
        """Number of the event that ended the run."""
        self.result: object = None
        self.actors: dict[str, Actor] = {}
        self._tasks: dict[str, dict[asyncio.Task[None], None]] = {}
        """By actor's name, in the order of their making: sets of tasks have none."""
        self._end: asyncio.Future[None] = self.loop.create_future()
        self._fault: ActorFailed | None = None
        self._watch: asyncio.Task[None] | None = None

    def stream(self, name: str) -> Generator:
        """The generator of the source `name` in this run; see `stream`."""
        return stream(self.seed, name)

    def describe(self, kind: Callable[P, Event], *args: P.args, **kwargs: P.kwargs) -> None:
        """Record what is so from the start, rather than happens."""
        self.journal.record(self.origin, kind, *args, **kwargs)

    def spawn(self, actor: A) -> A:
        """Let `actor` live here. Raises RuntimeFault where its name is taken."""
        if actor.name in self.actors:
            raise RuntimeFault(f"there are two actors called {actor.name!r}")
        actor.system = self
        actor.record = self._record
        self.actors[actor.name] = actor
        actor.started()
        return actor

    def run(self) -> None:
        """Run until `finish` is called; see the class. A system runs once, and also where another
        loop is running, which waits meanwhile."""
        if self.loop.is_closed():
            raise RuntimeFault("this system has run already: its actors are what it left of them")
        with stepped_out():
            self._run()
        if self._fault is not None:
            raise self._fault

    def _run(self) -> None:
        try:
            with rare_collections():
                self.loop.run_until_complete(self._main())
        finally:
            self._silence()
            self._clear_up()

    def finish(self, cause: int, result: object = None) -> None:
        """End the run with `result`, because of the event numbered `cause`: nothing that lies in
        the future happens any more.

        What has been said at this instant is still heard, and what is said because of it; timers
        are not, even those that are due now.
        """
        if not self._end.done():
            self.result, self.last = result, cause
            self._end.set_result(None)

    def fail(self, actor: Actor, error: BaseException) -> None:
        """End the run with `error`, raised in one of `actor`'s tasks."""
        if self._fault is None:
            self._fault = ActorFailed(actor.name, "its task", error)
            self._fault.__cause__ = error
            self.finish(NOTHING)

    def start(self, actor: Actor, life: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine as a task of `actor`; see `Actor.start`."""
        task = self.loop.create_task(life, name=actor.name)
        self._tasks.setdefault(actor.name, {})[task] = None
        task.add_done_callback(lambda done: self._ended(actor, done))

    def stopped(self, actor: Actor) -> None:
        """Forget `actor`, which stops; see `Actor.stop`."""
        del self.actors[actor.name]
        for task in self._tasks.pop(actor.name, ()):
            task.cancel()

    def _ended(self, actor: Actor, task: asyncio.Task[None]) -> None:
        self._tasks.get(actor.name, {}).pop(task, None)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self.fail(actor, error)

    async def _main(self) -> None:
        self._watch = asyncio.current_task()
        await self._end
        while self._fault is None and self.loop.busy():
            await asyncio.sleep(0)

    def _silence(self) -> None:
        """Keep whatever is left from happening while asyncio clears up."""
        for actor in self.actors.values():
            actor.handlers = STOPPED
        for task in chain.from_iterable(self._tasks.values()):
            task.cancel()

    def _clear_up(self) -> None:
        """As asyncio.Runner would, which costs 90 microseconds even where nothing is left: as much
        as ten attempts of a rigid job."""
        left = self.loop.unfinished()
        for task in left:
            task.cancel()
        if left:
            self.loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        if self.loop.has_generators():
            self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        self.loop.close()

    def _who_waits(self) -> list[str]:
        reports = ((actor.name, actor.waits_for()) for actor in self.actors.values())
        waiting = [f"{name} waits for {what}" for name, what in reports if what]
        return waiting + self.loop.pending_tasks(besides=self._watch)
