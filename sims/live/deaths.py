"""Within which step of a task a worker's process died, and whether each next one dies there too.

Workers of a cluster import this module, so it imports little.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attrs import define, field, frozen

from sims.errors import unfit

MOST = 3
"""Number of processes in a row that die within the same step of a job before the run ends: the step
itself ends them, and would end the next one, too."""


@frozen
class Death:
    """The death, by no command, of a process that computed for a job."""

    job: str
    process: Any
    """The process, as its Nanny knows it; None in a cluster that was there before."""

    @property
    def end(self) -> str:
        """How the process ended, as text in parentheses; empty where nobody here knows that."""
        code = None if self.process is None else self.process.exitcode
        if code is None:
            return ""
        return f" (exit code {code})" if code >= 0 else f" ({signal.Signals(-code).name})"


@define(eq=False)
class Repeats:
    """Deaths, one after the other, within the same step of a job."""

    step: int
    times: int = 0


@define(eq=False)
class Deaths:
    """The deaths of processes that computed, job by job, of which those within one step follow each
    other where no process gets beyond it."""

    _last: dict[str, Repeats] = field(factory=dict)
    """Maps each job to the deaths within the step in which a process died last."""

    def add(
        self, it: Death, step: int, worker: int, end: Callable[[BaseException], object]
    ) -> None:
        """Add a death of a process of `worker` within the step of this number, and call `end` with
        an InputError where MOST processes in a row have died there."""
        last = self._last.get(it.job)
        if last is None or last.step != step:
            last = self._last[it.job] = Repeats(step)
        last.times += 1
        if last.times >= MOST:
            where = f"{it.job}: step {step} on worker {worker}"
            problem = f"{where} has ended its process{it.end}, {last.times} times in a row"
            end(unfit("live.function", problem, "steps that leave their process alive"))


class StepNote:
    """A file with the number of the step under way. It outlives the process, so that the next one
    in its place knows within which step this one died."""

    def __init__(self, folder: Path, place: str) -> None:
        """Read what the former process of the place has left in the file, and begin it anew."""
        file = folder / f"step-{place}"
        found = file.read_bytes().strip() if file.exists() else b""
        self.former = int(found) if found else None
        self._all = folder, f"step-{place.partition('-')[0]}-*"
        self._file = os.open(file, os.O_WRONLY | os.O_CREAT, 0o600)
        self.clear()

    def write(self, step: int) -> None:
        """Write that the step of this number begins."""
        os.pwrite(self._file, b"%20d" % step, 0)

    def clear(self) -> None:
        """Write that no step is under way yet."""
        os.pwrite(self._file, b" " * 20, 0)

    def remove(self) -> None:
        """Remove the files of all places of the same computation on this machine, for which no
        process will ask any more."""
        folder, names = self._all
        for it in folder.glob(names):
            it.unlink(missing_ok=True)


def note_of(place: str) -> StepNote | None:
    """Return the note of the steps of a place, beside this process's own folder; None without a
    Nanny, as no other process follows there."""
    if not place:
        return None
    from distributed import get_worker

    worker = get_worker()
    return StepNote(Path(worker.local_directory).parent, place) if worker.nanny else None
