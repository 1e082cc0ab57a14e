"""The virtual-time event loop: a real asyncio loop whose clock jumps from event to event.

Two kinds of entry share one queue and one heap, so that there is one order of events:

- messages to actors, delivered straight from the loop: no task, no future and no handle is made
  for them, which is what makes actors cheaper than coroutines (measured: `sims.bench messages`);
- asyncio's own handles, so that tasks, `sleep`, `timeout`, `Queue` and the rest just work.

Order is (time, phase, sequence number). Stock asyncio leaves timers of one instant in whatever
order its heap has; here they are first-in-first-out.
"""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import Callable, Mapping, Sequence
from contextvars import Context
from heapq import heapify, heappop, heappush
from typing import Any, Protocol, TypeVarTuple

from actors.runtime.errors import ActorFailed, Deadlock, RuntimeFault
from actors.runtime.phases import Phase
from actors.runtime.refusals import NoOutsideWorld

Ts = TypeVarTuple("Ts")
Handler = Callable[[Any, Any], None]
Timer = list[Any]
"""One heap entry: [due time, order, target, message, cause]; the target is None once it ran or was
cancelled. A list, because a class of its own costs a tenth of the message rate."""

PHASE_SHIFT = 50
"""order = phase << 50 | sequence number: one comparison instead of two (2^50 events suffice)."""

COMPACT_FROM = 512
"""Cancelled timers are swept out once there are so many and they outnumber the live ones."""


class Receiver(Protocol):
    """Whom a message can be delivered to: `handlers[type(message)](receiver, message)`."""

    handlers: Mapping[type, Handler]

    @property
    def name(self) -> str: ...


class _Callbacks:
    """Receives asyncio's handles as if they were messages."""

    __slots__ = ("handlers", "name")

    def __init__(self) -> None:
        self.name = "asyncio"
        self.handlers: Mapping[type, Handler] = {
            asyncio.Handle: _run_handle,
            _TimerHandle: _run_handle,
        }


def _run_handle(_: object, handle: asyncio.Handle) -> None:
    if not handle._cancelled:
        handle._run()


class _TimerHandle(asyncio.TimerHandle):
    """asyncio's timer handle that knows its heap entry, to take it out of the count of the live."""

    __slots__ = ("entry",)
    entry: Timer | None


