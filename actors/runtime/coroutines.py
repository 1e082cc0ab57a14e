"""Defines coroutine actors: each is one coroutine, which waits for its messages one by one.

A coroutine is the form for an activity that is a story (fetch, compute, report, begin again).
Handlers are the form for an actor that may get any message at any time, and take half the time.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from asyncio import _enter_task, _leave_task
from collections import deque
from collections.abc import Callable, Coroutine, Generator, Mapping
from contextvars import Context
from types import coroutine
from typing import Any, ClassVar

from attrs import define, field, frozen, has

from actors.runtime.actor import Actor, Handlers
from actors.runtime.entries import NOTHING, Handler, Phase
from actors.runtime.errors import UnexpectedMessage
from actors.runtime.loop import VirtualTimeLoop
from actors.runtime.pending import Driver

Letter = tuple[Any, int]
"""A message, and the number of the event that led to it."""


@frozen
class Awake:
    """Message of a sleeping actor to itself: the time is over."""


AWAKE = Awake()


class Life(Driver):
    """Runs an actor's coroutine as an asyncio task, and keeps messages that it has not received.

    While the coroutine waits for a message or a time, its task waits for this object, in which
    asyncio sees a future, of which only the part that tasks use is there. What comes resumes the
    coroutine directly, within its own turn, as that of the task. By way of new futures and
    callbacks, a task of the master-worker benchmark would take more than twice as long.
    """

    __slots__ = (
        *("_asyncio_future_blocking", "_awaited", "_cancelled", "_context", "_error"),
        *("_loop", "_others", "_over", "_run", "_send", "_task", "_wakeup", "asleep", "handlers"),
        *("letters", "name", "receiving", "running", "woken"),
    )

    def __init__(self, name: str, letters: deque[Letter]) -> None:
        self.name = name
        self.handlers: Mapping[type, Handler] = {Awake: _awake}
        self.letters = letters
        """Messages that came and are not received yet, the oldest first."""
        self.receiving = self.asleep = False
        """Whether the coroutine waits for a message, and whether for a time."""
        self.woken = NOTHING
        """Number of the event that ended the last sleep."""
        self.running = False
        """Whether the coroutine runs at present, and not another task of the actor."""
        self._others: deque[asyncio.Future[None]] = deque()
        """Futures of other tasks, such as those of `asyncio.wait_for`, that wait for a message."""
        self._awaited: Any = self
        """Object that the coroutine awaits: this one, or a future of asyncio's."""
        self._over = False
        self._error: BaseException | None = None
        self._wakeup: Callable[[Any], object] | None = None
        """Function by which asyncio resumes the task; None while the task does not wait for this
        object."""
        self._cancelled = self._asyncio_future_blocking = False

    # --- run by the task ----------------------------------------------------------------------

    async def live(self, begin: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run the coroutine that `begin` makes to its end; this is the body of the actor's task."""
        task = asyncio.current_task()
        assert task is not None
        self._task: asyncio.Task[Any] = task
        self._loop = asyncio.get_running_loop()
        self.coroutine = begin()
        self._send = self.coroutine.send
        await self

    def __await__(self) -> Generator[Any, Any, None]:
        """Run the coroutine step by step, and have the task wait for what each step awaits."""
        self._advance(None)
        while not self._over:
            awaited, self._awaited = self._awaited, self
            if awaited is self:
                self._asyncio_future_blocking = True
            try:
                yield awaited
            except BaseException as error:
                self._abandon(error)
            else:
                if awaited is not self:  # else `resume` has made the steps meanwhile
                    self._advance(None)
        if self._error is not None:
            raise self._error

    def _advance(self, error: BaseException | None) -> None:
        """Run the coroutine until it waits again or ends, from where it waits, with `error` raised
        there if there is one."""
        self.running = True
        try:
            self._awaited = self._send(None) if error is None else self.coroutine.throw(error)
        except StopIteration:
            self._over = True
        except BaseException as raised:
            self._over, self._error = True, raised
        finally:
            self.running = False

    def _abandon(self, error: BaseException) -> None:
        """Raise `error`, a cancellation, in the coroutine, and cancel the future that it awaits."""
        if self._awaited is not self:
            self._awaited.cancel()
        if not self._over:
            self._advance(error)

    # --- run by the loop ----------------------------------------------------------------------

    def resume(self) -> None:
        """Run the coroutine, whose task waits for this object, until it waits again or ends; if it
        does not wait for this object again, have the task go on.

        These are the steps of `_advance`: a call for each message would take a twentieth more.
        """
        loop, task = self._loop, self._task
        _enter_task(loop, task)
        self.running = True
        try:
            self._awaited = self._run(self._send, None)
        except StopIteration:
            self._over = True
        except BaseException as raised:
            self._over, self._error = True, raised
        finally:
            self.running = False
            _leave_task(loop, task)
        if self._over or self._awaited is not self:
            wakeup, self._wakeup = self._wakeup, None
            if wakeup is not None:  # else a cancellation is on its way
                self._run(wakeup, self)

    def take_in(self, letter: Letter) -> None:
        """Keep a message that has come, and resume the coroutine, or else the first other task,
        that waits for one."""
        self.letters.append(letter)
        if self.receiving and self._wakeup is not None:
            self.resume()
        elif self._others:
            self._others.popleft().set_result(None)

    def wake(self, cause: int) -> None:
        """Have the sleeping coroutine go on, as its time is over, because of the event `cause`."""
        self.asleep, self.woken = False, cause
        if self._wakeup is not None:
            self.resume()

    def other(self) -> asyncio.Future[None]:
        """Return a future, for a task that is not the coroutine's own, of the next message."""
        future = self._loop.create_future()
        self._others.append(future)
        future.add_done_callback(self._forget)
        return future

    def _forget(self, future: asyncio.Future[None]) -> None:
        if future in self._others:
            self._others.remove(future)

    # --- what tasks ask of a future -----------------------------------------------------------

    def add_done_callback(self, wakeup: Callable[[Any], object], *, context: Context) -> None:
        """Keep the function that resumes the task, and the context in which the task runs."""
        self._wakeup, self._context, self._run = wakeup, context, context.run

    def cancel(self, msg: object = None) -> bool:
        """Resume the task, which waits for this object, with CancelledError."""
        wakeup, self._wakeup = self._wakeup, None
        if wakeup is None:
            return False
        self._cancelled = True
        self._loop.call_soon(wakeup, self, context=self._context)
        return True

    def result(self) -> None:
        """Raise CancelledError if the task is resumed because it is cancelled."""
        if self._cancelled:
            self._cancelled = False
            raise asyncio.CancelledError


class Alarm:
    """Receiver of the end of a sleep in a task of an actor's that is not its own coroutine."""

    def __init__(self, name: str, loop: VirtualTimeLoop) -> None:
        self.name, self._loop = name, loop
        self.handlers: Mapping[type, Handler] = {Awake: _ring}
        self.rung: asyncio.Future[int] = loop.create_future()

    def rings(self, delay: float, cause: int) -> Generator[Any, Any, int]:
        """Wait for `delay` time units, and return the cause of what follows."""
        loop = self._loop
        timer = loop.schedule(loop.now + delay, Phase.WORK_ENDS, self, AWAKE, cause)
        try:
            return (yield from self.rung)
        finally:
            loop.cancel(timer)  # which does nothing where it has come


def _ring(alarm: Alarm, _: Awake, cause: int) -> None:
    if not alarm.rung.done():
        alarm.rung.set_result(cause)


def _awake(life: Life, _: Awake, cause: int) -> None:
    life.wake(cause)


class Mailed(Handlers):
    """Handler table of coroutine actors, in which a message without a handler goes to the mailbox.
    Looking up a class that is none of messages raises UnexpectedMessage."""

    def __missing__(self, kind: type) -> Callable[[Any, Any, int], None]:
        if not has(kind):
            problem = f"a {self.where} expects messages, whose classes `message` makes"
            raise UnexpectedMessage(f"{problem}, and no {kind.__name__}")
        self[kind] = into_mailbox
        return into_mailbox


def into_mailbox(actor: CoroutineActor, message: object, cause: int) -> None:
    """Handle a message that has no handler: the actor's coroutine receives it."""
    actor.life.take_in((message, cause))


@define(eq=False)
class CoroutineActor(Actor, ABC):
    """An actor whose life is one coroutine, `run`, which waits for messages where it wants them.

    Messages that the class handles (`handles`) go to their handlers as they come; all others wait
    in a mailbox until `receive` takes them. The actor stops when `run` returns. All of asyncio
    works within `run`: `asyncio.timeout` ends a wait, a TaskGroup runs activities beside it. An
    error in `run` ends the whole simulation with ActorFailed.
    """

    _unhandled: ClassVar[type[Handlers]] = Mailed
    life: Life = field(init=False, repr=False)

    @abstractmethod
    async def run(self) -> None:
        """Live: begin when the system starts, and stop at the end."""

    def started(self) -> None:
        self.life = Life(self.name, self.system.letters())
        self.start(self._live())

    async def _live(self) -> None:
        await self.life.live(self.run)
        self.stop()

    @coroutine
    def receive(self, *kinds: type) -> Generator[Any, Any, Letter]:
        """Wait for the next message, or the next of these classes, and return it with the number of
        the event that led to it: `message, cause = await self.receive()`.

        Messages are received in the order in which they came; those of other classes stay in the
        mailbox. A message that comes while the coroutine waits resumes it within the message's own
        turn, before whatever was sent later.
        """
        life = self.life
        letters = life.letters
        while not letters or kinds:
            if kinds and (found := _first(letters, kinds)) is not None:
                letters.remove(found)
                letters.appendleft(found)
                break
            if life.running:
                life.receiving = True
                yield life
                life.receiving = False
            else:
                yield from life.other()
        return letters.popleft()

    @coroutine
    def sleep(self, delay: float, cause: int = NOTHING) -> Generator[Any, Any, int]:
        """Wait for `delay` time units because of the event `cause`, and return the cause of what
        follows: the same, or the end of the sleep where the system logs messages.

        It ends in the phase WORK_ENDS of its instant, in order with the timers of all actors, and
        takes a third of the time of `asyncio.sleep`. Messages that come meanwhile wait in the
        mailbox. Raises ValueError for a negative delay.
        """
        life, loop = self.life, self.system.loop
        if not life.running:
            return (yield from Alarm(self.name, loop).rings(delay, cause))
        timer = loop.schedule(loop.now + delay, Phase.WORK_ENDS, life, AWAKE, cause)
        life.asleep = True
        try:
            while life.asleep:
                yield life
        except BaseException:
            loop.cancel(timer)
            raise
        return life.woken


def _first(letters: deque[Letter], kinds: tuple[type, ...]) -> Letter | None:
    return next((it for it in letters if isinstance(it[0], kinds)), None)
