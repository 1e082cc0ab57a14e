"""The arguments of a call that computes long tasks, checked before anything is connected, and the
scenario that they make."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import inf
from numbers import Real
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from policies.maths.checkpoint import daly_work, young_work
from sims import world
from sims.campaign.executors import address_of
from sims.errors import COMMAND_LINE, InputError
from sims.live.checkpoint_folder import NAME
from sims.live.live import playable
from sims.scenario import Scenario
from sims.scenario.loader import read

RULES: dict[str, Callable[[float, float], float]] = {"young": young_work, "daly": daly_work}
"""Maps the name of a period to the work between two checkpoints, by MTBF and cost."""
SOURCES = "scenario", "call", COMMAND_LINE
"""Sources of errors whose keys are those of a scenario or of a command."""
KEYS = {
    "live.patience": "patience",
    "policy.name": "policy",
    "platform.workers": "workers",
    "--scheduler": "scheduler",
}
"""Maps keys of a scenario, and options of the command line, to the arguments of a call that set
them."""

TIME = re.compile(r"job\.jobs\.\d+\.time")
"""Matches the key of a job's time, which is its number of steps."""


@contextmanager
def arguments(function: str = "function") -> Iterator[None]:
    """Return a context in which an InputError about a scenario's key, or an option, becomes one
    about the argument of the call that has set it; `function` is that of `live.function`."""
    try:
        yield
        return
    except InputError as error:
        of_cluster = error.source == "cluster" and error.key in KEYS
        if type(error) is not InputError or not (of_cluster or error.source in SOURCES):
            raise
        key = function if error.key == "live.function" else KEYS.get(error.key, error.key)
        key = "steps" if TIME.fullmatch(key) else key
        named = evolve(error, source="call", key=key)
    raise named


def job(number: int) -> str:
    """Return the name that a task has as a job: J1 is that of the first state given."""
    return f"J{number + 1}"


def refuse(wrong: bool, argument: str, problem: str, accepted: str) -> None:
    """Raise InputError about an argument of the call if `wrong` is true."""
    if wrong:
        raise InputError("call", argument, problem, accepted)


@frozen
class Progress:
    """Progress report on one task, which callbacks receive."""

    task: int
    """Place of the task's state among those given, from 0."""
    step: int
    """Number of steps done, about a second ago at most."""
    steps: int
    """Number of steps that the task has."""
    checkpoint: int
    """Number of steps after which the state was saved last, or from which the call began."""
    losses: int
    """Number of times that a worker was lost which computed the task."""


