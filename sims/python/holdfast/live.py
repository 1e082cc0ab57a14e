"""Long tasks on a Dask cluster that survive the processes which compute them:
`holdfast.live.run(step, state, steps=1000, scheduler="tcp://...")`.

Each is a job of a scenario that is carried out live: the same world as in a simulation decides
where it runs, when its state is saved, and from which state it goes on.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeVar

from policies.maths.checkpoint import daly_work, young_work
from sims.errors import InputError
from sims.live.live import live, opened, playable
from sims.live.processes import trial
from sims.log_writer import LogWriter
from sims.packing import dumps
from sims.scenario.loader import read

__all__ = ["run", "run_all"]

S = TypeVar("S")
RULES: dict[str, Callable[[float, float], float]] = {"young": young_work, "daly": daly_work}
"""Maps the name of a period to the work between two checkpoints, by MTBF and cost."""


def run(function: Callable[[S, int], S], state: S, *, steps: int, **how: Any) -> S:
    """Return the state after so many steps, `state = function(state, number)` with numbers from 0.

    The arguments by name are those of `run_all`, which this calls with one state.
    """
    return run_all(function, [state], steps=steps, **how)[0]


def run_all(
    function: Callable[[S, int], S],
    states: Sequence[S],
    *,
    steps: int,
    scheduler: Any = None,
    workers: int | None = None,
    protection: str | Mapping[str, Any] = "images",
    mtbf: float = 3600.0,
    policy: str = "EASY",
    log: str | Path | None = None,
    patience: float | None = None,
) -> list[S]:
    """Return each state after so many steps of the function, `state = function(state, number)` with
    numbers from 0; each is a job of its own, on one worker.

    A worker whose process dies loses its job, which goes on from its last checkpoint on another
    worker; where it is told to end (SIGTERM), its job's state is saved at once. `scheduler`:
    address or file of a Dask scheduler, or a cluster; default: a cluster on this machine, of
    `workers` processes, for this call alone. `protection`: a section `[protection]` as in a
    scenario, whose period is a number of steps, "young" or "daly", or its `kind`: "images" saves
    the state with this process, at Young's period; "none" begins anew. `mtbf`: mean time between
    deaths of a worker that these periods count with, seconds. `policy`: the queue's. `log`: file
    for the log of the run, which `holdfast audit` reads. `patience`: seconds that a step may last;
    default: 600, or 100 times the longest so far if that is more.

    Raises InputError where the function raises an error, where a step does not end, where a worker
    lacks something that it needs, and where the cluster is lost.
    """
    if steps < 1 or not states:
        return list(states)
    with opened(workers, function, scheduler, folder=Path.cwd()) as processes:
        processes.patience = patience
        first, step, cost = processes.post(trial(processes, dumps(states[0]), steps)).result()
        begun = dict(enumerate([first, *((0, dumps(it)) for it in states[1:])]))
        ends = {0: begun.pop(0)} if first[0] == steps else {}
        jobs = [{"processors": 1, "time": steps - done} for done, _ in begun.values()]
        about = {
            "name": "tasks",
            "platform": {"workers": len(processes.seats)},
            "job": {"kind": "rigid", "jobs": jobs},
            "policy": {"name": policy},
            "protection": _protection(protection, step, cost, mtbf),
            "live": {"scale": step, "pace": "free", "patience": patience},
        }
        if jobs:
            scenario = playable(read(about, "call", Path.cwd()))
            names = dict(zip(begun, (f"J{k}" for k in range(1, len(jobs) + 1)), strict=True))
            given = {names[number]: state for number, state in begun.items()}
            with ExitStack() as stack:
                sinks = [stack.enter_context(LogWriter(Path(log)))] if log is not None else []
                done = live(scenario, processes, Path.cwd(), sinks, given).states
            ends |= {number: done[name][0] for number, name in names.items()}
        return [pickle.loads(ends[number][1]) for number in range(len(states))]


def _protection(
    asked: str | Mapping[str, Any], step: float, cost: float, mtbf: float
) -> dict[str, Any]:
    """Return the section `[protection]` that `asked` states, with its period as a whole number of
    steps, from 1. Without protection there is no period.

    `step` is the length of a step and `cost` that of a checkpoint, both in seconds, as is `mtbf`.
    Raises InputError for a period that is neither a number nor "young" nor "daly".
    """
    table = {"kind": asked} if isinstance(asked, str) else dict(asked)
    if table.get("kind", "none") == "none":
        return table
    period = table.get("period", "young")
    if isinstance(period, str):
        if period not in RULES:
            raise InputError("call", "protection.period", repr(period), "steps, young or daly")
        period = RULES[period](mtbf, cost) / step
    # A process that is told to end (SIGTERM) saves at once, and is killed some time later.
    usual = {"cost": cost / step, "on_notice": "save"}
    return {**usual, **table, "period": max(1, round(period))}