class VirtualTimeLoop(NoOutsideWorld):
    """An asyncio event loop over virtual time; see the module's docstring.

    `asyncio.Runner(loop_factory=VirtualTimeLoop)` runs any asyncio program on it that stays
    inside its own process and thread. Time starts at `start` (the scenario's unit).
    """

    def __init__(self, start: float = 0.0) -> None:
        super().__init__()
        self.now = start
        self.cause = -1
        """Sequence number of the journalled event that leads to what runs now; -1: none."""
        self.idle_report: Callable[[], Sequence[str]] = self.pending_tasks
        self._queue: Any = self._ready  # type: ignore[attr-defined]
        self._heap: list[Timer] = []
        self._orders = tuple(itertools.count(phase << PHASE_SHIFT) for phase in Phase)
        self._cancelled = 0
        self._overdue: list[tuple[Receiver, object, int]] = []
        self._callbacks = _Callbacks()

    # --- messages to actors -------------------------------------------------------------------

    def post(self, target: Receiver, message: object) -> None:
        """Deliver `message` at this instant, after all that was posted before."""
        self._queue.append((target, message, self.cause))

    def schedule(self, when: float, phase: Phase, target: Receiver, message: object) -> Timer:
        """Deliver `message` at time `when`, in `phase`; the entry can be cancelled.

        Raises ValueError where `when` lies in the past or is not a number.
        """
        if not when >= self.now:
            raise ValueError(f"a message due at {when!r} is sent at {self.now!r}, after that")
        entry = [when, next(self._orders[phase]), target, message, self.cause]
        if when == self.now and phase is Phase.WORK_ENDS:
            self._queue.append((_DUE, entry, self.cause))
        else:
            heappush(self._heap, entry)
        return entry

    def cancel(self, timer: Timer) -> None:
        """Take `timer` back; without effect where it ran or was cancelled already."""
        if timer[2] is not None:
            timer[2] = timer[3] = None
            self._cancelled += 1
            if self._cancelled > COMPACT_FROM and 2 * self._cancelled > len(self._heap):
                self._compact()

    def _compact(self) -> None:
        # In place: `_run_once` holds on to the list.
        self._heap[:] = [entry for entry in self._heap if entry[2] is not None]
        heapify(self._heap)
        self._cancelled = 0

    # --- asyncio ------------------------------------------------------------------------------

    def time(self) -> float:
        """Virtual time, in the scenario's unit."""
        return self.now

    def call_soon(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        self._check_closed()  # type: ignore[attr-defined]
        handle = asyncio.Handle(callback, args, self, context)
        self._queue.append((self._callbacks, handle, self.cause))
        return handle

    def call_later(
        self,
        delay: float,
        callback: Callable[[*Ts], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        return self.call_at(self.now + delay, callback, *args, context=context)

    def call_at(
        self,
        when: float,
        callback: Callable[[*Ts], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        self._check_closed()  # type: ignore[attr-defined]
        handle = _TimerHandle(when, callback, args, self, context)
        if when > self.now:
            handle.entry = self.schedule(when, Phase.WORK_ENDS, self._callbacks, handle)
        else:
            # Stock asyncio queues an overdue timer behind the whole next round of callbacks.
            handle.entry = None
            self._overdue.append((self._callbacks, handle, self.cause))
        return handle

    def call_soon_threadsafe(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        """As `call_soon`, from the loop's own thread only (asyncio.Runner's Ctrl-C needs it)."""
        if threading.get_ident() != (self._thread_id or threading.get_ident()):  # type: ignore[attr-defined]
            self.run_in_executor(None, callback)
        return self.call_soon(callback, *args, context=context)

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        entry = getattr(handle, "entry", None)
        if entry is not None:
            self.cancel(entry)

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """Nothing to do: there never is an executor."""

    # --- the one loop -------------------------------------------------------------------------

    def _run_once(self) -> None:
        """Run until stopped: asyncio calls this in a loop and expects one round of callbacks.

        Staying inside for all rounds saves what asyncio does between them.
        """
        target: Receiver | None = None
        message: object = None
        queue, heap, take = self._queue, self._heap, self._queue.popleft
        try:
            while True:
                while queue:
                    # One round, as asyncio defines it: what is queued now, not what it queues.
                    for _ in range(len(queue)):
                        target, message, self.cause = take()
                        target.handlers[message.__class__](target, message)
                    if self._overdue:
                        queue.extend(self._overdue)
                        self._overdue.clear()
                    if self._stopping:  # type: ignore[attr-defined]
                        return
                if self._overdue:
                    queue.extend(self._overdue)
                    self._overdue.clear()
                    continue
                if self._stopping:  # type: ignore[attr-defined]
                    return
                if not heap:
                    raise Deadlock(self.now, self.idle_report())
                timer = heappop(heap)
                target = timer[2]
                if target is None:
                    self._cancelled -= 1
                    continue
                self.now = timer[0]
                if heap and heap[0][0] == timer[0]:
                    self._gather(timer)
                    target = timer[2]
                message, self.cause = timer[3], timer[4]
                timer[2] = None
                target.handlers[message.__class__](target, message)
        except RuntimeFault as fault:
            raise self._named(fault, target, message) from fault.__cause__
        except Exception as error:
            raise ActorFailed(target.name if target else "loop", message, error) from error

    def _gather(self, first: Timer) -> None:
        """Queue all that is due with `first` in its phase, in order: they precede, by sequence
        number, whatever the first one's handler sends."""
        heap, queue = self._heap, self._queue
        now, bound = first[0], ((first[1] >> PHASE_SHIFT) + 1) << PHASE_SHIFT
        while heap and heap[0][0] == now and heap[0][1] < bound:
            timer = heappop(heap)
            if timer[2] is None:
                self._cancelled -= 1
            else:
                queue.append((_DUE, timer, timer[4]))

    @staticmethod
    def _named(fault: RuntimeFault, target: Receiver | None, message: object) -> RuntimeFault:
        if isinstance(fault, (ActorFailed, Deadlock)) or target is None:
            return fault
        return ActorFailed(target.name, message, fault)

    def pending_tasks(self) -> list[str]:
        """What each unfinished asyncio task waits in, by the task's name."""
        tasks = sorted(asyncio.all_tasks(self), key=lambda task: task.get_name())
        return [f"{task.get_name()} waits in {_place(task)}" for task in tasks]


class _Due:
    """Receives a timer that was gathered with others of its instant; it may still be cancelled."""

    __slots__ = ("handlers", "name")

    def __init__(self) -> None:
        self.name = "timer"
        self.handlers: Mapping[type, Handler] = {list: _run_due}


def _run_due(_: object, timer: Timer) -> None:
    target, message = timer[2], timer[3]
    if target is not None:
        timer[2] = None
        target.handlers[message.__class__](target, message)


_DUE = _Due()


def _place(task: asyncio.Task[Any]) -> str:
    frames = task.get_stack(limit=1)
    code = frames[-1].f_code if frames else None
    return f"{code.co_name}, line {frames[-1].f_lineno}" if code else "its first step"
