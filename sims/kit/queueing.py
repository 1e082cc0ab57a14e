"""Random questions to a queue's policies: strategies, orders and allocations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import define, field, frozen
from hypothesis import strategies as st

from actors.deciders.queue.checks import (
    CheckedAllocation,
    CheckedBatches,
    CheckedOrder,
    CheckedStrategy,
)
from policies.interface.kinds import JobKind
from policies.interface.queue import BatchJob, Decision, Interval, Moment, Queued, Reservation, Run
from policies.maths.speedup import Profile, Rigid, Table, amdahl
from sims.kit import AskedCase

TIMES = st.integers(1, 20).map(float)
FEW = 6
"""Largest number of jobs in a question."""


@define
class View:
    """A random state of a queue; satisfies policies.interface.queue.BatchView. Its repr shows any
    change that a policy makes to it."""

    now: float
    processors: int
    free: int
    queue: list[Queued]
    running: list[Run]
    failed: list[Queued] = field(factory=list)
    shelf_end: float | None = None
    reservations: Mapping[int, Reservation] = field(factory=dict)
    cells: None = None
    vacant: Sequence[Interval] = ()
    changed: Sequence[int] = ()

    @property
    def busy(self) -> bool:
        """Whether an attempt is under way."""
        return any(run.entry is not None for run in self.running)

    @property
    def least(self) -> int:
        """The smallest number of processors that a job in the queue gets; one more than the
        platform has if the queue is empty."""
        return min((it.processors for it in self.queue), default=self.processors + 1)


def _queued(
    index: int, processors: int, time: float, submitted: float = 0, estimate: float | None = None
) -> Queued:
    """Return a queue's entry of a rigid job that needs `processors` for `time`, was submitted at
    the time `submitted` and has the user's `estimate` of its time; None stands for no estimate. The
    longest job comes first in the queue."""
    profile = Rigid(processors, time)
    job = BatchJob(index, f"J{index + 1}", profile, 0.0, estimate, submitted)
    held = job.believed(processors)
    return Queued(job, processors, held, (-held, index))


@st.composite
def strategies(draw: st.DrawFn) -> AskedCase:
    """Draw a question on which jobs of a queue start now, on a platform of up to eight processors,
    some of which are busy or DOWN.

    An answer that starts nothing and asks for no later call leads nowhere if the platform is empty
    and jobs wait.
    """
    platform, now = draw(st.integers(1, 8)), draw(st.integers(0, 20).map(float))
    past = st.integers(0, int(now)).map(float)
    waiting = st.tuples(st.integers(1, platform), TIMES, past, st.none() | TIMES)
    jobs = [_queued(k, *draw(waiting)) for k in range(draw(st.integers(0, FEW)))]
    free, runs = platform, list[Run]()
    while free and draw(st.booleans()):
        width, end, down = draw(st.integers(1, free)), now + draw(TIMES), draw(st.booleans())
        index = FEW + len(runs)  # not in the queue: a copy of another job or, if DOWN, no job
        job = None if down else _queued(index, width, end)
        runs.append(Run(end, -1 - len(runs) if down else index, width, job, (), index))
        free -= width
    queue = sorted(jobs, key=lambda it: it.key)
    failed = [it for it in queue if draw(st.booleans())]

    def stalls(decision: Decision) -> str | None:
        if runs or not queue or decision.starts or decision.wake is not None:
            return None
        return "starts nothing on an empty platform, and no event will ask it again"

    view = View(now, platform, free, queue, sorted(runs, key=lambda it: (it.end, it.index)), failed)
    return AskedCase((view,), lambda policy, asked: CheckedStrategy(policy)(asked), stalls)


# --- orders and allocations -----------------------------------------------------------------------


@st.composite
def orders(draw: st.DrawFn) -> AskedCase:
    """Draw a question on the priority of a rigid job in a queue, given its processors and its
    time."""
    platform = draw(st.integers(1, 8))
    width, time = draw(st.integers(1, platform)), draw(TIMES)
    job = _queued(0, width, time, draw(TIMES)).job
    lot = _Lot(draw(st.integers(0, 9)) / 10)
    return AskedCase((job, width, time, platform, lot), _asked_order)


def _asked_order(order: Any, *asked: Any) -> Any:
    """Return an order's answer to the question `asked`, checked; an order that changes with time is
    asked for time 0."""
    return CheckedOrder(order.at(Moment(0.0)) if hasattr(order, "at") else order)(*asked)


@frozen
class _Lot:
    """A number in [0, 1), drawn once, that is the same for every job; satisfies
    policies.interface.queue.Draw."""

    lot: float

    def __call__(self, job: BatchJob) -> float:
        return self.lot


@st.composite
def _moldable(draw: st.DrawFn) -> tuple[list[BatchJob], int]:
    platform = draw(st.integers(1, 8))
    profiles = list[Profile]()
    for _ in range(draw(st.integers(1, FEW))):
        work = draw(TIMES)
        if draw(st.booleans()):
            profiles.append(amdahl(work, draw(st.integers(0, 4)) / 4))
        else:
            more = [work / p + draw(st.integers(0, 2)) for p in range(2, platform + 1)]
            profiles.append(Table((work, *more)))
    jobs = [BatchJob(k, f"J{k + 1}", it, kind=JobKind.MOLDABLE) for k, it in enumerate(profiles)]
    return jobs, platform


@st.composite
def allocations(draw: st.DrawFn) -> AskedCase:
    """Draw a question on the number of processors of each of up to FEW moldable jobs, on a platform
    of up to eight."""
    return AskedCase(draw(_moldable()), lambda policy, *asked: CheckedAllocation(policy)(*asked))


@st.composite
def batch_allocations(draw: st.DrawFn) -> AskedCase:
    """Draw a question on the number of processors of each of up to FEW moldable jobs, on a platform
    of up to eight, for one to three pending attempts of each."""
    jobs, platform = draw(_moldable())
    asked = jobs, [draw(st.integers(1, 3)) for _ in jobs], platform
    return AskedCase(asked, lambda policy, *asked: CheckedBatches(policy).allot(*asked))
