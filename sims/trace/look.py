"""The queue and the machine at an instant, what became of those who were there, and who was ahead
of whom."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from math import inf

from attrs import define, field, frozen

from actors.events import Compound, CopiesPlaced, DeciderKind, ScenarioStarted
from actors.intervals import count_in, intervals_of, numbers_in, text
from actors.runtime import Record
from policies.availability import WorkerState
from policies.interface.queue import BatchJob, Order
from policies.maths.speedup import Rigid
from policies.queue.names import default_order
from policies.queue.orders import PAPER_ORDERS, first_come, large_first, shortest_time
from sims.history import History, Job, Key, Listener, Run

PLAIN: dict[str, Order] = {
    **{name: order for name, order in PAPER_ORDERS.items() if name != "RANDOM"},
    "LJF": large_first,
    "FCFS": first_come,
    "SJF": shortest_time,
}
"""The orders that depend on nothing but what a log tells of a job. Read only."""

AWAY = (WorkerState.RECLAIMED, WorkerState.DOWN)


def wanted(run: Run) -> int:
    """How many processors its job asked for while it waited; copies that start together count."""
    placed, copies = run.record.event, 1
    if isinstance(placed, CopiesPlaced):
        copies = placed.copies[placed.jobs.index(run.job.name)]
    return copies * count_in(run.event.processors)


@frozen
class Held:
    """Processors that a run, or a job between two runs, holds; copies that start together are one
    holder."""

    job: str
    run: int
    kept: bool
    """Whether the run is over, and the job keeps them for its next one."""
    processors: str
    since: float
    believed: float
    """When it is believed to end, where nothing changes its speed."""

    @classmethod
    def of(cls, runs: list[Run]) -> Held:
        """By runs that one line started."""
        first, them = runs[0], runs[0].processors
        if len(runs) > 1:
            them = text(intervals_of(sorted({n for it in runs for n in numbers_in(it.processors)})))
        time, job = estimate_of(first.job), first.job
        if time is None:
            compound = isinstance(first.record.event, Compound)
            time = 0 if compound else first.event.work - first.event.begun
        believed = first.start + time + job.verification
        return cls(job.name, first.number, first.kept, them, first.start, believed)

    @property
    def width(self) -> int:
        """How many."""
        return count_in(self.processors)

    @property
    def key(self) -> Key:
        """The run."""
        return self.job, self.run


def held(runs: Iterable[Run]) -> list[Held]:
    """What these runs hold, or held, the largest first."""
    together: dict[tuple[str, int], list[Run]] = {}
    for run in runs:
        together.setdefault((run.job.name, run.record.seq), []).append(run)
    found = map(Held.of, together.values())
    return sorted(found, key=lambda it: (-it.width, it.since, it.job))


def estimate_of(job: Job) -> float | None:
    """How long its user believes that it runs."""
    return job.described.estimate if job.described else None


@define
class Look(Listener):
    """The state of a history when it was looked at; it then listens to what becomes of it."""

    free: int
    away: dict[WorkerState, list[int]]
    waiting: list[Job]
    """As they were then, in order of submission."""
    held: list[Held]
    """The largest first."""
    starts: dict[str, Run] = field(init=False, factory=dict)
    """By job that waits: its next run."""
    ends: dict[Key, float] = field(init=False, factory=dict)
    """By run: when the workers that it holds are released, or go on to its job's next run."""
    _awaited: set[str] = field(init=False)
    _holding: set[Key] = field(init=False)

    @classmethod
    def at(cls, history: History, whose: str | None = None) -> Look:
        """As things stand: for the job `whose`, which is none of those that it finds."""
        workers = sorted(history.workers.items())
        away = {state: [n for n, it in workers if it.state is state] for state in AWAY}
        others = [copy(job) for job in history.queue if job.name != whose]
        return cls(history.free, away, others, held(history.runs.values()))

    def __attrs_post_init__(self) -> None:
        self._awaited = {job.name for job in self.waiting}
        self._holding = {it.key for it in self.held}

    def run_started(self, run: Run, record: Record) -> None:
        if run.job.name in self._awaited:
            self._awaited.remove(run.job.name)
            self.starts[run.job.name] = run

    def run_released(self, run: Run, record: Record) -> None:
        if run.key in self._holding:
            self._holding.remove(run.key)
            self.ends[run.key] = record.t

    @property
    def settled(self) -> bool:
        """Whether all that can be told of those whom it found is known."""
        return not self._awaited and not self._holding


@frozen
class Ranking:
    """The queue's order: of a paper's name. A user's own, or a drawn one, cannot be told."""

    name: str
    """Empty where no queue decides."""
    order: Order | None
    processors: int

    @classmethod
    def of(cls, started: ScenarioStarted) -> Ranking:
        """Of the log that begins so."""
        if started.decider is not DeciderKind.QUEUE:
            return cls("", None, started.processors)
        said = (it.removeprefix("order=") for it in started.settings if it.startswith("order="))
        name = next(said, default_order(started.policy))
        return cls(name, PLAIN.get(name), started.processors)

    def rank(self, job: Job, run: Run | None) -> tuple[float, int]:
        """Where a job that waits for `run` stands, the smaller the earlier: by submission where no
        other order is known; last where what it asks for is not told and matters."""
        if self.order is None or self.order is first_come:
            return job.submitted, job.seq
        if run is None:
            return inf, job.seq
        estimate, processors, work = estimate_of(job), wanted(run), run.event.work
        described = BatchJob(job.seq, job.name, Rigid(processors, work), submitted=job.submitted)
        time = work if estimate is None else estimate
        return -self.order(described, processors, time, self.processors, _undrawn), job.seq


def _undrawn(job: BatchJob) -> float:
    raise AssertionError("only RANDOM draws, and it is not ranked")
