"""Random questions to a queue's policies: strategies, orders, allocations."""

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
from policies.interface.queue import BatchJob, Decision, Moment, Queued, Reservation, Run
from policies.maths.speedup import Profile, Rigid, Table, amdahl
from sims.kit.cases import AskedCase

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


@frozen
class WaitingJob:
    """A job of a question: who, how wide, how long, how long ago, believed what."""

    index: int
    processors: int
    time: float
    submitted: float
    estimate: float | None

    def queued(self) -> Queued:
        """As a strategy sees it."""
        profile = Rigid(self.processors, self.time)
        name = f"J{self.index + 1}"
        job = BatchJob(self.index, name, profile, 0.0, self.estimate, self.submitted)
        held = job.believed(self.processors)
        return Queued(job, self.processors, held, (-held, self.index))


@st.composite
def waiting(draw: st.DrawFn, platform: int, now: float) -> list[WaitingJob]:
    """Some jobs, by index."""
    many = draw(st.integers(0, FEW))
    return [
        WaitingJob(
            *(index, draw(st.integers(1, platform)), draw(TIMES)),
            draw(st.integers(0, int(now)).map(float)),
            draw(st.one_of(st.none(), TIMES)),
        )
        for index in range(many)
    ]


@st.composite
def strategies(draw: st.DrawFn) -> AskedCase:
    """A platform some of whose processors are busy or DOWN, and a queue."""
    platform, now = draw(st.integers(1, 8)), draw(st.integers(0, 20).map(float))
    jobs = draw(waiting(platform, now))
    free, taken = platform, list[tuple[float, int, bool]]()
    while free and draw(st.booleans()):
        width = draw(st.integers(1, free))
        free -= width
        taken.append((now + draw(TIMES), width, draw(st.booleans())))
    failed = {it.index for it in jobs if draw(st.booleans())}

    def make() -> tuple[View]:
        queue = sorted((it.queued() for it in jobs), key=lambda it: it.key)
        runs = sorted(_run(place, it, now) for place, it in enumerate(taken))
        late = [it for it in queue if it.job.index in failed]
        return (View(now, platform, free, queue, runs, late),)

    return AskedCase(make, lambda policy, asked: CheckedStrategy(policy)(*asked), _stalls_of(make))


def _run(place: int, taken: tuple[float, int, bool], now: float) -> Run:
    """A copy of a job that is not in the queue, or processors that are DOWN."""
    end, width, down = taken
    index = FEW + place
    job = WaitingJob(index, width, end, 0.0, None).queued()
    return (end, -1 - place if down else index, width, None if down else job, (), index)


def _stalls_of(make: Any) -> Any:
    def stalls(decision: Decision) -> str | None:
        (view,) = make()
        if view.running or not view.queue or decision.starts or decision.wake is not None:
            return None
        return "starts nothing on an empty platform, and no event will ask it again"

    return stalls


# --- orders and allocations -----------------------------------------------------------------------


@st.composite
def orders(draw: st.DrawFn) -> AskedCase:
    """A job and its allotment."""
    platform = draw(st.integers(1, 8))
    job = WaitingJob(0, draw(st.integers(1, platform)), draw(TIMES), draw(TIMES), None)
    lot = draw(st.integers(0, 9)) / 10

    def make() -> tuple[Any, ...]:
        return job.queued().job, job.processors, job.time, platform, _Lot(lot)

    return AskedCase(make, lambda policy, asked: CheckedOrder(_now(policy))(*asked))


def _now(order: Any) -> Any:
    """A timed order as it is at the start."""
    return order.at(Moment(0.0)) if hasattr(order, "at") else order


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
def _moldable(draw: st.DrawFn) -> tuple[list[Profile], int]:
    platform = draw(st.integers(1, 8))
    return draw(st.lists(_profiles(platform), min_size=1, max_size=FEW)), platform


def _jobs(profiles: Sequence[Profile]) -> list[BatchJob]:
    pairs = enumerate(profiles)
    return [BatchJob(k, f"J{k + 1}", profile, kind="moldable") for k, profile in pairs]


@st.composite
def allocations(draw: st.DrawFn) -> AskedCase:
    """Some moldable jobs and a platform."""
    profiles, platform = draw(_moldable())
    return AskedCase(
        lambda: (_jobs(profiles), platform),
        lambda policy, asked: CheckedAllocation(policy)(*asked),
    )


@st.composite
def batch_allocations(draw: st.DrawFn) -> AskedCase:
    """The same, with how many attempts of each are pending."""
    profiles, platform = draw(_moldable())
    attempts = [draw(st.integers(1, 3)) for _ in profiles]
    return AskedCase(
        lambda: (_jobs(profiles), list(attempts), platform),
        lambda policy, asked: CheckedBatches(policy).allot(*asked),
    )