@frozen
class Call:
    """The arguments of one call, checked before anything is connected or computed."""

    function: Callable[[Any, int], Any]
    states: Sequence[Any]
    steps: int
    scheduler: Any = None
    workers: int | None = None
    protection: str | Mapping[str, Any] = "images"
    mtbf: float = 3600.0
    policy: str = "EASY"
    log: str | Path | None = None
    patience: float | None = None
    checkpoints: str | Path | None = None
    name: str | None = None
    fresh: bool = False
    progress: bool | None = None
    callback: Callable[[Progress], object] | None = None
    folder: Path = field(init=False, factory=Path.cwd)
    """Folder in which the function's modules are looked for."""

    def __attrs_post_init__(self) -> None:
        self._check_numbers()
        self._check_objects()
        if self.steps and self.states:
            with arguments():
                left = dict.fromkeys(range(len(self.states)), self.steps)
                # What only the world refuses, such as a policy's name, is found as it is set up.
                world.run(
                    self.scenario(self.workers or 1, left, 1.0, 1.0), (), self.folder, until=0
                )

    def _check_numbers(self) -> None:
        for name, least in (("steps", 0), ("workers", 1)):
            it = getattr(self, name)
            fits = isinstance(it, int) and not isinstance(it, bool) and it >= least
            fits = fits or (it is None and name == "workers")
            refuse(not fits, name, f"{it!r} is none", f"a whole number from {least}")
        for name in ("mtbf", "patience"):
            it = getattr(self, name)
            fits = _is_positive(it) or (it is None and name == "patience")
            refuse(not fits, name, f"{it!r} is none", "seconds, above 0")

    def _check_objects(self) -> None:
        for name, accepted in (("function", "(state, step)"), ("callback", "(progress)")):
            it = getattr(self, name)
            wrong = not callable(it) and not (it is None and name == "callback")
            refuse(wrong, name, f"{it!r} cannot be called", f"a function of {accepted}")
        wrong = not isinstance(self.protection, str | Mapping)
        refuse(wrong, "protection", f"{self.protection!r} is none", "images, none, or a table")
        _check_scheduler(self.scheduler)
        if self.log is not None:
            here = Path(self.log).absolute().parent
            refuse(not here.is_dir(), "log", f"{here} is no folder", "a file in a folder of yours")
        if self.checkpoints is None:
            for name in ("name", "fresh"):
                accepted = "checkpoints too, a folder or a URL"
                refuse(bool(getattr(self, name)), name, "it is of checkpoints", accepted)
            return
        place = self.checkpoints
        fits = isinstance(place, str | Path) and bool(str(place))
        refuse(not fits, "checkpoints", f"{place!r} is none", "a folder or a URL")
        kind, accepted = self._section().get("kind"), "letters, digits, `_`, `-` and `.`"
        fits = NAME.fullmatch(self.called) is not None
        refuse(not fits, "name", f"{self.called!r} is no name of a folder", accepted)
        problem = f"{kind!r} saves nothing that a folder could keep"
        refuse(kind != "images", "protection", problem, "images")

    @property
    def called(self) -> str:
        """Name of the call among those whose checkpoints are in the folder: `name`, or else the
        function's."""
        return str(getattr(self.function, "__name__", "task")) if self.name is None else self.name

    def _section(self) -> dict[str, Any]:
        """Return the section `[protection]` as it was given, as a table."""
        asked = self.protection
        return {"kind": asked} if isinstance(asked, str) else dict(asked)

    def protecting(self, step: float, cost: float) -> dict[str, Any]:
        """Return the section `[protection]` with its period as a whole number of steps, from 1.
        Without protection there is no period.

        `step` is the length of a step and `cost` that of a checkpoint, both in seconds. Raises
        InputError for a period that is neither a number above 0 nor "young" nor "daly".
        """
        table = self._section()
        if table.get("kind", "none") == "none":
            return table
        period = table.get("period", "young")
        fits = _is_positive(period) or (isinstance(period, str) and period in RULES)
        refuse(not fits, "protection.period", repr(period), "steps, young or daly")
        if isinstance(period, str):
            period = RULES[period](self.mtbf, cost) / step
        # A process that is told to end (SIGTERM) saves at once, and is killed some time later.
        usual = {"cost": cost / step, "on_notice": "save"}
        return {**usual, **table, "period": max(1, round(period))}

    def scenario(self, workers: int, left: Mapping[int, int], step: float, cost: float) -> Scenario:
        """Return the scenario of unfinished tasks on so many workers.

        `left` maps each task to its number of steps that are left, `step` and `cost` are the
        seconds of a step and of a checkpoint. Raises InputError for what a scenario refuses.
        """
        jobs = [{"name": job(it), "processors": 1, "time": steps} for it, steps in left.items()]
        about = {
            "name": "tasks",
            "platform": {"workers": workers},
            "job": {"kind": "rigid", "jobs": jobs},
            "policy": {"name": self.policy},
            "protection": self.protecting(step, cost),
            "live": {"scale": step, "pace": "free", "patience": self.patience},
        }
        return playable(read(about, "call", self.folder))


def _is_positive(it: object) -> bool:
    return isinstance(it, Real) and not isinstance(it, bool) and 0 < float(it) < inf


def _check_scheduler(scheduler: Any) -> None:
    """Raise InputError for what is no scheduler, and for a call from within a task of Dask's, which
    would wait for the worker that it keeps busy itself."""
    if "distributed" in sys.modules and _is_in_task():
        accepted = "a call from the program that holds the client"
        raise InputError("call", "", "it is made within a task of a Dask worker", accepted)
    if scheduler is None:
        return
    accepted = "an address, a scheduler's file, a Client or a Cluster"
    known = isinstance(scheduler, str | Path) or hasattr(scheduler, "scheduler")
    refuse(not known, "scheduler", f"{scheduler!r} is none", accepted)
    closed = getattr(getattr(scheduler, "status", None), "name", getattr(scheduler, "status", None))
    refuse(closed == "closed", "scheduler", f"{scheduler!r} is closed", accepted)
    with arguments():
        threads = address_of(scheduler).startswith("inproc:")
    problem = "its workers are threads of this program"
    refuse(threads, "scheduler", problem, "LocalCluster(processes=True)")


def _is_in_task() -> bool:
    from distributed import get_worker

    try:
        get_worker()
    except ValueError:
        return False
    return True
