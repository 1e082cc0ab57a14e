"""Random questions to policies of enrolment, packs, copies, masters and deadlines."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import define, evolve, field, make_class
from hypothesis import strategies as st

from actors.deciders.copies.checks import CheckedCopies
from actors.deciders.enrolment.checks import answer, check
from actors.deciders.pack.checks import allocate, redistribute
from actors.deciders.queue.placement import Start, places
from actors.master import choose
from actors.records import Record, ask
from policies.interface import (
    BatchJob,
    Cause,
    Configuration,
    DueJob,
    Enrolment,
    Offer,
    Reason,
)
from policies.interface.copies import ActiveJobs
from policies.maths.markov import Belief, MarkovChain
from policies.maths.speedup import Table
from sims.kit import AskedCase
from sims.scenario.builders.members import KindAmong

SEED = 0
STEADY = MarkovChain(((0.98, 0.01, 0.01), (0.5, 0.5, 0.0), (0.1, 0.1, 0.8)))
FLEETING = MarkovChain(((0.8, 0.1, 0.1), (0.3, 0.6, 0.1), (0.1, 0.1, 0.8)))

# --- enrolment ------------------------------------------------------------------------------------


@define
class DrawnRunning:
    """A random running configuration (the members of a run and their progress); satisfies
    policies.interface.enrolment.RunningView."""

    configuration: Configuration
    work_left: int
    lacking: list[int]

    def missing(self) -> Sequence[int]:
        """Return the slots of communication that each member still needs, in the order of the
        configuration's members."""
        return self.lacking


@define
class EnrolmentMoment:
    """A random situation in which a policy chooses (enrols) the volatile workers for an iteration
    of a job, with the number of tasks of each; satisfies
    policies.interface.enrolment.EnrolmentView."""

    enrolment: Enrolment
    up: int
    programmed: int
    elapsed: int
    reason: Reason
    running: DrawnRunning | None
    held: dict[int, int]
    """Maps a worker to the slots of data that it holds."""

    def missing(self, worker: int, tasks: int) -> float:
        """Return the slots of communication that `worker` would need for so many tasks: for the
        program, unless it holds that already, and for the data that it lacks."""
        program = 0 if self.programmed >> worker & 1 else self.enrolment.program
        return program + max(0, tasks * self.enrolment.data - self.held.get(worker, 0))


@st.composite
def enrolments(draw: st.DrawFn) -> AskedCase:
    """Draw a question to an enrolment policy, which chooses the volatile workers for an iteration
    and the number of tasks of each.

    There are up to five workers, each UP or not. It is drawn whether they have room for all tasks
    together and, where the UP ones do, whether a configuration is running already.
    """
    workers, tasks = draw(st.integers(1, 5)), draw(st.integers(1, 5))

    def each(values: st.SearchStrategy[Any]) -> Any:
        return draw(st.lists(values, min_size=workers, max_size=workers))

    enrolment = Enrolment(
        speeds=tuple(each(st.integers(1, 6))),
        bounds=tuple(each(st.integers(0, tasks))),
        tasks=tasks,
        channels=2,
        program=draw(st.integers(0, 3)),
        data=draw(st.integers(0, 2)),
        belief=Belief(each(st.sampled_from([STEADY, FLEETING]))),
    )
    masks = st.integers(0, (1 << workers) - 1)
    up, programmed, elapsed = draw(masks), draw(masks), draw(st.integers(0, 40))
    held = {q: draw(st.integers(0, 3)) for q in range(workers) if programmed >> q & 1}
    reason, running = draw(st.sampled_from((Reason.START, Reason.FAILURE, Reason.ERROR))), None
    members = _deal(enrolment, up)
    if draw(st.booleans()) and members:
        reason, left = Reason.PROACTIVE, draw(st.integers(1, 30))
        running = DrawnRunning(Configuration(members), left, [0] * len(members))
    view = EnrolmentMoment(enrolment, up, programmed, elapsed, reason, running, held)
    return AskedCase((view, np.random.default_rng(SEED)), _checked_enrolment)


