"""What happens with redundant copies in columns, one rule at a time."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from attrs import frozen
from numpy.random import Generator

from actors.deciders.copies.placement import PlacementRule, Placer
from actors.events import (
    CopiesPlaced,
    CopiesSettled,
    JobDescribed,
    Outcome,
    RunEnded,
    RunStarted,
)
from actors.runtime import ActorFailed, Deadlock, Record, System
from policies.copies import Fcfs, LapsR, ProcessorSharing, SrptR
from policies.interface.copies import ActiveJobs, CopyAllocation, Sharing
from tests.actors.deciders.copies.worlds import (
    columns,
    described,
    run,
    spawn_columns,
    told,
)

CANCELLED = Outcome.CANCELLED
STOPS = ((0.0, 1.0), (1.0, 0.0))


def workload(jobs: int, load: float, workers: int, seed: int = 3) -> list[tuple[float, float]]:
    rng = np.random.default_rng(seed)
    times = rng.exponential(1 / (load * workers), jobs).cumsum().tolist()
    return list(zip(times, rng.exponential(1, jobs).tolist(), strict=True))


def test_a_stopped_worker_does_not_end_its_copy() -> None:
    with pytest.raises(Deadlock, match="its first copy"):
        run(columns(), [(0, 2)], [STOPS], workers=1)


def test_a_copy_that_ends_as_its_worker_stops_has_ended() -> None:
    assert run(columns(), [(0, 1)], [STOPS], workers=1).completed.tolist() == [1.0]


def test_an_instant_with_arrivals_and_departures_is_one_checkpoint() -> None:
    records: list[Record] = []
    run(columns(), [(0, 2), (2, 1), (2, 1)], records=records)
    times = [record.t for record in records if isinstance(record.event, CopiesSettled)]
    assert times == [2.0, 3.0]


def test_where_only_placements_are_reported_their_sources_are_right_all_the_same() -> None:
    class Starts(list[Record]):
        wants = frozenset((CopiesPlaced,))

        def __call__(self, record: Record) -> None:
            self.append(record)

    starts, records = Starts(), list[Record]()
    for sink in (starts, records.append):
        system = System(0, [sink])
        spawn_columns(system, columns(), 3, described(workload(40, 0.6, 3)))
        system.run()
    assert [it.event for it in starts] == [
        it.event for it in records if isinstance(it.event, CopiesPlaced)
    ]


def test_nothing_of_what_is_left_after_rounding_keeps_a_completed_job_short_of_its_size() -> None:
    records: list[Record] = []
    run(columns(), workload(60, 0.6, 3), records=records, workers=3)
    sizes = {e.job: e.work for e in told(records) if isinstance(e, JobDescribed)}
    won = [e for e in told(records) if isinstance(e, RunEnded) and e.outcome is not CANCELLED]
    assert [e.done for e in won] == [sizes[e.job] for e in won]


def test_a_run_is_the_same_with_and_without_a_log() -> None:
    jobs = workload(80, 0.6, 3)
    for policy in (SrptR(), SrptR(cloning=False), LapsR(), ProcessorSharing(), Fcfs()):
        silent = run(columns(policy), jobs, workers=3)
        logged = run(columns(policy), jobs, records=[], workers=3)
        assert silent.completed.tolist() == logged.completed.tolist()


def test_uniform_placement_keeps_the_copies_of_a_job_apart() -> None:
    placer = Placer(np.arange(5), PlacementRule.UNIFORM, np.random.default_rng(0))
    counts = np.array([3, 1, 1, 1, 2, 4])
    allocation = CopyAllocation(np.arange(6), counts, Fraction(1, 3))
    for _ in range(50):
        workers = placer.place(allocation, [str(k) for k in range(6)]).tolist()
        for first, count in zip(counts.cumsum() - counts, counts, strict=True):
            assert len(set(workers[first : first + count])) == count


def test_under_a_policy_that_lets_jobs_stay_nobody_moves() -> None:
    records: list[Record] = []
    decider = columns(Fcfs(), rule=PlacementRule.UNIFORM)
    run(decider, workload(60, 0.7, 3), records=records, workers=3)
    places: dict[str, str] = {}
    for event in told(records):
        if isinstance(event, RunStarted):
            assert places.setdefault(event.job, event.processors) == event.processors


@frozen
class Wrong:
    """A policy with a fixed answer."""

    answer: object

    def __call__(self, jobs: ActiveJobs, rng: Generator) -> CopyAllocation:
        return self.answer


def some(jobs: list[int], copies: list[int], **more: object) -> CopyAllocation:
    return CopyAllocation(np.array(jobs, dtype=int), np.array(copies, dtype=int), **more)


ROTATING, TWO_THIRDS = Sharing.ROTATION, Fraction(2, 3)


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (some([0], [3]), "1 to 2 copies"),
        (some([0], [0]), "1 to 2 copies"),
        (some([2], [1]), "not there"),
        (some([-1], [1]), "not there"),
        (some([0, 0], [1, 1]), "twice"),
        (some([0], [1], share=Fraction(3, 2)), "share"),
        (some([], []), "not empty"),
        (some([0], [2], stay=True), "jobs that stay have one copy each"),
        (some([0], [2], sharing=ROTATING), "a job that rotates has one copy"),
        (
            some([0, 1], [2, 2], share=TWO_THIRDS),
            "it puts 2 copies on one worker; at share 2/3 a worker has room for 1",
        ),
        (
            some([0, 1], [1, 1], share=TWO_THIRDS, sharing=ROTATING),
            "it puts 2 copies on one worker",
        ),
        (None, "an answer is a CopyAllocation"),
        (np.array([0]), "an answer is a CopyAllocation"),
        (CopyAllocation([0], np.array([1])), "`jobs` is an array of whole numbers"),
        (CopyAllocation(np.array([True]), np.array([1])), "`jobs` is an array of whole numbers"),
        (CopyAllocation(np.array([0]), np.array([1.0])), "`copies` is an array of whole numbers"),
        (CopyAllocation(np.array([0]), np.array([[1]])), "`copies` is an array of whole numbers"),
        (some([0], [1], share=None), "`share` is a number"),
        (some([0], [1], share=np.nan), "`share` is a number"),
        (some([0], [1], sharing="copies"), "`sharing` is Sharing.COPIES or "),
    ],
)
def test_a_decision_that_cannot_be_carried_out_is_refused_by_the_policy_s_name(
    answer: object, problem: str
) -> None:
    said = rf"(?s):Wrong answered .*{problem}.*; it saw 2 jobs on 2"
    with pytest.raises(ActorFailed, match=said):
        run(columns(Wrong(answer)), [(0, 1), (0, 1)])


def broken(jobs: ActiveJobs, rng: Generator) -> CopyAllocation:
    raise SystemExit(f"no more than\n{len(jobs)}")


def test_an_error_inside_a_policy_is_reported_with_its_place() -> None:
    place = rf"\(test_copies_world\.py, line {broken.__code__.co_firstlineno + 1}\)"
    with pytest.raises(ActorFailed, match=f":broken raised SystemExit: no more than 1 {place}$"):
        run(columns(broken), [(0, 1)])


def test_workers_are_not_shared_without_multitasking() -> None:
    jobs = [(0.1 * k, 1.0) for k in range(8)]
    with pytest.raises(ActorFailed, match="each holds one run"):
        run(columns(LapsR(), multitasking=False), jobs)
    assert len(run(columns(SrptR(), multitasking=False), jobs).jobs) == 8


def test_each_layer_of_copies_has_a_permutation_of_its_own() -> None:
    """Five jobs of one copy fill the workers, five more fill them again: both layers have every
    worker, in orders that agree once in 120 times only."""
    placer = Placer(np.arange(5), PlacementRule.UNIFORM, np.random.default_rng(0))
    ones = CopyAllocation(np.arange(10), np.ones(10, dtype=int), share=0.5)
    alike = 0
    for _ in range(50):
        workers = placer.place(ones, [str(k) for k in range(10)]).tolist()
        assert sorted(workers[:5]) == sorted(workers[5:]) == list(range(5))
        alike += workers[:5] == workers[5:]
    assert alike <= 5


def test_a_job_that_reaches_into_the_next_layer_gives_all_layers_one_permutation() -> None:
    placer = Placer(np.arange(4), PlacementRule.UNIFORM, np.random.default_rng(0))
    across = CopyAllocation(np.arange(4), np.array([1, 1, 4, 2]), share=0.5)
    for _ in range(50):
        workers = placer.place(across, list("abcd")).tolist()
        assert workers[:4] == workers[4:]


# --- copies that one line tells -------------------------------------------------------------------


def test_a_copy_that_goes_round_its_workers_is_reported_with_all_of_them() -> None:
    placed = CopiesPlaced(("a", "b"), (0, 4), (1, 1), (6, 8), (2, 2), 3, 0.5, (0, 3), (None, 1))
    first = RunStarted("a", 0, "2-4", 6, 0, None, 0, None, 0.5, True)
    second = RunStarted("b", 4, "2-4", 8, 3, 1, 3, None, 0.5, True)
    assert list(placed.parts()) == [first, second]


def test_a_copy_on_one_worker_is_reported_with_its_number() -> None:
    placed = CopiesPlaced(("a",), (0,), (2,), (6,), (5, 7), 1, 1, (0, 0), (None, None))
    told = [(it.run, it.processors, it.rotates) for it in placed.parts()]
    assert told == [(0, "5", False), (1, "7", False)]
