"""Provide executors for simulations: this machine's cores, a Dask cluster, or any executor of the
caller.

A cluster needs nothing but a `concurrent.futures.Executor`, which all of these are.

**Dask** on machines that see each other (`pip install 'holdfast[cluster]'` on all of them; under
SLURM, `dask_jobqueue.SLURMCluster` is such a scheduler, whose workers are jobs of the queue):

    dask scheduler --scheduler-file cluster.json                    # once
    dask worker --scheduler-file cluster.json --nworkers -1 --nthreads 1   # on every machine
    holdfast campaign run FILE --scheduler cluster.json             # or tcp://HOST:8786

**MPI** by `srun -n 64 python -m mpi4py.futures mine.py`, where `mine.py` has

    with mpi4py.futures.MPIPoolExecutor() as executor:
        execute(load_campaign(Path("mine.toml")), given(executor, slots=63), Store(Path("results")))

Ctrl-C ends all at once: workers never see it, and are stopped in the middle of their work.
"""

from __future__ import annotations

import gc
import json
import logging
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    wait,
)
from concurrent.futures import ProcessPoolExecutor as Pool
from contextlib import AbstractContextManager, contextmanager, nullcontext
from math import inf
from multiprocessing.connection import wait as wait_for
from pathlib import Path
from threading import Thread
from types import ModuleType
from typing import Any, TypeVar

from attrs import define

from sims.errors import COMMAND_LINE, InputError, imported
from sims.packing import call, pack
from sims.processes import blocked_signals, safe_path, usual_signals
from sims.writing import HeldBack

T = TypeVar("T")
R = TypeVar("R")

ANSWERING = 15
"""Largest number of seconds to wait for the answer of a scheduler."""
PATIENCE = 600.0
"""Seconds for which a cluster may be without a worker; a long default, since its queue may be
long."""
GLANCE, SILENT = 0.25, 5.0
"""Seconds between two checks for Ctrl-C and for connected workers, and seconds without a worker
after which a message says so."""


@define
class Attendance:
    """Watches whether a cluster has workers, and for how long it has had none."""

    present: Callable[[], int]
    """Function that returns the number of connected workers."""
    patience: float = PATIENCE
    """Seconds for which the cluster may be without a worker."""
    _since: float = inf
    """Time on the monotonic clock since which there is no worker; inf while there is one."""
    _announced: bool = False
    """Whether a message has said that no worker is connected."""

    def look(self) -> bool:
        """Return whether any worker is connected. Print a message to stderr, once, where there has
        been none for SILENT seconds.

        Raises InputError where there has been none for `patience` seconds.
        """
        if self.present():
            self._since, self._announced = inf, False
            return True
        self._since = min(self._since, now := time.monotonic())
        if now - self._since >= self.patience:
            problem = f"no worker was connected for {self.patience:g} s; what is finished is kept"
            accepted = "workers that connect, and the same command; a longer --patience"
            raise InputError("cluster", "", problem, accepted)
        if now - self._since >= SILENT and not self._announced:
            message = f"no worker is connected; waiting for at most {self.patience:g} s"
            print(message, file=sys.stderr, flush=True)
            self._announced = True
        return False


@define
class Workers:
    """The processes that run a campaign's tasks: an executor, and a way to replace it when one of
    its workers dies."""

    executor: Executor
    slots: int
    """Number of tasks that the executor runs at a time."""
    deaths: tuple[type[BaseException], ...] = (BrokenExecutor,)
    """Errors that a task's future raises if the task's worker died."""
    renewed: Callable[[], Executor] | None = None
    """Function that makes another executor in place of a broken one, or None.

    It is None for an executor of the caller, which cannot be made anew and goes on for others:
    tasks that have not begun are then cancelled one by one.
    """
    attendance: Attendance | None = None
    """Watch over the workers of a cluster, or None where workers do not leave."""
    packs: bool = False
    """Whether the user's modules travel with each task, as other machines lack them."""

    def submit(self, function: Callable[[T], R], task: T) -> Future[R]:
        """Hand over a task, on which a worker calls `function`, and return the future of its
        result.

        Where the executor is broken, `renewed` gives another one. Raises BrokenExecutor if there is
        no `renewed`.
        """
        if self.packs:
            return self.executor.submit(call, pack((function, task)))
        with at_once(), blocked_signals(), safe_path():
            try:
                return self.executor.submit(function, task)
            except BrokenExecutor:
                if self.renewed is None:
                    raise
                self.executor = self.renewed()
                return self.executor.submit(function, task)

    def first_of(self, pending: Collection[Future[R]]) -> set[Future[R]]:
        """Wait until at least one of the futures is done, and return all that are. Raises
        InputError where a cluster has had no worker for too long."""
        while True:
            with at_once():
                done, _ = wait(pending, GLANCE, return_when=FIRST_COMPLETED)
            if done:
                return done
            if self.attendance:
                self.attendance.look()

    def died(self, future: Future[Any]) -> bool:
        """Return whether the worker that ran the task of a future died, as opposed to the task
        having failed."""
        return isinstance(future.exception(), self.deaths)


def given(executor: Executor, slots: int | None = None) -> Workers:
    """Return workers on an executor of the caller, which stays open.

    `slots` is the number of tasks that it runs at a time, by default the number of this machine's
    cores.
    """
    return Workers(executor, slots or os.cpu_count() or 1)


