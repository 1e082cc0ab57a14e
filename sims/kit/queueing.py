"""Random questions to a queue's policies: strategies, orders, allocations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import define, field, frozen
from hypothesis import strategies as st

from actors.deciders.queue.checks import (
    CheckedAllocation,
    CheckedBatches,
    CheckedOrder,
    CheckedStrategy,
)
from policies.interface.queue import BatchJob, Decision, Moment, Queued, Reservation, Run
from policies.maths.speedup import Profile, Rigid, Table, amdahl
from sims.kit.points import AskedCase

TIMES = st.integers(1, 20).map(float)
FEW = 6
"""Jobs in a question."""


@define
class View:
    """Satisfies policies.interface.queue.BatchView; what a policy changes in it shows."""

    now: float
    processors: int
    free: int
    queue: list[Queued]
    running: list[Run]
    failed: list[Queued] = field(factory=list)
    shelf_end: float | None = None
    reservations: Mapping[int, Reservation] = field(factory=dict)

    @property
    def busy(self) -> bool:
        """Whether an attempt is under way."""
        return any(run[3] is not None for run in self.running)

    @property
    def least(self) -> int:
        """The smallest allotment in the queue."""
        return min((it.processors for it in self.queue), default=self.processors + 1)


def _queued(
    index: int, processors: int, time: float, submitted: float = 0, estimate: float | None = None
) -> Queued:
    """A rigid job as a strategy sees it."""
    profile = Rigid(processors, time)
    job = BatchJob(index, f"J{index + 1}", profile, 0.0, estimate, submitted)
    held = job.believed(processors)
    return Queued(job, processors, held, (-held, index))


@st.composite
def strategies(draw: st.DrawFn) -> AskedCase:
    """A platform some of whose processors are busy or DOWN, and a queue."""
    platform, now = draw(st.integers(1, 8)), draw(st.integers(0, 20).map(float))
    past = st.integers(0, int(now)).map(float)
    waiting = st.tuples(st.integers(1, platform), TIMES, past, st.none() | TIMES)
    jobs = [_queued(k, *draw(waiting)) for k in range(draw(st.integers(0, FEW)))]
    free, taken = platform, list[tuple[float, int, bool]]()
    while free and draw(st.booleans()):
        width = draw(st.integers(1, free))
        free -= width
        taken.append((now + draw(TIMES), width, draw(st.booleans())))
    queue = sorted(jobs, key=lambda it: it.key)
    failed = [it for it in queue if draw(st.booleans())]
    runs = sorted(_run(place, *it) for place, it in enumerate(taken))

    def stalls(decision: Decision) -> str | None:
        if runs or not queue or decision.starts or decision.wake is not None:
            return None
        return "starts nothing on an empty platform, and no event will ask it again"

    view = View(now, platform, free, queue, runs, failed)
    return AskedCase((view,), lambda policy, asked: CheckedStrategy(policy)(*asked), stalls)


def _run(place: int, end: float, width: int, down: bool) -> Run:
    """A copy of a job that is not in the queue, or processors that are DOWN."""
    index = FEW + place
    job = _queued(index, width, end)
    return (end, -1 - place if down else index, width, None if down else job, (), index)


# --- orders and allocations -----------------------------------------------------------------------


@st.composite
def orders(draw: st.DrawFn) -> AskedCase:
    """A job and its allotment."""
    platform = draw(st.integers(1, 8))
    width, time = draw(st.integers(1, platform)), draw(TIMES)
    job = _queued(0, width, time, draw(TIMES)).job
    lot = _Lot(draw(st.integers(0, 9)) / 10)
    return AskedCase((job, width, time, platform, lot), _ordered)


def _ordered(order: Any, asked: tuple[Any, ...]) -> Any:
    """Its answer, or that of a timed order at the start."""
    return CheckedOrder(order.at(Moment(0.0)) if hasattr(order, "at") else order)(*asked)


@frozen
class _Lot:
    """Satisfies policies.interface.queue.Draw."""

    lot: float

    def __call__(self, job: BatchJob) -> float:
        return self.lot


@st.composite
def _profiles(draw: st.DrawFn, platform: int) -> Profile:
    work = draw(TIMES)
    if draw(st.booleans()):
        return amdahl(work, draw(st.integers(0, 4)) / 4)
    more = [work / p + draw(st.integers(0, 2)) for p in range(2, platform + 1)]
    return Table((work, *more))


@st.composite
def _moldable(draw: st.DrawFn) -> tuple[list[BatchJob], int]:
    platform = draw(st.integers(1, 8))
    profiles = draw(st.lists(_profiles(platform), min_size=1, max_size=FEW))
    jobs = [BatchJob(k, f"J{k + 1}", it, kind="moldable") for k, it in enumerate(profiles)]
    return jobs, platform


@st.composite
def allocations(draw: st.DrawFn) -> AskedCase:
    """Some moldable jobs and a platform."""
    return AskedCase(draw(_moldable()), lambda policy, asked: CheckedAllocation(policy)(*asked))


@st.composite
def batch_allocations(draw: st.DrawFn) -> AskedCase:
    """The same, with how many attempts of each are pending."""
    jobs, platform = draw(_moldable())
    attempts = [draw(st.integers(1, 3)) for _ in jobs]
    return AskedCase(
        (jobs, attempts, platform), lambda policy, asked: CheckedBatches(policy).allot(*asked)
    )
