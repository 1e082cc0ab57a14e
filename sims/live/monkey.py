"""A monkey that kills what carries out live runs: at random moments workers' processes, their
Nannies and the scheduler of a cluster of its own. It counts its kills, and checks each run."""

from __future__ import annotations

import asyncio
import enum
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import product
from pathlib import Path
from typing import Any

import attrs
import psutil
from attrs import define, field, frozen

from actors.runtime import stream
from policies.availability import WorkerState
from sims.audit.audit import audit
from sims.audit.law import Law
from sims.errors import InputError
from sims.history.reader import History
from sims.history.rows import StateRow
from sims.live.failures import ClusterLost
from sims.live.holder import Advance
from sims.live.live import LOOPBACK, live, opened, scratch, security_of
from sims.live.processes import JOINING, LOOK, Processes, Seat
from sims.live.reality import read, write
from sims.log import LogFile
from sims.log_writer import LogWriter
from sims.processes import safe_path
from sims.scenario import Scenario

KILLS = 6
"""Number of kills that are drawn for each run; those that come after its end do not happen."""
LONGER = 1.5
"""Factor on the length of the shortest run so far: kills happen within that time."""
LIMIT = 120.0
"""Seconds, beside twenty times the foreseen length, after which a run counts as one that hangs."""
ENDING = 10.0
"""Seconds for which the processes of a cluster may take to end before they are killed."""
SHARED = Path("/dev/shm")
"""Folder in which Linux keeps semaphores."""


class Victim(enum.Enum):
    """Kind of process that the monkey kills."""

    WORKER = "worker"
    """The process of a worker, whose Nanny starts another one."""
    NANNY = "nanny"
    """The process that started it; both are started again."""
    SCHEDULER = "scheduler"
    """The scheduler of the cluster: it ends the run, and a new cluster is started."""


CHANCES = {Victim.WORKER: 0.6, Victim.NANNY: 0.25, Victim.SCHEDULER: 0.15}
"""Maps each kind of victim to its probability in a kill."""


@frozen
class Kill:
    """One planned death: which process is killed, and when."""

    victim: Victim = field(converter=Victim)
    worker: int
    """Number of the worker whose process, or Nanny, is killed."""
    moment: float
    """Seconds after the start of the run."""


def _kills(found: Sequence[Kill | dict[str, Any]]) -> Sequence[Kill]:
    """Return kills, some of which were read from a file."""
    return [it if isinstance(it, Kill) else Kill(**it) for it in found]


@frozen
class Trial:
    """One live run, the kills that happened in it, and what was found."""

    run: int
    kills: Sequence[Kill] = field(converter=_kills)
    seconds: float
    """Length of the run, by the wall clock."""
    downs: int
    """Number of times that a worker went DOWN, by these kills and by the scenario's faults."""
    lost: bool
    """Whether the run ended early because the scheduler was killed."""
    right: bool
    """Whether all answers equal those of one uninterrupted process; of a run that ended early,
    whether it said why in the words that stand for that."""
    sound: bool
    """Whether the log passes the audit, as far as it goes."""
    left: Sequence[str] = ()
    """Names of the processes, files and folders that were still there when the cluster was over."""

    @property
    def wrong(self) -> bool:
        """Whether an answer, the log, or what the cluster has left behind is not as it should
        be."""
        return not (self.right and self.sound) or bool(self.left)


# --- a cluster of its own ----------------------------------------------------------------------


