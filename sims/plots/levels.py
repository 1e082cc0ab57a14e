"""Levels over time: jobs that wait and run, transfers under way."""

from __future__ import annotations

from array import array

import numpy as np
from attrs import define, field

from actors.events import (
    JobCompleted,
    JobKilled,
    JobSubmitted,
    MembersReleased,
    RunEnded,
    RunStarted,
)
from actors.runtime import Record
from sims.ledger import Slice
from sims.plots.boxes import Floats

FINEST = 2000
"""Steps that a chart shows one by one; more are averaged over as many equal intervals."""


def _reals() -> array[float]:
    return array("d")


@define
class Level:
    """A whole number that steps up and down; steps in any order."""

    times: array[float] = field(factory=_reals)
    steps: array[float] = field(factory=_reals)

    level: int = 0
    """After all steps so far."""

    def step(self, t: float, by: int) -> None:
        """Up (or down) at t."""
        self.level += by
        self.times.append(t)
        self.steps.append(by)

    def curve(self, end: float) -> tuple[Floats, Floats]:
        """(times, levels from then on) over [0, end]; time averages where steps are too many."""
        times, at = np.unique(np.array(self.times), return_inverse=True)
        levels = np.bincount(at, np.array(self.steps), len(times)).cumsum()
        if not len(times) or times[0] > 0:
            times, levels = np.insert(times, 0, 0), np.insert(levels, 0, 0)
        if len(times) > FINEST:
            times, levels = _averaged(times, levels, end)
        return np.append(times, end), np.append(levels, levels[-1])


def _averaged(times: Floats, levels: Floats, end: float) -> tuple[Floats, Floats]:
    widths = np.diff(np.append(times, max(end, times[-1])))
    area = np.insert((levels * widths).cumsum(), 0, 0)
    edges = np.linspace(times[0], end, FINEST + 1)
    along = np.interp(edges, np.append(times, end), area)
    return edges[:-1], np.diff(along) / np.diff(edges)


@define
class Levels:
    """Fold: how many jobs wait, how many run, and who receives what."""

    waiting: Level = field(factory=Level)
    running: Level = field(factory=Level)
    transfers: dict[str, Level] = field(factory=dict)
    """By the slices' note: `program`, `data`, `image`, `save`."""
    _runs: dict[str, int] = field(factory=dict)
    """Job in the system -> runs under way, and workers kept between two."""

    def __call__(self, record: Record) -> None:
        match record.event:
            case JobSubmitted(job=job):
                self._runs[job] = 0
                self.waiting.step(record.t, 1)
            case RunStarted(job=job, keeps=None):
                self._change(record.t, job, 1)
            case RunEnded(job=job, kept=False) | MembersReleased(job=job):
                self._change(record.t, job, -1)
            case JobCompleted(job=job) | JobKilled(job=job):
                self._leave(record.t, job)

    def transfer(self, it: Slice) -> None:
        """A worker held a channel over a slice."""
        level = self.transfers.setdefault(it.note, Level())
        level.step(it.start, 1)
        level.step(it.end, -1)

    def _change(self, t: float, job: str, by: int) -> None:
        if job not in self._runs:
            return  # copies still end after the one that completed the job
        before = self._runs[job]
        self._runs[job] = before + by
        change = int(before + by > 0) - int(before > 0)
        if change:
            self.running.step(t, change)
            self.waiting.step(t, -change)

    def _leave(self, t: float, job: str) -> None:
        runs = self._runs.pop(job)
        (self.running if runs else self.waiting).step(t, -1)