def _deal(enrolment: Enrolment, up: int) -> tuple[tuple[int, int], ...]:
    """Return (worker, number of tasks) pairs that give all tasks to the workers of the bit mask
    `up`, the lowest first, each as many as its bound allows; empty if the tasks do not fit."""
    left, members = enrolment.tasks, list[tuple[int, int]]()
    for q, bound in enumerate(enrolment.bounds):
        share = min(left, bound) if up >> q & 1 else 0
        left -= share
        members += [(q, share)] if share else []
    return () if left else tuple(members)


def _checked_enrolment(policy: Any, view: Any, rng: Any) -> Any:
    chosen = answer(policy, view, rng)
    if chosen is not None:
        check(policy, chosen, view)
    return chosen


# --- packs ----------------------------------------------------------------------------------------


@define
class DrawnCandidate:
    """A random application of a pack, with time work / size and a cost of changing size.

    Satisfies policies.interface.pack.CandidateView.
    """

    index: int
    size: int
    largest: int
    work: float
    move: float
    """Time that a change of size costs."""
    most: int = field(default=sys.maxsize, repr=False)
    """Largest size with its own time; unlimited, because times are known for any size."""

    def finish(self, size: int) -> float:
        """Return the time at which the application is expected to end with `size` processors: the
        time that its work takes, and the cost of a change if it runs with another size."""
        return self.work / size + (self.move if self.size and size != self.size else 0)


PackMoment: Any = make_class("PackMoment", ("pair", "processors", "applications"))
EventMoment: Any = make_class(
    "EventMoment", ("now", "cause", "faulty", "pair", "idle", "longest", "candidates")
)
"""Random situations of a pack; they satisfy policies.interface.pack.AllocationView and
RedistributionView."""


@st.composite
def _candidates(draw: st.DrawFn, pair: int) -> list[DrawnCandidate]:
    """Draw one to four running applications, whose sizes are multiples of `pair`."""
    one = st.tuples(*(st.integers(*it) for it in ((1, 3), (0, 4), (1, 50), (0, 3))))
    return [
        DrawnCandidate(k, pair * groups, pair * (groups + more), float(work), float(move))
        for k, (groups, more, work, move) in enumerate(draw(st.lists(one, min_size=1, max_size=4)))
    ]


@st.composite
def pack_allocations(draw: st.DrawFn) -> AskedCase:
    """Draw a question on the numbers of processors with which the malleable jobs of a pack start,
    on a platform that has at least a group of processors for each."""
    pair = draw(st.integers(1, 2))
    members = [evolve(it, size=0) for it in draw(_candidates(pair))]
    processors = pair * (len(members) + draw(st.integers(0, 8)))
    return AskedCase((PackMoment(pair, processors, members),), allocate)


@st.composite
def redistributions(draw: st.DrawFn) -> AskedCase:
    """Draw a question on the sizes that change in a pack of malleable jobs as one of them ends, or
    as a processor of one fails.

    It is drawn which jobs can be resized; the one whose processor failed always can.
    """
    pair = draw(st.integers(1, 2))
    members = draw(_candidates(pair))
    cause = draw(st.sampled_from(Cause))
    faulty = draw(st.sampled_from(members)).index if cause is Cause.FAULT else None
    free = [it for it in members if it.index == faulty or draw(st.booleans())]
    idle, now = pair * draw(st.integers(0, 4)), float(draw(st.integers(0, 20)))
    longest = max(it.finish(it.size) for it in members)
    return AskedCase((EventMoment(now, cause, faulty, pair, idle, longest, free),), redistribute)


# --- copies ---------------------------------------------------------------------------------------


