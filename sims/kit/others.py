"""Random questions to the policies of enrolment, packs, copies, and the master."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import define, field, frozen
from hypothesis import strategies as st

from actors.deciders.copies.checks import CheckedCopies
from actors.deciders.enrolment.checks import answer, check
from actors.deciders.pack.checks import allocate, redistribute
from actors.decisions import answer as asked_of
from actors.decisions import items, refusal
from policies.interface import Cause, Configuration, Enrolment, Reason
from policies.interface.copies import ActiveJobs
from policies.maths.markov import Belief, MarkovChain
from sims.kit.cases import AskedCase

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
    left = draw(st.integers(1, 30))

    def make() -> tuple[Any, ...]:
        running = None
        if runs and members:
            running = DrawnRunning(Configuration(members), left, [0] * len(members))
        view = EnrolmentMoment(enrolment, up, programmed, elapsed, reason, running, dict(held))
        return view, np.random.default_rng(SEED)

    return AskedCase(make, _enrolled)


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


@frozen
class _Member:
    """An application of a question."""

    index: int
    groups: int
    largest: int
    work: float
    move: float

    def candidate(self, pair: int, running: bool) -> DrawnCandidate:
        size = pair * self.groups if running else 0
        return DrawnCandidate(self.index, size, pair * self.largest, self.work, self.move)


@st.composite
def _members(draw: st.DrawFn) -> tuple[int, list[_Member]]:
    pair = draw(st.integers(1, 2))
    many = draw(st.integers(1, 4))
    members = []
    for index in range(many):
        groups = draw(st.integers(1, 3))
        largest = groups + draw(st.integers(0, 4))
        cost = draw(st.integers(0, 3))
        members.append(
            _Member(index, groups, largest, float(draw(st.integers(1, 50))), float(cost))
        )
    return pair, members


@st.composite
def pack_allocations(draw: st.DrawFn) -> AskedCase:
    """A pack and a platform that has room for it."""
    pair, members = draw(_members())
    processors = pair * (len(members) + draw(st.integers(0, 8)))

    def make() -> tuple[PackMoment]:
        return (PackMoment(pair, processors, [it.candidate(pair, False) for it in members]),)

    return AskedCase(make, lambda policy, asked: allocate(policy, *asked))


@st.composite
def redistributions(draw: st.DrawFn) -> AskedCase:
    """An end, or a fault, with some of a pack to be redistributed."""
    pair, members = draw(_members())
    cause = draw(st.sampled_from(Cause))
    faulty = draw(st.sampled_from(members)).index if cause is Cause.FAULT else None
    free = [it for it in members if it.index == faulty or draw(st.booleans())]
    idle, now = pair * draw(st.integers(0, 4)), float(draw(st.integers(0, 20)))

    def make() -> tuple[EventMoment]:
        those = [it.candidate(pair, True) for it in free]
        every = [it.candidate(pair, True) for it in members]
        longest = max(it.finish(it.size) for it in every)
        return (EventMoment(now, cause, faulty, pair, idle, longest, those),)

    return AskedCase(make, lambda policy, asked: redistribute(policy, *asked))


# --- copies ---------------------------------------------------------------------------------------


@st.composite
def copies(draw: st.DrawFn) -> AskedCase:
    """Some jobs present on some workers, which may run several copies at once."""
    servers, many = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    sizes = [float(draw(st.integers(1, 20))) for _ in range(many)]
    left = [size * draw(st.integers(1, 4)) / 4 for size in sizes]
    since = sorted(float(draw(st.integers(0, 20))) for _ in range(many))

    def make() -> tuple[Any, ...]:
        jobs = ActiveJobs(servers, np.array(since), np.array(sizes), np.array(left))
        return jobs, np.random.default_rng(SEED)

    return AskedCase(make, lambda policy, asked: CheckedCopies(policy, multitasking=True)(*asked))


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
    told = [draw(one) for _ in range(many)]
    now = float(draw(st.integers(0, 20)))

    def make() -> tuple[Any, ...]:
        return [Waiter(k, *each) for k, each in enumerate(told)], channels, now

    return AskedCase(make, _served)


def _served(policy: Any, asked: tuple[Any, ...]) -> list[Any]:
    waiting, channels, _ = asked
    known = {id(it) for it in waiting}
    answered = asked_of(policy, *asked)
    chosen = items(policy, answered)
    seen = f"{channels} channels, waiting: {waiting!r}"
    if chosen is None or not {id(it) for it in chosen} <= known:
        raise refusal(policy, repr(answered), "an answer is a sequence of those waiting", seen)
    if len({id(it) for it in chosen}) < len(chosen) or len(chosen) > channels:
        problem = f"at most {channels} are served, each once"
        raise refusal(policy, repr(answered), problem, seen)
    return chosen
