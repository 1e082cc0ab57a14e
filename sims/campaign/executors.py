"""Where simulations run: this machine's cores, a Dask cluster, or any executor given.

A cluster needs nothing but a `concurrent.futures.Executor`, which all of these are.

**Dask** on machines that see each other (`pip install 'holdfast[cluster]'` on all of them; under
SLURM, `dask_jobqueue.SLURMCluster` is such a scheduler, whose workers are jobs of the queue):

    dask scheduler --scheduler-file cluster.json                    # once
    dask worker --scheduler-file cluster.json --nworkers -1 --nthreads 1   # on every machine
    holdfast campaign run FILE --scheduler cluster.json             # or tcp://HOST:8786

**MPI** by `srun -n 64 python -m mpi4py.futures mine.py`, where `mine.py` has

    with mpi4py.futures.MPIPoolExecutor() as executor:
        execute(load_campaign(Path("mine.toml")), given(executor, slots=63), Store(Path("results")))

Ctrl-C ends all at once: workers never see it, and are stopped in the middle of what they do.
"""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
import signal
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
from typing import Any, TypeVar

from attrs import define

from sims.errors import COMMAND_LINE, InputError, imported
from sims.writing import ENDING, HeldBack

T = TypeVar("T")
R = TypeVar("R")

JOINING = 60
"""Seconds that a scheduler has to answer."""
PATIENCE = 600.0
"""Seconds for which a cluster may be without a worker: its queue may be long."""
GLANCE, SILENT = 0.25, 5.0
"""Seconds between two looks at Ctrl-C and at whether there are workers, and until their absence is
told."""


@define
class Attendance:
    """Whether a cluster has workers, and since when it has none."""

    present: Callable[[], int]
    """How many are connected."""
    patience: float = PATIENCE
    _since: float = inf
    _told: bool = False

    def look(self) -> bool:
        """Whether there are any; says so on stderr where there have been none for a while. Raises
        InputError where there have been none for `patience` seconds."""
        if self.present():
            self._since, self._told = inf, False
            return True
        self._since = min(self._since, now := time.monotonic())
        if now - self._since >= self.patience:
            problem = f"no worker was connected for {self.patience:g} s; what is finished is kept"
            accepted = "workers that connect, and the same command; a longer --patience"
            raise InputError("cluster", "", problem, accepted)
        if now - self._since >= SILENT and not self._told:
            told = f"no worker is connected; waiting for at most {self.patience:g} s"
            print(told, file=sys.stderr, flush=True)
            self._told = True
        return False


@define
class Workers:
    """An executor, and how to go on where one of its workers dies."""

    executor: Executor
    slots: int
    """Tasks that it runs at a time."""
    deaths: tuple[type[BaseException], ...] = (BrokenExecutor,)
    """What a task's future raises whose worker died."""
    renewed: Callable[[], Executor] | None = None
    """Makes another executor in place of one that is broken; None: it is somebody's, cannot be made
    anew, and goes on for others: tasks not begun are then cancelled one by one."""
    attendance: Attendance | None = None
    """None: nobody leaves."""

    def submit(self, function: Callable[[T], R], task: T) -> Future[R]:
        """Hand a task over, to a new executor where the old one is broken."""
        with _at_once(), _born_deaf():
            try:
                return self.executor.submit(function, task)
            except BrokenExecutor:
                if self.renewed is None:
                    raise
                self.executor = self.renewed()
                return self.executor.submit(function, task)

    def first_of(self, pending: Collection[Future[R]]) -> set[Future[R]]:
        """Wait until some are done. Raises InputError where all workers have left for long."""
        while True:
            with _at_once():
                done, _ = wait(pending, GLANCE, return_when=FIRST_COMPLETED)
            if done:
                return done
            if self.attendance:
                self.attendance.look()

    def died(self, future: Future[Any]) -> bool:
        """Whether what ran this died, rather than the task failed."""
        return isinstance(future.exception(), self.deaths)


def given(executor: Executor, slots: int | None = None) -> Workers:
    """Somebody's executor, which stays open; `slots`: what it runs at a time."""
    return Workers(executor, slots or os.cpu_count() or 1)


