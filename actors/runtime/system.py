"""Defines a system of actors: its event loop, its journal and its random streams, from start to
end."""

from __future__ import annotations

import asyncio
import gc
from collections import deque
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from itertools import chain
from struct import Struct
from typing import Any, ParamSpec, TypeVar

from numpy.random import PCG64, Generator, SeedSequence

from actors.runtime.actor import STOPPED, Actor
from actors.runtime.draws import UnitDraws
from actors.runtime.entries import NOTHING
from actors.runtime.errors import ActorFailed, RuntimeFault
from actors.runtime.journal import Event, Journal, MessageLog, Sink
from actors.runtime.loop import VirtualTimeLoop

WORDS = Struct("<4I")
"""Format of the four 32-bit numbers that are derived from a stream's name."""


def stream(seed: int, name: str) -> Generator:
    """Return the random generator of the source `name` in a run with `seed`.

    Streams are independent of each other and of the order in which they are requested: a policy's
    draws never shift a worker's failures, so all policies meet the same ones. The name enters
    through a cryptographic hash because Python's own differs from process to process.
    """
    words = WORDS.unpack(blake2b(name.encode(), digest_size=WORDS.size).digest())
    return Generator(PCG64(SeedSequence(seed, spawn_key=words)))


@contextmanager
def stepped_out() -> Iterator[None]:
    """Suspend the running loop and the current task of this thread within the context, and restore
    both afterwards.

    asyncio lets one loop run a thread, as two that wait for the outside world would starve each
    other. This project's loop waits for nothing outside: to the outer loop a run is one long
    callback, like any computation in a notebook cell. In a thread of its own a run would not
    receive Ctrl-C, which only the main thread gets: the cell would be interrupted and the run go
    on. asyncio's documentation offers these calls to other loops and tasks ("Extending").
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
"""Number of new container objects after which garbage is collected; Python's own default is 700."""


