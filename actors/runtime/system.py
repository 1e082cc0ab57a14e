"""A system of actors: its loop, its journal, its streams of randomness, from start to end."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

from numpy.random import Generator

from actors.runtime.actor import Actor
from actors.runtime.errors import ActorFailed, RuntimeFault
from actors.runtime.journal import Journal, Sink
from actors.runtime.loop import VirtualTimeLoop
from actors.runtime.streams import stream

A = TypeVar("A", bound=Actor)


class System:
    """Where actors live.

    `spawn` actors, then `run`: it ends when an actor calls `finish`, when one fails (ActorFailed),
    or when nothing is left to happen (Deadlock, with who waits for what).
    """

    def __init__(
        self, seed: int = 0, sinks: Sequence[Sink] = (), debug: bool = False, start: float = 0.0
    ) -> None:
        self.loop = VirtualTimeLoop(start)
        self.loop.idle_report = self._who_waits
        self.journal = Journal(self.loop, sinks, debug)
        self.seed = seed
        self.result: object = None
        self.actors: dict[str, Actor] = {}
        self._tasks: dict[Actor, set[asyncio.Task[None]]] = {}
        self._end: asyncio.Future[None] = self.loop.create_future()

    def stream(self, name: str) -> Generator:
        """The generator of the source `name` in this run; see `streams.stream`."""
        return stream(self.seed, name)

    def spawn(self, actor: A) -> A:
        """Let `actor` live here. Raises RuntimeFault where its name is taken."""
        if actor.name in self.actors:
            raise RuntimeFault(f"there are two actors called {actor.name!r}")
        self.actors[actor.name] = actor
        actor.system = self
        # What one actor's start records is not the cause of the next one's.
        cause = self.loop.cause
        actor.started()
        self.loop.cause = cause
        return actor

    def run(self) -> None:
        """Run until `finish` is called; see the class."""
        with asyncio.Runner(loop_factory=lambda: self.loop) as runner:
            runner.run(self._main())

    def finish(self, result: object = None) -> None:
        """End the run with `result`: nothing that lies in the future happens any more."""
        if not self._end.done():
            self.result = result
            self._end.set_result(None)

    def fail(self, actor: Actor, error: BaseException) -> None:
        """End the run with `error`, raised in one of `actor`'s tasks."""
        if not self._end.done():
            fault = ActorFailed(actor.name, "its task", error)
            fault.__cause__ = error
            self._end.set_exception(fault)

    def start(self, actor: Actor, life: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine as a task of `actor`; see `Actor.start`."""
        task = self.loop.create_task(life, name=actor.name)
        self._tasks.setdefault(actor, set()).add(task)
        task.add_done_callback(lambda done: self._ended(actor, done))

    def stopped(self, actor: Actor) -> None:
        """Forget `actor`, which stops; see `Actor.stop`."""
        del self.actors[actor.name]
        for task in self._tasks.pop(actor, ()):
            task.cancel()

    def _ended(self, actor: Actor, task: asyncio.Task[None]) -> None:
        self._tasks.get(actor, set()).discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self.fail(actor, error)

    async def _main(self) -> None:
        await self._end

    def _who_waits(self) -> list[str]:
        reports = ((actor.name, actor.waits_for()) for actor in self.actors.values())
        waiting = [f"{name} waits for {what}" for name, what in reports if what]
        alive = {actor.name for actor, tasks in self._tasks.items() if tasks}
        return waiting + [line for line in self.loop.pending_tasks() if line.split()[0] in alive]
