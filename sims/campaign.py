"""Many simulations: any executor in, results out as they come; a long campaign resumes.

Everything that runs more than one simulation goes through `run_many`: on this machine's cores by
default, on a cluster with any other `concurrent.futures.Executor` (Dask's client has one). Ctrl-C
ends it at once: workers never see it, and are stopped in the middle of what they do.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import islice
from pathlib import Path
from typing import Any, TextIO, TypeVar

from sims.errors import InputError

T = TypeVar("T")
R = TypeVar("R")

QUEUED_PER_CORE = 4
"""Tasks handed to the executor ahead of need: a campaign of millions is never queued whole."""


def run_many(
    function: Callable[[T], R],
    tasks: Iterable[T],
    executor: Executor | None = None,
    store: Path | None = None,
) -> Iterator[tuple[T, R]]:
    """Yield (task, function(task)) for every task, in whatever order they finish.

    `function` and `tasks` must pickle. With `store`, each result is also appended to that file as
    soon as it is there (JSON lines keyed by repr(task), so results must be JSON) and tasks already
    there are not run again: an interrupted campaign is resumed by the same call. Raises what
    `function` raises, and InputError for a store that cannot be used.
    """
    if store is not None:
        yield from _resumed(function, list(tasks), executor, store)
        return
    with _running(executor) as pool:
        yield from _as_completed(function, iter(tasks), pool, _forget, executor is not None)


def _forget(task: object, result: object) -> None:
    """Nothing is kept without a store."""


def _running(executor: Executor | None) -> AbstractContextManager[Executor]:
    return _workers() if executor is None else nullcontext(executor)


@contextmanager
def _workers() -> Iterator[Executor]:
    """A process per core. Whoever leaves early leaves nothing behind and waits for no task."""
    before = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(initializer=_ignore_interrupts)
    try:
        yield pool
    except BaseException:
        workers = set(multiprocessing.active_children()) - before
        for worker in workers:
            worker.terminate()
        # Its thread, were it left to close down by itself, would race with the program's own end.
        pool.shutdown(cancel_futures=True)
        raise
    pool.shutdown()


def _ignore_interrupts() -> None:
    # Ctrl-C goes to the whole process group; what it ends is up to who started the campaign.
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def _interrupts_later() -> Iterator[None]:
    """Workers are born deaf to Ctrl-C, which would else hit them before they can ignore it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _as_completed(
    function: Callable[[T], R],
    tasks: Iterator[T],
    executor: Executor,
    keep: Callable[[T, R], None],
    shared: bool,
) -> Iterator[tuple[T, R]]:
    """What is done is kept before it is handed over, and also where nobody asks for it any more.

    From an executor that is shared, tasks not begun are withdrawn. Ours is stopped whole: there,
    a withdrawn one would end its thread with a traceback (CPython 3.11).
    """
    limit = QUEUED_PER_CORE * (os.cpu_count() or 1)
    pending: dict[Future[R], T] = {}
    try:
        with _interrupts_later():
            for task in islice(tasks, limit):
                pending[executor.submit(function, task)] = task
        while pending:
            done, _ = wait(pending, return_when=FIRST_COMPLETED)
            for task in islice(tasks, len(done)):
                pending[executor.submit(function, task)] = task
            # A failure ends the campaign: what else is done must have been handed over by then.
            for future in sorted(done, key=_failed):
                result = future.result()
                task = pending.pop(future)
                keep(task, result)
                yield task, result
    finally:
        for future, task in pending.items():
            withdrawn = shared and future.cancel()
            if not withdrawn and future.done() and not _failed(future):
                keep(task, future.result())


def _failed(future: Future[Any]) -> bool:
    return future.exception() is not None


def _resumed(
    function: Callable[[T], R], tasks: list[T], executor: Executor | None, store: Path
) -> Iterator[tuple[T, R]]:
    known = stored(store)
    missing = [task for task in tasks if repr(task) not in known]
    with _appended(store) as file:

        def keep(task: T, result: R) -> None:
            file.write(json.dumps({"task": repr(task), "result": result}) + "\n")
            file.flush()

        yield from ((task, known[repr(task)]) for task in tasks if repr(task) in known)
        with _running(executor) as pool:
            yield from _as_completed(function, iter(missing), pool, keep, executor is not None)


def _appended(store: Path) -> TextIO:
    try:
        store.parent.mkdir(parents=True, exist_ok=True)
        return store.open("a")
    except OSError as error:
        raise _unusable(store, error) from None


def _unusable(store: Path, error: OSError) -> InputError:
    return InputError(str(store), "", f"cannot be used: {error.strerror}", "a file of yours")


def stored(store: Path) -> dict[str, Any]:
    """Results of an earlier campaign by repr(task); a last line cut short is left out, and cut
    off the file. Raises InputError where the file holds something else or cannot be read."""
    if not store.exists():
        return {}
    try:
        lines = store.read_bytes().splitlines(keepends=True)
    except OSError as error:
        raise _unusable(store, error) from None
    results, whole = {}, 0
    for number, line in enumerate(lines, start=1):
        if not line.endswith(b"\n"):
            os.truncate(store, whole)
            break
        whole += len(line)
        try:
            entry = json.loads(line)
            results[entry["task"]] = entry["result"]
        except (ValueError, KeyError, TypeError):
            accepted = "the results of an earlier campaign, or a new file"
            raise InputError(str(store), f"line {number}", "no result", accepted) from None
    return results
