"""One live run: a scenario's world under a wall clock, its work done by processes of a cluster,
which is one of this command's own on loopback, or another's."""

from __future__ import annotations

import importlib.util
import logging
import signal
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from multiprocessing import forkserver
from pathlib import Path
from typing import Any

from attrs import define, field, frozen

from actors.events import DeciderKind
from actors.runtime import ActorFailed, Sink, System, VirtualTimeLoop
from actors.runtime.wall import WallClockLoop
from actors.scheduler import Scheduler
from sims.campaign.executors import JOINING, address_of
from sims.errors import COMMAND_LINE, InputError, imported
from sims.live.carrier import Carrier
from sims.live.driver import Driver
from sims.live.holder import Advance, hashed
from sims.live.processes import Processes
from sims.scenario import Scenario
from sims.scenario.faults import ListedFaults, NoFaults
from sims.scenario.jobs import SCHEDULER
from sims.scenario.platform import Service
from sims.world import Ending, run

NAMES = count()
"""Sets the runs of one command apart in the processes that they share."""


@frozen
class Lived:
    """How a live run ended."""

    ending: Ending
    answers: Mapping[str, bool]
    """By job: whether its results are those of one process that computes straight on."""
    late: Sequence[tuple[str, float]]
    """(message, seconds after its time) of each thing that took real time."""
    missed: int
    """Processes that died by no command of ours."""


@define(eq=False)
class Live:
    """A run's real side; see `sims.world.Live`."""

    processes: Processes
    carrier: Carrier
    loop: VirtualTimeLoop
    lateness: float
    downtime: float
    """How long a worker is DOWN whose process died by no command of ours."""
    size: int
    """Workers of the platform; the cluster may have more."""
    system: System = field(init=False)
    missed: int = field(init=False, default=0)

    def attach(self, system: System) -> None:
        """See `sims.world.Live`."""
        self.system = system

    def begins(self, _: int, __: Callable[[], float]) -> None:
        """All actors are there: whose process dies from now on goes DOWN."""
        scheduler = self.system.actors[SCHEDULER]
        assert isinstance(scheduler, Scheduler)
        registry = scheduler.workers
        assert registry is not None
        workers = [registry(number) for number in range(self.size)]

        def lost(number: int) -> None:
            if number < self.size:
                self.missed += 1
                self.carrier.fail(workers[number], self.downtime)

        self.processes.lost = lost


def playable(scenario: Scenario) -> Scenario:
    """The scenario as it can be carried out: any process may fail. Raises InputError for what only
    a simulation can do."""
    refuse = {
        "policy.name": scenario.decider in (DeciderKind.PACK, DeciderKind.COPIES),
        "protection.blocking": not scenario.protection.blocking,
        "protection.images_every": scenario.protection.images_every is not None,
        "errors": scenario.errors != type(scenario.errors)(),
        "master.order": scenario.master is not None
        and (scenario.master.order is not Service.STARTED_FIRST or scenario.master.timetable),
    }
    for key, wrong in refuse.items():
        if wrong:
            problem = "live processes do not carry that out"
            accepted = "queues and enrolment, blocking checkpoints of one level, no silent errors, "
            raise InputError("scenario", key, problem, f"{accepted}a master that is started-first")
    if isinstance(scenario.faults, NoFaults):
        return scenario.model_copy(update={"faults": ListedFaults(strikes=())})
    return scenario


def advance_of(scenario: Scenario, folder: Path) -> Advance:
    """The step of its computations. Raises InputError where it names none."""
    name = scenario.live.function
    if name is None:
        return hashed
    import cloudpickle

    from sims.scenario.own_code import imported

    function: Advance = imported(name, folder, "live.function")
    cloudpickle.register_pickle_by_value(sys.modules[function.__module__])
    return function


def live(
    scenario: Scenario, processes: Processes, folder: Path = Path(), sinks: Sequence[Sink] = ()
) -> Lived:
    """Carry a playable scenario out to its end. Raises as `sims.world.run`, and LiveError where
    what processes did is not what the world said."""
    about = scenario.live
    driver = Driver(processes, f"{next(NAMES)}/", about.scale, about.pace, about.bandwidth * 1e6)
    patience, tolerance = about.patience, about.tolerance / about.scale
    carrier = Carrier(processes, about.scale, tolerance, patience, driver.deed)
    driver.carrier = carrier
    downtime = max((it.mean_downtime for it in scenario.faults.laws), default=0)
    downtime = downtime or max(processes.starts) / about.scale
    loop, size = WallClockLoop(carrier), scenario.full_platform.size
    it = Live(processes, carrier, loop, carrier.lateness, downtime, size)
    try:
        ending = run(scenario, [driver, *sinks], folder, begins=it.begins, live=it)
    except ActorFailed as failed:
        # What goes wrong outside is raised where the loop waits, and no actor is to blame.
        raise failed.error if failed.error is carrier.error else failed from None
    finally:
        carrier.close()
        processes.post(processes.clear()).result()
    answers = {name: work.is_right(processes.advance) for name, work in driver.works.items()}
    return Lived(ending, answers, carrier.late, it.missed)


# --- the cluster ---------------------------------------------------------------------------------

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
            raise InputError(COMMAND_LINE, "--scheduler", problem, accepted) from None
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
