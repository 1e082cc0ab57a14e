"""One live run: a scenario's world under a wall clock, whose work real processes do. They belong to
a cluster of this command's own on loopback, or to one that is already running."""

from __future__ import annotations

import logging
import os
import resource
import shutil
import signal
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from multiprocessing import forkserver, resource_tracker
from pathlib import Path
from typing import Any, Protocol

from attrs import frozen

from actors.events import DeciderKind, ProtectionKind
from actors.runtime import ActorFailed, Sink
from sims.campaign.executors import address_of, at_once, connected, silence_dask
from sims.errors import InputError, imported, note, unfit
from sims.live.carrier import Carrier
from sims.live.driver import Driver
from sims.live.holder import Advance, State, States, hashed
from sims.live.processes import JOINING, Processes
from sims.log_writer import take
from sims.packing import importable, pack
from sims.processes import safe_path
from sims.scenario import Scenario, own_code
from sims.scenario.faults import ListedFaults, NoFaults
from sims.scenario.parts import PARTS
from sims.scenario.platform import Service
from sims.world import run

NAMES = count()
"""Numbers the runs of one command, whose labels must differ in the processes that they share."""


class Watch(Protocol):
    """Follows the jobs of a live run whose states are the caller's own."""

    def begin(self, end: Callable[[BaseException], None]) -> None:
        """Keep the function `end`, which ends the run by raising an error in it, from any
        thread."""

    async def keep(self, job: str, state: State) -> None:
        """Keep a state of a job, which its worker has saved or which ends its work; the checkpoint
        is complete once this returns."""

    def stepped(self, job: str, step: int) -> None:
        """Learn that a run of a job has done so many steps."""


@frozen
class LiveResult:
    """The result of a live run: whether its answers are right, and the states of its jobs."""

    answers: Mapping[str, bool]
    """Maps each job to whether its results equal those of one uninterrupted process; empty where
    the jobs began from states that were given."""
    states: Mapping[str, States]
    """Maps each job to the states at its end."""
    missed: int
    """Number of processes that died without a command of this run."""


def refuse(wrong: bool, key: str, problem: str, accepted: str) -> None:
    """Raise InputError about the scenario's `key` if `wrong` is true; `problem` and `accepted` are
    those of the error."""
    if wrong:
        raise unfit(key, problem, accepted)


def playable(scenario: Scenario) -> Scenario:
    """Return the scenario if real processes can carry it out; raise InputError, naming the key, for
    features that only a simulation has."""
    simulated = {
        "policy.name": scenario.decider in (DeciderKind.PACK, DeciderKind.COPIES),
        **{key: True for part in PARTS for key in part.simulated(scenario)},
        "errors": scenario.errors != type(scenario.errors)(),
        "master.order": scenario.master is not None
        and (scenario.master.order is not Service.STARTED_FIRST or scenario.master.timetable != ()),
    }
    without = ", ".join(f"no {part.unplayable}" for part in PARTS if part.unplayable)
    accepted = f"queues and enrolment, {without}, "
    accepted += "no silent errors, a master that is started-first"
    for key, wrong in simulated.items():
        refuse(wrong, key, "live processes do not carry that out", accepted)
    paced, unlinked = scenario.live.pace != "free", scenario.master is None
    for it in scenario.protections.values():
        refuse(
            paced and not it.blocking,
            "protection.blocking",
            "a pace fits no work that goes on beside its checkpoints",
            'true, or live.pace = "free"',
        )
        costs = it.kind is ProtectionKind.BUDDIES or (it.kind is ProtectionKind.IMAGES and unlinked)
        stores = unlinked and it.images_every is not None
        problem = "a live checkpoint takes time"
        refuse(costs and not it.cost, "protection.cost", problem, "cost above 0")
        refuse(stores and not it.image_cost, "protection.image_cost", problem, "image_cost above 0")
    return scenario


def downtime_of(scenario: Scenario, start: float) -> float:
    """Return the time units for which a worker is DOWN when its process dies by no command of the
    simulation.

    It is the longest mean downtime of the scenario's faults; where that is 0 or there are none, it
    is the time that a fresh process takes to start, `start` seconds.
    """
    own = max((law.mean_downtime for law in scenario.faults.laws), default=0.0)
    return own or start / scenario.live.scale


def advance_of(scenario: Scenario, folder: Path) -> Advance:
    """Return the step function of the scenario's computations: `live.function`, found from
    `folder`, or the default. Raises InputError where that names no function."""
    name = scenario.live.function
    if name is None:
        return hashed
    function: Advance = own_code.imported(name, folder, "live.function")
    if not callable(function):
        raise unfit(
            "live.function", f"{name!r} is no function", "one of (state, number of the step)"
        )
    return function


