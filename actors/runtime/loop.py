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
import threading
from bisect import bisect_left
from collections.abc import Callable, Coroutine, Generator, Sequence
from contextvars import Context
from heapq import heapify, heappop, heappush
from math import inf
from typing import Any, TypeVar, TypeVarTuple
from weakref import WeakKeyDictionary

from actors.runtime.entries import (
    CALLBACKS,
    DUE,
    HANDLERS,
    INSTANT,
    NOTHING,
    Phase,
    Receiver,
    Timer,
    TimerHandle,
    after_instant,
    blame,
    end_of_instant,
    end_of_phase,
    orders,
)
from actors.runtime.errors import Deadlock, Livelock, Unresolved
from actors.runtime.refusals import THREADS, NoOutsideWorld, refusal

T = TypeVar("T")
Ts = TypeVarTuple("Ts")
WORK_ENDS = Phase.WORK_ENDS
MOST_AT_ONCE = 1_000_000
"""Number of timers of one instant, each set after the one before, beyond which the loop reports
that time stands still."""

COMPACT_FROM = 512
"""Number of cancelled timers from which they are removed from the heap, once they also outnumber
the live ones."""


class VirtualTimeLoop(NoOutsideWorld):
    """An asyncio event loop over virtual time, with messages to actors and asyncio's handles in one
    order.

    `asyncio.Runner(loop_factory=VirtualTimeLoop)` runs any asyncio program on it that stays inside
    its own process and thread. Time starts at `start` (the scenario's unit).
    """

    together = True
    """Whether parts of one job's runs that are due at the same instant end together. Real work
    without a nominal time ends part by part."""

    def __init__(self, start: float = 0.0) -> None:
        super().__init__()
        self.now = start
        self.due_by = end_of_instant(start)
        """The latest time that still belongs to the present instant."""
        self.latest = inf
        """The latest time at which the scenario's shortest time still makes a later instant."""
        self.shortest = ""
        """Description of the scenario's shortest time, for the error raised where a run gets later
        than `latest`."""
        self.idle_report: Callable[[], Sequence[str]] = self.pending_tasks
        self._queue: Any = self._ready  # type: ignore[attr-defined]
        self._heap: list[Timer] = self._scheduled  # type: ignore[attr-defined]
        self._orders = orders()
        self._later: list[tuple[int, Receiver, object, int]] = []
        """Entries (order, target, message, cause) that belong to later phases of this instant."""
        self._cancelled = 0
        self._overdue: list[tuple[Receiver, asyncio.TimerHandle, int]] = []
        self._tasks = WeakKeyDictionary[asyncio.Task[Any], None]()
        """Tasks in the order of their creation. `asyncio.all_tasks` goes through those of every
        loop that has not been collected yet: hundreds, where many small systems run one after the
        other."""

    # --- messages to actors -------------------------------------------------------------------

    def schedule(
        self, when: float, phase: Phase, target: Receiver, message: object, cause: int
    ) -> Timer:
        """Deliver `message` with its `cause` at time `when`, in `phase`; return the entry, which
        can be cancelled.

        At infinity the message never comes (`sleep(inf)` waits for a cancellation). Raises
        ValueError where `when` lies in the past or is not a number.
        """
        entry = [when, next(self._orders[phase]), target, message, cause]
        if self.now < when < inf:
            heappush(self._heap, entry)
        elif when == self.now:
            if phase is WORK_ENDS:
                self._queue.append((DUE, entry, cause))
            else:
                heappush(self._heap, entry)
        elif when != inf:
            raise ValueError(f"nothing can come at {when!r}: it is {self.now!r} now")
        return entry

    def cancel(self, timer: Timer) -> None:
        """Cancel `timer`, unless it ran or was cancelled already."""
        if timer[2] is not None:
            timer[2] = timer[3] = None
            self._cancelled += 1
            if self._cancelled > COMPACT_FROM and 2 * self._cancelled > len(self._heap):
                self._compact()

    def recause(self, timer: Timer, cause: int) -> None:
        """Deliver the message of `timer`, if it is still to come, with the event numbered `cause`
        as its cause."""
        timer[4] = cause

    def end_at(self, latest: float, shortest: str) -> None:
        """Raise Unresolved once the time is beyond `latest`, where the scenario's shortest time,
        which `shortest` describes, no longer makes a later instant. Call it before the run."""
        self.latest, self.shortest = latest, shortest

    def _compact(self) -> None:
        # In place, because `_run_once` holds a reference to the list.
        self._heap[:] = [entry for entry in self._heap if entry[2] is not None]
        heapify(self._heap)
        self._cancelled = 0

    # --- asyncio ------------------------------------------------------------------------------

    def time(self) -> float:
        """Return the virtual time, in the scenario's unit."""
        return self.now

    def call_soon(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        self._check_closed()  # type: ignore[attr-defined]
        handle = asyncio.Handle(callback, args, self, context)
        self._queue.append((CALLBACKS, handle, NOTHING))
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
        handle = TimerHandle(when, callback, args, self, context)
        if when <= self.now:
            handle.entry = None
            self._overdue.append((CALLBACKS, handle, NOTHING))
        else:
            due = after_instant(self.now, when)
            handle.entry = self.schedule(due, WORK_ENDS, CALLBACKS, handle, NOTHING)
        return handle

    def call_soon_threadsafe(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        """Do as `call_soon` does, but only from the loop's own thread (asyncio.Runner's Ctrl-C
        needs it)."""
        if threading.get_ident() != (self._thread_id or threading.get_ident()):  # type: ignore[attr-defined]
            raise refusal("call_soon_threadsafe from another thread", THREADS)
        return self.call_soon(callback, *args, context=context)

    def create_task(
        self, coro: Generator[Any, None, T] | Coroutine[Any, Any, T], **options: Any
    ) -> asyncio.Task[T]:
        task = super().create_task(coro, **options)
        self._tasks[task] = None
        return task

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        entry = getattr(handle, "entry", None)
        if entry is not None:
            self.cancel(entry)

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """Do nothing, because there never is an executor."""

    # --- the one loop -------------------------------------------------------------------------

    def _run_once(self) -> None:  # noqa: C901 (a call a message would cost a tenth of the speed)
        """Run messages, asyncio's callbacks and timers, in the order of time, phase and sequence
        number, until the loop is stopped. Raises Deadlock when nothing is left to happen, and
        ActorFailed where a handler fails.

        asyncio calls this in a loop and expects one round of callbacks. Staying inside for all
        rounds saves what asyncio does between them.
        """
        target: Receiver | None = None
        message: object = None
        queue, heap, take = self._queue, self._heap, self._queue.popleft
        later, overdue, callbacks, at_once = self._later, self._overdue, CALLBACKS, 0
        due_by, instant, latest, own = self.due_by, INSTANT, self.latest, HANDLERS
        try:
            while True:
                # Order of the sources: the queue, then later phases of this instant, then the heap,
                # which alone advances time.
                if overdue:
                    at_once += 1
                    if at_once > MOST_AT_ONCE:
                        raise Livelock(self.now, callbacks.name, repr(overdue.pop()[1]))
                    self._queue_overdue()
                while queue:
                    target, message, cause = take()
                    handlers = target.handlers
                    if handlers is own:
                        # It begins a round, as asyncio defines it: all that is queued now, without
                        # what that queues. To count rounds of messages alone, most of which have
                        # one, would cost an eighth of the message rate.
                        left = len(queue)
                        handlers[message.__class__](target, message, cause)
                        while left:
                            left -= 1
                            target, message, cause = take()
                            target.handlers[message.__class__](target, message, cause)
                        break
                    handlers[message.__class__](target, message, cause)
                if self._stopping:  # type: ignore[attr-defined]
                    return
                if queue or overdue:
                    continue
                if later:
                    at_once += 1
                    if at_once > MOST_AT_ONCE:
                        raise Livelock(self.now, later[0][1].name, later[0][2])
                    if len(later) > 1 or (heap and heap[0][0] <= due_by):
                        self._open_phase()
                        continue
                    # A lone entry, such as an instant's decision, is run at once: by way of the
                    # queue a rigid attempt would take a tenth longer.
                    _, target, message, cause = later.pop()
                    target.handlers[message.__class__](target, message, cause)
                    continue
                if not (heap or self._idle()):
                    break
                timer = heappop(heap)
                when, _, target, message, cause = timer
                if target is None:
                    self._cancelled -= 1
                    continue
                if when <= due_by:
                    at_once += 1
                    if at_once > MOST_AT_ONCE:
                        raise Livelock(self.now, target.name, message)
                else:
                    at_once = 0
                    self.now = when
                    self.due_by = due_by = when * instant if when > 0.0 else when
                    if when > latest:
                        raise Unresolved(when, self.shortest)
                if target is callbacks or (heap and heap[0][0] <= due_by):
                    self._gather(timer)
                    continue
                timer[2] = None
                target.handlers[message.__class__](target, message, cause)
        except BaseException as error:
            blame(target, message, error)
        raise Deadlock(self.now, self.idle_report())

    def _queue_overdue(self) -> None:
        """Queue the timers that were already due when they were made, as stock asyncio does: after
        everything that their round has queued, the earliest first."""
        self._overdue.sort(key=lambda overdue: overdue[1].when())
        self._queue.extend(self._overdue)
        self._overdue.clear()

    def _gather(self, first: Timer) -> None:
        """Queue the timer `first`, which has been taken from the heap, and all timers of its phase
        that are due at exactly its time, in the order of their sequence numbers. They then come
        before whatever the first one's handler sends. Timers of later phases are kept until those
        phases open. If the heap has a timer that is due slightly later but at the same instant, all
        are sorted by phase first."""
        heap, queue, later = self._heap, self._queue, self._later
        now, bound = first[0], end_of_phase(first[1])
        queue.append((DUE, first, first[4]))
        while heap and heap[0][0] == now:
            timer = heappop(heap)
            if timer[2] is None:
                self._cancelled -= 1
            elif timer[1] < bound:
                queue.append((DUE, timer, timer[4]))
            else:
                later.append((timer[1], DUE, timer, timer[4]))
        if heap and heap[0][0] <= self.due_by:
            # An entry is due a little later but in this instant, perhaps in an earlier phase: sort
            # all of them by phase.
            later.extend((timer[1], target, timer, cause) for target, timer, cause in queue)
            queue.clear()
            self._open_phase()

    def _open_phase(self) -> None:
        """Queue, in order, all entries of the earliest phase of this instant that has any left,
        timers included."""
        heap, later, due_by = self._heap, self._later, self.due_by
        while heap and heap[0][0] <= due_by:
            timer = heappop(heap)
            if timer[2] is None:
                self._cancelled -= 1
            else:
                later.append((timer[1], DUE, timer, timer[4]))
        later.sort()  # no two orders are equal
        many = bisect_left(later, (end_of_phase(later[0][0]),))
        self._queue.extend([entry[1:] for entry in later[:many]])
        del later[:many]

    def busy(self) -> bool:
        """Return whether the queue still has messages to actors of this instant; asyncio's
        callbacks do not count."""
        return any(target is not CALLBACKS for target, _, _ in self._queue)

    def has_generators(self) -> bool:
        """Whether asynchronous generators are left unfinished."""
        return bool(self._asyncgens)  # type: ignore[attr-defined]

    def unfinished(self) -> list[asyncio.Task[Any]]:
        """Return asyncio's unfinished tasks, in the order of their creation."""
        return [task for task in self._tasks if not task.done()]

    def pending_tasks(self, besides: asyncio.Task[Any] | None = None) -> list[str]:
        """Return, sorted, a line for each unfinished asyncio task except `besides`, with the task's
        name, the place in the code where it waits, and the call that it awaits there."""
        from actors.runtime.pending import waits_of  # runs that end well never ask

        tasks = (task for task in self.unfinished() if task is not besides)
        return sorted(f"{task.get_name()} waits in {waits_of(task)}" for task in tasks)