@define(eq=False)
class Cluster:
    """A scheduler and workers of Dask, each started by the command that Dask's users call.

    Each worker's process has a Nanny: the process that starts it, and starts another one when it
    dies.
    """

    folder: Path
    settings: str
    """Dask's settings for its processes, with the certificates."""
    processes: list[psutil.Popen] = field(init=False, factory=list)
    """The scheduler, then the Nannies, those that have been killed included."""

    @property
    def file(self) -> Path:
        """The file in which the scheduler's address is."""
        return self.folder / "cluster.json"

    def start(self, size: int) -> None:
        """Start the scheduler and `size` workers.

        Raises InputError where the scheduler does not start within JOINING seconds.
        """
        self._start("scheduler", "--port", "0", "--no-show")
        begun = time.monotonic()
        while not self.file.exists():
            if time.monotonic() - begun > JOINING or self.processes[0].poll() is not None:
                problem = f"no scheduler has started within {JOINING} s"
                raise InputError("cluster", "", problem, "a machine with less other work")
            time.sleep(LOOK)
        for _ in range(size):
            self.add()

    def add(self) -> None:
        """Start one more worker."""
        self._start("worker", "--nthreads", "1", "--local-directory", str(self.folder))

    def _start(self, *words: str) -> None:
        where = "--host", LOOPBACK, "--no-dashboard", "--scheduler-file", str(self.file)
        command = sys.executable, "-m", "dask", *words, *where
        env = os.environ | {"DASK_INTERNAL_INHERIT_CONFIG": self.settings}
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        with safe_path():
            self.processes.append(psutil.Popen(command, cwd=self.folder, env=env, **quiet))

    def kill_nanny(self, seat: Seat) -> None:
        """Kill the Nanny of the worker in `seat`, the process that would restart it, and start
        another worker."""
        parent = psutil.Process(seat.process).ppid()
        (nanny,) = (it for it in self.processes[1:] if it.pid == parent)
        nanny.kill()
        self.add()

    def close(self) -> None:
        """End all processes of the cluster that are left."""
        for it in self.processes:
            with suppress(psutil.NoSuchProcess):
                it.terminate()
        # Without a scheduler a Nanny takes up to a minute to end.
        _, left = psutil.wait_procs(self.processes, ENDING)
        for it in left:
            it.kill()
        psutil.wait_procs(left)


@contextmanager
def cluster_of(size: int, open_to_all: bool) -> Iterator[Cluster]:
    """Yield a cluster of `size` workers on loopback, which ends with this block.

    Its connections are encrypted; where they cannot be, InputError is raised unless `open_to_all`
    allows every user of this machine to connect.
    """
    import dask

    known = {}
    if (made := security_of(open_to_all)) is not None:
        pair = {"cert": made.tls_client_cert, "key": made.tls_client_key}
        roles = product(("client", "scheduler", "worker"), pair.items())
        known = {"default-scheme": "tls", "tls.ca-file": made.tls_ca_file}
        known |= {f"tls.{role}.{part}": it for role, (part, it) in roles}
    known = {f"distributed.comm.{key}": value for key, value in known.items()}
    with scratch() as folder, dask.config.set(known):
        cluster = Cluster(folder, dask.config.serialize(dask.config.config))
        try:
            cluster.start(size)
            yield cluster
        finally:
            cluster.close()


# --- runs with kills ---------------------------------------------------------------------------


def planned(scenario: Scenario, run: int, seconds: float) -> list[Kill]:
    """Draw the kills for run number `run`, which is expected to take `seconds`, from the scenario's
    seed; return them in order of time.

    There are KILLS of them, but none after the first kill of the scheduler, which ends the run.
    """
    rng, size = stream(scenario.seed, f"monkey/{run}"), scenario.full_platform.size
    kills = []
    for moment in sorted(rng.uniform(0, seconds, KILLS).tolist()):
        victim = list(CHANCES)[rng.choice(len(CHANCES), p=list(CHANCES.values()))]
        kills.append(Kill(victim, int(rng.integers(size)), moment))
        if victim is Victim.SCHEDULER:
            break
    return kills


