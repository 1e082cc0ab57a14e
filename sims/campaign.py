"""Many simulations: any executor in, results out as they come; a long campaign resumes.

Everything that runs more than one simulation goes through `run_many`: on this machine's cores by
default, on a cluster with any other `concurrent.futures.Executor` (Dask's client has one).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

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

    `function` and `tasks` must pickle. With `store`, each result is also appended to that file
    (JSON lines keyed by repr(task), so results must be JSON) and tasks already there are not run
    again: an interrupted campaign is resumed by the same call. Raises what `function` raises.
    """
    if store is not None:
        yield from _resumed(function, list(tasks), executor, store)
        return
    pool: AbstractContextManager[Executor] = (
        ProcessPoolExecutor() if executor is None else nullcontext(executor)
    )
    with pool as running:
        yield from _as_completed(function, iter(tasks), running)


def _as_completed(
    function: Callable[[T], R], tasks: Iterator[T], executor: Executor
) -> Iterator[tuple[T, R]]:
    limit = QUEUED_PER_CORE * (os.cpu_count() or 1)
    pending: dict[Future[R], T] = {}
    try:
        for task in islice(tasks, limit):
            pending[executor.submit(function, task)] = task
        while pending:
            done, _ = wait(pending, return_when=FIRST_COMPLETED)
            for task in islice(tasks, len(done)):
                pending[executor.submit(function, task)] = task
            # A failure ends the campaign: what else is done must have been handed over by then.
            for future in sorted(done, key=_failed):
                yield pending.pop(future), future.result()
    finally:
        for future in pending:
            future.cancel()


def _failed(future: Future[Any]) -> bool:
    return future.exception() is not None


def _resumed(
    function: Callable[[T], R], tasks: list[T], executor: Executor | None, store: Path
) -> Iterator[tuple[T, R]]:
    known = stored(store)
    yield from ((task, known[repr(task)]) for task in tasks if repr(task) in known)
    missing = [task for task in tasks if repr(task) not in known]
    store.parent.mkdir(parents=True, exist_ok=True)
    with store.open("a") as file:
        for task, result in run_many(function, missing, executor):
            file.write(json.dumps({"task": repr(task), "result": result}) + "\n")
            file.flush()
            yield task, result


def stored(store: Path) -> dict[str, Any]:
    """Results of an earlier campaign by repr(task); a last line cut short is left out, and cut
    off the file. Raises InputError where the file holds something else."""
    if not store.exists():
        return {}
    results, whole = {}, 0
    for number, line in enumerate(store.read_bytes().splitlines(keepends=True), start=1):
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
