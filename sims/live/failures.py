"""Errors of live runs that carry more than one line: what a user's step raised, and how far the
tasks of a lost cluster had come.

Workers of a cluster import this module, so it imports little.
"""

from __future__ import annotations

import pickle
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from attrs import field, frozen

from sims.errors import InputError
from sims.packing import dumps


@frozen
class StepFailed(InputError):
    """Raised where a user's step function raises an error; it travels from the worker's process to
    the caller, who can open it."""

    step: int = 0
    """Number of the step, from 0."""
    error: bytes = b""
    """Pickle of the user's error; empty where it cannot be pickled."""
    frames: Any = None
    """Traceback of the error in the worker's process, as a dictionary of tblib's."""
    text: str = ""
    """Traceback as text, for an error that cannot be pickled."""
    where: str = ""
    """Job, step and worker, as text; empty before the error has reached the caller."""

    def __reduce__(self) -> tuple[type[StepFailed], tuple[Any, ...]]:
        about = self.source, self.key, self.problem, self.accepted
        return StepFailed, (*about, self.step, self.error, self.frames, self.text, self.where)

    @classmethod
    def of(cls, error: BaseException, step: int) -> StepFailed:
        """Return what travels of an error that a step of this number has just raised."""
        from tblib import Traceback

        trace = error.__traceback__
        own = trace.tb_next if trace is not None and trace.tb_next is not None else trace
        last = traceback.extract_tb(own)[-1:]
        where = f" ({Path(last[0].filename).name}, line {last[0].lineno})" if last else ""
        problem = f"step {step}{where}: {type(error).__name__}: {error}"
        text = "".join(traceback.format_exception(type(error), error, own))
        frames = Traceback(own).to_dict() if own is not None else None
        accepted = "a function that computes every step"
        about = "scenario", "live.function", problem, accepted
        return cls(*about, step, _pickle(error), frames, text)

    def opened(self) -> BaseException:
        """Return the user's own error with its traceback in the worker's process, and a note of
        where it was raised.

        An error that cannot be pickled becomes a RuntimeError with its text.
        """
        try:
            found = pickle.loads(self.error)
        except Exception:
            found = None
        own = isinstance(found, BaseException)
        error: BaseException = found if own else RuntimeError(f"{self.problem}\n{self.text}")
        error.add_note(self.where)
        return error.with_traceback(_traceback(self.frames))


def _traceback(frames: Any) -> TracebackType | None:
    """Return the traceback that a dictionary of tblib's stands for, with this machine's files in
    place of those that have none here: modules and functions that were sent."""
    from tblib import Traceback

    frame = frames
    while frame is not None:
        code = frame["tb_frame"]["f_code"]
        module = sys.modules.get(frame["tb_frame"]["f_globals"].get("__name__", ""))
        if not Path(code["co_filename"]).is_file():
            code["co_filename"] = getattr(module, "__file__", None) or code["co_filename"]
        frame = frame["tb_next"]
    made: TracebackType | None = Traceback.from_dict(frames).as_traceback() if frames else None
    return made


def _pickle(error: BaseException) -> bytes:
    """Return the pickle of an error, empty where there is none that opens again."""
    try:
        data = dumps(error)
        pickle.loads(data)
    except Exception:
        return b""
    return data


@frozen
class ClusterLost(InputError):
    """Raised where the scheduler of a cluster is gone, or all connections to it."""

    states: Mapping[int, tuple[int, Any]] = field(factory=dict)
    """Maps each unfinished task of a call, by its place among the states given, to (steps done,
    state after them), the last that had reached the caller."""

    def __reduce__(self) -> tuple[type[ClusterLost], tuple[Any, ...]]:
        return ClusterLost, (self.source, self.key, self.problem, self.accepted, self.states)

    @property
    def step(self) -> int:
        """Number of steps after which the call's only task, or its first unfinished one, can go
        on."""
        return next(iter(self.states.values()))[0]

    @property
    def state(self) -> Any:
        """State after `step` steps."""
        return next(iter(self.states.values()))[1]


def lost(accepted: str = "one that runs, and the same command") -> ClusterLost:
    """Return the error of a cluster whose scheduler is gone."""
    return ClusterLost("cluster", "", "the scheduler is gone", accepted)