def live(
    scenario: Scenario,
    processes: Processes,
    folder: Path = Path(),
    sinks: Sequence[Sink] = (),
    given: Mapping[str, State] | None = None,
    watch: Watch | None = None,
) -> LiveResult:
    """Carry out a scenario, which `playable` accepts, with real processes to its end, and return
    its answers.

    `folder` has the scenario's files, `sinks` receive the run's events, `given` maps jobs to the
    states that they begin from, and `watch` follows their states. Raises the errors of
    `sims.world.run`; what goes wrong outside, such as StepFailed and ClusterLost, as it is; and
    LiveError where real processes did something else than the simulated world decided.
    """
    about = scenario.live
    # What the run before has killed shall not delay this one, whose times are measured.
    processes.post(processes.complete()).result()
    processes.patience = about.patience
    driver = Driver(
        *(processes, f"{next(NAMES)}/", about),
        keep=watch.keep if watch else None,
        given=given or {},
    )
    downtime = downtime_of(scenario, max(processes.starts))
    size = scenario.full_platform.size
    carrier = driver.carrier = Carrier(processes, about, driver.activity, size, downtime)
    if isinstance(scenario.faults, NoFaults):  # any real process may die
        listed = ListedFaults(strikes=(), downtime=downtime)
        scenario = scenario.model_copy(update={"faults": listed})
    processes.stepped = watch.stepped if watch else None
    if watch is not None:
        watch.begin(carrier.end)
    outside: BaseException | None = None
    try:
        run(scenario, [driver, *sinks], folder, begins=carrier.begins, live=carrier)
    except ActorFailed as failed:
        # What goes wrong outside is raised where the loop waits, and no actor is to blame.
        if failed.error is not carrier.error:
            raise
        outside = failed.error
    finally:
        carrier.close()
        processes.post(processes.clear()).result()
    if outside is not None:
        raise outside  # not within the handler: its error has this one as its cause
    works = driver.works.items()
    with importable(processes.packed.dependencies):
        known = processes.advance, processes.answers
        right = {it: work.is_right(*known) for it, work in works if not work.given}
    return LiveResult(right, {name: work.results for name, work in works}, carrier.missed)


# --- the cluster ---------------------------------------------------------------------------------

OURS = ("sims.cli.commands", "sims.live.holder")
"""Modules that the fork server imports once, so that each process need not."""
FILES, FILES_EACH = 22, 13
"""Number of files that a cluster keeps open in this process, and of further ones for each
worker."""
LOOPBACK = "127.0.0.1"
PREFIX = "holdfast-live-"
DAY = 86_400.0
"""Age in seconds from which on a folder without a lock counts as left behind."""
QUIET: dict[str, object] = {
    "distributed.worker.multiprocessing-method": "forkserver",  # 0.14 s to a fresh one, not 0.8 s
    "distributed.scheduler.worker-ttl": None,  # a stopped process is no dead one
    "distributed.worker.memory.terminate": False,
    "distributed.deploy.lost-worker-timeout": "100 weeks",  # else a cluster gives one up for good
    "distributed.logging.distributed": "critical",
    # No dashboard pages: a live run needs none, and other users of the machine could read them.
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    # Otherwise the profiler and the ticks of each process take 5 % of a core even while it sleeps.
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
}


@contextmanager
def opened(
    count: int | None,
    advance: Advance,
    scheduler: Any = None,
    open_to_all: bool | None = False,
    folder: Path = Path(),
) -> Iterator[Processes]:
    """Yield one process for each of `count` workers; None: for each worker that the cluster has, or
    each processor of this machine.

    The processes belong to a new cluster on loopback that ends with this block, or to the one whose
    `scheduler` has this address or file, or is this cluster or client. They compute steps by
    `advance`, whose modules are looked for in `folder`. Raises InputError where Dask is missing,
    where the cluster has too few workers, where its scheduler is lost, and where a new cluster
    would not be encrypted unless `open_to_all` allows every user of this machine to connect; None:
    the caller cannot allow that.
    """
    command = "pip install 'holdfast[cluster]'"
    dask, distributed = (imported(it, "cluster", command) for it in ("dask", "distributed"))
    silence_dask()
    packed, own = pack(advance, folder), scheduler is None
    security = getattr(scheduler, "security", None)  # a cluster or client has its own
    secured = {} if security is None else {"security": security}
    with (
        dask.config.set(QUIET),
        _cluster(count, scheduler, open_to_all) as where,
        connected(distributed, where, scheduler, direct_to_workers=own, **secured) as client,
    ):
        processes = Processes(client, own, advance, packed)
        try:
            processes.post(processes.occupy(count)).result()
            yield processes
        finally:
            processes.post(processes.leave()).result(JOINING)