def opened(workers: Workers | Executor | None) -> AbstractContextManager[Workers]:
    """This machine's cores unless told otherwise."""
    if workers is None:
        return local()
    return nullcontext(workers if isinstance(workers, Workers) else given(workers))


# --- this machine -----------------------------------------------------------------------------


SAFE = "PYTHONSAFEPATH"
"""Variable of the environment that keeps Python from importing modules of the current folder."""


@contextmanager
def safe_path() -> Iterator[None]:
    """Within, a Python that is started imports no module of the current folder, which nothing
    names: what forks processes, or spawns them, is started as `python -c`, which would."""
    before = os.environ.get(SAFE)
    os.environ[SAFE] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[SAFE]
        else:
            os.environ[SAFE] = before


@contextmanager
def local(processes: int | None = None) -> Iterator[Workers]:
    """A process per core. Whoever leaves early leaves nothing behind and waits for no task."""
    with safe_path(), _pool(processes) as workers:
        yield workers


@contextmanager
def _pool(processes: int | None) -> Iterator[Workers]:
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
    # Ctrl-C goes to the whole process group; what it ends is up to who started the campaign.
    others = set(ENDING) - {signal.SIGINT}
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in others:
        signal.signal(number, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, others)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A worker whose campaign was killed would else wait for its next task for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait_for([parent.sentinel])
        os._exit(1)


@contextmanager
def _at_once() -> Iterator[None]:
    """Ctrl-C comes before or after: amid them, it would leave a future's lock held for ever, and
    whoever then shuts the executor down would wait for it."""
    with HeldBack() as interrupt:
        interrupt.busy = True
        yield
        interrupt.settle()


@contextmanager
def _born_deaf() -> Iterator[None]:
    """To the signals that end a command, which would else hit new workers with their
    parent's handlers."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# --- a cluster --------------------------------------------------------------------------------


@contextmanager
def cluster(scheduler: str, patience: float = PATIENCE) -> Iterator[Workers]:
    """The workers of a Dask scheduler: its address, or the scheduler file that it wrote.

    Raises InputError without dask, where nobody answers, and where for `patience` seconds no
    worker is there, then or later.
    """
    dask = imported("distributed", "--scheduler", "pip install 'holdfast[cluster]'")
    address = address_of(scheduler)
    try:
        client = dask.Client(address, timeout=JOINING, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        accepted = "a scheduler that runs"
        raise InputError(COMMAND_LINE, "--scheduler", f"{scheduler}: {error}", accepted) from None
    silence_dask()
    attendance = Attendance(lambda: len(client.scheduler_info()["workers"]), patience)
    try:
        with client, client.get_executor(pure=False) as executor:
            while not attendance.look():
                time.sleep(GLANCE)
            slots = sum(client.nthreads().values())
            deaths = (BrokenExecutor, dask.KilledWorker)
            try:
                yield Workers(executor, slots, deaths=deaths, attendance=attendance)
            except BaseException:
                executor.shutdown(wait=False)  # nobody may be there to end what was begun
                raise
    except (CancelledError, OSError):
        problem, accepted = "the scheduler is gone; what is finished is kept", "the same command"
        raise InputError("cluster", "", problem, accepted) from None


def silence_dask() -> None:
    """Keep Dask from telling, beside us, of schedulers and processes that are lost."""
    told = ("distributed", "distributed.client", "distributed.utils", "tornado.application")
    for name in told:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def address_of(scheduler: str) -> str:
    """The address of a Dask scheduler, or the one in the file that it wrote. Raises InputError."""
    if "://" in scheduler:
        return scheduler
    try:
        return str(json.loads(Path(scheduler).read_text(encoding="utf-8"))["address"])
    except (OSError, ValueError, LookupError, TypeError):
        accepted = "tcp://HOST:PORT, or a file that `dask scheduler --scheduler-file FILE` wrote"
        problem = f"{scheduler!r} is no file of a scheduler's"
        raise InputError(COMMAND_LINE, "--scheduler", problem, accepted) from None