@contextmanager
def rare_collections() -> Iterator[None]:
    """Collect cyclic garbage rarely during a run: what actors leave behind is not cyclic, and
    searching it in vain took an eighth of a proactive run's time."""
    before = gc.get_threshold()
    gc.set_threshold(max(before[0], YOUNG_OBJECTS), *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


class System:
    """Holds the actors of one run and runs them.

    `spawn` actors, then `run`: the run ends when an actor calls `finish`, when one fails
    (ActorFailed), or when nothing is left to happen (Deadlock, which names what each actor waits
    for).
    """

    def __init__(
        self,
        seed: int = 0,
        sinks: Sequence[Sink] = (),
        debug: bool = False,
        start: float = 0.0,
        loop: VirtualTimeLoop | None = None,
        messages: bool | MessageLog = False,
    ) -> None:
        self.loop = loop or VirtualTimeLoop(start)
        self.loop.idle_report = self._who_waits
        self.journal = Journal(self.loop, sinks, debug)
        self._record = self.journal.record  # one bound method for all actors
        own = self.journal if messages else None
        self.messages: MessageLog | None = own if isinstance(messages, bool) else messages
        """Log of what actors receive, in which events also have the names of their actors: the
        journal, or another; None: neither is logged."""
        self.seed = seed
        self.origin = NOTHING
        """Number of the event that no other event precedes: the cause of external events such as
        arrivals, faults and owners' actions."""
        self.last = NOTHING
        """Number of the event that ended the run."""
        self.result: object = None
        self.actors: dict[str, Actor] = {}
        self._tasks: dict[str, dict[asyncio.Task[None], None]] = {}
        """Maps an actor's name to its tasks in the order of their creation; a dictionary, because a
        set would have no order."""
        self._streams: dict[str, Generator] = {}
        """Maps the name of each random stream that was requested to its generator."""
        self._of_units: list[UnitDraws] = []
        self._end: asyncio.Future[None] = self.loop.create_future()
        self._fault: ActorFailed | None = None
        self._watch: asyncio.Task[None] | None = None

    def letters(self) -> deque[Any]:
        """Return a new queue for an actor's mailbox."""
        return deque()

    def stream(self, name: str) -> Generator:
        """Return the random generator of the source `name` in this run."""
        found = self._streams[name] = stream(self.seed, name)
        return found

    def unit_draws(self, name: str) -> UnitDraws:
        """Return the random numbers of the units of the source `name` in this run; ask once."""
        found = UnitDraws(self.seed, name)
        self._of_units.append(found)
        return found

    @property
    def drew(self) -> bool:
        """Whether anything was drawn from a random stream so far: else every seed gives the same
        run."""

        def state(of: Generator) -> object:
            return of.bit_generator.state

        streams = self._streams.items()
        drawn = (state(it) != state(stream(self.seed, name)) for name, it in streams)
        return any(units.drew for units in self._of_units) or any(drawn)

    def begin(self, kind: Callable[P, Event], *args: P.args, **kwargs: P.kwargs) -> None:
        """Record the run's first event, of class `kind` with these arguments, which is the cause of
        what happens from outside."""
        self.origin = self.journal.record(NOTHING, kind, *args, **kwargs)

    def describe(self, kind: Callable[P, Event], *args: P.args, **kwargs: P.kwargs) -> None:
        """Record an event of class `kind`, with these arguments, that states a fact which holds
        from the start, such as a parameter. The run's first event is its cause."""
        self.journal.record(self.origin, kind, *args, **kwargs)

    def spawn(self, actor: A) -> A:
        """Add `actor` to the system. Raises RuntimeFault where its name is taken."""
        if actor.name in self.actors:
            raise RuntimeFault(f"there are two actors called {actor.name!r}")
        actor.system = self
        actor.record = self._record
        self.actors[actor.name] = actor
        if self.messages is not None:
            from actors.runtime.deliveries import log_messages  # few runs need it

            log_messages(actor, self, self.messages)
        actor.started()
        return actor

    def find(self, name: str) -> Actor:
        """Return the address of the actor called `name`. An actor whose address another one needs
        before both are there is known to it by name. Raises RuntimeFault where there is none."""
        if name not in self.actors:
            raise RuntimeFault(f"there is no actor called {name!r}")
        return self.actors[name]

    def run(self, contained: bool = False) -> None:
        """Run until `finish` is called. A system runs once; it may run inside another running loop,
        which waits meanwhile. An actor that calls `sys.exit` ends the program, or where it is
        `contained` fails as it does by any other error.

        Raises the errors that the class describes, and RuntimeFault at a second call.
        """
        if self.loop.is_closed():
            raise RuntimeFault("this system has run already: its actors are what it left of them")
        try:
            with stepped_out():
                self._run()
        except SystemExit:  # of a task, whose actor `_ended` has named
            if self._fault is None or not contained:
                raise
        except ActorFailed as failed:
            if isinstance(failed.error, SystemExit) and not contained:
                raise failed.error from None
            raise
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
        """End the run with `result`, because of the event numbered `cause`; no later event happens
        any more.

        Messages that were sent at this instant are still handled, and so are those that they lead
        to; timers are not, even those that are due now.
        """
        if not self._end.done():
            self.result, self.last = result, cause
            self._end.set_result(None)

    def fail(self, actor: Actor, error: BaseException) -> None:
        """End the run with `error`, which was raised in one of `actor`'s tasks."""
        if self._fault is None:
            self._fault = ActorFailed(actor.name, "its task", error)
            self._fault.__cause__ = error
            self.finish(NOTHING)

    def start(self, actor: Actor, life: Coroutine[Any, Any, None]) -> None:
        """Run the coroutine `life` as a task of `actor`. If it raises an error, the run ends with
        ActorFailed."""
        task = self.loop.create_task(life, name=actor.name)
        self._tasks.setdefault(actor.name, {})[task] = None
        task.add_done_callback(lambda done: self._ended(actor, done))

    def stopped(self, actor: Actor) -> None:
        """Remove `actor` from the system as it stops, and cancel its tasks."""
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
        # Messages of the instant at which the run finishes are still handled: one round at a time.
        while self._fault is None and self.loop.busy():
            await asyncio.sleep(0)

    def _silence(self) -> None:
        """Prevent any further message from being handled while asyncio cleans up."""
        for actor in self.actors.values():
            actor.handlers = STOPPED
        for name in self._tasks:  # others do nothing any more
            if name in self.actors:
                self.actors[name].silence()
        for task in chain.from_iterable(self._tasks.values()):
            task.cancel()

    def _clear_up(self) -> None:
        """Cancel the unfinished tasks, end asynchronous generators, and close the loop, as
        asyncio.Runner would. That would take 90 microseconds even where nothing is left, as much as
        ten attempts of a rigid job."""
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