@contextmanager
def _cluster(count: int | None, scheduler: Any, open_to_all: bool | None) -> Iterator[Any]:
    if scheduler is not None:
        yield address_of(scheduler)
        return
    count = count or os.cpu_count() or 1
    import dask
    from distributed import LocalCluster

    security = security_of(open_to_all)
    _check_files(count)
    warnings.filterwarnings("ignore", "Port .* is already in use", UserWarning)
    with scratch() as folder, ExitStack() as stack:
        stack.enter_context(dask.config.set({"temporary-directory": str(folder)}))
        # Calls under way fail when the command is interrupted: asyncio would log each of them.
        logging.getLogger("asyncio").setLevel(logging.CRITICAL + 1)
        with _starting(), safe_path(), at_once():
            _serve_forks(stack)
            cluster = stack.enter_context(
                LocalCluster(
                    n_workers=count,
                    threads_per_worker=1,
                    processes=True,
                    memory_limit=0,
                    host=LOOPBACK,
                    dashboard_address=None,  # each process would import bokeh: 2 s more
                    worker_dashboard_address=None,
                    local_directory=str(folder),
                    security=security,
                    silence_logs=logging.CRITICAL + 1,
                )
            )
            cluster.scheduler.http_server.stop()
            cluster.wait_for_workers(count, timeout=JOINING)
        yield cluster


def security_of(open_to_all: bool | None) -> Any:
    """Return Dask's settings that encrypt the connections of a new cluster on this machine; None
    where they cannot be encrypted.

    Raises InputError in that case unless `open_to_all` says that every user of this machine may
    connect; None: there is no option that allows it.
    """
    from distributed import Security

    try:
        import cryptography.x509  # noqa: F401
    except ImportError:
        danger = "everybody on this machine can connect to the cluster, and run code in your name"
        if not open_to_all:
            problem = f"cryptography is missing: {danger}"
            accepted = "pip install 'holdfast[cluster]'"
            accepted += "" if open_to_all is None else ", or --open"
            raise InputError("cluster", "", problem, accepted) from None
        note(f"without cryptography {danger}")
        return None
    made: Any = Security.temporary()
    return made


@contextmanager
def scratch() -> Iterator[Path]:
    """Give a new temporary folder within a `with` block, and remove it at its end; remove first
    those that killed runs have left."""
    _sweep(Path(tempfile.gettempdir()))
    with tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True) as name:
        held = os.open(name, os.O_RDONLY)
        try:
            take(held)
            yield Path(name)
        finally:
            os.close(held)


def _sweep(place: Path) -> None:
    """Remove from `place` the folders of killed runs: those of this user that are older than a day
    and locked by no process."""
    for path in place.glob(f"{PREFIX}*"):
        with suppress(OSError):
            # O_NOFOLLOW: in a shared folder another user could put a link in this place.
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                about = os.fstat(descriptor)
                old = time.time() - about.st_mtime > DAY
                # The kernel releases a killed process's lock.
                if old and about.st_uid == os.geteuid() and take(descriptor):
                    shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(descriptor)


def _check_files(count: int) -> None:
    """Raise InputError where this process may not open as many files as a cluster takes.

    Found out only while the cluster starts, the limit would show as one traceback per process.
    """
    needed = FILES + FILES_EACH * count
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit != resource.RLIM_INFINITY and limit < needed:
        problem = f"a process may open {limit} files, and {count} workers take about {needed}"
        raise InputError(
            "cluster", "", problem, f"`ulimit -n {needed}` before it, or fewer workers"
        )


@contextmanager
def _starting() -> Iterator[None]:
    """Return a context that turns every error which keeps a local cluster from starting into one
    InputError."""
    try:
        yield
    except (OSError, RuntimeError, TimeoutError, ValueError) as error:
        cause: BaseException = error
        while cause.__cause__ or cause.__context__:
            cause = cause.__cause__ or cause.__context__ or cause
        problem = f"it cannot be started: {cause or type(cause).__name__}"
        accepted = "leave for more processes and open files, such as `ulimit -n 1024`"
        raise InputError("cluster", "", problem, accepted) from None


def _serve_forks(stack: ExitStack) -> None:
    """Start the fork server, with all modules that the workers' processes import; where it is not
    the program's own, `stack` ends it.

    The server and its children block SIGINT and SIGHUP: these would end them before this command
    has cleaned up.
    """
    from distributed.utils import get_mp_context

    get_mp_context().set_forkserver_preload(["distributed", *OURS])
    server = getattr(forkserver, "_forkserver", None)
    if server is not None and server._forkserver_pid is None:
        stack.callback(server._stop)  # nothing of the standard library's ends it but the program
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
    try:
        resource_tracker.ensure_running()  # which lets Ctrl-C through again
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
