"""Long tasks on a Dask cluster that survive the processes which compute them:
`holdfast.live.run(step, state, steps=1000, scheduler="tcp://...")`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict, TypeVar, Unpack

from sims.errors import InputError
from sims.live.calls import Call, Progress
from sims.live.failures import ClusterLost
from sims.live.futures import Task, as_completed
from sims.live.tasks import Cost, Finished, Tasks, bar, carry_out

__all__ = ["ClusterLost", "Cost", "Finished", "How", "Progress", "Task", "run", "run_all", "submit"]

S = TypeVar("S")


class How(TypedDict, total=False):
    """The arguments by name that all calls of this module take.

    A worker whose process dies loses its task, which goes on from its last checkpoint on another
    worker; where it is told to end (SIGTERM), its task's state is saved at once. All arguments are
    checked before anything is connected.
    """

    scheduler: Any
    """Dask's scheduler: an address, a scheduler's file, a Client or a Cluster whose workers are
    processes. Default: a cluster on this machine, for this call alone."""
    workers: int | None
    """Number of workers. Default: all that the scheduler has; on this machine, one a processor."""
    protection: str | Mapping[str, Any]
    """Section `[protection]` as in a scenario, whose period is a number of steps, "young" or
    "daly", or its `kind`: "images" (default) saves the state with this process, at Young's period;
    "none" begins anew."""
    mtbf: float
    """Mean time between deaths of a worker that these periods count with, seconds; 3600."""
    policy: str
    """Policy of the queue in which tasks wait for workers. Default: "EASY"."""
    log: str | Path | None
    """File for the log of the run, which `holdfast audit` reads."""
    patience: float | None
    """Seconds that a step may last. Default: 600, or 100 times the longest so far if that is
    more."""
    checkpoints: str | Path | None
    """Folder, or URL that fsspec knows (s3://...), for checkpoints. The same call goes on from
    there, whatever has ended: workers, scheduler, this program, the machine. Pickles are read from
    it: who can write to it can run code in your name."""
    name: str | None
    """Name of the call among those whose checkpoints are there. Default: the function's."""
    fresh: bool
    """Whether to begin anew, and remove the checkpoints of that name first. Default: False."""
    progress: bool | None
    """Whether to show a bar on stderr. Default: in a terminal and in a notebook."""
    callback: Callable[[Progress], object] | None
    """Function that is called, on some thread, when a task goes on: about every second, at a
    checkpoint and at a loss. An error that it raises ends the call."""


def run(function: Callable[[S, int], S], state: S, *, steps: int, **how: Unpack[How]) -> S:
    """Return the state after so many steps, `state = function(state, number)` with numbers from 0.

    The arguments by name are those of `How`. What a step raises is raised here, with its traceback
    in the worker's process and a note of the job, the step and the worker. Raises ClusterLost, with
    the last state that has reached this program, where the scheduler is gone; InputError for an
    argument that cannot be used, a step that does not end, a state that cannot be pickled, and
    where a worker lacks something that it needs.
    """
    call = _call(function, [state], steps, how)
    ended: list[Finished[S]] = []
    with bar(call) as tell:
        carry_out(Tasks(call, ended.append, tell))
    return ended[0].state


def submit(function: Callable[[S, int], S], state: S, *, steps: int, **how: Unpack[How]) -> Task[S]:
    """Begin to compute what `run` returns, and return a future of it at once.

    The arguments are those of `run`; a bar is shown only if `progress` is true. Raises InputError
    for an argument that cannot be used; the future has all other errors of `run`.
    """
    return Task(_call(function, [state], steps, how))


def run_all(
    function: Callable[[S, int], S], states: Sequence[S], *, steps: int, **how: Unpack[How]
) -> Iterator[Finished[S]]:
    """Yield each state after so many steps of the function as soon as it is computed, with its
    place among `states` and what it has cost.

    Each state is a job of its own, on one worker; what finds no free worker waits in the queue of
    the `policy`. The arguments by name are those of `How`, and the errors those of `run`. Computing
    begins with the first result that is asked for, and ends where no further one is.
    """
    return as_completed(_call(function, list(states), steps, how))


def _call(function: Callable[[S, int], S], states: Sequence[S], steps: int, how: How) -> Call:
    """Return the call with these arguments. Raises InputError for one that `How` has not, and for
    one that cannot be used."""
    for name in how:
        if name not in How.__annotations__:
            raise InputError("call", name, "unknown", ", ".join(("steps", *How.__annotations__)))
    return Call(function, states, steps, **how)