@define(eq=False)
class Monkey:
    """Carries a scenario out again and again, and kills processes meanwhile."""

    scenario: Scenario
    advance: Advance
    folder: Path
    """Folder of the scenario's files."""
    where: Path
    """Folder for logs and results."""
    open_to_all: bool
    done: list[Trial] = field(init=False, factory=list)

    def trials(self, most: int) -> Iterator[Trial]:
        """Yield live runs until `most` kills have happened, those of earlier results included,
        whose runs are yielded first.

        The first run has no kills: it shows how long a run takes. Results are written after each
        run.
        """
        results, done = self.where / "trials.jsonl", self.done
        if results.exists():
            done += read(Trial, results)
        yield from done
        size = self.scenario.full_platform.size
        while (due := most - sum(len(it.kills) for it in done)) > 0:
            traces = Traces()
            with (
                cluster_of(size, self.open_to_all) as cluster,
                opened(size, self.advance, str(cluster.file), folder=self.folder) as processes,
            ):
                while True:
                    trial = self._attempt(processes, cluster, due)
                    traces.look(cluster.folder)
                    done.append(trial)
                    write(done, results)
                    due -= len(trial.kills)
                    # A scheduler that is killed as the run ends takes the next one's cluster.
                    if due <= 0 or any(it.victim is Victim.SCHEDULER for it in trial.kills):
                        break
                    yield trial
            done[-1] = attrs.evolve(done[-1], left=traces.left())
            write(done, results)
            yield done[-1]

    def _attempt(self, processes: Processes, cluster: Cluster, most: int) -> Trial:
        """Carry out the next live run with at most `most` kills, and judge its answers and its
        log."""
        run = len(self.done)
        log = self.where / f"{run}.jsonl"
        seconds = LONGER * min((it.seconds for it in self.done if not it.lost), default=0)
        kills = planned(self.scenario, run, seconds)[:most] if run else []
        happened: list[Kill] = []
        beside = [processes.post(_carry_out(it, processes, cluster, happened)) for it in kills]
        beside.append(processes.post(_limit(processes, LIMIT + 20 * seconds, log)))
        lost, right, begun = False, True, time.monotonic()
        try:
            with LogWriter(log) as writer:
                ended = live(self.scenario, processes, self.folder, [writer])
            right = all(ended.answers.values())
        except InputError as error:
            lost, right = True, isinstance(error, ClusterLost)
            if not any(it.victim is Victim.SCHEDULER for it in happened):
                raise
        finally:
            for it in beside:
                it.cancel()
        seconds = time.monotonic() - begun
        # A run whose scheduler dies before it begins has no log.
        records = list(LogFile(log)) if log.exists() or not lost else []
        states, history = list[StateRow](), History()
        history.take(StateRow, states.append)
        history.read(records)
        down = sum(it.state is WorkerState.DOWN for it in states)
        # A log that ends early breaks one law, that of its end.
        broken = [it for it in audit(iter(records)) if not (lost and it.law is Law.END)]
        return Trial(run, happened, seconds, down, lost, right, not broken)


async def _carry_out(
    kill: Kill, processes: Processes, cluster: Cluster, happened: list[Kill]
) -> None:
    """Wait for the moment of a kill, kill its process, and append the kill to `happened`."""
    await asyncio.sleep(kill.moment)
    seat = await processes.present(kill.worker)
    if kill.victim is Victim.WORKER:
        await processes.murder(kill.worker)
    elif kill.victim is Victim.NANNY:
        cluster.kill_nanny(seat)
    else:
        cluster.processes[0].kill()
    happened.append(kill)


async def _limit(processes: Processes, seconds: float, log: Path) -> None:
    """End a live run, whose log is `log`, with an error after these seconds: it hangs."""
    await asyncio.sleep(seconds)
    accepted = "one that ends, on a machine with less other work"
    processes.failed(InputError(str(log), "", "the run does not end", accepted))


def _children() -> set[psutil.Process]:
    return set(psutil.Process().children(recursive=True))


@define(eq=False)
class Traces:
    """Remembers the folder, the processes and the shared files in memory (such as semaphores) of a
    cluster, to look afterwards whether the cluster has left any of them behind."""

    others: set[psutil.Process] = field(init=False, factory=_children)
    """Processes of this command that are there before the cluster."""
    processes: set[psutil.Process] = field(init=False, factory=set)
    files: set[Path] = field(init=False, factory=set)

    def look(self, folder: Path) -> None:
        """Note the cluster's folder, its processes that run now, and the files in memory that they
        share."""
        self.files.add(folder)
        for it in _children() - self.others:
            self.processes.add(it)
            with suppress(psutil.Error):
                mapped = (Path(it.path) for it in it.memory_maps())
                self.files.update(it for it in mapped if it.parent == SHARED)

    def left(self) -> list[str]:
        """Return the names of the processes, files and folders that the cluster has left behind;
        processes get some seconds to end first."""
        _, alive = psutil.wait_procs(self.processes, JOINING)
        return sorted([*map(str, alive), *(str(it) for it in self.files if it.exists())])
