"""The cluster that carries a live run out: one of this command's own on loopback, or another's."""

from __future__ import annotations

import importlib.util
import logging
import signal
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import forkserver
from typing import Any

from sims.campaign.executors import JOINING, address_of
from sims.errors import InputError, imported
from sims.live.chains import Advance
from sims.live.processes import Processes

OURS = ("sims.cli.commands", "sims.live.holder")
"""What each process imports, if whoever forks it has not."""
LOOPBACK = "127.0.0.1"
QUIET = {
    "distributed.worker.multiprocessing-method": "forkserver",  # 0.14 s to a fresh one, not 0.8 s
    "distributed.scheduler.worker-ttl": None,  # a stopped process is no dead one
    "distributed.worker.memory.terminate": False,
    "distributed.deploy.lost-worker-timeout": "100 weeks",  # else a cluster gives one up for good
    "distributed.logging.distributed": "critical",
    # Else each process, though it sleeps, takes 5 % of a core: it samples what it does, and ticks.
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
}


@contextmanager
def opened(count: int, advance: Advance, scheduler: str | None = None) -> Iterator[Processes]:
    """A process for each of `count` workers: of a cluster on loopback that ends with this block, or
    of the one whose scheduler has this address or file. Raises InputError without dask, and where
    there are not enough."""
    command = "pip install 'holdfast[cluster]'"
    dask = imported("dask", "cluster", command)
    connect = imported("distributed", "cluster", command).Client
    logging.getLogger("distributed").setLevel(logging.CRITICAL + 1)
    with dask.config.set(QUIET), _cluster(count, scheduler) as where:
        try:
            client = connect(where, timeout=JOINING, direct_to_workers=scheduler is None)
        except (OSError, TimeoutError, ValueError) as error:
            problem, accepted = f"{scheduler}: {error}", "a scheduler that runs"
            raise InputError("command line", "--scheduler", problem, accepted) from None
        processes = Processes(client, scheduler is None, advance)
        with client:
            try:
                processes.post(processes.occupy(count)).result(JOINING)
                yield processes
            finally:
                processes.post(processes.leave()).result(JOINING)


@contextmanager
def _cluster(count: int, scheduler: str | None) -> Iterator[Any]:
    if scheduler is not None:
        yield address_of(scheduler)
        return
    from distributed import LocalCluster, Security

    _serve_forks()
    sealed = importlib.util.find_spec("cryptography") is not None
    warnings.filterwarnings("ignore", "Port .* is already in use", UserWarning)
    with tempfile.TemporaryDirectory(prefix="holdfast-", ignore_cleanup_errors=True) as folder:
        cluster = LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            processes=True,
            memory_limit=0,
            host=LOOPBACK,
            dashboard_address=None,  # each process would import bokeh: 2 s more to a fresh one
            worker_dashboard_address=None,
            local_directory=folder,
            security=Security.temporary() if sealed else None,
            silence_logs=logging.CRITICAL + 1,
        )
        with cluster:
            cluster.wait_for_workers(count, timeout=JOINING)
            yield cluster


def _serve_forks() -> None:
    """Start what forks the processes: with all that they import, and deaf to Ctrl-C, which would
    end them before this command has put its things in order."""
    from distributed.utils import get_mp_context

    get_mp_context().set_forkserver_preload(["distributed", *OURS])
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