@st.composite
def copies(draw: st.DrawFn) -> AskedCase:
    """Draw a question on which of the jobs present run, and in how many copies, on one to six
    workers, which may run several copies at once."""
    one = st.tuples(st.integers(0, 20), st.integers(1, 20), st.integers(1, 4))
    jobs = sorted(draw(st.lists(one, min_size=1, max_size=6)))
    since, sizes, quarters = np.array(jobs, dtype=float).T
    present = ActiveJobs(draw(st.integers(1, 6)), since, sizes, sizes * quarters / 4)
    return AskedCase(
        (present, np.random.default_rng(SEED)),
        lambda policy, *asked: CheckedCopies(policy, multitasking=True)(*asked),
    )


# --- the master -----------------------------------------------------------------------------------

Waiter: Any = make_class("Waiter", ("index", "serving", "started", "left"))
"""A worker that waits for the master; satisfies policies.interface.service.Waiting."""


@st.composite
def services(draw: st.DrawFn) -> AskedCase:
    """Draw a question on which of up to five waiting workers a master serves on its one to three
    channels."""
    one = st.tuples(st.booleans(), st.booleans(), st.integers(1, 9))
    waiting = [Waiter(k, *it) for k, it in enumerate(draw(st.lists(one, max_size=5)))]
    return AskedCase((waiting, draw(st.integers(1, 3)), float(draw(st.integers(0, 20)))), choose)


# --- deadlines ------------------------------------------------------------------------------------

KINDS = ("zone-a", "zone-b", "on-demand")


@st.composite
def deadlines(draw: st.DrawFn) -> AskedCase:
    """Draw a question on the kind of worker on which a job with a deadline continues, at any part
    of its work. The job may hold workers of an offered kind or none, and none, some or all kinds
    are offered."""
    work, saved = draw(st.integers(1, 50)), draw(st.integers(0, 50))
    offers = tuple(Offer(it, 1.0 + k) for k, it in enumerate(KINDS) if draw(st.booleans()))
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
    return AskedCase((job,), lambda policy, due: KindAmong(policy, KINDS)(due))


# --- retirement -----------------------------------------------------------------------------------


@define
class FleetMoment:
    """A random fleet at the end of a repair; satisfies policies.interface.retirement.FleetView."""

    now: float
    left: int
    needed: int
    records: list[Record]

    def record(self, worker: int) -> Record:
        """Return the record of a worker: its faults and repairs so far."""
        return self.records[worker]


def _record(draw: st.DrawFn, now: float) -> Record:
    """Draw the record of a worker until the time `now`."""
    times = sorted(draw(st.lists(st.floats(0, now), max_size=4)))
    repairs, back = draw(st.integers(0, len(times))), draw(st.floats(0, now))
    return Record(times, repairs, draw(st.floats(0, now)), back if repairs else None)


@st.composite
def placements(draw: st.DrawFn) -> AskedCase:
    """Draw a question on which of up to eight workers, some of which are free, a job starts; each
    worker has a random record of faults and repairs."""
    now, workers = float(draw(st.integers(1, 100))), draw(st.integers(1, 8))
    records = [_record(draw, now) for _ in range(workers)]
    free = sorted(draw(st.sets(st.integers(0, workers - 1), min_size=1)))
    count = draw(st.integers(1, len(free)))
    job = BatchJob(0, "J1", Table((10.0,) * count))
    return AskedCase((Start(now, job, count, tuple(free), records),), places)


@st.composite
def retirements(draw: st.DrawFn) -> AskedCase:
    """Draw a question on whether a repaired unit, which is a range of the workers of a fleet of up
    to eight, comes back; each worker has a random record of faults and repairs."""
    now, workers = float(draw(st.integers(1, 100))), draw(st.integers(1, 8))

    records = [_record(draw, now) for _ in range(workers)]
    first = draw(st.integers(0, workers - 1))
    unit = range(first, draw(st.integers(first + 1, workers)))
    left = draw(st.integers(1, workers))
    view = FleetMoment(now, left, draw(st.integers(1, left)), records)
    return AskedCase((unit, view), ask)
