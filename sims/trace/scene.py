"""The machine and the queue at an instant: who runs, who waits, who is away; from a log's lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import define, evolve, field, frozen

from actors.events import ScenarioStarted
from policies.availability import WorkerState
from sims.ledger.slices import count, ranges
from sims.ledger.slices import text as in_text

Key = tuple[str, int]
"""(job, run)."""
Fields = dict[str, Any]
"""A line, parsed."""


@define
class Arrived:
    """A job in the system."""

    index: int
    """Number of the event: the order of submission."""
    at: float
    estimate: float | None = None
    verification: float = 0.0
    runs: int = 0
    """Under way, and workers kept between two."""


@frozen
class HeldWorkers:
    """Processors that a run, or a job between two runs, holds."""

    job: str
    run: int
    processors: str
    since: float
    believed: float
    """When it is believed to end, where nothing changes its speed."""
    kept: bool = False
    """Whether the run is over, and the job keeps them for its next one."""

    @property
    def width(self) -> int:
        """How many."""
        return count(self.processors)


@define
class Holdings:
    """Fold over those lines of a log that say who holds what; times in the log's unit."""

    started: ScenarioStarted
    jobs: dict[str, Arrived] = field(factory=dict)
    waiting: dict[str, float] = field(factory=dict)
    """Job that nothing is done for -> since when."""
    held: dict[Key, HeldWorkers] = field(factory=dict)
    away: dict[int, WorkerState] = field(factory=dict)
    """Workers that are not UP."""
    promised: dict[str, float] = field(factory=dict)
    """Waiting job -> when it is to start."""
    _taken: np.ndarray[Any, np.dtype[np.int32]] = field(init=False)
    """Per worker: holders, and one where it is away."""

    def __attrs_post_init__(self) -> None:
        self._taken = np.zeros(self.started.processors, np.int32)

    def count_away(self, state: WorkerState) -> int:
        """How many workers are in this state."""
        return sum(it is state for it in self.away.values())

    @property
    def free(self) -> int:
        """Workers that are UP and nobody's."""
        return len(self._taken) - int(np.count_nonzero(self._taken))

    def __call__(self, kind: bytes, line: Fields) -> None:
        HANDLERS[kind](self, line)

    # --- jobs ---------------------------------------------------------------------------------

    def submit(self, line: Fields) -> None:
        """A job asks to be scheduled."""
        self.jobs[line["job"]] = Arrived(line["seq"], line["t"])
        self.waiting[line["job"]] = line["t"]

    def describe(self, line: Fields) -> None:
        """What reservations believe of it."""
        job = self.jobs[line["job"]]
        job.estimate, job.verification = line["estimate"], line["verification"]

    def leave(self, line: Fields) -> None:
        """It is completed or killed."""
        job = line["job"]
        del self.jobs[job]
        self.waiting.pop(job, None)
        self.promised.pop(job, None)

    def promise(self, line: Fields) -> None:
        """It is to start at some time."""
        self.promised[line["job"]] = line["start"]

    def drop(self, line: Fields) -> None:
        """It is promised nothing any more."""
        del self.promised[line["job"]]

    # --- runs ---------------------------------------------------------------------------------

    def start(self, line: Fields) -> None:
        """A run holds its members."""
        if line.get("keeps") is not None:
            self._give_back((line["job"], line["keeps"]), line["t"])
        left = line["work"] - line.get("begun", 0)
        self._take(line["job"], line["run"], line["processors"], left, line["t"])

    def place(self, line: Fields) -> None:
        """Copies of many jobs: a job's copies are one holder."""
        first, width, workers = 0, line["width"], line["workers"]
        for job, run, copies in zip(line["jobs"], line["runs"], line["copies"], strict=True):
            of_job = {w + k for w in workers[first : first + copies] for k in range(width)}
            first += copies
            self._take(job, run, in_text(sorted(of_job)), 0.0, line["t"])

    def _take(self, name: str, run: int, processors: str, left: float, now: float) -> None:
        job = self.jobs[name]
        job.runs += 1
        self.waiting.pop(name, None)
        self.promised.pop(name, None)
        time = left if job.estimate is None else job.estimate
        self.held[name, run] = HeldWorkers(
            name, run, processors, now, now + time + job.verification
        )
        self._count(processors, 1)

    def end(self, line: Fields) -> None:
        """A run gives its members back, unless the job keeps them."""
        key = line["job"], line["run"]
        if line.get("kept", False):
            self.held[key] = evolve(self.held[key], kept=True)
        else:
            self._give_back(key, line["t"])

    def release(self, line: Fields) -> None:
        """What was kept is given back."""
        self._give_back((line["job"], line["run"]), line["t"])

    def settle(self, line: Fields) -> None:
        """All copies end."""
        for key in zip(line["jobs"], line["runs"], strict=True):
            self._give_back(key, line["t"])

    def _give_back(self, key: Key, now: float) -> None:
        self._count(self.held.pop(key).processors, -1)
        job = self.jobs.get(key[0])  # of one instant's lines the job's end may come first
        if job is None:
            return
        job.runs -= 1
        if not job.runs:
            self.waiting[key[0]] = now

    def join(self, line: Fields) -> None:
        """More members."""
        self._exchange(line, f"{self.held[line['job'], line['run']].processors} ")

    def exchange(self, line: Fields) -> None:
        """Other members."""
        self._exchange(line, "")

    def _exchange(self, line: Fields, before: str) -> None:
        key = line["job"], line["run"]
        old = self.held[key]
        now = (before + line["processors"]).strip()
        self.held[key] = evolve(old, processors=now)
        self._count(old.processors, -1)
        self._count(now, 1)

    def _count(self, processors: str, holders: int) -> None:
        for first, last in ranges(processors):
            self._taken[first : last + 1] += holders

    # --- workers ------------------------------------------------------------------------------

    def move(self, line: Fields) -> None:
        """A worker changes state."""
        worker, state = line["worker"], WorkerState(line["state"])
        was = self.away.pop(worker, None) is not None
        if state is not WorkerState.UP:
            self.away[worker] = state
        self._taken[worker] += (worker in self.away) - was


HANDLERS: dict[bytes, Callable[[Holdings, Fields], None]] = {
    b"JobSubmitted": Holdings.submit,
    b"JobDescribed": Holdings.describe,
    b"JobCompleted": Holdings.leave,
    b"JobKilled": Holdings.leave,
    b"ReservationMade": Holdings.promise,
    b"ReservationDropped": Holdings.drop,
    b"RunStarted": Holdings.start,
    b"RunEnded": Holdings.end,
    b"MembersReleased": Holdings.release,
    b"MembersJoined": Holdings.join,
    b"MembersChanged": Holdings.exchange,
    b"CopiesPlaced": Holdings.place,
    b"CopiesSettled": Holdings.settle,
    b"WorkerChanged": Holdings.move,
}
"""What a scene is told of: no line is built into an event, which would triple its time."""
