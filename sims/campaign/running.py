"""Many tasks: any executor in, results out as they come.

Everything that runs more than one simulation goes through here: on this machine's cores by
default, on a cluster with any other executor. Ctrl-C ends it at once: workers never see it, and
are stopped in the middle of what they do. A task whose worker died is run again, alone: whoever
dies alone has killed its worker, and others that were under way had bad luck.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from typing import Any, Generic, TypeVar

from attrs import define, field

from sims.campaign.executors import Workers, given, local

T = TypeVar("T")
R = TypeVar("R")

QUEUED_PER_CORE = 4
"""Tasks handed to the executor ahead of need: a campaign of millions is never queued whole."""


def run_many(
    function: Callable[[T], R], tasks: Iterable[T], executor: Executor | None = None
) -> Iterator[tuple[T, R]]:
    """Yield (task, function(task)) for every task, in whatever order they finish, of what is no
    campaign's simulation.

    `function` and `tasks` must pickle. Raises what `function` raises.
    """
    with _running(executor) as workers:
        for task, future in Flight(function, workers).over(tasks):
            yield task, future.result()


def _running(executor: Executor | None) -> AbstractContextManager[Workers]:
    return local() if executor is None else nullcontext(given(executor))


def _forget(task: object, result: object) -> None:
    """Nothing is kept without a store."""


def _whole(task: T) -> Sequence[T]:
    """A task that is one thing."""
    return (task,)


@define
class Flight(Generic[T, R]):
    """Tasks on their way through an executor."""

    function: Callable[[T], R]
    workers: Workers
    keep: Callable[[T, R], None] = _forget
    """What is done is kept before it is handed over, and where nobody asks for it any more."""
    split: Callable[[T], Sequence[T]] = _whole
    """The parts of a task, to find the one that kills its worker."""
    ahead: int = QUEUED_PER_CORE
    _pending: dict[Future[R], T] = field(factory=dict)
    _suspects: deque[T] = field(factory=deque)
    """Tasks that were under way when a worker died."""

    def over(self, tasks: Iterable[T]) -> Iterator[tuple[T, Future[R]]]:
        """Yield each task with its future, which is done: it failed, succeeded, or, run by itself,
        killed its worker."""
        waiting = iter(tasks)
        try:
            self._submit(islice(waiting, self.ahead * self.workers.slots))
            while self._pending or self._suspects:
                alone = not self._pending
                if alone:
                    self._submit([self._suspects.popleft()])
                done = self.workers.first_of(self._pending)
                self._submit(islice(waiting, len(done)))
                # A failure may end it all: what else is done must have been handed over by then.
                for future in sorted(done, key=_failed):
                    yield from self._landed(future, alone)
        finally:
            self._leave()

    def _submit(self, tasks: Iterable[T]) -> None:
        for task in tasks:
            self._pending[self.workers.submit(self.function, task)] = task

    def _landed(self, future: Future[R], alone: bool) -> Iterator[tuple[T, Future[R]]]:
        task = self._pending[future]
        if not self.workers.died(future):
            if not _failed(future):
                self.keep(task, future.result())
            del self._pending[future]
            yield task, future
            return
        del self._pending[future]
        parts = self.split(task) if alone else (task,)
        if alone and len(parts) == 1:
            yield task, future
        else:
            self._suspects.extend(parts)

    def _leave(self) -> None:
        """Keep what is done. From an executor that is shared, tasks not begun are cancelled. Ours
        is stopped whole: there, a cancelled one would end its thread with a traceback (CPython
        3.11)."""
        for future, task in self._pending.items():
            cancelled = future.cancelled() or (self.workers.shared and future.cancel())
            if not cancelled and future.done() and not _failed(future):
                self.keep(task, future.result())


def _failed(future: Future[Any]) -> bool:
    return future.exception() is not None