def opened(workers: Workers | Executor | None) -> AbstractContextManager[Workers]:
    """Return a context manager of workers: those given, or those of the given executor, which both
    stay open afterwards; for None, new processes on this machine's cores, which end with the
    context."""
    if workers is None:
        return local()
    return nullcontext(workers if isinstance(workers, Workers) else given(workers))


# --- this machine -----------------------------------------------------------------------------


@contextmanager
def local(processes: int | None = None) -> Iterator[Workers]:
    """Yield a pool of `processes` worker processes, by default one for each core of this machine.

    Leaving the context by an error or Ctrl-C waits for no task and leaves no process behind.
    """
    before = set(multiprocessing.active_children())
    slots = processes or os.cpu_count() or 1

    def pool() -> Executor:
        return Pool(slots, initializer=_begin)

    workers = Workers(pool(), slots, renewed=pool)
    try:
        yield workers
    except BaseException:
        for worker in set(multiprocessing.active_children()) - before:
            worker.terminate()
        # Its thread, were it left to close down by itself, would race with the program's own end.
        workers.executor.shutdown(cancel_futures=True)
        raise
    workers.executor.shutdown()


def _begin() -> None:
    """Prepare a new worker process: ignore Ctrl-C, and end with the parent process."""
    # What the parent made stays: a collector that looked at it would copy all of its pages.
    gc.freeze()
    usual_signals()
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this worker process when its parent ends; it would otherwise wait for its next task for
    ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait_for([parent.sentinel])
        os._exit(1)


@contextmanager
def at_once() -> Iterator[None]:
    """Delay signals that end the command, such as that of Ctrl-C, until the `with` block has ended.

    Within the block, such a signal would leave a future's lock held for ever, for which a later
    shutdown of the executor would wait; or it would leave a cluster half begun, which nobody could
    end.
    """
    with HeldBack() as interrupt:
        interrupt.busy = True
        yield
        interrupt.settle()


# --- a cluster --------------------------------------------------------------------------------


@contextmanager
def cluster(scheduler: str, patience: float = PATIENCE) -> Iterator[Workers]:
    """Yield the workers of a Dask scheduler, given by its address or by the scheduler file that it
    wrote.

    Raises InputError where dask is not installed, where no scheduler answers, where the scheduler
    is lost, and where no worker is connected for `patience` seconds, at the start or later.
    """
    dask = imported("distributed", "--scheduler", "pip install 'holdfast[cluster]'")
    client = connected(dask, address_of(scheduler), scheduler, set_as_default=False)
    silence_dask()
    attendance = Attendance(lambda: len(client.scheduler_info()["workers"]), patience)
    try:
        # Impure: dask would otherwise run equal tasks once, and a batch that is run again would
        # return its old error.
        with client, client.get_executor(pure=False) as executor:
            while not attendance.look():
                time.sleep(GLANCE)
            slots = sum(client.nthreads().values())
            deaths = (BrokenExecutor, dask.KilledWorker)
            try:
                yield Workers(executor, slots, deaths=deaths, attendance=attendance, packs=True)
            except BaseException:
                executor.shutdown(wait=False)  # nobody may be there to end what was begun
                raise
    except (CancelledError, OSError):
        problem, accepted = "the scheduler is gone; what is finished is kept", "the same command"
        raise InputError("cluster", "", problem, accepted) from None


def connected(dask: ModuleType, where: Any, scheduler: Any, **how: Any) -> Any:
    """Return a client of a Dask cluster, by the module `dask` (`distributed`).

    `where` is the cluster or the address of its scheduler, `how` has further arguments of `Client`,
    and `scheduler` is what the user named, for the error. Raises InputError where no scheduler
    answers within ANSWERING seconds.
    """
    try:
        return dask.Client(where, timeout=ANSWERING, **how)
    except (OSError, TimeoutError, ValueError) as error:
        accepted = "a scheduler that runs"
        raise InputError(COMMAND_LINE, "--scheduler", f"{scheduler}: {error}", accepted) from None


def silence_dask() -> None:
    """Keep Dask from printing messages of its own about schedulers and processes that are lost."""
    quiet = ("distributed", "distributed.client", "distributed.utils", "tornado.application")
    for name in quiet:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def address_of(scheduler: Any) -> str:
    """Return the address of a Dask scheduler: that of a cluster or client, `scheduler` itself if it
    is a URL, else the address in the scheduler file of that name.

    Raises InputError where there is no such file, and for a client that is closed.
    """
    served = getattr(scheduler, "scheduler", None)  # a client's, or a cluster's own
    if address := getattr(scheduler, "scheduler_address", None) or getattr(served, "address", None):
        return str(address)
    if "://" in str(scheduler):
        return str(scheduler)
    try:
        return str(json.loads(Path(scheduler).read_text(encoding="utf-8"))["address"])
    except (OSError, ValueError, LookupError, TypeError):
        accepted = "tcp://HOST:PORT, or a file that `dask scheduler --scheduler-file FILE` wrote"
        problem = f"{scheduler!r} is no file of a scheduler's"
        raise InputError(COMMAND_LINE, "--scheduler", problem, accepted) from None
