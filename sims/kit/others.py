"""Random questions to the policies of enrolment, packs, copies, and the master."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import define, evolve, field
from hypothesis import strategies as st

from actors.deciders.copies.checks import CheckedCopies
from actors.deciders.enrolment.checks import answer, check
from actors.deciders.pack.checks import allocate, redistribute
from actors.master import choose
from policies.interface import Cause, Configuration, DueJob, Enrolment, Offer, Reason
from policies.interface.copies import ActiveJobs
from policies.maths.markov import Belief, MarkovChain
from sims.kit.points import AskedCase
from sims.scenario.deciders.deadline import KindAmong

SEED = 0
STEADY = MarkovChain(((0.98, 0.01, 0.01), (0.5, 0.5, 0.0), (0.1, 0.1, 0.8)))
FLEETING = MarkovChain(((0.8, 0.1, 0.1), (0.3, 0.6, 0.1), (0.1, 0.1, 0.8)))

# --- enrolment ------------------------------------------------------------------------------------


@define
class DrawnRunning:
    """Satisfies policies.interface.enrolment.RunningView."""

    configuration: Configuration
    work_left: int
    lacking: list[int]

    def missing(self) -> Sequence[int]:
        """Slots of communication that each member lacks."""
        return self.lacking


@define
class EnrolmentMoment:
    """Satisfies policies.interface.enrolment.EnrolmentView."""

    enrolment: Enrolment
    up: int
    programmed: int
    elapsed: int
    reason: Reason
    running: DrawnRunning | None
    held: dict[int, int]
    """Slots of data that a worker holds."""

    def missing(self, worker: int, tasks: int) -> int:
        """Slots of communication that `worker` would lack."""
        program = 0 if self.programmed >> worker & 1 else self.enrolment.program
        return program + max(0, tasks * self.enrolment.data - self.held.get(worker, 0))


@st.composite
def enrolments(draw: st.DrawFn) -> AskedCase:
    """Up to five workers, some of them UP, that can hold the tasks or not."""
    workers, tasks = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    each = range(workers)
    enrolment = Enrolment(
        speeds=tuple(draw(st.integers(1, 6)) for _ in each),
        bounds=tuple(draw(st.integers(0, tasks)) for _ in each),
        tasks=tasks,
        channels=2,
        program=draw(st.integers(0, 3)),
        data=draw(st.integers(0, 2)),
        belief=Belief([draw(st.sampled_from([STEADY, FLEETING])) for _ in each]),
    )
    masks = st.integers(0, (1 << workers) - 1)
    up, programmed, elapsed = draw(masks), draw(masks), draw(st.integers(0, 40))
    held = {q: draw(st.integers(0, 3)) for q in each if programmed >> q & 1}
    members = _dealt(enrolment, up)
    runs = members is not None and draw(st.booleans())
    reasons = (Reason.START, Reason.FAILURE, Reason.ERROR)
    reason = Reason.PROACTIVE if runs else draw(st.sampled_from(reasons))
    left, running = draw(st.integers(1, 30)), None
    if runs and members:
        running = DrawnRunning(Configuration(members), left, [0] * len(members))
    view = EnrolmentMoment(enrolment, up, programmed, elapsed, reason, running, held)
    return AskedCase((view, np.random.default_rng(SEED)), _enrolled)


def _dealt(enrolment: Enrolment, up: int) -> tuple[tuple[int, int], ...] | None:
    """Members that fit, the lowest first; None: there are none."""
    left, members = enrolment.tasks, list[tuple[int, int]]()
    for q, bound in enumerate(enrolment.bounds):
        share = min(left, bound) if up >> q & 1 else 0
        left -= share
        members += [(q, share)] if share else []
    return tuple(members) if not left else None


def _enrolled(policy: Any, asked: tuple[Any, ...]) -> Any:
    view, rng = asked
    chosen = answer(policy, view, rng)
    if chosen is not None:
        check(policy, chosen, view)
    return chosen


# --- packs ----------------------------------------------------------------------------------------


@define
class DrawnCandidate:
    """Satisfies policies.interface.pack.CandidateView: work / size, and a cost for each worker."""

    index: int
    size: int
    largest: int
    work: float
    move: float
    """What another size than the present costs."""
    most: int = field(default=sys.maxsize, repr=False)
    """Its times are known for any size."""

    def finish(self, size: int) -> float:
        """When it is expected to end with `size` processors."""
        return self.work / size + (self.move if self.size and size != self.size else 0)


@define
class PackMoment:
    """Satisfies policies.interface.pack.AllocationView."""

    pair: int
    processors: int
    applications: list[DrawnCandidate]


@define
class EventMoment:
    """Satisfies policies.interface.pack.RedistributionView."""

    now: float
    cause: Cause
    faulty: int | None
    pair: int
    idle: int
    longest: float
    candidates: list[DrawnCandidate]


@st.composite
def _candidates(draw: st.DrawFn, pair: int) -> list[DrawnCandidate]:
    """Applications that run."""
    found = []
    for index in range(draw(st.integers(1, 4))):
        groups = draw(st.integers(1, 3))
        largest, work = groups + draw(st.integers(0, 4)), float(draw(st.integers(1, 50)))
        move = float(draw(st.integers(0, 3)))
        found.append(DrawnCandidate(index, pair * groups, pair * largest, work, move))
    return found


@st.composite
def pack_allocations(draw: st.DrawFn) -> AskedCase:
    """A pack and a platform that has room for it."""
    pair = draw(st.integers(1, 2))
    members = [evolve(it, size=0) for it in draw(_candidates(pair))]
    processors = pair * (len(members) + draw(st.integers(0, 8)))
    view = PackMoment(pair, processors, members)
    return AskedCase((view,), lambda policy, asked: allocate(policy, *asked))


@st.composite
def redistributions(draw: st.DrawFn) -> AskedCase:
    """An end, or a fault, with some of a pack to be redistributed."""
    pair = draw(st.integers(1, 2))
    members = draw(_candidates(pair))
    cause = draw(st.sampled_from(Cause))
    faulty = draw(st.sampled_from(members)).index if cause is Cause.FAULT else None
    free = [it for it in members if it.index == faulty or draw(st.booleans())]
    idle, now = pair * draw(st.integers(0, 4)), float(draw(st.integers(0, 20)))
    longest = max(it.finish(it.size) for it in members)
    view = EventMoment(now, cause, faulty, pair, idle, longest, free)
    return AskedCase((view,), lambda policy, asked: redistribute(policy, *asked))


# --- copies ---------------------------------------------------------------------------------------


@st.composite
def copies(draw: st.DrawFn) -> AskedCase:
    """Some jobs present on some workers, which may run several copies at once."""
    servers, many = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    sizes = [float(draw(st.integers(1, 20))) for _ in range(many)]
    left = [size * draw(st.integers(1, 4)) / 4 for size in sizes]
    since = sorted(float(draw(st.integers(0, 20))) for _ in range(many))
    jobs = ActiveJobs(servers, np.array(since), np.array(sizes), np.array(left))
    return AskedCase(
        (jobs, np.random.default_rng(SEED)),
        lambda policy, asked: CheckedCopies(policy, multitasking=True)(*asked),
    )


# --- the master -----------------------------------------------------------------------------------


@define
class Waiter:
    """Satisfies policies.interface.service.Waiting."""

    index: int
    serving: bool
    started: bool
    left: float


@st.composite
def services(draw: st.DrawFn) -> AskedCase:
    """Workers that wait for a master's channels."""
    many, channels = draw(st.integers(0, 5)), draw(st.integers(1, 3))
    one = st.tuples(st.booleans(), st.booleans(), st.integers(1, 9))
    waiting = [Waiter(k, *draw(one)) for k in range(many)]
    now = float(draw(st.integers(0, 20)))
    return AskedCase((waiting, channels, now), lambda policy, asked: choose(policy, *asked))


# --- deadlines ------------------------------------------------------------------------------------


@st.composite
def deadlines(draw: st.DrawFn) -> AskedCase:
    """A job somewhere on its way, on some kind of worker or none."""
    kinds = ("zone-a", "zone-b", "on-demand")
    work, saved = draw(st.integers(1, 50)), draw(st.integers(0, 50))
    offers = tuple(Offer(it, 1.0 + k) for k, it in enumerate(kinds) if draw(st.booleans()))
    job = DueJob(
        elapsed=float(draw(st.integers(0, 60))),
        deadline=float(work + draw(st.integers(1, 20))),
        work=float(work),
        saved=float(min(saved, work - 1)),
        changeover=draw(st.sampled_from((0.0, 0.2, 2.0))),
        every=1.0,
        kind=draw(st.sampled_from(("", *(it.kind for it in offers)))),
        offers=offers,
    )
    return AskedCase((job,), lambda policy, asked: KindAmong(policy, kinds)(*asked))
