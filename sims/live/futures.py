"""Long tasks that are computed while their caller goes on: a future of one, results of many as they
complete."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from threading import Condition, Thread
from typing import Any, Generic, TypeVar

from sims.live.calls import Call
from sims.live.tasks import Cost, Finished, Tasks, bar, carry_out

S = TypeVar("S")


class Task(Future[S], Generic[S]):
    """A task that is computed while its caller goes on: a future of its last state, which can be
    awaited in any event loop."""

    def __init__(self, call: Call) -> None:
        super().__init__()
        self._tasks = Tasks(call, self._complete)
        self._finished: Finished[S] | None = None
        self._thread = Thread(target=_work, args=(self._tasks, self._end), name="holdfast")
        self._thread.start()

    def _complete(self, finished: Finished[S]) -> None:
        self._finished = finished

    def _end(self, error: BaseException | None) -> None:
        with suppress(InvalidStateError):  # it is cancelled
            if error is not None:
                self.set_exception(error)
            elif self._finished is not None:
                self.set_result(self._finished.state)

    def cancel(self) -> bool:
        """End the computation; return whether it was still under way. Checkpoints stay."""
        cancelled = super().cancel()
        if cancelled:
            self._tasks.cancel()
        return cancelled

    def join(self, timeout: float | None = None) -> None:
        """Wait until nothing is computed any more, also after `cancel`, for so many seconds at
        most."""
        self._thread.join(timeout)

    @property
    def cost(self) -> Cost:
        """Cost of the task so far; once it is done, all of it."""
        return self._tasks.first_cost()

    def __await__(self) -> Generator[Any, None, S]:
        return asyncio.wrap_future(self).__await__()


def as_completed(call: Call) -> Iterator[Finished[Any]]:
    """Yield the tasks of a call as they complete. They are computed in a thread, which begins with
    the first one that is asked for, and ends where no further one is.

    Raises the errors of `carry_out`.
    """
    news, ended = Condition(), deque[Finished[Any] | BaseException | None]()

    def tell(it: Finished[Any] | BaseException | None) -> None:
        with news:
            ended.append(it)
            news.notify()

    with bar(call) as shown:
        tasks = Tasks(call, tell, shown)
        thread = Thread(target=_work, args=(tasks, tell), name="holdfast")
        thread.start()
        try:
            while True:
                with news:
                    news.wait_for(lambda: ended)
                    it = ended.popleft()
                if not isinstance(it, Finished):
                    break
                yield it
        finally:
            tasks.cancel()
            thread.join()
    if it is not None:
        raise it


def _work(tasks: Tasks, tell: Callable[[BaseException | None], object]) -> None:
    """Compute the tasks, then tell how that ended: the error that it raised, or None."""
    try:
        carry_out(tasks)
    except BaseException as error:
        tell(error)
    else:
        tell(None)
